/* What the tests of the planner `direct` share. */
#ifndef SHARDSIM_TESTS_DIRECT_HELP_H
#define SHARDSIM_TESTS_DIRECT_HELP_H

#include "planner/planner.h"

extern const struct planner planner_direct;

/* The plan of a problem, in the arena; it must be there and pass the check. */
struct plan *direct_plan(struct arena *a, const struct problem *p,
                         const struct prices *prices);

#endif
