/* The best that flows of data can do for a problem, by a linear program (GLPK). */
#ifndef SHARDSIM_TESTS_GLPK_FLOWS_H
#define SHARDSIM_TESTS_GLPK_FLOWS_H

#include "array/machine.h"
#include "plan/problem.h"

/*
 * Returns the seconds of the busiest link where it is least busy: every datum flows from its
 * holders to each device that wants it, and flows of one datum to several devices share links.
 * No plan can do better (cuts of Ahlswede, Cai, Li and Yeung, IEEE Trans. Inf. Theory 2000).
 * Devices are at most 32.
 */
double glpk_flows_s(const struct problem *p, const struct machine *m,
                    struct arena *arena);

#endif
