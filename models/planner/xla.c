/*
 * The planners that answer as XLA does: `xla-2021`, the baseline of arXiv 2112.01075.
 */
#include "planner/xla.h"

/* What keeps XLA's rules from this problem, NULL if nothing does. */
static const char *refusal(const struct problem *p)
{
	if (p->from.kind == LAYOUT_MAXIMAL)
		return "the array is on one device: XLA sums masked full arrays over "
		       "all devices, which is no step of a plan";
	if (p->to.kind == LAYOUT_MAXIMAL)
		return "the array is wanted on one device only, which no step of a "
		       "plan leads to";
	if (p->from.nunreduced > 0 || p->to.nunreduced > 0)
		return "XLA's partitioner does not reshard unreduced axes";
	if (!problem_even(p))
		return "a dimension does not divide by its number of shards, where XLA "
		       "of 2021 exchanges halos or loses data";
	return NULL;
}

static void emit(struct plan *plan, const struct xla_op *op)
{
	struct layout after = layout_of_tiling(op->after, plan->arena);

	if (op->op == OP_PERMUTE)
		plan_permute_pairs(plan, &after, op->pairs, op->npairs);
	else
		plan_groups_step(plan, op->op, op->move, op->nmoves, op->groups,
		                 op->chunk, &after);
}

static enum answer xla_plan(struct plan **out, const struct problem *p,
                            const struct prices *prices, struct arena *arena,
                            struct text *why)
{
	const char *reason = refusal(p);
	struct xla x;

	(void)prices;
	if (reason) {
		text_printf(why, "%s", reason);
		return ANSWER_NOT_APPLICABLE;
	}
	x = xla_start(&xla_mode_2021, &p->array.shape, p->mesh.ndevices, arena);
	xla_reshard(&x, layout_tiling(&p->from, &p->mesh, arena),
	            layout_tiling(&p->to, &p->to_mesh, arena));
	for (int k = 0; k < x.nops; k++) {
		if (!x.op[k].lossy)
			continue;
		text_printf(why,
		            "XLA of 2021 loses data here: its all-to-all cuts tiles of "
		            "dimension %d that are no multiple of the new shard count",
		            x.op[k].move[0].to_dim);
		return ANSWER_NOT_APPLICABLE;
	}
	*out = plan_new(arena, p, planner_xla_2021.name);
	for (int k = 0; k < x.nops; k++)
		emit(*out, &x.op[k]);
	plan_finish(*out);
	return ANSWER_PLAN;
}

const struct planner planner_xla_2021 = {
	.name = "xla-2021",
	.help = "XLA's partitioner as of 2021-11, the baseline of arXiv 2112.01075",
	.plan = xla_plan,
};
