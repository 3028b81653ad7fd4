#include "cli/warned.h"

extern const struct planner planner_xla, planner_gather, planner_gather_manual;

/* Returns whether a plan is what such a compiler does by itself. */
static bool is_simple(const struct plan *plan, bool any)
{
	return plan->nsteps == 0 ||
	       (plan->nsteps == 1 && (any || plan->step[0].op == OP_ALL_GATHER ||
	                              plan->step[0].op == OP_SLICE));
}

static enum answer plan_warned(struct plan **out, const struct problem *p,
                               const struct prices *prices, struct arena *arena,
                               struct text *why, bool any, bool manual)
{
	const struct planner *gather = manual ? &planner_gather_manual : &planner_gather;
	enum answer answer = planner_xla.plan(out, p, prices, arena, why);

	if (answer != ANSWER_PLAN || is_simple(*out, any))
		return answer;
	return gather->plan(out, p, prices, arena, why);
}

static enum answer plan_any(struct plan **out, const struct problem *p,
                            const struct prices *prices, struct arena *arena,
                            struct text *why)
{
	return plan_warned(out, p, prices, arena, why, true, false);
}

static enum answer plan_cut(struct plan **out, const struct problem *p,
                            const struct prices *prices, struct arena *arena,
                            struct text *why)
{
	return plan_warned(out, p, prices, arena, why, false, false);
}

static enum answer plan_any_manual(struct plan **out, const struct problem *p,
                                   const struct prices *prices, struct arena *arena,
                                   struct text *why)
{
	return plan_warned(out, p, prices, arena, why, true, true);
}

static enum answer plan_cut_manual(struct plan **out, const struct problem *p,
                                   const struct prices *prices, struct arena *arena,
                                   struct text *why)
{
	return plan_warned(out, p, prices, arena, why, false, true);
}

/* By whether any one step is taken as it is, and by manual. */
static const struct planner compilers[2][2] = {
	{{.name = "xla", .help = "XLA, as warned of", .plan = plan_cut},
         {.name = "xla", .help = "XLA, as warned of", .plan = plan_cut_manual}},
	{{.name = "xla", .help = "XLA, as warned of", .plan = plan_any},
         {.name = "xla", .help = "XLA, as warned of", .plan = plan_any_manual}},
};

const struct planner *warned_compiler(const struct plan *plan, bool manual)
{
	return &compilers[plan->nsteps > 1][manual];
}
