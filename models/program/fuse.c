#include "program/fuse.h"

#include "program/custom.h"

#include <string.h>

/* A cone of ops larger than this is cut: its values are written to memory. */
enum { CONE_MAX = 4096 };

const struct instruction *fuse_op(const struct fuse *m, int32_t step)
{
	return &m->p->op.at[m->f->step.at[step].op];
}

double fuse_bytes(const struct fuse *m, int32_t value)
{
	const struct value_type *t = m->f->value.at[value].type;
	int64_t bytes = value_type_bytes(t);

	return bytes < KERNEL_FREE_BYTES || t->space != SPACE_DEVICE ? 0 : (double)bytes;
}

double fuse_elements(const struct fuse *m, int32_t value)
{
	return (double)value_elements(m->f->value.at[value].type);
}

bool fuse_is_dot(const struct instruction *op)
{
	return opcode_class(op->code) == CLASS_MATMUL &&
	       (op->code != HLO_DOT || op->as.dot->lhs_contracting.n > 0);
}

bool fuse_again(const struct instruction *op)
{
	switch (opcode_class(op->code)) {
	case CLASS_ELEMENTWISE:
		return true;
	case CLASS_MATMUL:
		return !fuse_is_dot(op);
	case CLASS_MOVE:
		return op->async == ASYNC_NONE;
	case CLASS_INDEX:
		return op->code == HLO_DYNAMIC_SLICE;
	case CLASS_FREE:
		return op->code != HLO_CONSTANT;
	default:
		return custom_is_name(op);
	}
}

static bool same_layout(const struct value_type *a, const struct value_type *b)
{
	return a->space == b->space &&
	       (!a->layout || !b->layout ||
	        !memcmp(a->layout, b->layout, (size_t)a->rank * sizeof(*a->layout)));
}

/* These name their operand; before optimisation so do copies that move nothing. */
static bool is_name(const struct program *p, const struct instruction *op)
{
	if (op->noperands < 1 || op->nvalues != 1)
		return false;
	if (op->code == HLO_COPY)
		return p->stage != STAGE_OPTIMISED && op->async == ASYNC_NONE &&
		       same_layout(&p->value.at[op_operand(p, op, 0)].type,
		                   &p->value.at[op->first_value].type);
	return (op->code == HLO_RESHAPE || op->code == HLO_BITCAST ||
	        op->code == HLO_SHARDING_CONSTRAINT || op->code == HLO_RESHARD ||
	        op->code == HLO_DATA_FLOW_EDGE || op->code == HLO_PROPAGATION_BARRIER ||
	        custom_is_name(op));
}

/* These read arrays from memory; what computes them cannot be part of them. */
static bool needs_memory(const struct instruction *op)
{
	switch (opcode_class(op->code)) {
	case CLASS_MATMUL:
		return fuse_is_dot(op);
	case CLASS_CONVOLUTION:
	case CLASS_SORT:
	case CLASS_SOLVE:
	case CLASS_COLLECTIVE:
	case CLASS_LOOP:
	case CLASS_BRANCH:
	case CLASS_TRANSFER:
	case CLASS_CALL:
		return true;
	case CLASS_CUSTOM:
		return !custom_is_name(op);
	default:
		return op->async != ASYNC_NONE;
	}
}

int32_t fuse_dot_base(const struct fuse *m, int32_t value)
{
	int32_t step;

	value = m->base[value];
	step = m->f->value.at[value].step;
	while (step >= 0 && fuse_op(m, step)->code == HLO_TRANSPOSE) {
		value = m->base[m->f->in.at[m->f->step.at[step].first_in]];
		step = m->f->value.at[value].step;
	}
	return value;
}

/* --- cones --- */

double fuse_slice_share(const struct fuse *m, const struct flat_step *s)
{
	double of = fuse_elements(m, m->f->in.at[s->first_in]);

	return of > 0 ? fuse_elements(m, s->first_out) / of : 1;
}

bool fuse_slices(const struct instruction *op)
{
	return op->code == HLO_SLICE || op->code == HLO_DYNAMIC_SLICE;
}

struct cone fuse_cone(struct fuse *m, const int32_t *value, int32_t n, double share)
{
	struct cone c = {.whole = true};
	int32_t depth = 0, looked = 0;

	m->stamp++;
	for (int32_t i = 0; i < n; i++) {
		m->stack[depth] = m->base[value[i]];
		m->share[depth++] = share;
	}
	while (depth) {
		int32_t v = m->stack[--depth], step = m->f->value.at[v].step;
		double part = m->share[depth];
		const struct flat_step *s;
		struct work w;

		if (step < 0 || m->kept[v] || !fuse_again(fuse_op(m, step))) {
			if (part >= 1 && m->leaf_seen[v] == m->stamp)
				continue;
			m->leaf_seen[v] = part >= 1 ? m->stamp : m->leaf_seen[v];
			c.leaves += part * fuse_bytes(m, v);
			continue;
		}
		s = &m->f->step.at[step];
		if (m->seen[step] == m->stamp)
			continue;
		m->seen[step] = m->stamp;
		if (++looked > CONE_MAX || depth + s->nin > CONE_MAX * 2) {
			c.whole = false;
			return c;
		}
		w = op_work(m->p, fuse_op(m, step));
		c.flops += part * w.flops;
		c.transcendentals += part * w.transcendentals;
		if (fuse_slices(fuse_op(m, step)))
			part *= fuse_slice_share(m, s);
		for (int32_t i = 0; i < s->nin; i++) {
			m->stack[depth] = m->base[m->f->in.at[s->first_in + i]];
			m->share[depth++] = part;
		}
	}
	return c;
}

/* --- which arrays are in memory --- */

static void keep_inputs(struct fuse *m)
{
	for (int64_t k = 0; k < m->f->step.n; k++) {
		const struct flat_step *s = &m->f->step.at[k];
		const struct instruction *op = fuse_op(m, (int32_t)k);

		if (!needs_memory(op))
			continue;
		for (int32_t i = 0; i < s->nin; i++) {
			int32_t v = m->f->in.at[s->first_in + i];

			m->kept[fuse_is_dot(op) ? fuse_dot_base(m, v) : m->base[v]] =
				true;
		}
	}
	for (int32_t i = 0; i < m->f->result.n; i++)
		m->kept[m->base[m->f->result.at[i]]] = true;
	for (int64_t i = 0; i < m->f->carry.n; i++)
		m->kept[m->base[m->f->carry.at[i].to]] = true;
}

/* Values that are used several times, in the order in which they are made. */
static void keep_shared(struct fuse *m)
{
	int32_t *uses = arena_alloc(m->a, (size_t)m->f->value.n, sizeof(*uses));

	for (int64_t k = 0; k < m->f->step.n; k++) {
		const struct flat_step *s = &m->f->step.at[k];

		for (int32_t i = 0;
		     i < s->nin && !is_name(m->p, fuse_op(m, (int32_t)k)); i++)
			uses[m->base[m->f->in.at[s->first_in + i]]]++;
	}
	for (int64_t k = 0; k < m->f->step.n; k++) {
		const struct flat_step *s = &m->f->step.at[k];
		int32_t v = s->first_out;
		double own, n;
		struct cone c;

		if (!fuse_again(fuse_op(m, (int32_t)k)) || s->nout != 1 ||
		    m->base[v] != v || m->kept[v] || uses[v] < 2)
			continue;
		c = fuse_cone(m, &v, 1, 1);
		own = fuse_bytes(m, v);
		n = uses[v];
		m->kept[v] = !c.whole || own * (1 + n) + c.leaves < n * c.leaves;
	}
}

static void *ints_for(struct fuse *m, int64_t n)
{
	return arena_alloc(m->a, (size_t)n + 1, sizeof(int32_t));
}

void fuse_start(struct fuse *m, struct arena *a, const struct program *p,
                const struct flat *f)
{
	int32_t most = 0;

	*m = (struct fuse){.f = f, .a = a, .p = p};
	for (int64_t k = 0; k < f->step.n; k++)
		most = f->step.at[k].nin > most ? f->step.at[k].nin : most;
	m->base = ints_for(m, f->value.n);
	m->leaf_seen = ints_for(m, f->value.n);
	m->seen = ints_for(m, f->step.n);
	m->stack = ints_for(m, 2 * CONE_MAX + most);
	m->share = arena_alloc(a, 2 * CONE_MAX + (size_t)most + 1, sizeof(*m->share));
	m->kept = arena_alloc(a, (size_t)f->value.n + 1, sizeof(bool));
	for (int32_t v = 0; v < f->value.n; v++) {
		int32_t step = f->value.at[v].step;

		m->base[v] = v;
		if (step >= 0 && is_name(p, fuse_op(m, step)))
			m->base[v] = m->base[f->in.at[f->step.at[step].first_in]];
		m->kept[v] = p->stage == STAGE_OPTIMISED || step < 0 ||
		             !fuse_again(fuse_op(m, step));
	}
	if (p->stage == STAGE_OPTIMISED)
		return;
	keep_inputs(m);
	keep_shared(m);
}
