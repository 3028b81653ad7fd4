/*
 * Steps that the clocks of a bench have timed: of a plan, or of a reduction program. Time
 * lines and reports of links (trace.h, links.h) are drawn from these.
 */
#ifndef SHARDSIM_SIM_MEASURE_TIMED_H
#define SHARDSIM_SIM_MEASURE_TIMED_H

#include "measure/measure.h"

struct timed {
	const char *name; /* the planner's, or the matrix of the placement */
	struct steps steps;
	const char *const *step; /* [steps.n]: each as a line */
	const char *const *more; /* [steps.n]: members of a JSON object on it */
	double time_s[CLOCKS_MAX];
	const struct step_time *time[CLOCKS_MAX]; /* [steps.n]; NULL: not timed */
};

/* Of a measurement and the bench that made it; without a plan no steps. The arena's. */
struct timed timed_plan(const struct measurement *m, const struct bench *b,
                        struct arena *a);

#endif
