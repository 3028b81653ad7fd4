#include "planner/planner.h"

/*
 * Answers with the smallest limit that would do: "set --memory-limit to at least N
 * bytes".
 */
static enum answer over_memory(struct text *why, int64_t bytes)
{
	text_printf(why, "needs a memory limit of at least %lld bytes",
	            (long long)bytes);
	return ANSWER_OVER_MEMORY;
}

enum answer planner_run(const struct planner *planner, struct plan **out,
                        const struct problem *p, const struct prices *prices,
                        struct arena *arena, struct text *why)
{
	int64_t limit = p->memory_limit_bytes;
	enum answer answer;

	if (planner->not_portable && p->vocabulary == VOCABULARY_PORTABLE) {
		text_printf(why, "%s: not in the portable vocabulary",
		            planner->not_portable);
		return ANSWER_NOT_APPLICABLE;
	}
	if (limit >= 0 && limit < p->memory_bound_bytes)
		return over_memory(why, p->memory_bound_bytes);
	/* A scalar has no tiles that could tell on which devices it is. */
	if (p->padded_ok && (p->same_devices || p->array.shape.rank > 0) &&
	    layout_same_tiles(&p->from, &p->mesh, &p->to, &p->to_mesh) &&
	    p->from.nunreduced == 0 && p->to.nunreduced == 0) {
		*out = plan_new(arena, p, planner->name);
		plan_finish(*out);
	} else {
		answer = planner->plan(out, p, prices, arena, why);
		if (answer != ANSWER_PLAN)
			return answer;
		if (!*out) {
			text_printf(why, "the planner gives no plan");
			return ANSWER_NOT_APPLICABLE;
		}
	}
	if (plan_over_memory(*out, limit))
		return over_memory(why, (*out)->peak_array_bytes);
	return ANSWER_PLAN;
}
