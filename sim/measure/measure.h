/*
 * One measurement: a planner plans a problem, the plan is checked and then timed by the
 * clocks asked for. The commands and the sweep share it, so they cannot disagree.
 */
#ifndef SHARDSIM_SIM_MEASURE_MEASURE_H
#define SHARDSIM_SIM_MEASURE_MEASURE_H

#include "array/machine.h"
#include "base/list.h"
#include "plan/plan.h"
#include "planner/planner.h"
#include "price/price.h"
#include "store/store.h"

enum { CLOCKS_MAX = 4 };

/* A clock as users name it. */
struct clock_kind {
	const char *name, *help;
	clock_fn *clock;
	schedules_fn *schedules; /* NULL: it times the steps of a plan one by one */
	bool replays;  /* it replays in SimGrid, which takes milliseconds per plan */
	bool by_round; /* its seconds are the sum of those of each round alone */
};

extern const struct clock_kind clock_kinds[]; /* ended by a NULL name */

/* Returns the index of that name in clock_kinds, or -1. */
int clock_find(const char *name, size_t length);

/* A plan that was proved, and what clocks said of it; no time is NaN. */
struct proved {
	const struct plan *plan;
	double time_s[CLOCKS_MAX], local_s[CLOCKS_MAX], launch_s[CLOCKS_MAX];
	struct step_time *step[CLOCKS_MAX];
	const char *timeline[CLOCKS_MAX]; /* NULL: not made (timeline.h) */
};

/* Where plans are priced and timed. */
struct bench {
	const struct machine *machine; /* NULL without a platform */
	/* Its own list; .platform is NULL where devices stand in order. */
	struct placement placement;
	struct prices prices;
	struct pricer *pricer;
	struct model *model;
	/* The problem that was placed last, and its bound, NaN until it is asked for. */
	const struct problem *problem;
	double bound_s;
	struct bounds *bounds; /* of its placement and number of devices, or NULL */
	int32_t bounds_n;
	LIST(struct proved) proved; /* plans of the problem, no two of them equal */
	int nclocks;
	const struct clock_kind *clock[CLOCKS_MAX];
	void *clock_self[CLOCKS_MAX];
};

/*
 * bench_init() makes a bench on a machine, which is borrowed; NULL is no machine.
 * bench_clock() adds a clock with its workspace, which is borrowed; for the clock
 * `model` it is NULL, and the bench has its own.
 */
void bench_init(struct bench *b, const struct machine *m);
void bench_free(struct bench *b);
void bench_clock(struct bench *b, const struct clock_kind *kind, void *self);

/* Returns where the devices of the problem stand; NULL: in order. */
const struct placement *bench_placement(const struct bench *b);

/*
 * Returns the seconds of steps by clock number `clock` of the bench, which may let
 * steps overlap; times and errors are as those of steps_seconds() (cost/steps.h).
 */
double bench_seconds(struct step_time *times, const struct bench *b, int clock,
                     const struct steps *s, char *message, size_t size);

/*
 * Puts a problem that was just made on the machine (plan/position.h), takes its devices
 * as the placement, sets the prices for it, and tells the problem the memory of these
 * devices. The problem must not change until it is placed anew, nor the arenas that its
 * measurements are given end: its bound is found once for all planners, and a plan that
 * several planners find is proved and timed once.
 */
void bench_place(struct bench *b, struct problem *p);

/* What a planner answered to a problem; everything is the arena's. */
struct measurement {
	const char *planner;
	enum outcome status; /* the worst, over the clocks timed so far */
	const char *message; /* "" when there is nothing to say */
	struct plan *plan;   /* NULL unless there is a checked plan */
	/*
	 * Of the plan, also of one that does not fit the memory; -1: there is none. With a
	 * clock live bytes have buffers of schedules, too (lowered.relay_bytes).
	 */
	int64_t peak_array_bytes, peak_live_bytes;
	double planning_s;
	double bound_s; /* no plan is faster; NaN without a platform */
	double floor_s; /* the bound with a launch and packing (bound/bound.h), or NaN */
	double time_s[CLOCKS_MAX];
	double local_s[CLOCKS_MAX], launch_s[CLOCKS_MAX];
	int proved; /* 1 + the number of an equal plan in bench.proved, or 0 */
	const char *clock_message[CLOCKS_MAX]; /* why a clock has no time, else NULL */
	struct step_time *step[CLOCKS_MAX];    /* [plan->nsteps], NULL if not timed */
};

/*
 * Plans the problem and checks the plan. Fills in status, message, plan and bound; all
 * times are NaN.
 */
void measure_plan(struct measurement *out, struct bench *b, const struct problem *p,
                  const struct planner *planner, struct arena *a);

/*
 * Times a measured plan by clock number `clock` of the bench, whatever other clocks
 * have said. The status becomes not-applicable if the platform cannot run the plan,
 * because its fabrics do not join all devices or the forced algorithm cannot do a step,
 * or if the plan is too large for the clock.
 */
void measure_time(struct measurement *m, struct bench *b, int clock, struct arena *a);

#endif
