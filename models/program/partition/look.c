/* Ops that look elements up by index, on tiles of what they look in. */
#include "program/partition/split.h"
#include "program/propagate_op.h"

#include <math.h>
#include <string.h>

static bool is_indexed(const struct instruction *op)
{
	return op->code == HLO_GATHER || op->code == HLO_SCATTER;
}

/* The number of arrays that are looked up in, behind which the indices stand. */
static int32_t arrays_of(const struct instruction *op)
{
	return op->code == HLO_GATHER ? 1 : (op->noperands - 1) / 2;
}

/*
 * Whether an index counts elements of a dimension that is split, of which a device has some: its
 * slices there are of one element.
 */
static bool is_shifted(const struct instruction *op, const struct op_rule *rule,
                       const struct axes *factor, int32_t dim)
{
	const struct index_attr *g = op->as.gather;
	int32_t f = split_factor(rule, factor, 0, dim);

	if (f < 0 || ints_have(g->operand_batching_dims, dim))
		return false;
	return ints_have(g->collapsed_slice_dims, dim) ||
	       rule->factor.at[f].kind == FACTOR_REDUCE;
}

/* --- what can be split --- */

/* Whether an update is in one tile wherever it is: of one element, or at a known place. */
static bool in_one_tile(const struct split *b, const struct instruction *op,
                        int32_t dim, int64_t shards)
{
	int64_t whole = b->p->value.at[op_operand(b->p, op, 0)].type.dim[dim];
	int64_t part = b->p->value.at[op_operand(b->p, op, 1)].type.dim[dim];
	int64_t tile = (whole + shards - 1) / shards, at;
	const struct instruction *index =
		&b->p->op.at[b->p->value.at[op_operand(b->p, op, 2 + dim)].op];

	if (part == 1)
		return true;
	if (index->code != HLO_CONSTANT || !index->as.constant ||
	    !index->as.constant->known)
		return false;
	at = (int64_t)index->as.constant->value;
	at = at < 0 ? 0 : at > whole - part ? whole - part : at;
	return at / tile == (at + part - 1) / tile;
}

static bool is_update(const struct split *b, const struct instruction *op, int32_t dim)
{
	return op->code == HLO_DYNAMIC_UPDATE_SLICE &&
	       b->p->value.at[op_operand(b->p, op, 0)].type.dim[dim] !=
	               b->p->value.at[op_operand(b->p, op, 1)].type.dim[dim];
}

void split_looks_keep(struct split *b, const struct instruction *op,
                      const struct op_rule *rule, struct axes *factor)
{
	int32_t rank = rule->tensor[0].rank;

	for (int32_t d = 0; d < rank; d++) {
		int32_t f;

		if (is_update(b, op, d)) {
			f = split_factor(rule, factor, 1, d);
			if (f >= 0)
				factor[f].n = 0;
			f = split_factor(rule, factor, 0, d);
			if (f >= 0 && !in_one_tile(b, op, d, axes_shards(&factor[f])))
				factor[f].n = 0;
		}
		if (is_indexed(op) && is_shifted(op, rule, factor, d) &&
		    !ints_have(op->as.gather->start_index_map, d))
			factor[split_factor(rule, factor, 0, d)].n = 0;
	}
}

/* --- indices --- */

/* The first element of a device's tile along a dimension, a scalar. */
static int32_t tile_start(struct split *b, const struct instruction *op, int32_t value,
                          int32_t layout, int32_t dim)
{
	int64_t *at = split_tiles(b, layout, dim);

	for (int32_t d = 0; d < b->s->mesh.ndevices; d++)
		at[d] *= b->q->value.at[value].type.dim[dim];
	return split_table(b, op, at);
}

static struct value_type s32_like(struct split *b, int32_t value)
{
	struct value_type t = b->q->value.at[value].type;

	t.dtype = dtype_find("s32", 3);
	t.layout = NULL;
	return t;
}

static int32_t as_s32(struct split *b, const struct instruction *op, int32_t value)
{
	const struct value_type t = s32_like(b, value);

	if (b->q->value.at[value].type.dtype == t.dtype)
		return value;
	return split_made(b, op, HLO_CONVERT, &t, &value, 1);
}

static int32_t reshaped(struct split *b, const struct instruction *op, int32_t value,
                        int32_t rank, const int64_t *dim)
{
	struct value_type t = b->q->value.at[value].type;

	t.rank = rank;
	t.dim = arena_dup(b->a, dim, (size_t)rank, sizeof(*dim));
	t.layout = NULL;
	return split_made(b, op, HLO_RESHAPE, &t, &value, 1);
}

/* Scalars as one vector along a dimension of an array's shape. */
static int32_t along(struct split *b, const struct instruction *op, int32_t *scalar,
                     int32_t n, int32_t dim, const struct value_type *like)
{
	const int64_t one = 1, size = n;
	struct value_type t = {.dtype = like->dtype, .rank = 1};
	int64_t to = dim;

	for (int32_t i = 0; i < n; i++)
		scalar[i] = reshaped(b, op, scalar[i], 1, &one);
	t.dim = arena_dup(b->a, &size, 1, sizeof(size));
	if (n > 1) {
		scalar[0] = split_made(b, op, HLO_CONCATENATE, &t, scalar, n);
		split_maker(b, scalar[0])->dims =
			(struct ints){1, arena_dup(b->a, &(int64_t){0}, 1, sizeof(to))};
	}
	scalar[0] = split_made(b, op, HLO_BROADCAST, like, scalar, 1);
	split_maker(b, scalar[0])->dims =
		(struct ints){1, arena_dup(b->a, &to, 1, sizeof(to))};
	return scalar[0];
}

/* One component of the vectors of indices, without their dimension. */
static int32_t component(struct split *b, const struct instruction *op, int32_t indices,
                         int32_t i)
{
	const struct value_type t = b->q->value.at[indices].type;
	int32_t v = (int32_t)op->as.gather->index_vector_dim, n = 0;
	int64_t dim[RANK_MAX], start[RANK_MAX] = {0}, limit[RANK_MAX], stride[RANK_MAX];
	struct value_type part = t;
	struct slice_attr at;

	if (v >= t.rank)
		return indices;
	for (int32_t d = 0; d < t.rank; d++) {
		limit[d] = t.dim[d];
		stride[d] = 1;
		if (d != v)
			dim[n++] = t.dim[d];
	}
	start[v] = i;
	limit[v] = i + 1;
	at.start = (struct ints){t.rank, arena_dup(b->a, start, (size_t)t.rank, 8)};
	at.limit = (struct ints){t.rank, arena_dup(b->a, limit, (size_t)t.rank, 8)};
	at.stride = (struct ints){t.rank, arena_dup(b->a, stride, (size_t)t.rank, 8)};
	limit[v] = 1;
	part.dim = arena_dup(b->a, limit, (size_t)t.rank, sizeof(*limit));
	indices = split_made(b, op, HLO_SLICE, &part, &indices, 1);
	split_maker(b, indices)->as.slice = arena_dup(b->a, &at, 1, sizeof(at));
	return reshaped(b, op, indices, n, dim);
}

/* Indices of elements of a device's own tile; in `*inside` which of them are there. */
static int32_t shift(struct split *b, const struct instruction *op,
                     const struct op_rule *rule, const struct axes *factor,
                     const int32_t *layout, const int32_t *operand, int32_t *inside)
{
	const struct index_attr *g = op->as.gather;
	int32_t indices = as_s32(b, op, operand[arrays_of(op)]);
	const struct value_type t = b->q->value.at[indices].type;
	int32_t n = g->start_index_map.n, start[RANK_MAX];

	for (int32_t i = 0; i < n; i++) {
		int32_t d = (int32_t)g->start_index_map.at[i];

		start[i] = is_shifted(op, rule, factor, d)
		                   ? tile_start(b, op, operand[0], layout[0], d)
		                   : split_number(b, op, t.dtype, 0);
	}
	if (g->index_vector_dim < t.rank)
		start[0] = along(b, op, start, n, (int32_t)g->index_vector_dim, &t);
	else
		start[0] = split_spread(b, op, start[0], &t);
	indices = split_both(b, op, HLO_SUBTRACT, indices, start[0]);
	for (int32_t i = 0; i < n && op->code == HLO_GATHER; i++) {
		int32_t d = (int32_t)g->start_index_map.at[i], here;

		if (!is_shifted(op, rule, factor, d) ||
		    rule->factor.at[split_factor(rule, factor, 0, d)].kind == FACTOR_PASS)
			continue;
		here = split_inside(b, op, component(b, op, indices, i), 0,
		                    b->q->value.at[operand[0]].type.dim[d]);
		*inside = *inside < 0 ? here : split_both(b, op, HLO_AND, *inside, here);
	}
	return indices;
}

/* --- sums --- */

/* What changes nothing when it is put together with others. */
static double identity(enum opcode code, const struct dtype *dtype)
{
	bool real = dtype->name[0] == 'f' || dtype->name[0] == 'b';
	double most =
		real ? INFINITY : ldexp(1, dtype->bits - (dtype->name[0] == 's')) - 1;
	double least = real ? -INFINITY : dtype->name[0] == 's' ? -most - 1 : 0;

	switch (code) {
	case HLO_MULTIPLY:
		return 1;
	case HLO_MINIMUM:
		return most;
	case HLO_MAXIMUM:
		return least;
	case HLO_AND:
		return dtype->name[0] == 's' ? -1 : most;
	default:
		return 0;
	}
}

/*
 * Where the updates are split each device adds its own to an array: to what was there on one
 * of them alone, to nothing on the others.
 */
static void clear_others(struct split *b, const struct instruction *op,
                         const struct op_rule *rule, const struct axes *factor,
                         const int32_t *layout, int32_t *operand)
{
	int32_t n = arrays_of(op), devices = b->s->mesh.ndevices, first = -1;
	int64_t *others = arena_alloc(b->a, (size_t)devices, sizeof(*others));
	bool any = false;

	for (int32_t d = 0; d < rule->tensor[n].rank; d++) {
		int32_t f = split_factor(rule, factor, n, d);
		int64_t *tile;

		if (f < 0 || rule->factor.at[f].kind != FACTOR_REDUCE)
			continue;
		any = true;
		tile = split_tiles(b, layout[n], d);
		for (int32_t i = 0; i < devices; i++)
			others[i] += tile[i];
	}
	if (!any)
		return;
	first = split_inside(b, op, split_table(b, op, others), 0, 1);
	for (int32_t k = 0; k < n; k++) {
		const struct value_type t = b->q->value.at[operand[k]].type;
		double none = identity(op_applied(b->p, op), t.dtype);
		int32_t in[3];

		in[0] = split_spread(b, op, first, &t);
		in[1] = operand[k];
		in[2] = split_spread(b, op, split_number(b, op, t.dtype, none), &t);
		operand[k] = split_made(b, op, HLO_SELECT, &t, in, 3);
	}
}

/* --- the ops --- */

/* The place of an update among a device's own elements. */
static int32_t shift_update(struct split *b, const struct instruction *op,
                            const struct op_rule *rule, const struct axes *factor,
                            const int32_t *layout, int32_t *operand)
{
	int32_t inside = -1;

	for (int32_t d = 0; d < rule->tensor[0].rank; d++) {
		const struct value_type *t = &b->q->value.at[operand[0]].type;
		const struct value_type *part = &b->q->value.at[operand[1]].type;
		int32_t at, here;

		if (!is_update(b, op, d) || split_factor(rule, factor, 0, d) < 0)
			continue;
		at = split_both(b, op, HLO_SUBTRACT, as_s32(b, op, operand[2 + d]),
		                tile_start(b, op, operand[0], layout[0], d));
		here = split_inside(b, op, at, 0, t->dim[d] - part->dim[d] + 1);
		inside = inside < 0 ? here : split_both(b, op, HLO_AND, inside, here);
		operand[2 + d] = at;
	}
	return inside;
}

int32_t split_looks_take(struct split *b, const struct instruction *op,
                         const struct op_rule *rule, const struct axes *factor,
                         const int32_t *layout, int32_t *operand)
{
	bool shifts = false;
	int32_t inside = -1;

	if (op->code == HLO_DYNAMIC_UPDATE_SLICE)
		return shift_update(b, op, rule, factor, layout, operand);
	if (!is_indexed(op) || !rule->factor.n)
		return -1;
	for (int32_t d = 0; d < rule->tensor[0].rank; d++)
		shifts |= is_shifted(op, rule, factor, d);
	if (shifts)
		operand[arrays_of(op)] =
			shift(b, op, rule, factor, layout, operand, &inside);
	if (op->code == HLO_SCATTER)
		clear_others(b, op, rule, factor, layout, operand);
	return inside;
}

/* A condition in all dimensions of a result but those of the slices. */
static int32_t spread_inside(struct split *b, const struct instruction *op,
                             int32_t inside, const struct value_type *type)
{
	struct value_type t = *type;
	int64_t dims[RANK_MAX];
	int32_t n = 0;

	t.dtype = b->q->value.at[inside].type.dtype;
	t.layout = NULL;
	for (int32_t d = 0; d < t.rank && op->code == HLO_GATHER; d++)
		if (!ints_have(op->as.gather->offset_dims, d))
			dims[n++] = d;
	inside = split_made(b, op, HLO_BROADCAST, &t, &inside, 1);
	split_maker(b, inside)->dims =
		(struct ints){n, arena_dup(b->a, dims, (size_t)n, sizeof(*dims))};
	return inside;
}

int32_t split_looks_mask(struct split *b, const struct instruction *op, int32_t value,
                         int32_t inside, int32_t before)
{
	const struct value_type t = b->q->value.at[value].type;
	int32_t in[3];

	if (inside < 0)
		return value;
	in[0] = spread_inside(b, op, inside, &t);
	in[1] = value;
	in[2] = before;
	if (op->code == HLO_GATHER)
		in[2] = split_spread(b, op, split_number(b, op, t.dtype, 0), &t);
	return split_made(b, op, HLO_SELECT, &t, in, 3);
}

void split_looks_set(struct split *b, const struct instruction *op,
                     struct instruction *added)
{
	const struct value_type *whole = &b->p->value.at[op_operand(b->p, op, 0)].type;
	const struct value_type *tile = &b->q->value.at[op_operand(b->q, added, 0)].type;
	struct index_attr g;
	int64_t *size;

	if (op->code != HLO_GATHER)
		return;
	g = *added->as.gather;
	size = arena_dup(b->a, g.slice_sizes.at, (size_t)g.slice_sizes.n, sizeof(*size));
	for (int32_t d = 0; d < g.slice_sizes.n && d < whole->rank; d++)
		if (size[d] == whole->dim[d])
			size[d] = tile->dim[d];
	g.slice_sizes.at = size;
	added->as.gather = arena_dup(b->a, &g, 1, sizeof(g));
}
