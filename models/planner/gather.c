/*
 * The "easy program" of arXiv 2112.01075, 4.3: all-gather everything, then slice what
 * is wanted. At most two steps; receives the array less the own tile; every device
 * holds the whole array in between. What is unreduced is all-reduced first, at the
 * smallest size.
 */
#include "planner/reduce.h"
#include "planner/types.h"

/* Writes the moves that gather every dimension of `from`, or cut every one of `to`. */
static int all_moves(struct move *out, enum op op, const struct layout *l)
{
	int nmoves = 0;

	for (int dim = 0; dim < l->rank; dim++) {
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

static void add_gather_step(struct plan *plan, enum op op, const struct layout *l)
{
	struct move moves[RANK_MAX];
	int n = all_moves(moves, op, l);

	if (n > 0)
		plan_axes_step(plan, op, moves, n);
}

static enum answer gather_plan(struct plan **out, const struct problem *p,
                               const struct prices *prices, struct arena *arena,
                               struct text *why)
{
	struct part parts[LAYOUT_PARTS_MAX];
	struct move sum = {.from_dim = -1, .to_dim = -1, .parts = parts};
	struct type source, type;
	struct layout to;

	(void)prices;
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
	*out = plan_new(arena, p, "gather");
	if (sum.nparts > 0)
		plan_axes_step(*out, OP_ALL_REDUCE, &sum, 1);
	source = type_of_layout(&p->from, &p->mesh, &p->atoms);
	if (!type_equal(&source, &type)) {
		add_gather_step(*out, OP_ALL_GATHER, &p->from);
		add_gather_step(*out, OP_SLICE, &to);
	}
	plan_finish(*out);
	return ANSWER_PLAN;
}

const struct planner planner_gather = {
	.name = "gather",
	.help = "all-gather everything, then slice",
	.plan = gather_plan,
};
