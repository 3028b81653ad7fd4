/*
 * The "easy program" (spec redistribution.md 5): all-gather everything, then slice what
 * is wanted. At most two steps; receives the array less the own tile; every device
 * holds the whole array in between.
 */
#include "planner/synth_path.h"

#include <string.h>

static enum answer gather_plan(struct plan **out, const struct problem *p,
                               const struct prices *prices, struct arena *arena,
                               struct text *why)
{
	struct synth s;
	struct path path = {0};
	struct type all;

	if (!synth_begin(&s, p, prices, arena, why))
		return ANSWER_NOT_APPLICABLE;
	memset(&all, 0, sizeof(all));
	all.rank = s.from.rank;
	if (!type_equal(&s.from, &s.to)) {
		if (!type_equal(&s.from, &all))
			path_add(&path, OP_ALL_GATHER, &all);
		if (!type_equal(&s.to, &all))
			path_add(&path, OP_SLICE, &s.to);
	}
	*out = path_plan(&s, &path, "gather");
	return ANSWER_PLAN;
}

const struct planner planner_gather = {
	.name = "gather",
	.help = "all-gather everything, then slice",
	.plan = gather_plan,
};
