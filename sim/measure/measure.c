#include "measure/measure.h"

#include "bound/bound.h"
#include "clock/simgrid.h"
#include "cost/flow.h"
#include "cost/fluid.h"
#include "plan/check.h"
#include "plan/memory.h"
#include "plan/position.h"
#include "system/wall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct clock_kind clock_kinds[] = {
	{"model", "closed form, microseconds to compute", model_clock, NULL, false, true},
	{"fluid", "SimGrid's rule for groups that share links, without SimGrid",
         fluid_clock, NULL, false, true},
	{"simgrid", "SimGrid, one parallel task per group and round", simgrid_clock,
         simgrid_schedules, true, false},
	{"flow", "one flow per message, steps overlap as data arrives", flow_clock,
         flow_schedules, false, false},
	{NULL, NULL, NULL, NULL, false, false},
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
	b->proved.n = 0;
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
	xfree(b->proved.at);
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

const struct placement *bench_placement(const struct bench *b)
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
		return bound_s(p, b->machine, bench_placement(b));
	if (!isnan(b->bound_s))
		return b->bound_s;
	if (!b->bounds || b->bounds_n != p->ndevices) {
		bounds_free(b->bounds);
		b->bounds_n = p->ndevices;
		b->bounds = bounds_new(b->machine, bench_placement(b), b->bounds_n);
	}
	b->bound_s = bounds_s(b->bounds, p);
	return b->bound_s;
}

/*
 * Proves a plan, unless an equal one of the problem that was placed last has been proved.
 * Stores 1 + the number of that in *number, 0 for a plan of another problem.
 */
static bool prove(int *number, struct bench *b, const struct plan *plan,
                  struct text *why)
{
	struct proved proved = {.plan = plan};

	*number = 0;
	if (b->problem != plan->problem)
		return plan_check(plan, why);
	for (int64_t i = 0; i < b->proved.n; i++)
		if (plan_equal(b->proved.at[i].plan, plan)) {
			*number = (int)i + 1;
			return true;
		}
	if (!plan_check(plan, why))
		return false;
	for (int i = 0; i < CLOCKS_MAX; i++)
		proved.time_s[i] = NAN;
	*list_add(&b->proved, NULL) = proved;
	*number = (int)b->proved.n;
	return true;
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
	out->bound_s = out->floor_s = NAN;
	for (int i = 0; i < CLOCKS_MAX; i++)
		out->time_s[i] = out->local_s[i] = out->launch_s[i] = NAN;
	if (!fits(out, b, p, a))
		return;
	if (b->machine) {
		out->bound_s = find_bound_s(b, p);
		out->floor_s = floor_s(p, b->machine, bench_placement(b), out->bound_s);
	}
	start = wall_s();
	out->status = outcomes[planner_run(planner, &out->plan, p, &b->prices, a, &why)];
	out->planning_s = wall_s() - start;
	if (out->plan) {
		out->peak_array_bytes = out->plan->peak_array_bytes;
		out->peak_live_bytes = out->plan->peak_live_bytes;
	}
	if (out->status == OUTCOME_OK && !prove(&out->proved, b, out->plan, &why))
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

static bool plan_rounds(const void *self, struct lowered *out, struct arena *a,
                        int step, round_fn *reader, void *reader_self, struct text *why)
{
	const struct plan_steps *p = self;

	return lower_step_rounds(out, a, p->machine, p->place, p->plan, step, reader,
	                         reader_self, why);
}

/* Notes what a step needs beside the arrays of the plan: buffers of those that relay. */
static void count_relays(struct measurement *m, int clock)
{
	for (int i = 0; i < m->plan->nsteps; i++) {
		int64_t live = m->plan->peak_live_bytes + m->step[clock][i].relay_bytes;

		if (live > m->peak_live_bytes)
			m->peak_live_bytes = live;
	}
}

void measure_time(struct measurement *m, struct bench *b, int clock, struct arena *a)
{
	char message[256] = "";
	struct plan_steps of = {m->plan, b->machine, bench_placement(b)};
	struct step_time *times;
	struct proved *proved = m->proved ? &b->proved.at[m->proved - 1] : NULL;
	struct steps steps;
	double time_s;

	if (!m->plan)
		return;
	if (proved && !isnan(proved->time_s[clock])) {
		m->time_s[clock] = proved->time_s[clock];
		m->local_s[clock] = proved->local_s[clock];
		m->launch_s[clock] = proved->launch_s[clock];
		m->step[clock] = proved->step[clock];
		count_relays(m, clock);
		return;
	}
	steps = steps_of_plan(&of);
	times = arena_alloc(a, (size_t)steps.n, sizeof(*times));
	time_s = b->clock[clock]->by_round
	                 ? steps_seconds_by_round(
				   times, &steps, plan_rounds, b->clock[clock]->clock,
				   b->clock_self[clock], message, sizeof(message))
	                 : bench_seconds(times, b, clock, &steps, message,
	                                 sizeof(message));
	if (time_s < 0) {
		note_untimed(m, b, clock, time_s, message, a);
		return;
	}
	m->time_s[clock] = time_s;
	m->step[clock] = times;
	count_relays(m, clock);
	m->local_s[clock] = m->launch_s[clock] = 0;
	for (int i = 0; i < m->plan->nsteps; i++) {
		m->local_s[clock] += times[i].local_s;
		m->launch_s[clock] += times[i].launch_s;
	}
	if (!proved)
		return;
	proved->time_s[clock] = time_s;
	proved->local_s[clock] = m->local_s[clock];
	proved->launch_s[clock] = m->launch_s[clock];
	proved->step[clock] = times;
}
