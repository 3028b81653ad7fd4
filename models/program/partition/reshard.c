/* Changes of layout: planned, and their steps as ops. */
#include "plan/check.h"
#include "program/partition/split.h"

#include <string.h>

/* --- planning --- */

static bool array_of(struct array *out, const struct value_type *t)
{
	/* All of it is set, as planners compare shapes as a whole. */
	*out = (struct array){.dtype = t->dtype, .shape = {.rank = t->rank}};
	if (t->rank > RANK_MAX || t->dtype->bits == 0)
		return false;
	for (int d = 0; d < t->rank; d++) {
		out->shape.dim[d] = t->dim[d];
		if (t->dim[d] < 1)
			return false;
	}
	return true;
}

static struct problem *new_problem(struct split *b, const struct array *array,
                                   const struct layout *from, const struct layout *to)
{
	struct problem *p = arena_alloc(b->a, 1, sizeof(*p));

	p->arena = b->a;
	p->array = *array;
	p->mesh = p->to_mesh = b->s->mesh;
	p->ndevices = b->s->mesh.ndevices;
	p->same_devices = true;
	p->platform = b->ask->devices;
	p->from = *from;
	p->to = *to;
	p->memory_limit_bytes = -1;
	problem_finish(p);
	return p;
}

/* A plan that was proved; NULL with the reason. */
static const struct plan *plan_by(struct split *b, const struct planner *planner,
                                  const struct problem *p, struct text *why)
{
	struct plan *plan;

	if (planner_run(planner, &plan, p, b->ask->prices, b->a, why) != ANSWER_PLAN ||
	    !plan_check(plan, why))
		return NULL;
	return plan;
}

/* One all-reduce, as a compiler has it whose planner knows no sums. */
static const struct plan *plan_sum(struct split *b, const struct problem *p)
{
	struct plan *plan = plan_new(b->a, p, "all-reduce");
	struct move move = {.from_dim = -1, .to_dim = -1, .factor = 1};

	move.parts = layout_parts(&p->from, p->from.rank, &move.nparts);
	move.parts =
		arena_dup(b->a, move.parts, (size_t)move.nparts, sizeof(*move.parts));
	for (int i = 0; i < move.nparts; i++)
		move.factor *= move.parts[i].size;
	plan_axes_step(plan, OP_ALL_REDUCE, &move, 1);
	plan_finish(plan);
	return plan;
}

static const struct plan *plan_problem(struct split *b, const struct problem *p,
                                       const struct instruction *like)
{
	const struct layout summed = p->from;
	struct text why = {0};
	const struct plan *plan = plan_by(b, b->ask->planner, p, &why);

	if (!plan && summed.nunreduced) {
		text_free(&why);
		return NULL;
	}
	if (!plan) {
		program_warn(b->q, like->line, "%s does not plan a change of layout: %s",
		             b->ask->planner->name, why.s ? why.s : "no reason");
		plan = plan_by(b, planner_find("best", 4), p, &why);
	}
	if (!plan)
		plan = plan_by(b, planner_find("direct", 6), p, &why);
	text_free(&why);
	return plan;
}

/* --- attributes of collectives --- */

static int32_t number_groups(struct split *b, const struct groups *g)
{
	size_t n = (size_t)g->ngroups * (size_t)g->size;
	int32_t *key = arena_alloc(b->a, n + 1, sizeof(*key));
	struct replica_groups *out;
	int32_t number, *first;
	bool fresh;

	key[0] = g->size;
	memcpy(key + 1, g->ids, n * sizeof(*key));
	number = keys_add(&b->groups, key, (n + 1) * sizeof(*key), &fresh);
	if (!fresh)
		return (int32_t)(b->p->groups.n + number);
	first = arena_alloc(b->a, (size_t)g->ngroups + 1, sizeof(*first));
	for (int32_t i = 0; i <= g->ngroups; i++)
		first[i] = i * g->size;
	out = list_add(&b->q->groups, b->a);
	*out = (struct replica_groups){g->ngroups, g->size, first,
	                               arena_dup(b->a, g->ids, n, sizeof(*g->ids))};
	return (int32_t)b->q->groups.n - 1;
}

static struct ints pairs_of(struct split *b, const struct step *step)
{
	int64_t n = step->npairs ? step->npairs : step->ntransfers;
	int64_t *at = arena_alloc(b->a, 2 * (size_t)n, sizeof(*at));

	for (int64_t i = 0; i < n; i++) {
		at[2 * i] = step->npairs ? step->pairs[i].src : step->transfers[i].src;
		at[2 * i + 1] =
			step->npairs ? step->pairs[i].dst : step->transfers[i].dst;
	}
	return (struct ints){(int32_t)(2 * n), at};
}

static const struct collective_attr *attr_of(struct split *b, const struct plan *plan,
                                             int k)
{
	const struct step *step = &plan->step[k];
	struct collective_attr *at;

	if (!op_communicates(step->op))
		return NULL;
	at = arena_alloc(b->a, 1, sizeof(*at));
	*at = (struct collective_attr){.groups = -1, .channel = 1, .global_ids = true};
	if (step->groups.ngroups)
		at->groups = number_groups(b, &step->groups);
	else
		at->pairs = pairs_of(b, step);
	if (step->op == OP_EXCHANGE || step->ntransfers || step->gathers) {
		at->plan = plan;
		at->step = k;
	}
	return at;
}

/* The plan of a change of layout, which is made once; NULL: sums are planned apart. */
static const struct planned *find_plan(struct split *b, const struct array *array,
                                       const struct resharding *r)
{
	struct {
		const struct dtype *dtype;
		int64_t dim[RANK_MAX];
		int64_t rank, from, to;
	} key;
	struct planned *out;
	const struct problem *p;
	bool fresh;
	int32_t number;

	memset(&key, 0, sizeof(key));
	key.dtype = array->dtype;
	key.rank = array->shape.rank;
	memcpy(key.dim, array->shape.dim, (size_t)key.rank * sizeof(*key.dim));
	key.from = r->from;
	key.to = r->to;
	number = keys_add(&b->plans, &key, sizeof(key), &fresh);
	if (!fresh)
		return &b->planned.at[number];
	out = list_add(&b->planned, b->a);
	*out = (struct planned){0};
	p = new_problem(b, array, &b->layout.at[r->from], &b->layout.at[r->to]);
	out->plan = plan_problem(b, p, r->like);
	if (!out->plan && p->from.nunreduced) {
		struct layout kept = p->from;

		kept.nunreduced = 0;
		if (split_layout(b, kept) == r->to)
			out->plan = plan_sum(b, p);
	}
	if (!out->plan)
		return out;
	out->attr = arena_alloc(b->a, (size_t)out->plan->nsteps + 1, sizeof(*out->attr));
	for (int k = 0; k < out->plan->nsteps; k++)
		out->attr[k] = attr_of(b, out->plan, k);
	return &b->planned.at[number];
}

/* --- steps --- */

enum opcode partition_opcode(enum op op)
{
	switch (op) {
	case OP_ALL_GATHER:
		return HLO_ALL_GATHER;
	case OP_ALL_TO_ALL:
		return HLO_ALL_TO_ALL;
	case OP_PERMUTE:
	case OP_EXCHANGE:
		return HLO_COLLECTIVE_PERMUTE;
	case OP_REDUCE_SCATTER:
		return HLO_REDUCE_SCATTER;
	case OP_ALL_REDUCE:
		return HLO_ALL_REDUCE;
	case OP_SLICE:
		return HLO_DYNAMIC_SLICE;
	default:
		return HLO_COPY;
	}
}

static struct value_type type_of_shape(struct split *b, const struct value_type *t,
                                       const struct shape *shape)
{
	struct value_type out = *t;

	out.rank = shape->rank;
	out.layout = NULL;
	out.dim = arena_dup(b->a, shape->dim, (size_t)shape->rank, sizeof(*out.dim));
	return out;
}

/* A reduction over devices, of what an op reduces on each of them. */
static void reduce_as(struct split *b, struct instruction *op,
                      const struct instruction *like)
{
	op->applies = like->applies;
	for (int32_t k = 0; k < like->ncalled; k++, op->ncalled++)
		*list_add(&b->q->called, b->a) = op_called(b->p, like, k);
}

static int32_t add_step(struct split *b, int32_t value, const struct resharding *r,
                        const struct planned *planned, int k)
{
	const struct step *step = &planned->plan->step[k];
	enum opcode code = partition_opcode(step->op);
	struct value_type t = type_of_shape(b, r->type, &step->local);
	int32_t id = code == HLO_DYNAMIC_SLICE ? split_partition_id(b, r->like) : -1;
	struct instruction *op = split_op(b, r->like, code, &t, 1);
	bool sums = code == HLO_ALL_REDUCE || code == HLO_REDUCE_SCATTER;
	int64_t dim;

	/* The op that the reshard is for may have the same code. */
	op->as.collective = planned->attr[k];
	op->dims = (struct ints){0, NULL};
	op->ncalled = 0;
	b->q->called.n = op->first_called;
	op->applies = (struct span){NULL, 0};
	if (sums && r->reduces)
		reduce_as(b, op, r->like);
	split_operand(b, op, value);
	if (id >= 0) {
		split_operand(b, op, id);
		op->dims = (struct ints){t.rank, t.dim};
	} else if (step->nmoves) {
		dim = code == HLO_REDUCE_SCATTER ? step->move[0].to_dim
		                                 : step->move[0].from_dim;
		if (dim >= 0)
			op->dims =
				(struct ints){1, arena_dup(b->a, &dim, 1, sizeof(dim))};
	}
	b->out->of.at[b->q->op.n - 1] = (int32_t)b->out->reshard.n - 1;
	b->out->step.at[b->q->op.n - 1] = k;
	return op->first_value;
}

/* The array under its own dimensions, after steps over their digits. */
static int32_t as_tile(struct split *b, int32_t value, const struct resharding *r)
{
	struct value_type t = split_type(b, r->type, r->to);
	const struct value_type *is = &b->q->value.at[value].type;
	struct instruction *op;

	if (is->rank == t.rank &&
	    !memcmp(is->dim, t.dim, (size_t)t.rank * sizeof(*t.dim)))
		return value;
	op = split_op(b, r->like, HLO_RESHAPE, &t, 1);
	split_operand(b, op, value);
	return op->first_value;
}

static int32_t reshard(struct split *b, int32_t value, const struct resharding *r);

/* A sum first, then the change of layout: for planners that know no sums. */
static int32_t reshard_apart(struct split *b, int32_t value, const struct resharding *r)
{
	struct resharding sum = *r, move = *r;
	struct layout kept = b->layout.at[r->from];

	kept.nunreduced = 0;
	sum.to = move.from = split_layout(b, kept);
	return reshard(b, reshard(b, value, &sum), &move);
}

static int32_t reshard(struct split *b, int32_t value, const struct resharding *r)
{
	const struct planned *planned;
	struct array array;
	struct reshard *one;

	if (r->from == r->to)
		return value;
	if (!array_of(&array, r->type))
		return as_tile(b, value, r);
	planned = find_plan(b, &array, r);
	if (!planned->plan && b->layout.at[r->from].nunreduced)
		return reshard_apart(b, value, r);
	if (!planned->plan || !planned->plan->nsteps)
		return as_tile(b, value, r);
	one = list_add(&b->out->reshard, b->a);
	*one = (struct reshard){.op = (int32_t)(r->like - b->p->op.at),
	                        .array = array,
	                        .from = b->layout.at[r->from],
	                        .to = b->layout.at[r->to],
	                        .plan = planned->plan,
	                        .region = b->region,
	                        .full_remat = planned->plan->full_remat || b->whole};
	for (int k = 0; k < planned->plan->nsteps; k++)
		value = add_step(b, value, r, planned, k);
	return as_tile(b, value, r);
}

double split_reshard_cost(struct split *b, const struct resharding *r)
{
	const struct planned *planned;
	struct array array;

	if (!array_of(&array, r->type))
		return -1;
	planned = find_plan(b, &array, r);
	if (!planned->plan)
		return -1;
	return b->ask->prices->plan(b->ask->prices->self, planned->plan).cost;
}

/* --- what is made by hand around it --- */

/* A layout behind a first dimension that is split over the axes made by hand. */
static int32_t behind_hand(struct split *b, int32_t layout)
{
	const struct layout l = b->layout.at[layout];
	struct layout out = layout_replicated(l.rank + 1);

	for (int i = 0; i < b->s->mesh.naxes; i++)
		if (b->s->mesh.axis[i].size > 1 &&
		    manual_has_axis(b->hand, &b->s->mesh, i))
			layout_append(&out, 0,
			              (struct part){.axis = i,
			                            .pre = 1,
			                            .size = b->s->mesh.axis[i].size});
	for (int d = 0; d <= l.rank; d++) {
		int n;
		const struct part *part = layout_parts(&l, d, &n);

		for (int k = 0; k < n; k++)
			layout_append(&out, d + 1, part[k]);
	}
	return split_layout(b, out);
}

/*
 * Along axes that are made by hand devices have arrays of their own, which planners are not to
 * take for copies: they are one array with a dimension of these in front.
 */
static int32_t reshard_inside(struct split *b, int32_t value, const struct resharding *r)
{
	struct resharding all = *r;
	struct value_type whole = *r->type, own;
	int64_t *dim = arena_alloc(b->a, (size_t)whole.rank + 1, sizeof(*dim));
	struct instruction *op;

	all.from = behind_hand(b, r->from);
	all.to = behind_hand(b, r->to);
	dim[0] = layout_shards(&b->layout.at[all.from], 0);
	memcpy(dim + 1, whole.dim, (size_t)whole.rank * sizeof(*dim));
	whole.rank++;
	whole.dim = dim;
	whole.layout = NULL;
	all.type = &whole;
	own = split_type(b, &whole, all.from);
	op = split_op(b, r->like, HLO_RESHAPE, &own, 1);
	split_operand(b, op, value);
	return as_tile(b, reshard(b, op->first_value, &all), r);
}

int32_t split_reshard(struct split *b, int32_t value, const struct resharding *r)
{
	if (r->from == r->to)
		return value;
	if (b->hand && r->type->rank < RANK_MAX)
		return reshard_inside(b, value, r);
	return reshard(b, value, r);
}
