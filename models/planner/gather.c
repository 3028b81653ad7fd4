/*
 * The "easy program" of arXiv 2112.01075, 4.3: all-gather everything, then slice what
 * is wanted. At most two steps; receives the array less the own tile; every device
 * holds the whole array in between. What is unreduced is all-reduced first, at the
 * smallest size.
 */
#include "planner/reduce.h"
#include "planner/types.h"

#include <string.h>

/* Writes the moves that gather, or cut, all dimensions of a layout from `first` on. */
static int all_moves(struct move *out, enum op op, const struct layout *l, int first)
{
	int nmoves = 0;

	for (int dim = first; dim < l->rank; dim++) {
		int n;
		const struct part *parts = layout_parts(l, dim, &n);
		bool gather = op == OP_ALL_GATHER;

		if (n > 0)
			out[nmoves++] = (struct move){.from_dim = gather ? dim : -1,
			                              .to_dim = gather ? -1 : dim,
			                              .nparts = n,
			                              .parts = parts};
	}
	return nmoves;
}

static void add_gather_step(struct plan *plan, enum op op, const struct layout *l,
                            int first)
{
	struct move moves[RANK_MAX];
	int n = all_moves(moves, op, l, first);

	if (n > 0)
		plan_axes_step(plan, op, moves, n);
}

/* Returns whether both cut their first dimensions alike. */
static bool same_first(const struct layout *a, const struct layout *b, int first)
{
	for (int dim = 0; dim < first; dim++) {
		int n, m;
		const struct part *x = layout_parts(a, dim, &n);
		const struct part *y = layout_parts(b, dim, &m);

		if (n != m || (n > 0 && memcmp(x, y, (size_t)n * sizeof(*x)) != 0))
			return false;
	}
	return true;
}

/* Gathers all dimensions from `first` on. */
static enum answer gather_from(struct plan **out, const struct problem *p, int first,
                               struct arena *arena, struct text *why)
{
	struct part parts[LAYOUT_PARTS_MAX];
	struct move sum = {.from_dim = -1, .to_dim = -1, .parts = parts};
	struct type source, type;
	struct layout from, to;

	if (!types_say(p, why))
		return ANSWER_NOT_APPLICABLE;
	sum.nparts = reduce_parts(parts, p, why);
	if (sum.nparts < 0)
		return ANSWER_NOT_APPLICABLE;
	type = type_of_layout(&p->to, &p->to_mesh, &p->atoms);
	if (!layout_of_type(&to, &type, &p->atoms, &p->mesh)) {
		text_printf(why, "the source mesh's axes cannot say the target");
		return ANSWER_NOT_APPLICABLE;
	}
	source = type_of_layout(&p->from, &p->mesh, &p->atoms);
	if (first && (!layout_of_type(&from, &source, &p->atoms, &p->mesh) ||
	              !same_first(&from, &to, first))) {
		text_printf(why, "the dimensions that stay cut are not cut alike");
		return ANSWER_NOT_APPLICABLE;
	}
	*out = plan_new(arena, p, "gather");
	if (sum.nparts > 0)
		plan_axes_step(*out, OP_ALL_REDUCE, &sum, 1);
	if (!type_equal(&source, &type)) {
		add_gather_step(*out, OP_ALL_GATHER, &p->from, first);
		add_gather_step(*out, OP_SLICE, &to, first);
	}
	plan_finish(*out);
	return ANSWER_PLAN;
}

static enum answer gather_plan(struct plan **out, const struct problem *p,
                               const struct prices *prices, struct arena *arena,
                               struct text *why)
{
	(void)prices;
	return gather_from(out, p, 0, arena, why);
}

static enum answer gather_manual_plan(struct plan **out, const struct problem *p,
                                      const struct prices *prices, struct arena *arena,
                                      struct text *why)
{
	(void)prices;
	return gather_from(out, p, 1, arena, why);
}

const struct planner planner_gather = {
	.name = "gather",
	.help = "all-gather everything, then slice",
	.plan = gather_plan,
};

const struct planner planner_gather_manual = {
	.name = "gather",
	.help = "all-gather everything but dimension 0, then slice",
	.plan = gather_manual_plan,
};
