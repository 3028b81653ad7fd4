/* XLA's choice (xla/service/spmd: spmd_partitioner.cc, dot_handler.cc). */
#include "program/partition/choose.h"
#include "program/propagate_op.h"

#include <string.h>

static bool same_axes(const struct axes *a, const struct axes *b)
{
	struct axes common;

	return axes_compare(&common, a, b) == AXES_EQUAL;
}

static bool has_tensor(const struct choosing *c, int32_t t)
{
	return c->tensor[t] && c->rule->tensor[t].rank;
}

/* Takes the axes of a tensor's factors of these kinds that meet none that are taken already. */
static void take_from(struct axes *out, const struct choosing *c, int32_t t,
                      unsigned kinds)
{
	for (int32_t f = 0; f < c->rule->factor.n; f++) {
		struct axes axes;

		if (!(kinds >> c->rule->factor.at[f].kind & 1) || out[f].n ||
		    !choose_axes(&axes, c, t, f))
			continue;
		for (int32_t other = 0; other < c->rule->factor.n; other++)
			choose_cut(&axes, &out[other]);
		out[f] = axes;
	}
}

enum {
	PASS = 1u << FACTOR_PASS,
	REDUCE = 1u << FACTOR_REDUCE,
	MOVED = 1u << FACTOR_PERMUTE,
};

static bool same_layouts(const struct choosing *c, int32_t a, int32_t b)
{
	for (int32_t f = 0; f < c->rule->factor.n; f++) {
		struct axes x, y;

		choose_axes(&x, c, a, f);
		choose_axes(&y, c, b, f);
		if (!same_axes(&x, &y))
			return false;
	}
	return true;
}

/* Where two operands are laid out alike, else as the result is. */
static void choose_elementwise(struct axes *out, const struct choosing *c)
{
	int32_t n = c->rule->noperands, from = n;

	for (int32_t a = 0; a < n && from == n; a++)
		for (int32_t b = a + 1; b < n && from == n; b++)
			if (has_tensor(c, a) && has_tensor(c, b) && same_layouts(c, a, b))
				from = a;
	take_from(out, c, from, PASS);
}

/* Whether a factor has axes behind one of its dimension that is not full: a strided tile. */
static bool is_strided(const struct op_rule *r, const struct axes *out, int32_t factor)
{
	if (!out[factor].n)
		return false;
	for (int32_t t = 0; t < r->ntensors; t++)
		for (int32_t d = 0; d < r->tensor[t].rank; d++) {
			const struct rule_dim *dim = &r->tensor[t].dim[d];
			bool full = true;

			for (int32_t k = 0; k < dim->n; k++) {
				int32_t f = dim->at[k];

				if (f == factor && !full)
					return true;
				full &= axes_shards(&out[f]) == r->factor.at[f].size;
			}
		}
	return false;
}

static bool any_strided(const struct choosing *c, const struct axes *out)
{
	for (int32_t f = 0; f < c->rule->factor.n; f++)
		if (is_strided(c->rule, out, f))
			return true;
	return false;
}

/* --- reshapes --- */

/* Whether all that a tensor is split over lies on factors that the other one has, too. */
static bool maps(const struct choosing *c, int32_t t, int32_t to)
{
	int64_t shards = 1, mapped = 1;

	for (int32_t d = 0; d < c->rule->tensor[t].rank; d++)
		shards *= axes_shards(&c->tensor[t]->dim[d].axes);
	for (int32_t f = 0; f < c->rule->factor.n; f++) {
		struct axes axes, other;

		if (choose_axes(&axes, c, t, f) &&
		    (choose_axes(&other, c, to, f) || !c->tensor[to]))
			mapped *= axes_shards(&axes);
	}
	return shards == mapped;
}

static void choose_reshape(struct axes *out, const struct choosing *c)
{
	for (int32_t t = 2; t-- > 0;) {
		if (!c->tensor[t] || !maps(c, t, 1 - t))
			continue;
		take_from(out, c, t, PASS);
		if (!any_strided(c, out))
			return;
		memset(out, 0, (size_t)c->rule->factor.n * sizeof(*out));
	}
}

/* --- dimensions that must be whole --- */

/* Axes of what must be whole go to another factor of all arrays that they divide. */
static void choose_moved(struct axes *out, const struct choosing *c)
{
	int32_t result = c->rule->noperands;

	take_from(out, c, result, PASS);
	for (int32_t f = 0; f < c->rule->factor.n; f++) {
		struct axes axes;
		enum factor_kind kind = c->rule->factor.at[f].kind;

		if (kind == FACTOR_PASS || !choose_axes(&axes, c, result, f))
			continue;
		for (int32_t to = 0; to < c->rule->factor.n && axes.n; to++) {
			const struct factor *at = &c->rule->factor.at[to];
			int64_t n = axes_shards(&out[to]) * axes_shards(&axes);

			if (at->kind != FACTOR_PASS || at->size % n)
				continue;
			for (int32_t i = 0; i < axes.n; i++)
				axes_append(&out[to], axes.at[i]);
			axes.n = 0;
		}
	}
}

/* --- matmuls --- */

/* Windowed einsums are of no more parts (dot_handler.cc, PartitionBaseCase). */
enum { RING_MOST = 32 };

enum part_of { BATCH, LEFT, RIGHT, CONTRACTED, PARTS_OF };

/* What is left of a matmul's layouts once some axes are given out: [factors] each. */
struct dot {
	const struct choosing *c;
	struct axes *out;
	struct einsum_ring *ring;
	struct axes *side[3]; /* lhs, rhs, result */
	enum part_of *part;   /* [factors]; PARTS_OF: of none */
	int64_t devices;
	bool loose; /* numbers of shards are compared, whichever devices have them */
};

static int64_t part_shards(const struct dot *d, const struct axes *axes,
                           enum part_of part)
{
	int64_t n = 1;

	for (int32_t f = 0; f < d->c->rule->factor.n; f++)
		if (d->part[f] == part)
			n *= axes_shards(&axes[f]);
	return n;
}

static bool part_same(const struct dot *d, int a, int b, enum part_of part)
{
	for (int32_t f = 0; f < d->c->rule->factor.n; f++)
		if (d->part[f] == part &&
		    (d->loose ? axes_shards(&d->side[a][f]) != axes_shards(&d->side[b][f])
		              : !same_axes(&d->side[a][f], &d->side[b][f])))
			return false;
	return true;
}

/* Splits a part as one side has it, and takes these axes from all that is left. */
static void give(struct dot *d, int side, enum part_of part)
{
	int32_t n = (int32_t)d->c->rule->factor.n;

	d->devices /= part_shards(d, d->side[side], part);
	for (int32_t f = 0; f < n; f++)
		if (d->part[f] == part && !d->out[f].n)
			d->out[f] = d->side[side][f];
	for (int32_t f = 0; f < n; f++) {
		if (d->part[f] != part)
			continue;
		for (int i = 0; i < 3; i++) {
			d->side[i][f].n = 0;
			for (int32_t other = 0; other < n; other++)
				choose_cut(&d->side[i][other], &d->out[f]);
		}
	}
}

static bool all_on(const struct dot *d, int side, enum part_of part)
{
	return d->devices > 1 && part_shards(d, d->side[side], part) == d->devices;
}

static bool agree_on(const struct dot *d, int a, int b, enum part_of part)
{
	return part_shards(d, d->side[a], part) > 1 && part_same(d, a, b, part);
}

static double tile_bytes(const struct dot *d, int side)
{
	const struct value_type *t =
		&d->c->program->value.at[d->c->rule->tensor[side].value].type;
	double bytes = (double)value_type_bytes(t);

	for (int32_t f = 0; f < d->c->rule->factor.n; f++)
		bytes /= (double)axes_shards(&d->side[side][f]);
	return bytes;
}

/* All devices on the batch, of two arrays alike: the third one follows. */
static bool give_batch(struct dot *d)
{
	for (int side = 0; side < 2; side++)
		if (all_on(d, side, BATCH) &&
		    (part_same(d, 0, 1, BATCH) || part_same(d, side, 2, BATCH)))
			return give(d, side, BATCH), true;
	return false;
}

/* All devices on an operand's free dimensions, as the result has them. */
static bool is_free(const struct dot *d, int side)
{
	enum part_of free = side ? RIGHT : LEFT;

	return all_on(d, side, free) && part_same(d, side, 2, free);
}

static bool give_free(struct dot *d)
{
	for (int side = 0; side < 2; side++)
		if (is_free(d, side))
			return give(d, side, side ? RIGHT : LEFT), true;
	return false;
}

/* Lets an array that is large enough go round, along the one factor that all devices split. */
static bool set_ring(struct dot *d, int side)
{
	const struct choosing *c = d->c;
	const struct value_type *t =
		&c->program->value.at[c->rule->tensor[side].value].type;
	double bytes = (double)value_type_bytes(t);
	int32_t factor = -1;

	for (int32_t f = 0; f < c->rule->factor.n; f++) {
		struct axes has;

		if (choose_axes(&has, c, side, f))
			bytes /= (double)axes_shards(&d->out[f]);
		if (axes_shards(&d->side[side][f]) == d->devices)
			factor = f;
	}
	if (factor < 0 || bytes < c->ring_bytes ||
	    c->rule->factor.at[factor].size % d->devices)
		return false;
	*d->ring = (struct einsum_ring){side, factor, d->side[side][factor]};
	return true;
}

/* A windowed einsum: an operand that would be gathered goes round, or the result. */
static bool give_ring(struct dot *d)
{
	if (d->c->op->code != HLO_DOT || d->c->ring_bytes <= 0 || d->devices > RING_MOST)
		return false;
	for (int side = 0; side < 2; side++)
		if (is_free(d, side) && set_ring(d, 1 - side))
			return give(d, side, side ? RIGHT : LEFT), true;
	if (all_on(d, 0, CONTRACTED) && part_same(d, 0, 1, CONTRACTED) &&
	    (all_on(d, 2, LEFT) || all_on(d, 2, RIGHT)) && set_ring(d, 2))
		return give(d, 0, CONTRACTED), true;
	return false;
}

/* Groups of devices: batch, free dimensions, contracted ones, as far as two arrays agree. */
static bool give_group(struct dot *d)
{
	bool left = agree_on(d, 0, 2, LEFT), right = agree_on(d, 1, 2, RIGHT);

	for (int side = 0; side < 2; side++)
		if (agree_on(d, side, 2, BATCH))
			return give(d, side, BATCH), true;
	/* The side is kept of which the other's gathers cost less. */
	if (left && right)
		left = (double)part_shards(d, d->side[0], LEFT) * tile_bytes(d, 1) <
		       (double)part_shards(d, d->side[1], RIGHT) * tile_bytes(d, 0);
	if (left)
		return give(d, 0, LEFT), true;
	if (right)
		return give(d, 1, RIGHT), true;
	if (agree_on(d, 0, 1, CONTRACTED))
		return give(d, 0, CONTRACTED), true;
	return false;
}

/* Groups again, where two arrays are split into as many parts, but over other devices. */
static bool give_regrouped(struct dot *d)
{
	bool given;

	d->loose = true;
	given = give_group(d);
	d->loose = false;
	return given;
}

/* What is left: as the result has it, unless one operand alone says how to sum. */
static void give_rest(struct dot *d)
{
	bool free_result = true;

	for (int32_t f = 0; f < d->c->rule->factor.n; f++)
		free_result &= d->side[2][f].n == 0;
	for (int side = 0; side < 2 && free_result; side++) {
		bool other = true;

		for (int32_t f = 0; f < d->c->rule->factor.n; f++)
			other &= d->side[1 - side][f].n == 0;
		if (other && all_on(d, side, CONTRACTED) &&
		    tile_bytes(d, side) * (double)d->devices > tile_bytes(d, 2)) {
			give(d, side, CONTRACTED);
			return;
		}
	}
	give(d, 2, BATCH);
	give(d, 2, LEFT);
	give(d, 2, RIGHT);
}

/*
 * Which part of a matmul a factor is, by the arrays that have it. What a convolution's window
 * moves over is of its left operand.
 */
static enum part_of part_of(const struct choosing *c, int32_t f)
{
	struct axes axes;
	bool left = choose_axes(&axes, c, 0, f), right = choose_axes(&axes, c, 1, f);
	bool result = choose_axes(&axes, c, 2, f);

	if (c->rule->factor.at[f].kind == FACTOR_REDUCE)
		return left && right ? CONTRACTED : PARTS_OF;
	if (c->rule->factor.at[f].kind == FACTOR_REPLICATE || !result)
		return PARTS_OF;
	return left && right ? BATCH : left ? LEFT : right ? RIGHT : PARTS_OF;
}

static void choose_dot(struct axes *out, struct einsum_ring *ring,
                       const struct choosing *c)
{
	size_t n = (size_t)c->rule->factor.n;
	struct dot d = {.c = c, .out = out, .ring = ring, .devices = c->mesh->ndevices};

	d.part = arena_alloc(c->a, n + 1, sizeof(*d.part));
	for (int i = 0; i < 3; i++)
		d.side[i] = arena_alloc(c->a, n + 1, sizeof(**d.side));
	for (int32_t f = 0; f < c->rule->factor.n; f++) {
		d.part[f] = part_of(c, f);
		for (int i = 0; i < 3 && d.part[f] != PARTS_OF; i++)
			choose_axes(&d.side[i][f], c, i, f);
	}
	while (give_batch(&d) || give_ring(&d) || give_free(&d) || give_group(&d) ||
	       give_regrouped(&d))
		;
	give_rest(&d);
}

/* --- all ops --- */

void choose_xla(struct axes *out, struct einsum_ring *ring, const struct choosing *c)
{
	int32_t result = c->rule->noperands;
	enum opcode code = c->op->code;

	memset(out, 0, (size_t)c->rule->factor.n * sizeof(*out));
	ring->tensor = -1;
	if (!c->tensor[result])
		return;
	if ((code == HLO_DOT || code == HLO_CONVOLUTION) && c->tensor[0] && c->tensor[1])
		choose_dot(out, ring, c);
	else if (code == HLO_REDUCE && c->tensor[0])
		take_from(out, c, 0, PASS | REDUCE);
	else if (c->rule->elementwise)
		choose_elementwise(out, c);
	else if (code == HLO_RESHAPE)
		choose_reshape(out, c);
	else if (code == HLO_CONCATENATE || code == HLO_SORT)
		choose_moved(out, c);
	else if (code == HLO_GATHER || code == HLO_SCATTER)
		choose_look(out, c);
	else if (code != HLO_RNG_BIT_GENERATOR)
		take_from(out, c, result, PASS | MOVED);
	for (int32_t f = 0; f < c->rule->factor.n; f++)
		if (is_strided(c->rule, out, f))
			out[f].n = 0;
}
