/*
 * One measurement: a planner on a problem, checked, then timed by the clocks asked for.
 * The commands and the sweep share it, so they cannot disagree.
 */
#ifndef SHARDSIM_SIM_MEASURE_MEASURE_H
#define SHARDSIM_SIM_MEASURE_MEASURE_H

#include "array/machine.h"
#include "cost/price.h"
#include "plan/plan.h"
#include "planner/planner.h"
#include "store/store.h"

enum { CLOCKS_MAX = 4 };

/* A clock as users name it. */
struct clock_kind {
	const char *name, *help;
	clock_fn *clock;
	schedules_fn *schedules; /* NULL: it times the steps of a plan one by one */
	bool replays; /* in SimGrid, in a process for each plan: that takes milliseconds */
};

extern const struct clock_kind clock_kinds[]; /* ended by a NULL name */

/* The index of that name in clock_kinds, -1 if none. */
int clock_find(const char *name, size_t length);

/* Where plans are priced and timed. `machine` NULL: no platform. */
struct bench {
	const struct machine *machine;
	struct placement placement; /* .platform NULL: devices in order */
	struct prices prices;
	struct pricer *pricer;
	struct model *model;
	int nclocks;
	const struct clock_kind *clock[CLOCKS_MAX];
	void *clock_self[CLOCKS_MAX];
};

/*
 * A bench on a machine (NULL: none; borrowed). bench_clock() adds a clock with its
 * workspace, which is borrowed; that of `model` is the bench's own (NULL).
 */
void bench_init(struct bench *b, const struct machine *m);
void bench_free(struct bench *b);
void bench_clock(struct bench *b, const struct clock_kind *kind, void *self);

/*
 * Seconds of steps by clock number `clock` of the bench, which may let them overlap, as
 * steps_seconds() gives them (cost/steps.h).
 */
double bench_seconds(struct step_time *times, const struct bench *b, int clock,
                     const struct steps *s, char *message, size_t size);

/* Place the problem's devices (borrowed); prices follow. */
void bench_place(struct bench *b, const struct problem *p);

/* What a planner made of a problem; everything is the arena's. */
struct measurement {
	const char *planner;
	enum outcome status; /* the worst, over the clocks timed so far */
	const char *message; /* "" when there is nothing to say */
	struct plan *plan;   /* NULL unless there is a checked plan */
	double planning_s;
	double bound_s; /* NaN without a platform */
	double time_s[CLOCKS_MAX];
	double local_s[CLOCKS_MAX], launch_s[CLOCKS_MAX];
	const char *clock_message[CLOCKS_MAX]; /* why a clock has no time, else NULL */
	struct step_time *step[CLOCKS_MAX];    /* [plan->nsteps], NULL if not timed */
};

/* Plan and check: status, message, plan, bound; times are NaN. */
void measure_plan(struct measurement *out, struct bench *b, const struct problem *p,
                  const struct planner *planner, struct arena *a);

/*
 * Time a measured plan by clock number `clock` of the bench, whatever others have said. A
 * plan that the platform has no way to run, because its fabrics do not join all devices
 * or the algorithm that is forced cannot do a step, is not applicable to it, nor one
 * that is too large for the clock.
 */
void measure_time(struct measurement *m, struct bench *b, int clock, struct arena *a);

#endif
