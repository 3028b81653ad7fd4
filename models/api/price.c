/* Places, prices and bounds. */
#include "price/price.h"

#include "api/handle.h"
#include "bound/bound.h"

struct pricing {
	struct api api;
	double *out;
	struct shardsim_time *times;
	const struct shardsim_plan *plan;
	const struct shardsim_machine *machine;
};

static void give_times(struct shardsim_time *out, const struct step_time *step, int n)
{
	for (int i = 0; i < n; i++)
		out[i] = (struct shardsim_time){step[i].time_s, step[i].wire_s,
		                                step[i].local_s, step[i].launch_s,
		                                step[i].algorithm};
}

static bool price_body(void *self)
{
	struct pricing *p = self;
	char message[256] = "";
	const struct machine *m;
	const struct plan *plan;
	struct step_time *step;
	double s;

	if (!api_needs_out(&p->api, p->out) ||
	    !api_needs(&p->api, p->plan, HANDLE_PLAN) ||
	    !api_needs(&p->api, p->machine, HANDLE_MACHINE) ||
	    !problem_fits(&p->api, p->plan->problem, p->machine->machine))
		return false;
	m = p->machine->machine;
	plan = p->plan->plan;
	step = xmalloc((size_t)plan->nsteps, sizeof(*step));
	s = plan_seconds(step, plan, m, problem_place(p->plan->problem, m, arena_new()),
	                 model_clock, model_new(m), message, sizeof(message));
	if (s < 0)
		return api_fail(&p->api, SHARDSIM_NOT_APPLICABLE, "%s", message);
	if (p->times)
		give_times(p->times, step, plan->nsteps);
	*p->out = s;
	return false;
}

enum shardsim_status shardsim_price(double *seconds, struct shardsim_time *times,
                                    const struct shardsim_plan *plan,
                                    const struct shardsim_machine *machine,
                                    struct shardsim_error *error)
{
	struct pricing p = {
		.out = seconds, .times = times, .plan = plan, .machine = machine};

	return api_call(&p.api, price_body, &p, error);
}

struct bounding {
	struct api api;
	struct shardsim_bound *out;
	const struct shardsim_problem *problem;
	const struct shardsim_machine *machine;
};

static bool bound_body(void *self)
{
	struct bounding *b = self;
	struct arena *a;
	struct bound found;

	if (!api_needs_out(&b->api, b->out) ||
	    !api_needs(&b->api, b->problem, HANDLE_PROBLEM) ||
	    !api_needs(&b->api, b->machine, HANDLE_MACHINE) ||
	    !problem_fits(&b->api, b->problem, b->machine->machine))
		return false;
	a = arena_new();
	found = bound_find(&b->problem->problem, b->machine->machine,
	                   problem_place(b->problem, b->machine->machine, a), a);
	b->out->seconds = found.s;
	snprintf(b->out->what, sizeof(b->out->what), "%s", found.what ? found.what : "");
	return false;
}

enum shardsim_status shardsim_bound(struct shardsim_bound *out,
                                    const struct shardsim_problem *problem,
                                    const struct shardsim_machine *machine,
                                    struct shardsim_error *error)
{
	struct bounding b = {.out = out, .problem = problem, .machine = machine};

	return api_call(&b.api, bound_body, &b, error);
}

struct placing {
	struct api api;
	int32_t *device, *n;
	const struct shardsim_problem *problem;
	const struct shardsim_machine *machine;
};

static bool place_body(void *self)
{
	struct placing *p = self;
	const struct placement *place;
	int32_t n;

	if (!api_needs_out(&p->api, p->n) ||
	    !api_needs(&p->api, p->problem, HANDLE_PROBLEM) ||
	    !api_needs(&p->api, p->machine, HANDLE_MACHINE) ||
	    !problem_fits(&p->api, p->problem, p->machine->machine))
		return false;
	n = p->problem->problem.ndevices;
	if (p->device && *p->n < n)
		return api_fail(&p->api, SHARDSIM_RANGE,
		                "room for %d devices, the problem has %d", (int)*p->n,
		                (int)n);
	*p->n = n;
	place = problem_place(p->problem, p->machine->machine, arena_new());
	for (int32_t d = 0; p->device && d < n; d++)
		p->device[d] = place ? place->platform[d] : d;
	return false;
}

enum shardsim_status shardsim_place(int32_t *device, int32_t *n,
                                    const struct shardsim_problem *problem,
                                    const struct shardsim_machine *machine,
                                    struct shardsim_error *error)
{
	struct placing p = {
		.device = device, .n = n, .problem = problem, .machine = machine};

	return api_call(&p.api, place_body, &p, error);
}
