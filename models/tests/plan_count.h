/* Received elements by running the steps, for tests of the closed forms. */
#ifndef SHARDSIM_TESTS_PLAN_COUNT_H
#define SHARDSIM_TESTS_PLAN_COUNT_H

#include "plan/plan.h"

/*
 * Counts them per device and step, [nsteps * ndevices], with padding and without. The
 * arena's.
 */
void plan_count(const struct plan *p, struct arena *a, int64_t **received,
                int64_t **received_real);

#endif
