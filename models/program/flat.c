#include "program/flat.h"

#include <string.h>

struct maker {
	struct flat *f;
	struct arena *a;
	const struct program *p;
	int32_t *map; /* of each value of the program, that of the flat region */
	bool whole;   /* loops and branches are in line */
	double times; /* of what is put in line now */
};

static bool has_values(const struct instruction *op)
{
	switch (op->code) {
	case HLO_TUPLE:
	case HLO_GET_TUPLE_ELEMENT:
	case HLO_OPT_BARRIER:
	case HLO_ADD_DEPENDENCY:
	case HLO_DOMAIN:
	case HLO_PARAMETER:
		return false;
	default:
		return true;
	}
}

static int32_t add_value(struct maker *m, int32_t value, int32_t step)
{
	*list_add(&m->f->value, m->a) =
		(struct flat_value){&m->p->value.at[value].type, step, 0, false};
	return m->map[value] = (int32_t)m->f->value.n - 1;
}

static bool add_region(struct maker *m, int32_t region);

static bool add_call(struct maker *m, const struct instruction *op)
{
	const struct region *r = &m->p->region.at[op_called(m->p, op, 0)];

	for (int32_t i = 0; i < r->param.n; i++)
		m->map[r->param.at[i]] = m->map[op_operand(m->p, op, i)];
	if (!add_region(m, op_called(m->p, op, 0)))
		return false;
	for (int32_t i = 0; i < r->result.n; i++)
		m->map[op->first_value + i] = m->map[r->result.at[i]];
	return true;
}

/* The body once; its values of the turn before are what the loop starts from. */
static bool add_loop(struct maker *m, const struct instruction *op)
{
	const struct region *body = &m->p->region.at[op_called(m->p, op, 1)];
	double times = m->times;

	for (int32_t i = 0; i < op->nvalues && i < op->noperands; i++)
		m->map[op->first_value + i] = m->map[op_operand(m->p, op, i)];
	if (!op->as.loop->trips)
		return true;
	for (int32_t i = 0; i < body->param.n && i < op->noperands; i++)
		m->map[body->param.at[i]] = m->map[op_operand(m->p, op, i)];
	m->times *= (double)op->as.loop->trips;
	if (!add_region(m, op_called(m->p, op, 1)))
		return false;
	m->times = times;
	for (int32_t i = 0; i < body->result.n && i < op->nvalues; i++) {
		int32_t from = m->map[op_operand(m->p, op, i)],
			to = m->map[body->result.at[i]];

		if (from != to)
			*list_add(&m->f->carry, m->a) = (struct flat_carry){from, to};
		m->map[op->first_value + i] = to;
	}
	return true;
}

/* The branch that runs, whose operands stand behind the index and those of the ones before. */
static bool add_branch(struct maker *m, const struct instruction *op)
{
	int32_t at = 1, taken = 0, first = 1;
	const struct region *r;

	for (int32_t k = 0; k < op->ncalled; k++) {
		const struct region *branch = &m->p->region.at[op_called(m->p, op, k)];

		if (branch->runs > m->p->region.at[op_called(m->p, op, taken)].runs) {
			taken = k;
			first = at;
		}
		at += branch->param.n;
	}
	r = &m->p->region.at[op_called(m->p, op, taken)];
	for (int32_t i = 0; i < r->param.n && first + i < op->noperands; i++)
		m->map[r->param.at[i]] = m->map[op_operand(m->p, op, first + i)];
	if (!add_region(m, op_called(m->p, op, taken)))
		return false;
	for (int32_t i = 0; i < r->result.n; i++)
		m->map[op->first_value + i] = m->map[r->result.at[i]];
	return true;
}

static bool add_step(struct maker *m, int32_t number)
{
	const struct instruction *op = &m->p->op.at[number];
	struct flat_step *s;

	if (m->f->step.n == FLAT_STEPS_MAX)
		return false;
	s = list_add(&m->f->step, m->a);
	*s = (struct flat_step){number,        (int32_t)m->f->in.n,
	                        op->noperands, (int32_t)m->f->value.n,
	                        op->nvalues,   m->times};
	for (int32_t i = 0; i < op->noperands; i++)
		*list_add(&m->f->in, m->a) = m->map[op_operand(m->p, op, i)];
	for (int32_t i = 0; i < op->nvalues; i++)
		add_value(m, op->first_value + i, (int32_t)m->f->step.n - 1);
	/* What an asynchronous op gives out has the names of its start's values. */
	for (int32_t i = 0; i < op->nvalues && op->async == ASYNC_DONE; i++)
		m->map[op->first_value + i] =
			m->map[m->p->value.at[op->first_value + i].same];
	return true;
}

static bool add_region(struct maker *m, int32_t region)
{
	const struct region *r = &m->p->region.at[region];

	for (int32_t i = 0; i < r->nops; i++) {
		const struct instruction *op = &m->p->op.at[r->op[i]];

		if (!has_values(op))
			continue;
		if ((op->code == HLO_CALL || op->code == HLO_NAMED_COMPUTATION ||
		     op->code == HLO_MANUAL_COMPUTATION) &&
		    op->ncalled == 1) {
			if (!add_call(m, op))
				return false;
		} else if (m->whole && op->code == HLO_WHILE && op->as.loop &&
		           op->ncalled == 2) {
			if (!add_loop(m, op))
				return false;
		} else if (m->whole && op->code == HLO_CONDITIONAL && op->ncalled > 0) {
			if (!add_branch(m, op))
				return false;
		} else if (!add_step(m, r->op[i])) {
			return false;
		}
	}
	return true;
}

/* What is not there for its results alone. */
static bool has_effect(const struct instruction *op)
{
	enum op_class c = opcode_class(op->code);

	return c == CLASS_TRANSFER || op->async == ASYNC_START ||
	       op->async == ASYNC_DONE || (c == CLASS_CUSTOM && !op->nvalues);
}

/* Keeps the steps whose values are used, from the last to the first. */
static void drop_dead(struct maker *m)
{
	struct flat *f = m->f;
	bool *live = arena_alloc(m->a, (size_t)f->value.n, sizeof(*live));
	bool *kept = arena_alloc(m->a, (size_t)f->step.n, sizeof(*kept));
	int64_t n = 0;

	for (int32_t i = 0; i < f->result.n; i++)
		live[f->result.at[i]] = true;
	for (int64_t i = 0; i < f->carry.n; i++)
		live[f->carry.at[i].to] = true;
	for (int64_t k = f->step.n; k-- > 0;) {
		const struct flat_step *s = &f->step.at[k];

		kept[k] = has_effect(&m->p->op.at[s->op]);
		for (int32_t i = 0; i < s->nout; i++)
			kept[k] |= live[s->first_out + i];
		for (int32_t i = 0; i < s->nin && kept[k]; i++)
			live[f->in.at[s->first_in + i]] = true;
	}
	for (int64_t k = 0; k < f->step.n; k++) {
		struct flat_step s = f->step.at[k];

		for (int32_t i = 0; i < s.nout; i++)
			f->value.at[s.first_out + i].step = kept[k] ? (int32_t)n : -1;
		if (!kept[k])
			continue;
		for (int32_t i = 0; i < s.nin; i++)
			f->value.at[f->in.at[s.first_in + i]].uses++;
		f->step.at[n++] = s;
	}
	f->step.n = n;
	for (int32_t i = 0; i < f->result.n; i++) {
		f->value.at[f->result.at[i]].uses++;
		f->value.at[f->result.at[i]].result = true;
	}
	for (int64_t i = 0; i < f->carry.n; i++) {
		f->value.at[f->carry.at[i].to].uses++;
		f->value.at[f->carry.at[i].to].result = true;
	}
}

static bool make(struct flat *out, struct arena *a, const struct program *p,
                 int32_t region, bool whole)
{
	const struct region *r = &p->region.at[region];
	struct maker m = {out, a, p, NULL, whole, 1};
	int32_t *result = arena_alloc(a, (size_t)r->result.n, sizeof(*result));

	*out = (struct flat){.region = region};
	m.map = arena_alloc(a, (size_t)p->value.n, sizeof(*m.map));
	for (int32_t i = 0; i < r->param.n; i++)
		add_value(&m, r->param.at[i], -1);
	if (!add_region(&m, region))
		return false;
	for (int32_t i = 0; i < r->result.n; i++)
		result[i] = m.map[r->result.at[i]];
	out->result = (struct numbers){r->result.n, result};
	drop_dead(&m);
	return true;
}

bool flat_make(struct flat *out, struct arena *a, const struct program *p,
               int32_t region)
{
	return make(out, a, p, region, false);
}

bool flat_make_whole(struct flat *out, struct arena *a, const struct program *p,
                     int32_t region)
{
	return make(out, a, p, region, true);
}
