/* The first question that planners on types ask of a problem. */
#ifndef SHARDSIM_PLANNER_TYPES_H
#define SHARDSIM_PLANNER_TYPES_H

#include "planner/planner.h"

/*
 * Returns true if types can say the problem: the same devices, both layouts of common
 * atoms, one padded shape. Else false with the reason in `why`.
 */
bool types_say(const struct problem *p, struct text *why);

#endif
