#include "emit/relays.h"

#include "collective/lower.h"
#include "flow/relay.h"

#include <string.h>

/* A plan that is said with relays in place of another one. */
struct relaying {
	const struct emission *what;
	const struct plan *plan; /* the other one */
	struct problem ends;     /* before and after its step in hand */
	int32_t *platform;
	struct arena *arena;
};

/* Returns whether the machine runs the step as a schedule, and stores its reach. */
static bool is_scheduled(enum flow_reach *reach, const struct relaying *r, int step)
{
	const struct machine *m = r->what->machine;
	const struct placement place = {r->ends.ndevices, r->platform};
	struct lowered lowered;
	struct text why = {0};
	bool scheduled;

	if (!m || m->tuning.value[TUNING_SCHEDULED] == 0)
		return false;
	scheduled = lower_step(&lowered, r->arena, m, &place, r->plan, step, &why) &&
	            strcmp(lowered.algorithm, "scheduled") == 0;
	text_free(&why);
	*reach = lowered.reach;
	return scheduled;
}

/*
 * Adds a step in rounds. Contributions that no schedule adds up on the way go straight to
 * where they are wanted, and are added up there. False where it is to stay as it is.
 */
static bool add_rounds(struct plan *out, struct relaying *r, int step)
{
	const struct step *s = &r->plan->step[step];
	enum flow_reach reach;

	if (!lower_may_schedule(r->plan, step))
		return false;
	if (r->plan->nsteps > 1) {
		r->ends.from = *plan_before(r->plan, step);
		r->ends.to = s->after;
		r->ends.to_mesh = *s->mesh;
	}
	if (is_scheduled(&reach, r, step) &&
	    relay_steps(out, &r->ends, r->what->machine, r->platform, reach, r->arena))
		return true;
	if (!step_adds(r->plan, step))
		return false;
	plan_permute_parts(out, s->transfers, s->ntransfers);
	plan_exchange(out, &s->after, s->mesh, NULL, 0);
	return true;
}

const struct emission *emission_relayed(const struct emission *what, struct arena *a)
{
	const struct problem *p = what->plan->problem;
	struct relaying r = {what, what->plan, *p, NULL, a};
	bool any = false;
	struct emission *out;
	struct plan *plan;

	if (what->plan->view)
		return what;
	r.platform = arena_alloc(a, (size_t)p->ndevices, sizeof(*r.platform));
	for (int32_t d = 0; d < p->ndevices; d++)
		r.platform[d] = p->platform ? p->platform[d] : d;
	plan = plan_new(a, p, what->plan->planner);
	plan->shape = what->plan->nsteps == 1 ? p->array.shape : what->plan->shape;
	for (int i = 0; i < what->plan->nsteps; i++) {
		bool added = add_rounds(plan, &r, i);

		any = any || added;
		if (!added)
			plan_steps_of(plan, what->plan, i, i + 1);
	}
	if (!any)
		return what;
	plan_finish(plan);
	out = arena_dup(a, what, 1, sizeof(*what));
	out->plan = plan;
	out->step_s = NULL;
	return out;
}
