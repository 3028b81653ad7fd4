#include "emit/relays.h"

#include "collective/lower.h"
#include "flow/relay.h"

#include <string.h>

/* Returns whether the machine runs the plan as a schedule, and stores its reach. */
static bool is_scheduled(enum flow_reach *reach, const struct emission *what,
                         struct arena *a)
{
	const struct problem *p = what->plan->problem;
	const struct placement place = {p->ndevices, p->platform};
	struct lowered lowered;
	struct text why = {0};
	bool scheduled;

	if (!what->machine || what->machine->tuning.value[TUNING_SCHEDULED] == 0 ||
	    what->plan->nsteps != 1 || what->plan->step[0].op != OP_EXCHANGE)
		return false;
	scheduled = lower_step(&lowered, a, what->machine, p->platform ? &place : NULL,
	                       what->plan, 0, &why) &&
	            strcmp(lowered.algorithm, "scheduled") == 0;
	text_free(&why);
	*reach = lowered.reach;
	return scheduled;
}

const struct emission *emission_relayed(const struct emission *what, struct arena *a)
{
	const struct problem *p = what->plan->problem;
	struct emission *out;
	int32_t *platform;
	struct plan *plan;
	enum flow_reach reach;

	if (!is_scheduled(&reach, what, a))
		return what;
	platform = arena_alloc(a, (size_t)p->ndevices, sizeof(*platform));
	for (int32_t d = 0; d < p->ndevices; d++)
		platform[d] = p->platform ? p->platform[d] : d;
	plan = relay_plan(p, what->machine, platform, reach, a);
	if (!plan)
		return what;
	plan->planner = what->plan->planner;
	out = arena_dup(a, what, 1, sizeof(*what));
	out->plan = plan;
	out->step_s = NULL;
	return out;
}
