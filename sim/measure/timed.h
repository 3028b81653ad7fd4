/*
 * Steps of a plan or of a reduction program that the clocks of a bench have timed. Time
 * lines (trace.h) and reports of links (links.h) are made from these.
 */
#ifndef SHARDSIM_SIM_MEASURE_TIMED_H
#define SHARDSIM_SIM_MEASURE_TIMED_H

#include "measure/measure.h"

struct timed {
	const char *name; /* the planner's, or the matrix of the placement */
	struct steps steps;
	const char *const *step; /* [steps.n]: each as a line */
	const char *const *more; /* [steps.n]: JSON members about each step */
	double time_s[CLOCKS_MAX];
	const struct step_time *time[CLOCKS_MAX]; /* [steps.n]; NULL where not timed */
};

/*
 * Returns the steps of a measurement on the bench that made it; there are none without
 * a plan. Everything is the arena's.
 */
struct timed timed_plan(const struct measurement *m, const struct bench *b,
                        struct arena *a);

#endif
