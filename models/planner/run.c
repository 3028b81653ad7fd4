#include "plan/memory.h"
#include "planner/planner.h"

enum answer planner_run(const struct planner *planner, struct plan **out,
                        const struct problem *p, const struct prices *prices,
                        struct arena *arena, struct text *why)
{
	enum answer answer;

	if (planner->not_portable && p->vocabulary == VOCABULARY_PORTABLE) {
		text_printf(why, "%s: not in the portable vocabulary",
		            planner->not_portable);
		return ANSWER_NOT_APPLICABLE;
	}
	/* Every plan has these tiles; what it holds at once it says itself. */
	if (memory_exceeded(p, p->memory_bound_bytes, 0)) {
		memory_explain(why, p, p->memory_bound_bytes, 0);
		return ANSWER_OVER_MEMORY;
	}
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
	if (!plan_over_memory(*out))
		return ANSWER_PLAN;
	memory_explain(why, p, (*out)->peak_array_bytes, (*out)->peak_live_bytes);
	return ANSWER_OVER_MEMORY;
}
