#include "emit/relays.h"

#include "collective/lower.h"
#include "flow/relay.h"

#include <string.h>

/* A plan that is said with relays, from `step` of another one on. */
struct relaying {
	const struct emission *what;
	const struct plan *plan; /* the other one */
	struct problem ends;     /* before and after its step */
	int32_t *platform;
	struct arena *arena;
};

/* Returns the step that may be a schedule, -1 for none. */
static int step_of(const struct plan *plan)
{
	for (int i = 0; i < plan->nsteps; i++)
		if (step_adds(plan, i))
			return i;
	return plan->nsteps == 1 && plan->step[0].op == OP_EXCHANGE ? 0 : -1;
}

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
 * Adds the step in rounds. Contributions that no schedule adds up on the way go straight to
 * where they are wanted, and are added up there. False where it is to stay as it is.
 */
static bool add_rounds(struct plan *out, const struct relaying *r, int step)
{
	const struct step *s = &r->plan->step[step];
	enum flow_reach reach;

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
	int step = step_of(what->plan);
	struct emission *out;
	struct plan *plan;

	if (step < 0 || what->plan->view)
		return what;
	r.platform = arena_alloc(a, (size_t)p->ndevices, sizeof(*r.platform));
	for (int32_t d = 0; d < p->ndevices; d++)
		r.platform[d] = p->platform ? p->platform[d] : d;
	if (step_adds(what->plan, step)) {
		r.ends.from = *plan_before(what->plan, step);
		r.ends.to = what->plan->step[step].after;
		r.ends.to_mesh = *what->plan->step[step].mesh;
	}
	plan = plan_new(a, p, what->plan->planner);
	plan->shape = step_adds(what->plan, step) ? what->plan->shape : p->array.shape;
	plan_steps_of(plan, what->plan, 0, step);
	if (!add_rounds(plan, &r, step))
		return what;
	plan_steps_of(plan, what->plan, step + 1, what->plan->nsteps);
	plan_finish(plan);
	out = arena_dup(a, what, 1, sizeof(*what));
	out->plan = plan;
	out->step_s = NULL;
	return out;
}
