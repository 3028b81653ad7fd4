/* The planners that shardsim_plan() knows. Private to models/api. */
#ifndef SHARDSIM_API_PLANNERS_H
#define SHARDSIM_API_PLANNERS_H

#include "planner/planner.h"

/* The planner of that name, NULL if there is none. */
const struct planner *planners_find(const char *name);

#endif
