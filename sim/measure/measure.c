#include "measure/measure.h"

#include "clock/flow.h"
#include "clock/simgrid.h"
#include "cost/bound.h"
#include "cost/fluid.h"
#include "plan/check.h"
#include "plan/memory.h"
#include "plan/position.h"
#include "system/wall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct clock_kind clock_kinds[] = {
	{"model", "closed form, microseconds to compute", model_clock, NULL, false},
	{"fluid", "SimGrid's rule for groups that share links, without SimGrid",
         fluid_clock, NULL, false},
	{"simgrid", "SimGrid, one parallel task per group and round", simgrid_clock,
         simgrid_schedules, true},
	{"flow", "SimGrid, one flow per message, steps overlap; small cases",
         flow_clock, flow_schedules, true},
	{NULL, NULL, NULL, NULL, false},
};

int clock_find(const char *name, size_t length)
{
	for (int i = 0; clock_kinds[i].name; i++)
		if (strlen(clock_kinds[i].name) == length &&
		    memcmp(clock_kinds[i].name, name, length) == 0)
			return i;
	return -1;
}

void bench_init(struct bench *b, const struct machine *m)
{
	*b = (struct bench){.machine = m, .prices = prices_bytes};
	if (!m)
		return;
	b->model = model_new(m);
	b->pricer = pricer_new(m, NULL);
	b->prices = pricer_prices(b->pricer);
}

/* Frees the placement and the prices that are made for it. */
static void bench_leave(struct bench *b)
{
	pricer_free(b->pricer);
	bounds_free(b->bounds);
	b->bounds = NULL;
	free((void *)b->placement.platform);
	b->placement = (struct placement){0};
}

/* Returns whether the problem's devices are where those of the placement are. */
static bool placed_alike(const struct placement *place, const struct problem *p)
{
	if (!place->platform || !p->platform)
		return !place->platform && !p->platform;
	return place->n == p->ndevices &&
	       !memcmp(place->platform, p->platform,
	               (size_t)place->n * sizeof(*place->platform));
}

void bench_place(struct bench *b, struct problem *p)
{
	size_t bytes = (size_t)p->ndevices * sizeof(int32_t);

	position_take(p, b->machine);
	problem_use_memory(p, b->machine);
	b->problem = p;
	b->bound_s = NAN;
	if (!b->machine)
		return;
	/* Prices stay good while devices stand where they stood. */
	if (placed_alike(&b->placement, p))
		return;
	bench_leave(b);
	if (p->platform)
		b->placement = (struct placement){
			p->ndevices, memcpy(xmalloc(1, bytes), p->platform, bytes)};
	b->pricer = pricer_new(b->machine, p->platform ? &b->placement : NULL);
	b->prices = pricer_prices(b->pricer);
}

void bench_free(struct bench *b)
{
	bench_leave(b);
	model_free(b->model);
}

void bench_clock(struct bench *b, const struct clock_kind *kind, void *self)
{
	b->clock[b->nclocks] = kind;
	b->clock_self[b->nclocks++] = self ? self : b->model;
}

double bench_seconds(struct step_time *times, const struct bench *b, int clock,
                     const struct steps *s, char *message, size_t size)
{
	const struct clock_kind *kind = b->clock[clock];
	void *self = b->clock_self[clock];

	if (kind->schedules)
		return steps_seconds_together(times, s, kind->schedules, self, message,
		                              size);
	return steps_seconds(times, s, kind->clock, self, message, size);
}

static const struct placement *placed(const struct bench *b)
{
	return b->placement.platform ? &b->placement : NULL;
}

/*
 * Returns whether the problem fits the platform. If it does not, `out` is an answer
 * that says so, for there is to be a row of it.
 */
static bool fits(struct measurement *out, const struct bench *b,
                 const struct problem *p, struct arena *a)
{
	int32_t n = position_needs(p);

	if (!b->machine || n <= b->machine->ndevices)
		return true;
	out->status = OUTCOME_NOT_APPLICABLE;
	out->message =
		p->from_devices || p->to_devices
			? arena_printf(a, "device %d is out of range, expected 0 to %d",
	                               n - 1, b->machine->ndevices - 1)
			: arena_printf(a, "needs %d devices, the platform has %d", n,
	                               b->machine->ndevices);
	return false;
}

/* Returns the bound of a problem that fits the platform. */
static double find_bound_s(struct bench *b, const struct problem *p)
{
	if (b->problem != p)
		return bound_s(p, b->machine, placed(b));
	if (!isnan(b->bound_s))
		return b->bound_s;
	if (!b->bounds || b->bounds_n != p->ndevices) {
		bounds_free(b->bounds);
		b->bounds_n = p->ndevices;
		b->bounds = bounds_new(b->machine, placed(b), b->bounds_n);
	}
	b->bound_s = bounds_s(b->bounds, p);
	return b->bound_s;
}

void measure_plan(struct measurement *out, struct bench *b, const struct problem *p,
                  const struct planner *planner, struct arena *a)
{
	static const enum outcome outcomes[] = {
		[ANSWER_PLAN] = OUTCOME_OK,
		[ANSWER_NOT_APPLICABLE] = OUTCOME_NOT_APPLICABLE,
		[ANSWER_OVER_MEMORY] = OUTCOME_OVER_MEMORY,
	};
	struct text why = {0};
	double start = wall_s();

	*out = (struct measurement){.planner = planner->name,
	                            .message = "",
	                            .peak_array_bytes = -1,
	                            .peak_live_bytes = -1};
	out->planning_s = NAN;
	out->bound_s = NAN;
	for (int i = 0; i < CLOCKS_MAX; i++)
		out->time_s[i] = out->local_s[i] = out->launch_s[i] = NAN;
	if (!fits(out, b, p, a))
		return;
	if (b->machine)
		out->bound_s = find_bound_s(b, p);
	start = wall_s();
	out->status = outcomes[planner_run(planner, &out->plan, p, &b->prices, a, &why)];
	out->planning_s = wall_s() - start;
	if (out->plan) {
		out->peak_array_bytes = out->plan->peak_array_bytes;
		out->peak_live_bytes = out->plan->peak_live_bytes;
	}
	if (out->status == OUTCOME_OK && !plan_check(out->plan, &why))
		out->status = OUTCOME_WRONG;
	if (out->status != OUTCOME_OK) {
		out->plan = NULL;
		out->message = arena_strdup(a, why.s ? why.s : "no reason was given");
	}
	text_free(&why);
}

/*
 * Notes why a clock gave `time_s`, which are no seconds, and makes the plan's status
 * the worst so far.
 */
static void note_untimed(struct measurement *m, const struct bench *b, int clock,
                         double time_s, const char *message, struct arena *a)
{
	enum outcome outcome =
		time_s == CLOCK_FAILED_S ? OUTCOME_FAILED : OUTCOME_NOT_APPLICABLE;

	message = time_s == STEPS_REFUSED_S
	                  ? arena_strdup(a, message)
	                  : arena_printf(a, "%s: %s", b->clock[clock]->name, message);
	m->clock_message[clock] = message;
	if (outcome > m->status) {
		m->status = outcome;
		m->message = message;
	}
}

void measure_time(struct measurement *m, struct bench *b, int clock, struct arena *a)
{
	char message[256] = "";
	struct plan_steps of = {m->plan, b->machine, placed(b)};
	struct step_time *times;
	struct steps steps;
	double time_s;

	if (!m->plan)
		return;
	steps = steps_of_plan(&of);
	times = arena_alloc(a, (size_t)steps.n, sizeof(*times));
	time_s = bench_seconds(times, b, clock, &steps, message, sizeof(message));
	if (time_s < 0) {
		note_untimed(m, b, clock, time_s, message, a);
		return;
	}
	m->time_s[clock] = time_s;
	m->step[clock] = times;
	m->local_s[clock] = m->launch_s[clock] = 0;
	for (int i = 0; i < m->plan->nsteps; i++) {
		m->local_s[clock] += times[i].local_s;
		m->launch_s[clock] += times[i].launch_s;
	}
}
