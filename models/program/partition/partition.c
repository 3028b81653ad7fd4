/* Regions of a program, one after another, on tiles; then what nobody uses is dropped. */
#include "notation/notation.h"
#include "program/partition/split.h"

#include <string.h>

/* --- regions --- */

static bool runs_regions(enum opcode code)
{
	return code == HLO_WHILE || code == HLO_CALL || code == HLO_CONDITIONAL ||
	       code == HLO_NAMED_COMPUTATION;
}

/*
 * The values whose layouts the results of each region have: what a loop carries, what a
 * branch stands for; -1: its own.
 */
static int32_t *find_targets(struct split *b)
{
	int32_t *target = arena_alloc(b->a, (size_t)b->p->region.n, sizeof(*target));

	for (int64_t i = 0; i < b->p->region.n; i++)
		target[i] = -1;
	target[b->p->entry] = (int32_t)b->p->value.n;
	for (int64_t i = 0; i < b->p->op.n; i++) {
		const struct instruction *op = &b->p->op.at[i];

		if (op->code == HLO_WHILE)
			target[op_called(b->p, op, 1)] = op->first_value;
		for (int32_t k = 0; op->code == HLO_CONDITIONAL && k < op->ncalled; k++)
			target[op_called(b->p, op, k)] = op->first_value;
	}
	return target;
}

/* Whether the regions that an op calls run on tiles. */
static bool runs_tiles(const struct split *b, const struct instruction *op)
{
	return runs_regions(op->code) ||
	       (b->s->manual[op - b->p->op.at] >= 0 && op->ncalled == 1 &&
	        manual_leaves_axes(op, &b->s->mesh));
}

/* Which regions run as code, from the entry on. */
static bool *find_reached(struct split *b)
{
	bool *reached = arena_alloc(b->a, (size_t)b->p->region.n, sizeof(*reached));

	reached[b->p->entry] = true;
	for (int64_t i = b->p->region.n; i-- > 0;) {
		const struct region *r = &b->p->region.at[b->p->calls_first[i]];

		if (!reached[b->p->calls_first[i]])
			continue;
		for (int32_t k = 0; k < r->nops; k++) {
			const struct instruction *op = &b->p->op.at[r->op[k]];

			for (int32_t c = 0; runs_tiles(b, op) && c < op->ncalled; c++)
				reached[op_called(b->p, op, c)] = true;
		}
	}
	return reached;
}

/* The manual computation that leaves axes and that each region runs in; NULL: none. */
static const struct instruction **find_hands(struct split *b)
{
	const struct instruction **hand =
		arena_alloc(b->a, (size_t)b->p->region.n, sizeof(*hand));

	for (int64_t i = b->p->region.n; i-- > 0;) {
		int32_t at = b->p->calls_first[i];
		const struct region *r = &b->p->region.at[at];

		for (int32_t k = 0; k < r->nops; k++) {
			const struct instruction *op = &b->p->op.at[r->op[k]];

			for (int32_t c = 0; runs_tiles(b, op) && c < op->ncalled; c++)
				hand[op_called(b->p, op, c)] =
					runs_regions(op->code) ? hand[at] : op;
		}
	}
	return hand;
}

/* An op that calls regions: operands as their parameters are, results as theirs. */
static void split_call(struct split *b, const struct instruction *op,
                       const int32_t *target)
{
	int32_t n = op->noperands, at = op->code == HLO_CONDITIONAL;
	int32_t *operand = arena_alloc(b->a, (size_t)n + 1, sizeof(*operand));
	int32_t *layout = arena_alloc(b->a, (size_t)op->nvalues + 1, sizeof(*layout));
	struct value_type *type =
		arena_alloc(b->a, (size_t)op->nvalues + 1, sizeof(*type));
	struct instruction *added;
	int32_t last = op_called(b->p, op, op->ncalled - 1);
	int32_t first;

	if (at)
		operand[0] = split_value(b, op, op_operand(b->p, op, 0),
		                         split_given(b, op_operand(b->p, op, 0)));
	for (int32_t k = 0; k < op->ncalled; k++) {
		const struct region *r = &b->p->region.at[op_called(b->p, op, k)];

		/* The condition of a loop takes what its body does. */
		if (op->code == HLO_WHILE && k == 0)
			continue;
		for (int32_t i = 0; i < r->param.n && at < n; i++, at++)
			operand[at] = split_value(b, op, op_operand(b->p, op, at),
			                          split_given(b, r->param.at[i]));
	}
	for (int32_t k = 0; k < op->nvalues; k++) {
		layout[k] = split_result(b, last, k, target[last]);
		type[k] = split_type(b, &b->p->value.at[op->first_value + k].type,
		                     layout[k]);
	}
	added = split_op(b, op, op->code, type, op->nvalues);
	for (int32_t k = 0; k < n; k++)
		split_operand(b, added, operand[k]);
	first = added->first_value;
	for (int32_t k = 0; k < op->nvalues; k++) {
		int32_t old = op->first_value + k;
		struct resharding r = {op, &b->p->value.at[old].type, layout[k],
		                       split_given(b, old), false};

		split_is(b, old, r.to, split_reshard(b, first + k, &r));
	}
}

static bool is_constraint(const struct instruction *op)
{
	return op->noperands == 1 && op->nvalues == 1 &&
	       (op->code == HLO_SHARDING_CONSTRAINT || op->code == HLO_RESHARD ||
	        op->code == HLO_PROPAGATION_BARRIER || op->code == HLO_DATA_FLOW_EDGE ||
	        split_has_target(op, "Sharding") ||
	        split_has_target(op, "xla.sdy.FuncResultSharding") ||
	        split_has_target(op, "xla.sdy.PropagationBarrier"));
}

/*
 * An op without operands: parameters come, and constants are made, as tiles; of a counter that is
 * made whole each device keeps its own.
 */
static void split_source(struct split *b, const struct instruction *op)
{
	bool tiles = op->code == HLO_PARAMETER || op->code == HLO_CONSTANT;
	struct value_type *type =
		arena_alloc(b->a, (size_t)op->nvalues + 1, sizeof(*type));
	int32_t *layout = arena_alloc(b->a, (size_t)op->nvalues + 1, sizeof(*layout));
	int32_t first;

	for (int32_t k = 0; k < op->nvalues; k++) {
		int32_t old = op->first_value + k;
		const struct value_type *t = &b->p->value.at[old].type;

		layout[k] = tiles && !split_is_anew(b, old) ? split_given(b, old)
		                                            : split_whole(b, t->rank);
		type[k] = split_type(b, t, layout[k]);
	}
	first = split_op(b, op, op->code, type, op->nvalues)->first_value;
	for (int32_t k = 0; k < op->nvalues; k++) {
		int32_t old = op->first_value + k;
		struct resharding r = {op, &b->p->value.at[old].type, layout[k],
		                       layout[k], false};

		if (!split_is_anew(b, old))
			r.to = split_given(b, old);
		split_is(b, old, r.to, split_reshard(b, first + k, &r));
	}
}

static bool is_name(const struct program *p, const struct instruction *op)
{
	return op->code == HLO_TUPLE || op->code == HLO_GET_TUPLE_ELEMENT ||
	       op->code == HLO_SHARDING_GROUP ||
	       (op->nvalues && p->value.at[op->first_value].same != op->first_value);
}

static void split_one(struct split *b, const struct instruction *op,
                      const int32_t *target)
{
	if (is_name(b->p, op))
		return;
	if (runs_regions(op->code) && op->ncalled) {
		split_call(b, op, target);
	} else if (is_constraint(op)) {
		int32_t to = split_given(b, op->first_value);

		split_is(b, op->first_value, to,
		         split_value(b, op, op_operand(b->p, op, 0), to));
	} else if (split_has_target(op, "SPMDFullToShardShape") ||
	           split_has_target(op, "SPMDShardToFullShape")) {
		split_border(b, op);
	} else if (op->code == HLO_MANUAL_COMPUTATION && op->ncalled == 1) {
		split_manual(b, op);
	} else if (!op->noperands) {
		split_source(b, op);
	} else {
		split_local(b, op);
	}
}

/* A region that is applied to elements, or never runs: as it is. */
static void copy_region(struct split *b, const struct region *r)
{
	for (int32_t i = 0; i < r->nops; i++) {
		const struct instruction *op = &b->p->op.at[r->op[i]];
		struct value_type *type =
			arena_alloc(b->a, (size_t)op->nvalues + 1, sizeof(*type));
		int32_t *operand =
			arena_alloc(b->a, (size_t)op->noperands + 1, sizeof(*operand));
		struct instruction *added;

		if (is_name(b->p, op))
			continue;
		for (int32_t k = 0; k < op->nvalues; k++)
			type[k] = b->p->value.at[op->first_value + k].type;
		for (int32_t k = 0; k < op->noperands; k++)
			operand[k] =
				b->copy.at[b->copies[op_operand(b->p, op, k)]].value;
		added = split_op(b, op, op->code, type, op->nvalues);
		for (int32_t k = 0; k < op->noperands; k++)
			split_operand(b, added, operand[k]);
		for (int32_t k = 0; k < op->nvalues; k++)
			split_is(b, op->first_value + k, -1, added->first_value + k);
	}
}

static struct numbers params_of(struct split *b, struct numbers old)
{
	int32_t *at = arena_alloc(b->a, (size_t)old.n + 1, sizeof(*at));

	for (int32_t i = 0; i < old.n; i++) {
		int32_t k = b->copies[old.at[i]];

		/* The first copy is the parameter itself. */
		while (b->copy.at[k].next >= 0)
			k = b->copy.at[k].next;
		at[i] = b->copy.at[k].value;
	}
	return (struct numbers){old.n, at};
}

static void split_region(struct split *b, int32_t number, bool code,
                         const int32_t *target)
{
	const struct region *old = &b->p->region.at[number];
	struct region *r = &b->q->region.at[number];
	int32_t *result = arena_alloc(b->a, (size_t)old->result.n + 1, sizeof(*result));
	const struct instruction *last =
		old->nops ? &b->p->op.at[old->op[old->nops - 1]] : b->p->op.at;

	b->order.n = 0;
	b->region = number;
	b->partition_id = -1;
	if (!code)
		copy_region(b, old);
	for (int32_t i = 0; code && i < old->nops; i++)
		split_one(b, &b->p->op.at[old->op[i]], target);
	for (int32_t k = 0; k < old->result.n; k++) {
		int32_t v = old->result.at[k];

		result[k] =
			code ? split_value(b, last, v,
		                           split_result(b, number, k, target[number]))
			     : b->copy.at[b->copies[v]].value;
	}
	r->param = params_of(b, old->param);
	r->result = (struct numbers){old->result.n, result};
	r->result_sharding = NULL;
	r->nops = (int32_t)b->order.n;
	r->op = arena_dup(b->a, b->order.at, (size_t)b->order.n, sizeof(*r->op));
}

/* --- what nobody uses --- */

static bool has_effect(const struct instruction *op)
{
	return opcode_class(op->code) == CLASS_TRANSFER || op->code == HLO_PARAMETER ||
	       !op->nvalues;
}

static void drop_dead(struct split *b)
{
	struct program *q = b->q;
	bool *used = arena_alloc(b->a, (size_t)q->value.n, sizeof(*used));

	for (int64_t i = 0; i < q->region.n; i++)
		for (int32_t k = 0; k < q->region.at[i].result.n; k++)
			used[q->region.at[i].result.at[k]] = true;
	for (int64_t i = 0; i < q->region.n; i++) {
		struct region *r = &q->region.at[i];
		int32_t *kept = arena_alloc(b->a, (size_t)r->nops + 1, sizeof(*kept));
		int32_t n = r->nops;

		for (int32_t k = r->nops; k-- > 0;) {
			const struct instruction *op = &q->op.at[r->op[k]];
			bool live = has_effect(op);

			for (int32_t v = 0; v < op->nvalues; v++)
				live |= used[op->first_value + v];
			if (!live)
				continue;
			for (int32_t v = 0; v < op->noperands; v++)
				used[op_operand(q, op, v)] = true;
			if (b->out->of.at[r->op[k]] >= 0)
				b->out->reshard.at[b->out->of.at[r->op[k]]].live = true;
			kept[--n] = r->op[k];
		}
		r->op = kept + n;
		r->nops -= n;
	}
}

/* Says what XLA would log: arrays that are whole on every device though neither end is. */
static void warn_whole(struct split *b)
{
	for (int64_t i = 0; i < b->out->reshard.n; i++) {
		const struct reshard *r = &b->out->reshard.at[i];
		struct text text = {0};

		if (!r->live || !r->full_remat)
			continue;
		array_print(&text, &r->array);
		text_printf(&text, " from ");
		layout_print(&text, &r->from, &b->s->mesh, &r->array.shape);
		text_printf(&text, " to ");
		layout_print(&text, &r->to, &b->s->mesh, &r->array.shape);
		program_warn(b->q, b->p->op.at[r->op].line,
		             "full rematerialization: %s", text.s);
		text_free(&text);
	}
}

/* --- the whole --- */

static void start(struct split *b)
{
	const struct program *p = b->p;
	struct program *q = b->q;
	int32_t n = b->s->n;

	*q = *p;
	q->arena = b->a;
	q->stage = STAGE_PARTITIONED;
	q->scheduled = false;
	q->ndevices = q->partitions = b->s->mesh.ndevices;
	q->replicas = 1;
	memset(&q->value, 0, sizeof(q->value));
	memset(&q->op, 0, sizeof(q->op));
	memset(&q->operand, 0, sizeof(q->operand));
	memset(&q->called, 0, sizeof(q->called));
	memset(&q->mesh, 0, sizeof(q->mesh));
	memset(&q->region, 0, sizeof(q->region));
	memset(&q->groups, 0, sizeof(q->groups));
	memset(&q->warning, 0, sizeof(q->warning));
	for (int64_t i = 0; i < p->region.n; i++)
		*list_add(&q->region, b->a) = p->region.at[i];
	for (int64_t i = 0; i < p->groups.n; i++)
		*list_add(&q->groups, b->a) = p->groups.at[i];
	for (int64_t i = 0; i < p->warning.n; i++)
		*list_add(&q->warning, b->a) = p->warning.at[i];
	b->given = arena_alloc(b->a, (size_t)n + 1, sizeof(*b->given));
	b->copies = arena_alloc(b->a, (size_t)p->value.n + 1, sizeof(*b->copies));
	for (int32_t i = 0; i < n; i++)
		b->given[i] = -1;
	for (int64_t i = 0; i < p->value.n; i++)
		b->copies[i] = -1;
}

static enum status check(const struct program *p, struct error *e)
{
	struct where at = {.file = p->file, .line = 1, .col = 1};

	if (p->replicas > 1)
		return error_set(
			e, E_TYPE, at,
			"%d replicas: expected a program of partitions alone, to be "
			"partitioned over a mesh",
			(int)p->replicas);
	for (int64_t i = 0; i < p->op.n; i++) {
		at.line = (unsigned)p->op.at[i].line;
		if (p->op.at[i].async != ASYNC_NONE)
			return error_set(
				e, E_TYPE, at,
				"an asynchronous op: expected a program that no "
				"compiler has scheduled");
	}
	return OK;
}

enum status partition(struct partitioned *out, struct arena *a, const struct program *p,
                      const struct shardings *s, const struct partition_ask *ask,
                      struct error *e)
{
	struct split b = {.out = out,
	                  .a = a,
	                  .p = p,
	                  .q = &out->program,
	                  .s = s,
	                  .ask = ask,
	                  .layouts = {.arena = a, .table = {.arena = a}},
	                  .plans = {.arena = a, .table = {.arena = a}},
	                  .groups = {.arena = a, .table = {.arena = a}}};
	int32_t *target;
	const struct instruction **hand;
	bool *reached;

	*out = (struct partitioned){0};
	if (check(p, e) != OK)
		return e->code;
	start(&b);
	for (int64_t i = 0; i < p->op.n; i++)
		if (s->manual[i] >= 0 && p->op.at[i].ncalled == 1 &&
		    split_check_manual(&b, &p->op.at[i], e) != OK)
			return e->code;
	target = find_targets(&b);
	reached = find_reached(&b);
	hand = find_hands(&b);
	for (int32_t i = 0; i < p->region.n; i++) {
		b.hand = hand[i];
		split_region(&b, i, reached[i], target);
	}
	split_merge_sums(&b);
	drop_dead(&b);
	warn_whole(&b);
	program_count_runs(&out->program);
	for (int64_t i = 0; i < out->reshard.n; i++) {
		struct reshard *r = &out->reshard.at[i];

		r->count = out->program.region.at[r->region].runs;
	}
	return OK;
}
