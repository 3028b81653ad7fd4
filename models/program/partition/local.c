/* Ops on tiles: operands as the op needs them, its result as it leaves them. */
#include "program/partition/choose.h"
#include "program/partition/split.h"
#include "program/propagate_op.h"

#include <string.h>

/* The axes along which results are partial sums. */
static struct axes summed_axes(const struct op_rule *rule, const struct axes *factor)
{
	struct axes out = {0};

	for (int32_t f = 0; f < rule->factor.n; f++)
		for (int32_t i = 0; rule->factor.at[f].kind == FACTOR_REDUCE &&
		                    i < factor[f].n && out.n < AXES_MOST;
		     i++)
			out.at[out.n++] = factor[f].at[i];
	return out;
}

/* --- attributes of tiles --- */

static struct ints local_sizes(struct split *b, struct ints sizes, const int64_t *whole,
                               const struct value_type *tile)
{
	int64_t *at = arena_dup(b->a, sizes.at, (size_t)sizes.n, sizeof(*at));

	for (int32_t d = 0; d < sizes.n && d < tile->rank; d++)
		if (at[d] == whole[d])
			at[d] = tile->dim[d];
	return (struct ints){sizes.n, at};
}

/* Sizes that an op's attributes name are those of the tiles. */
static void set_sizes(struct split *b, struct instruction *op,
                      const struct value_type *whole, const struct value_type *tile)
{
	struct slice_attr *slice;
	struct custom_attr *custom;

	switch (op->code) {
	case HLO_SLICE:
		slice = arena_dup(b->a, op->as.slice, 1, sizeof(*slice));
		slice->limit = local_sizes(b, slice->limit, whole->dim, tile);
		op->as.slice = slice;
		break;
	case HLO_DYNAMIC_SLICE:
		op->dims = local_sizes(b, op->dims, whole->dim, tile);
		break;
	case HLO_CUSTOM_CALL:
		custom = arena_dup(b->a, op->as.custom, 1, sizeof(*custom));
		custom->share =
			(double)value_elements(tile) / (double)value_elements(whole);
		op->as.custom = custom;
		break;
	default:
		break;
	}
}

/* --- the op --- */

/* Every array whole: the op has no rule. */
static void choose_whole(struct op_rule *rule, struct split *b,
                         const struct instruction *op)
{
	int32_t n = op->noperands + op->nvalues;

	*rule = (struct op_rule){.noperands = op->noperands, .ntensors = n};
	rule->tensor = arena_alloc(b->a, (size_t)n + 1, sizeof(*rule->tensor));
	for (int32_t t = 0; t < n; t++) {
		struct rule_tensor *at = &rule->tensor[t];

		at->value = t < op->noperands ? op_operand(b->p, op, t)
		                              : op->first_value + t - op->noperands;
		at->rank = b->p->value.at[at->value].type.rank;
		at->rank = at->rank <= RANK_MAX ? at->rank : 0;
		at->dim = arena_alloc(b->a, (size_t)at->rank, sizeof(*at->dim));
	}
}

/* Whether a result is to be sharded. */
static bool leaves_tiles(struct split *b, const struct instruction *op)
{
	for (int32_t k = 0; k < op->nvalues; k++) {
		int32_t given = split_given(b, op->first_value + k);
		const struct layout *l = &b->layout.at[given];

		for (int d = 0; d < l->rank; d++)
			if (l->nparts[d])
				return true;
	}
	return false;
}

/* Results as they came out, to where propagation put them. */
static void settle_results(struct split *b, const struct instruction *op,
                           const struct op_rule *rule, const struct axes *factor,
                           int32_t first)
{
	const struct axes sums = summed_axes(rule, factor);

	for (int32_t k = 0; k < op->nvalues; k++) {
		struct resharding r = {.like = op,
		                       .reduces = op_applied(b->p, op) != HLO_ADD};
		struct layout l = split_layout_of(rule, rule->noperands + k, factor);
		int32_t old = op->first_value + k;

		for (int32_t i = 0; i < sums.n; i++)
			layout_append(&l, l.rank, sums.at[i]);
		r.type = &b->p->value.at[old].type;
		r.from = split_layout(b, l);
		/* A value that its users make anew is whole here: each cuts its own. */
		r.to = split_is_anew(b, old) ? split_whole(b, r.type->rank)
		                             : split_given(b, old);
		split_is(b, old, r.to, split_reshard(b, first + k, &r));
	}
}

/* A choice among factors, without windowed einsums if `ring_bytes` is 0. */
static void choose(struct axes *factor, struct einsum_ring *ring, struct split *b,
                   const struct instruction *op, const struct op_rule *rule,
                   double ring_bytes)
{
	struct choosing c = {op,          rule,        NULL,      b->p,
	                     &b->s->mesh, arena_new(), ring_bytes};
	const struct sharding **tensor =
		arena_alloc(c.a, (size_t)rule->ntensors, sizeof(*tensor));

	for (int32_t t = 0; t < rule->ntensors; t++)
		if (!split_is_anew(b, rule->tensor[t].value))
			tensor[t] = &b->s->at[b->s->of[rule->tensor[t].value]];
	c.tensor = tensor;
	ring->tensor = -1;
	if (b->ask->partitioner == PARTITIONER_XLA)
		choose_xla(factor, ring, &c);
	else
		choose_shardy(factor, &c);
	split_windows_keep(b, op, rule, factor);
	split_looks_keep(b, op, rule, factor);
	arena_free(c.a);
}

static bool rule_of(struct op_rule *rule, struct split *b, const struct instruction *op)
{
	return b->ask->partitioner == PARTITIONER_XLA
	               ? op_rule_parallel(rule, b->a, b->p, op)
	               : op_rule_of(rule, b->a, b->p, op);
}

/* Whether another op of the region reads a value in this layout. */
static bool others_read(struct split *b, const struct instruction *op, int32_t value,
                        int32_t layout)
{
	const struct region *r = &b->p->region.at[op->region];

	for (int32_t i = 0; i < r->nops; i++) {
		const struct instruction *user = &b->p->op.at[r->op[i]];
		struct op_rule rule;
		struct einsum_ring ring;
		struct axes *factor = NULL;

		for (int32_t k = 0; user != op && k < user->noperands; k++) {
			if (op_operand(b->p, user, k) != value)
				continue;
			if (!factor && !rule_of(&rule, b, user))
				break;
			if (!factor) {
				factor = arena_alloc(b->a, (size_t)rule.factor.n + 1,
				                     sizeof(*factor));
				choose(factor, &ring, b, user, &rule, 0);
			}
			if (split_layout(b, split_layout_of(&rule, k, factor)) == layout)
				return true;
		}
	}
	return false;
}

/* Chooses, with a windowed einsum where nobody else has what it gathers, and if it pays. */
static void choose_best(struct axes *factor, struct einsum_ring *ring, struct split *b,
                        const struct instruction *op, const struct op_rule *rule)
{
	choose(factor, ring, b, op, rule, b->hand ? 0 : b->ask->ring_bytes);
	if (ring->tensor < 0)
		return;
	if ((ring->tensor == 2 ||
	     !others_read(b, op, op_operand(b->p, op, ring->tensor),
	                  split_layout(b, split_layout_of(rule, ring->tensor, factor)))) &&
	    split_ring_pays(b, op, rule, factor, ring))
		return;
	choose(factor, ring, b, op, rule, 0);
}

void split_local(struct split *b, const struct instruction *op)
{
	struct op_rule rule;
	struct einsum_ring ring = {.tensor = -1};
	bool known = rule_of(&rule, b, op);
	struct axes *factor;
	int32_t *operand =
		arena_alloc(b->a, (size_t)op->noperands + 1, sizeof(*operand));
	int32_t *layout = arena_alloc(b->a, (size_t)op->noperands + 1, sizeof(*layout));
	struct value_type *type =
		arena_alloc(b->a, (size_t)op->nvalues + 1, sizeof(*type));
	struct instruction *added;
	int32_t inside;

	if (!known)
		choose_whole(&rule, b, op);
	factor = arena_alloc(b->a, (size_t)rule.factor.n + 1, sizeof(*factor));
	if (known)
		choose_best(factor, &ring, b, op, &rule);
	if (ring.tensor >= 0) {
		inside = split_ring(b, op, &rule, factor, &ring);
		if (ring.tensor == 2)
			factor = split_ring_ends(b, &rule, factor, &ring);
		settle_results(b, op, &rule, factor, inside);
		return;
	}
	b->whole = !known && leaves_tiles(b, op);
	for (int32_t k = 0; k < op->noperands; k++) {
		layout[k] = split_layout(b, split_layout_of(&rule, k, factor));
		operand[k] = split_value(b, op, op_operand(b->p, op, k), layout[k]);
	}
	b->whole = false;
	split_windows_take(b, op, &rule, factor, layout, operand);
	inside = split_looks_take(b, op, &rule, factor, layout, operand);
	for (int32_t k = 0; k < op->nvalues; k++)
		type[k] = split_type(
			b, &b->p->value.at[op->first_value + k].type,
			split_layout(
				b, split_layout_of(&rule, rule.noperands + k, factor)));
	added = split_op(b, op, op->code, type, op->nvalues);
	for (int32_t k = 0; k < op->noperands; k++)
		split_operand(b, added, operand[k]);
	if (op->nvalues)
		set_sizes(b, added, &b->p->value.at[op->first_value].type, type);
	split_windows_set(b, op, &rule, factor, added);
	split_looks_set(b, op, added);
	settle_results(b, op, &rule, factor,
	               split_looks_mask(b, op, added->first_value, inside, operand[0]));
}
