#include "planner/planner.h"

#include <string.h>

extern const struct planner planner_gather;
extern const struct planner planner_synth;
extern const struct planner planner_synth_rewrite;
extern const struct planner planner_xla_2021;
extern const struct planner planner_xla;
extern const struct planner planner_shardy;
extern const struct planner planner_dtensor;
extern const struct planner planner_dtensor_mincost;
extern const struct planner planner_direct;
extern const struct planner planner_digit;
extern const struct planner planner_best;

const struct planner *const planners[] = {
	&planner_gather,        &planner_synth,
	&planner_synth_rewrite, &planner_xla_2021,
	&planner_xla,           &planner_shardy,
	&planner_dtensor,       &planner_dtensor_mincost,
	&planner_direct,        &planner_digit,
	&planner_best,          NULL,
};

const struct planner *planner_find(const char *name, size_t length)
{
	for (int i = 0; planners[i]; i++)
		if (strlen(planners[i]->name) == length &&
		    memcmp(planners[i]->name, name, length) == 0)
			return planners[i];
	return NULL;
}

/* "set --memory-limit to at least N bytes": the smallest limit that would do. */
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
