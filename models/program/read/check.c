/* What every reader of an op's attributes may rely on is checked once, for both texts. */
#include "program/read/build.h"

#include "base/assert.h"

#include <string.h>

struct checked {
	struct build *b;
	const struct program *p;
	const struct instruction *op;
	const char *pos;
};

static bool bad(const struct checked *c, const char *why)
{
	scan_fail_at(&c->b->s, c->pos, E_TYPE, "%s: %s", opcode_name(c->op->code), why);
	return false;
}

static const struct value_type *operand(const struct checked *c, int32_t k)
{
	return &c->p->value.at[op_operand(c->p, c->op, k)].type;
}

static const struct value_type *result(const struct checked *c, int32_t k)
{
	return &c->p->value.at[c->op->first_value + k].type;
}

/* Different numbers in [0, rank). */
static bool are_dims(struct ints dims, int64_t rank)
{
	uint64_t seen = 0;

	for (int32_t i = 0; i < dims.n; i++) {
		if (dims.at[i] < 0 || dims.at[i] >= rank || seen >> dims.at[i] & 1)
			return false;
		seen |= UINT64_C(1) << dims.at[i];
	}
	return true;
}

static bool sizes_agree(const struct checked *c, struct ints l, struct ints r)
{
	if (l.n != r.n || !are_dims(l, operand(c, 0)->rank) ||
	    !are_dims(r, operand(c, 1)->rank))
		return false;
	for (int32_t i = 0; i < l.n; i++)
		if (operand(c, 0)->dim[l.at[i]] != operand(c, 1)->dim[r.at[i]])
			return false;
	return true;
}

static bool check_dot(const struct checked *c)
{
	const struct dot_attr *d = c->op->as.dot;

	if (c->op->noperands < 2 || c->op->nvalues != 1)
		return bad(c, "expected two operands and a result");
	if (c->op->code == HLO_DOT &&
	    (!sizes_agree(c, d->lhs_batch, d->rhs_batch) ||
	     !sizes_agree(c, d->lhs_contracting, d->rhs_contracting)))
		return bad(c, "batch or contracting dimensions do not fit");
	/* Or else the attribute that says which is missing. */
	if (c->op->code == HLO_DOT &&
	    result(c, 0)->rank != operand(c, 0)->rank + operand(c, 1)->rank -
	                                  d->lhs_batch.n - 2 * d->lhs_contracting.n)
		return bad(c, "the result has not the dimensions that are left");
	if (!are_dims(d->lhs_contracting, operand(c, 0)->rank) ||
	    !are_dims(d->rhs_contracting, operand(c, 1)->rank))
		return bad(c, "no such contracting dimension");
	return true;
}

static bool check_conv(const struct checked *c)
{
	const struct conv_attr *v = c->op->as.conv;

	if (c->op->noperands != 2 || c->op->nvalues != 1 ||
	    operand(c, 0)->rank != v->nspatial + 2 ||
	    operand(c, 1)->rank != v->nspatial + 2 ||
	    result(c, 0)->rank != v->nspatial + 2)
		return bad(c, "dim_labels do not fit the operands");
	if (v->window.n != v->nspatial)
		return bad(c, "the window has not a size for each spatial dimension");
	if (v->feature_groups < 1 || v->batch_groups < 1)
		return bad(c, "expected groups of 1 or more");
	return true;
}

static bool check_slices(const struct checked *c)
{
	const struct slice_attr *s = c->op->as.slice;

	if (c->op->noperands != (c->op->code == HLO_PAD ? 2 : 1) || c->op->nvalues != 1 ||
	    s->start.n != operand(c, 0)->rank || result(c, 0)->rank != s->start.n)
		return bad(c, "expected a range for each dimension");
	return true;
}

static bool check_index(const struct checked *c)
{
	const struct index_attr *g = c->op->as.gather;
	bool gathers = c->op->code == HLO_GATHER;
	int32_t n = c->op->noperands, arrays = gathers ? 1 : (n - 1) / 2;
	int32_t rank;

	if (gathers ? n != 2 : n < 3 || n % 2 == 0)
		return bad(c, "expected operands, indices, and updates of a scatter");
	rank = operand(c, 0)->rank;
	if (g->index_vector_dim > operand(c, arrays)->rank ||
	    !are_dims(g->collapsed_slice_dims, rank) ||
	    !are_dims(g->start_index_map, rank) ||
	    !are_dims(g->operand_batching_dims, rank) ||
	    !are_dims(g->indices_batching_dims, operand(c, arrays)->rank) ||
	    !are_dims(g->offset_dims, RANK_MAX) || (gathers && g->slice_sizes.n != rank))
		return bad(c, "no such dimension");
	return true;
}

static bool check_dynamic(const struct checked *c)
{
	bool slice = c->op->code == HLO_DYNAMIC_SLICE;

	if (c->op->noperands < (slice ? 1 : 2) || c->op->nvalues != 1)
		return bad(c, "expected an array, its update, and indices");
	if (slice ? c->op->dims.n != operand(c, 0)->rank
	          : operand(c, 0)->rank != operand(c, 1)->rank)
		return bad(c, "expected a size for each dimension");
	if (result(c, 0)->rank != operand(c, 0)->rank)
		return bad(c, "expected a result of as many dimensions as the array");
	return true;
}

static bool check_loop(const struct checked *c)
{
	if (c->op->ncalled != 2)
		return bad(c, "expected a condition and a body");
	if (c->op->noperands != c->op->nvalues)
		return bad(c, "the types of what is carried in and out differ");
	return true;
}

static bool check_dims(const struct checked *c)
{
	const struct ints dims = c->op->dims;

	if (c->op->noperands < 1 || c->op->nvalues < 1)
		return bad(c, "expected an operand and a result");
	switch (c->op->code) {
	case HLO_TRANSPOSE:
		if (dims.n != operand(c, 0)->rank || result(c, 0)->rank != dims.n ||
		    !are_dims(dims, dims.n))
			return bad(c, "expected a permutation of the dimensions");
		return true;
	case HLO_BROADCAST:
		if (dims.n != operand(c, 0)->rank || !are_dims(dims, result(c, 0)->rank))
			return bad(c,
			           "expected a dimension of the result for each one");
		return true;
	case HLO_CONCATENATE:
	case HLO_SORT:
		if (dims.n > 1 || !are_dims(dims, operand(c, 0)->rank))
			return bad(c, "expected one dimension");
		return true;
	default:
		if (!are_dims(dims, operand(c, 0)->rank))
			return bad(c, "no such dimension");
		return true;
	}
}

/* An all-to-all of one array cuts its dimension into a part for each device of a group. */
static bool check_parts(const struct checked *c)
{
	const struct collective_attr *a = c->op->as.collective;
	const struct ints dims = c->op->dims;
	int64_t parts = a->groups >= 0 ? c->p->groups.at[a->groups].size : 0, size;

	if (c->op->noperands != 1 || dims.n != 1 || parts < 1)
		return true;
	if (!are_dims(dims, operand(c, 0)->rank))
		return bad(c, "no such dimension");
	size = operand(c, 0)->dim[dims.at[0]];
	if (size % parts == 0)
		return true;
	scan_fail_at(
		&c->b->s, c->pos, E_TYPE,
		"all-to-all: dimension %lld has %lld elements, expected a multiple "
		"of %lld, the devices of a group",
		(long long)dims.at[0], (long long)size, (long long)parts);
	return false;
}

static bool check_collective(const struct checked *c)
{
	const struct collective_attr *a = c->op->as.collective;
	bool permute = c->op->code == HLO_COLLECTIVE_PERMUTE;

	if (c->op->async == ASYNC_UPDATE || c->op->async == ASYNC_DONE)
		return true;
	if (c->op->noperands < 1)
		return bad(c, "expected an operand");
	if (permute && a->groups >= 0)
		return bad(c, "expected source_target_pairs");
	if (c->op->code == HLO_ALL_TO_ALL)
		return check_parts(c);
	return c->op->code != HLO_ALL_GATHER ||
	       are_dims(c->op->dims, operand(c, 0)->rank) || bad(c, "no such dimension");
}

bool build_check(struct build *b, int32_t op, const char *pos)
{
	struct checked c = {b, b->p, build_last(b, op), pos};

	if (c.op->async == ASYNC_DONE || c.op->async == ASYNC_UPDATE) {
		if (c.op->pair < 0 || !c.op->noperands)
			return bad(&c, "expected the start of an asynchronous op");
		return true;
	}
	switch (c.op->code) {
	case HLO_DOT:
	case HLO_RAGGED_DOT:
	case HLO_SCALED_DOT:
		return check_dot(&c);
	case HLO_CONVOLUTION:
		return check_conv(&c);
	case HLO_SLICE:
	case HLO_PAD:
		return check_slices(&c);
	case HLO_GATHER:
	case HLO_SCATTER:
		return check_index(&c);
	case HLO_DYNAMIC_SLICE:
	case HLO_DYNAMIC_UPDATE_SLICE:
		return check_dynamic(&c);
	case HLO_WHILE:
		return check_loop(&c);
	case HLO_CONDITIONAL:
		return c.op->ncalled && c.op->noperands ? true
		                                        : bad(&c, "expected branches");
	case HLO_CALL:
	case HLO_FUSION:
		return c.op->ncalled == 1 ? true : bad(&c, "expected a computation");
	case HLO_TRANSPOSE:
	case HLO_BROADCAST:
	case HLO_CONCATENATE:
	case HLO_SORT:
	case HLO_REDUCE:
	case HLO_REVERSE:
		return check_dims(&c);
	case HLO_REDUCE_WINDOW:
	case HLO_SELECT_AND_SCATTER:
		return c.op->noperands >= 2 && c.op->as.window->n == operand(&c, 0)->rank
		               ? true
		               : bad(&c,
		                     "the window has not a size for each dimension");
	default:
		if (opcode_class(c.op->code) == CLASS_COLLECTIVE)
			return check_collective(&c);
		return opcode_class(c.op->code) != CLASS_ELEMENTWISE ||
		       (c.op->noperands && c.op->nvalues == 1) ||
		       bad(&c, "expected operands and a result");
	}
}
