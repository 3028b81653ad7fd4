/* The rounds of propagation, over the ops of a program and the edges of its data flow. */
#include "program/propagate.h"

#include "program/lex.h"
#include "program/propagate_op.h"

#include <string.h>

/* A group of values with one sharding, and one of them. */
struct group {
	int64_t id;
	int32_t value;
};

struct steps {
	struct arena *a;
	struct program *p;
	struct shardings *s;
	LIST(struct flow_step) step;
	int32_t *uses; /* of values */
	LIST(struct group) group;
	bool *reached; /* regions */
	bool xla;      /* rules are XLA's */
};

/* --- the data flow --- */

static const struct value_type *type_of(const struct steps *b, int32_t number)
{
	return b->s->at[number].type;
}

/* An edge from sources to what has their sharding: a copy, dimension by dimension. */
static void add_edge(struct steps *b, const int32_t *source, int32_t n, int32_t target)
{
	struct flow_step step = {.op = -1};
	struct op_rule *r = &step.rule;
	int32_t rank = type_of(b, target)->rank;

	r->tensor = arena_alloc(b->a, (size_t)n + 1, sizeof(*r->tensor));
	for (int32_t i = 0; i < n; i++)
		if (type_of(b, source[i])->rank == rank)
			r->tensor[r->noperands++].value = source[i];
	r->ntensors = r->noperands + 1;
	r->tensor[r->noperands].value = target;
	r->elementwise = true;
	for (int32_t d = 0; d < rank; d++)
		*list_add(&r->factor, b->a) =
			(struct factor){type_of(b, target)->dim[d], FACTOR_PASS, false};
	for (int32_t t = 0; t < r->ntensors; t++) {
		r->tensor[t].rank = rank;
		r->tensor[t].dim =
			arena_alloc(b->a, (size_t)rank, sizeof(*r->tensor[t].dim));
		for (int32_t d = 0; d < rank; d++)
			r->tensor[t].dim[d] =
				(struct rule_dim){1, arena_dup(b->a, &d, 1, sizeof(d))};
	}
	if (r->noperands && rank)
		*list_add(&b->step, b->a) = step;
}

/* Says that two values have one sharding. */
static void join(struct steps *b, int32_t value, int32_t with)
{
	if (type_of(b, value)->rank == type_of(b, with)->rank)
		b->s->of[value] = b->s->of[with];
}

/* What a loop carries is laid out alike in every turn, before it and behind it. */
static void loop_edges(struct steps *b, const struct instruction *op)
{
	const struct region *cond = &b->p->region.at[op_called(b->p, op, 0)];
	const struct region *body = &b->p->region.at[op_called(b->p, op, 1)];
	bool fresh = !b->reached[op_called(b->p, op, 1)];

	for (int32_t k = 0; k < op->noperands; k++) {
		int32_t out = op->first_value + k;
		int32_t source[2] = {op_operand(b->p, op, k), body->result.at[k]};

		if (fresh) {
			join(b, body->param.at[k], out);
			join(b, cond->param.at[k], out);
		} else {
			add_edge(b, &out, 1, body->param.at[k]);
		}
		add_edge(b, source, 2, out);
	}
}

/* Operands to the arguments of regions, their results to those of the op. */
static void call_edges(struct steps *b, const struct instruction *op)
{
	int32_t at = op->code == HLO_CONDITIONAL;
	int32_t *source = arena_alloc(b->a, (size_t)op->ncalled + 1, sizeof(*source));

	for (int32_t k = 0; k < op->ncalled; k++) {
		const struct region *r = &b->p->region.at[op_called(b->p, op, k)];

		for (int32_t i = 0; i < r->param.n && at < op->noperands; i++, at++) {
			source[0] = op_operand(b->p, op, at);
			add_edge(b, source, 1, r->param.at[i]);
		}
	}
	for (int32_t i = 0; i < op->nvalues; i++) {
		int32_t n = 0;

		for (int32_t k = 0; k < op->ncalled; k++) {
			const struct region *r =
				&b->p->region.at[op_called(b->p, op, k)];

			if (i < r->result.n)
				source[n++] = r->result.at[i];
		}
		add_edge(b, source, n, op->first_value + i);
	}
}

/* Operands of a manual computation to how it takes them in. */
static void manual_edges(struct steps *b, int32_t number)
{
	const struct instruction *op = &b->p->op.at[number];

	for (int32_t k = 0; k < op->noperands; k++) {
		int32_t source = op_operand(b->p, op, k);

		add_edge(b, &source, 1, b->s->manual[number] + k);
	}
}

/*
 * An array as a manual computation takes it in or gives it out, and its tile inside: what is left
 * of each dimension is sharded alike behind the axes that are made by hand.
 */
static void add_tile_edge(struct steps *b, int32_t whole, int32_t tile, bool in)
{
	const struct value_type *t[2] = {type_of(b, in ? whole : tile),
	                                 type_of(b, in ? tile : whole)};
	const int32_t value[2] = {in ? whole : tile, in ? tile : whole};
	struct flow_step step = {.op = -1};
	struct op_rule *r = &step.rule;
	int32_t rank = t[0]->rank;

	if (t[1]->rank != rank || !rank)
		return;
	r->tensor = arena_alloc(b->a, 2, sizeof(*r->tensor));
	r->noperands = 1;
	r->ntensors = 2;
	r->elementwise = true;
	for (int i = 0; i < 2; i++) {
		r->tensor[i] = (struct rule_tensor){value[i], rank, NULL};
		r->tensor[i].dim =
			arena_alloc(b->a, (size_t)rank, sizeof(*r->tensor[i].dim));
	}
	for (int32_t d = 0; d < rank; d++) {
		int64_t all = t[!in]->dim[d], own = t[in]->dim[d];
		int32_t at[2] = {2 * d, 2 * d + 1};

		if (own < 1 || all % own)
			return;
		*list_add(&r->factor, b->a) =
			(struct factor){all / own, FACTOR_PASS, true};
		*list_add(&r->factor, b->a) = (struct factor){own, FACTOR_PASS, false};
		r->tensor[!in].dim[d] =
			(struct rule_dim){2, arena_dup(b->a, at, 2, sizeof(*at))};
		r->tensor[in].dim[d] =
			(struct rule_dim){1, arena_dup(b->a, at + 1, 1, sizeof(*at))};
	}
	*list_add(&b->step, b->a) = step;
}

/* Into and out of the bodies of manual computations that leave axes, once the mesh is known. */
static void inner_edges(struct steps *b)
{
	for (int64_t n = 0; n < b->p->op.n; n++) {
		const struct instruction *op = &b->p->op.at[n];
		const struct region *body;

		if (b->s->manual[n] < 0 || op->ncalled != 1 ||
		    !manual_leaves_axes(op, &b->s->mesh))
			continue;
		body = &b->p->region.at[op_called(b->p, op, 0)];
		for (int32_t k = 0; k < op->noperands && k < body->param.n; k++)
			add_tile_edge(b, b->s->manual[n] + k, body->param.at[k], true);
		for (int32_t k = 0; k < op->nvalues && k < body->result.n; k++)
			add_tile_edge(b, op->first_value + k, body->result.at[k], false);
	}
}

/* All values of a group have the sharding of the first one. */
static void join_group(struct steps *b, const struct instruction *op)
{
	int32_t value = op_operand(b->p, op, 0);

	for (int64_t i = 0; i < b->group.n; i++)
		if (b->group.at[i].id == op->index) {
			join(b, value, b->group.at[i].value);
			return;
		}
	*list_add(&b->group, b->a) = (struct group){op->index, value};
}

static bool is_flow(enum opcode code)
{
	return code == HLO_CALL || code == HLO_CONDITIONAL ||
	       code == HLO_NAMED_COMPUTATION;
}

/* --- what is made of constants --- */

/* Ops that each user may run for itself on constants: they cost nothing to repeat. */
static bool is_repeated(enum opcode code)
{
	return opcode_class(code) == CLASS_ELEMENTWISE || code == HLO_BROADCAST ||
	       code == HLO_RESHAPE || code == HLO_TRANSPOSE || code == HLO_SLICE ||
	       code == HLO_COPY || code == HLO_CONCATENATE;
}

static void mark_anew(struct steps *b, const struct instruction *op)
{
	bool anew = op->code == HLO_CONSTANT || op->code == HLO_IOTA ||
	            is_repeated(op->code);

	for (int32_t i = 0; i < op->noperands && anew; i++)
		anew = b->s->at[b->s->of[op_operand(b->p, op, i)]].anew;
	for (int32_t i = 0; i < op->nvalues && anew; i++)
		b->s->at[b->s->of[op->first_value + i]].anew = true;
}

/* What is made of a constant whose sharding the text says is laid out as any other value. */
static void unmark(struct steps *b)
{
	for (int64_t n = 0; n < b->p->op.n; n++) {
		const struct instruction *op = &b->p->op.at[n];
		bool anew = true;

		for (int32_t i = 0; i < op->noperands; i++)
			anew &= b->s->at[b->s->of[op_operand(b->p, op, i)]].anew;
		for (int32_t i = 0; i < op->nvalues && !anew; i++)
			b->s->at[b->s->of[op->first_value + i]].anew = false;
	}
}

/* --- all steps, in the order of the program --- */

static void add_op(struct steps *b, int32_t number)
{
	const struct instruction *op = &b->p->op.at[number];
	struct flow_step step = {.op = number, .single_use = true};

	if (!(b->xla ? op_rule_parallel(&step.rule, b->a, b->p, op)
	             : op_rule_of(&step.rule, b->a, b->p, op)))
		return;
	for (int32_t i = 0; i < op->noperands; i++) {
		int32_t v = op_operand(b->p, op, i);

		if (b->p->value.at[v].type.rank && b->uses[v] > 1)
			step.single_use = false;
	}
	*list_add(&b->step, b->a) = step;
}

static void add_region(struct steps *b, int32_t number)
{
	const struct region *r = &b->p->region.at[number];

	for (int32_t i = 0; i < r->nops; i++) {
		const struct instruction *op = &b->p->op.at[r->op[i]];
		bool flows = op->code == HLO_WHILE || is_flow(op->code);

		mark_anew(b, op);
		if (op->code == HLO_WHILE)
			loop_edges(b, op);
		else if (flows)
			call_edges(b, op);
		else if (b->s->manual[r->op[i]] >= 0)
			manual_edges(b, r->op[i]);
		else if (op->code == HLO_SHARDING_GROUP && op->noperands)
			join_group(b, op);
		else
			add_op(b, r->op[i]);
		flows |= b->s->manual[r->op[i]] >= 0;
		for (int32_t k = 0; flows && k < op->ncalled; k++)
			b->reached[op_called(b->p, op, k)] = true;
	}
}

/* Every region that runs, behind those that call it. */
static void add_regions(struct steps *b)
{
	b->reached = arena_alloc(b->a, (size_t)b->p->region.n, sizeof(*b->reached));
	b->reached[b->p->entry] = true;
	for (int64_t i = b->p->region.n; i-- > 0;)
		if (b->reached[b->p->calls_first[i]])
			add_region(b, b->p->calls_first[i]);
	/* Other names of what was joined. */
	for (int32_t i = 0; i < b->s->n; i++)
		b->s->of[i] = b->s->of[b->s->of[i]];
}

static void count_uses(struct steps *b)
{
	b->uses = arena_alloc(b->a, (size_t)b->p->value.n, sizeof(*b->uses));
	for (int64_t i = 0; i < b->p->operand.n; i++)
		b->uses[b->p->operand.at[i]]++;
	for (int64_t i = 0; i < b->p->region.n; i++)
		for (int32_t k = 0; k < b->p->region.at[i].result.n; k++)
			b->uses[b->p->region.at[i].result.at[k]]++;
}

/* --- rounds --- */

enum { ROUNDS = 5 };

/*
 * Where an op hands on in a round. First what takes one array to another of its elements; there
 * an array with other users waits, as they may want it otherwise.
 */
static enum direction direction_of(const struct program *p,
                                   const struct flow_step *step, int round)
{
	enum opcode code = step->op < 0 ? HLO_COPY : p->op.at[step->op].code;
	bool barred = code == HLO_PROPAGATION_BARRIER;
	struct span way = barred ? p->op.at[step->op].direction : (struct span){0};
	bool slices = code == HLO_DYNAMIC_SLICE || code == HLO_DYNAMIC_UPDATE_SLICE;
	bool easy = step->rule.elementwise || code == HLO_RESHAPE ||
	            code == HLO_TRANSPOSE || slices;

	if (barred)
		return span_is(way, "FORWARD")    ? FORWARD
		       : span_is(way, "BACKWARD") ? BACKWARD
		                                  : NOWHERE;
	if (round >= 2)
		return code == HLO_BROADCAST && round < 4 ? BACKWARD : BOTH;
	if (!easy || (round == 0 && step->op >= 0 && !step->single_use))
		return NOWHERE;
	return slices ? FORWARD : BOTH;
}

static void run_round(struct engine *e, struct steps *b, int round)
{
	bool changed = true;

	e->pass_only = round == 2;
	for (int64_t i = 0; i < b->step.n; i++)
		b->step.at[i].seen = -1;
	while (changed) {
		changed = false;
		for (int64_t i = 0; i < 2 * b->step.n; i++) {
			int64_t at = i < b->step.n ? i : 2 * b->step.n - 1 - i;
			struct flow_step *step = &b->step.at[at];
			enum direction way = direction_of(b->p, step, round);

			if (way != NOWHERE)
				changed |= propagate_step(e, step, way);
		}
	}
}

/* The next priority above one, -1: there is none. */
static int32_t next_priority(const struct shardings *s, int32_t above)
{
	int32_t next = -1;

	for (int32_t i = 0; i < s->n; i++)
		for (int32_t d = 0; d < s->at[i].type->rank; d++) {
			int32_t p = s->at[i].dim[d].priority;

			if (p > above && (next < 0 || p < next))
				next = p;
		}
	return next;
}

enum status propagate(struct shardings *out, struct arena *a, struct program *p,
                      enum propagation by, struct error *e)
{
	struct steps b = {.a = a, .p = p, .s = out, .xla = by == PROPAGATION_XLA};
	struct engine engine = {.s = out, .basic = by == PROPAGATION_SHARDY_BASIC};
	const struct region *entry = &p->region.at[p->entry];

	shardings_start(out, a, p);
	count_uses(&b);
	add_regions(&b);
	for (int32_t k = 0; k < entry->result.n; k++)
		add_edge(&b, &entry->result.at[k], 1, (int32_t)p->value.n + k);
	if (shardings_read(out, a, p, e) != OK)
		return e->code;
	unmark(&b);
	inner_edges(&b);
	if (by == PROPAGATION_XLA) {
		propagate_xla(out, a, p, b.step.at, b.step.n);
		return OK;
	}
	for (int32_t at = 0; at >= 0; at = next_priority(out, at)) {
		engine.priority = at;
		for (int round = 0; round < ROUNDS; round++)
			run_round(&engine, &b, round);
	}
	return OK;
}
