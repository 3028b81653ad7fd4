/*
 * Matmuls part by part beside permutes: XLA's windowed einsums (xla/service/spmd/dot_handler.cc,
 * EmitWindowedDotGeneral). XLA writes a loop whose body is one part; here the parts stand one
 * behind the other, which runs alike, for the loop permutes on all of its trips but the last.
 * Its option that sends both ways at once is left out, as it is off by default.
 */
#include "cost/compute.h"
#include "program/partition/choose.h"
#include "program/partition/row.h"
#include "program/propagate_op.h"

#include <math.h>

/* A matmul that is being made. */
struct turning {
	struct split *b;
	const struct instruction *op;
	const struct op_rule *rule;
	const struct einsum_ring *ring;
	int32_t operand[2];
	int32_t layout;      /* of what goes round */
	int64_t parts, size; /* how many, and of each the elements along the factor */
	struct value_type part, result; /* of one matmul; of all on a device */
};

/* The dimension of a tensor that is the ring's factor, -1: it has not got it. */
static int32_t ring_dim(const struct turning *t, int32_t tensor)
{
	for (int32_t d = 0; d < t->rule->tensor[tensor].rank; d++)
		if (t->rule->tensor[tensor].dim[d].at[0] == t->ring->factor)
			return d;
	return -1;
}

struct axes *split_ring_ends(struct split *b, const struct op_rule *rule,
                             const struct axes *factor, const struct einsum_ring *ring)
{
	size_t n = (size_t)rule->factor.n;
	struct axes *out = arena_dup(b->a, factor, n, sizeof(*out));

	for (size_t f = 0; f < n && ring->tensor == 2; f++)
		if (rule->factor.at[f].kind == FACTOR_REDUCE)
			out[f].n = 0;
	out[ring->factor] = ring->axes;
	return out;
}

/* The place of the part that each device works on: its own tile, or one further on. */
static int32_t place(const struct turning *t, const int64_t *tile, int64_t ahead)
{
	int32_t n = t->b->s->mesh.ndevices;
	int64_t *at = arena_alloc(t->b->a, (size_t)n, sizeof(*at));

	for (int32_t d = 0; d < n; d++)
		at[d] = (tile[d] + ahead) % t->parts * t->size;
	return split_table(t->b, t->op, at);
}

/* The matmul of one part: of operands that have all of the factor, the part at `from`. */
static int32_t multiply(const struct turning *t, int32_t round, int32_t from)
{
	struct instruction *added;
	int32_t in[2];

	for (int32_t k = 0; k < 2; k++) {
		const struct row row = {.b = t->b, .like = t->op, .dim = ring_dim(t, k)};

		in[k] = k == t->ring->tensor ? round : t->operand[k];
		if (k != t->ring->tensor && row.dim >= 0)
			in[k] = row_from(&row, in[k], from, t->size);
	}
	added = split_op(t->b, t->op, t->op->code, &t->part, 1);
	split_operand(t->b, added, in[0]);
	split_operand(t->b, added, in[1]);
	return added->first_value;
}

/* Puts a part of the result in its place. */
static int32_t put(const struct turning *t, int32_t all, int32_t part, int32_t from)
{
	int32_t rank = t->result.rank, dim = ring_dim(t, 2);
	int32_t *in = arena_alloc(t->b->a, (size_t)rank + 2, sizeof(*in));

	in[0] = all;
	in[1] = part;
	for (int32_t d = 0; d < rank; d++)
		in[2 + d] =
			d == dim ? from
				 : split_number(t->b, t->op, dtype_find("s32", 3), 0);
	return split_made(t->b, t->op, HLO_DYNAMIC_UPDATE_SLICE, &t->result, in,
	                  2 + rank);
}

/* Each device's from the one that has the next tile. */
static int32_t turn(const struct turning *t, const struct row *row, int32_t value)
{
	int64_t *from = arena_alloc(t->b->a, (size_t)t->parts, sizeof(*from));

	for (int64_t i = 0; i < t->parts; i++)
		from[i] = (i + 1) % t->parts;
	return row_permute(row, value, from);
}

/* An operand goes round; parts of the result are put together or added up. */
static int32_t turn_operand(const struct turning *t)
{
	int32_t value = t->operand[t->ring->tensor], all = -1;
	const struct row row =
		split_row(t->b, t->op, value, t->layout, ring_dim(t, t->ring->tensor));
	bool puts = ring_dim(t, 2) >= 0;

	if (puts)
		all = split_spread(t->b, t->op,
		                   split_number(t->b, t->op, t->result.dtype, 0),
		                   &t->result);
	for (int64_t i = 0; i < t->parts; i++) {
		int32_t next = i + 1 < t->parts ? turn(t, &row, value) : -1;
		int32_t from = place(t, row.tile, i), part = multiply(t, value, from);

		if (puts)
			all = put(t, all, part, from);
		else
			all = i ? split_both(t->b, t->op, HLO_ADD, all, part) : part;
		value = next;
	}
	return all;
}

/* The result goes round: each device adds its part, the one that keeps it last. */
static int32_t turn_result(const struct turning *t)
{
	const int64_t *tile = split_tiles(t->b, t->layout, ring_dim(t, 2));
	int32_t sum = multiply(t, -1, place(t, tile, 1));
	const struct row row = split_row(t->b, t->op, sum, t->layout, ring_dim(t, 2));

	for (int64_t i = 1; i < t->parts; i++) {
		int32_t come = turn(t, &row, sum);

		sum = split_both(t->b, t->op, HLO_ADD, come,
		                 multiply(t, -1, place(t, tile, i + 1)));
	}
	return sum;
}

static struct value_type with_size(struct split *b, struct value_type type, int32_t dim,
                                   int64_t size)
{
	int64_t *at = arena_dup(b->a, type.dim, (size_t)type.rank, sizeof(*at));

	if (dim >= 0)
		at[dim] = size;
	type.dim = at;
	return type;
}

int32_t split_ring(struct split *b, const struct instruction *op,
                   const struct op_rule *rule, const struct axes *factor,
                   const struct einsum_ring *ring)
{
	struct turning t = {.b = b, .op = op, .rule = rule, .ring = ring};
	const struct axes *ends = split_ring_ends(b, rule, factor, ring);

	t.parts = axes_shards(&ring->axes);
	t.size = rule->factor.at[ring->factor].size / t.parts;
	for (int32_t k = 0; k < 2; k++) {
		int32_t to = split_layout(
			b, split_layout_of(rule, k, k == ring->tensor ? ends : factor));

		t.operand[k] = split_value(b, op, op_operand(b->p, op, k), to);
	}
	t.layout = split_layout(b, split_layout_of(rule, ring->tensor, ends));
	t.result = split_type(b, &b->p->value.at[op->first_value].type,
	                      split_layout(b, split_layout_of(rule, 2, factor)));
	t.part = with_size(b, t.result, ring_dim(&t, 2), t.size);
	return ring->tensor == 2 ? turn_result(&t) : turn_operand(&t);
}

/* --- whether it pays --- */

/* The seconds of the matmul as one kernel, on whole operands; < 0: not known. */
static double whole_s(const struct split *b, const struct op_rule *rule,
                      const struct axes *factor)
{
	const struct value_type *in = &b->p->value.at[rule->tensor[0].value].type;
	struct compute_ask ask = {COMPUTE_MATMUL, in->dtype, 1, 1, 1, 1, 2, 0};
	double tensor[3] = {1, 1, 1};

	for (int32_t f = 0; f < rule->factor.n; f++) {
		double n = (double)(rule->factor.at[f].size / axes_shards(&factor[f]));
		bool has[3] = {false, false, false};

		for (int32_t t = 0; t < 3; t++)
			for (int32_t d = 0; d < rule->tensor[t].rank; d++)
				has[t] |= rule->tensor[t].dim[d].at[0] == f;
		for (int32_t t = 0; t < 3; t++)
			tensor[t] *= has[t] ? n : 1;
		*(!has[2] ? &ask.k : !has[1] ? &ask.m : !has[0] ? &ask.n : &ask.b) *= n;
		ask.flops *= n;
	}
	for (int32_t t = 0; t < 3; t++)
		ask.bytes += tensor[t] *
		             b->p->value.at[rule->tensor[t].value].type.dtype->bits / 8;
	return compute_op_s(b->ask->machine, &ask);
}

bool split_ring_pays(struct split *b, const struct instruction *op,
                     const struct op_rule *rule, const struct axes *factor,
                     const struct einsum_ring *ring)
{
	const struct axes *ends = split_ring_ends(b, rule, factor, ring);
	const struct value_type *type =
		&b->p->value.at[rule->tensor[ring->tensor].value].type;
	struct resharding gather = {.like = op, .type = type};
	double parts = (double)axes_shards(&ring->axes), compute_s, gather_s;

	if (!b->ask->machine)
		return true;
	gather.from = split_layout(b, split_layout_of(rule, ring->tensor, ends));
	gather.to = split_layout(b, split_layout_of(rule, ring->tensor, factor));
	compute_s = whole_s(b, rule, factor);
	gather_s = split_reshard_cost(b, &gather);
	if (compute_s < 0 || gather_s < 0)
		return true;
	return fmax(compute_s, gather_s) + 2 * gather_s / parts < compute_s + gather_s;
}
