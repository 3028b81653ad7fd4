/*
 * What varied figures do (suites that vary platforms or scenarios): curves of the
 * speedups, and where the fastest planner changes. Private to sim/report.
 *
 * A curve is of the rows of one base platform and clock that differ in one figure and
 * agree in all others that were varied, over their base scenarios. Figures without a
 * number (`mesh`) have points in the order of names (text/order.h).
 */
#ifndef SHARDSIM_SIM_REPORT_CURVE_H
#define SHARDSIM_SIM_REPORT_CURVE_H

#include "store/store.h"

enum { CURVE_PLANNERS_MAX = 64 };

struct curve_point {
	const char *value; /* as the suite has it: "25GBps" */
	double x;          /* bytes, seconds, bytes per second; NaN: no number */
	/* [nplanners]: geometric means over the curve's n scenarios; NaN: not compared */
	const double *speedup;
	/*
	 * The planner other than `best` that is fastest in most scenarios (ties count for
	 * each of them), that of the point before if it is one; -1 if none has a time.
	 */
	int fastest;
	size_t fastest_n; /* in how many scenarios it is */
	size_t timed_n;   /* scenarios where some planner other than best has a time */
};

struct report_curve {
	const char *platform, *clock; /* platform: before it was varied */
	const char *key;              /* the figure: "nic.bandwidth" */
	const char *others;   /* the other figures, "bytes=1MiB launch_s=2us"; "" */
	const char *scenario; /* before it was varied, if there is only one; or NULL */
	size_t nscenarios, npoints;
	struct curve_point *point; /* by rising x, then value */
	int nplanners;
	const char **planner; /* in the order of names */
	/* [nplanners]: in how many scenarios have it and the baseline times > 0 at every point? */
	size_t *solved;
	/*
	 * [nplanners]: is it compared? From the planner of most such scenarios on, each that
	 * leaves at least half of the scenarios that those before it have in common.
	 */
	bool *compared;
	/* Scenarios in which all that are compared have times > 0 at every point. */
	size_t n;
};

/* The fastest planner of a scenario, or the plan of `best`, changes along a curve. */
struct report_change {
	const struct report_curve *curve;
	const char *scenario;       /* before it was varied */
	const char *low, *high;     /* the values between which it does */
	double at;                  /* where times that are power laws cross; NaN */
	const char *before, *after; /* planners; "a, b" where several are as fast */
	bool plan;                  /* plans of best instead of planners */
};

struct report_curves {
	struct report_curve *curve;
	struct report_change *change; /* of one curve: by scenario, then along it */
	size_t ncurves, nchanges;
};

/* Finds the curves of rows in any order; those without varied figures do not matter. */
struct report_curves report_curves(struct arena *a, const char *baseline,
                                   const struct row *const *rows, size_t n);

/*
 * Says what the means are over, and names the planners that have none: the scenario if
 * there is only one, or "n = 3, 1 left out; not compared: gather, synth (1 of 4)", with in
 * how many scenarios those have times that have some; the arena's.
 */
const char *report_curve_scope(struct arena *a, const struct report_curve *c);

/* Returns point i in words, "25 GB/s", or as the suite has it; the arena's. */
const char *report_curve_value(struct arena *a, const struct report_curve *c, size_t i);

/* Names a curve: "nic.bandwidth of dgx-h100:4, clock model, bytes=1MiB"; the arena's. */
const char *report_curve_title(struct arena *a, const struct report_curve *c);

#endif
