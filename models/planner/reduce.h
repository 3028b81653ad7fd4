/*
 * Unreduced axes (models/README.md, Layouts), for the planners that can: what must be
 * summed between the source and the target of a problem.
 */
#ifndef SHARDSIM_PLANNER_REDUCE_H
#define SHARDSIM_PLANNER_REDUCE_H

#include "planner/planner.h"

/*
 * Writes the parts that the source has unreduced and the target has not, at most
 * LAYOUT_PARTS_MAX of them, and returns their number. Returns -1 with the reason in
 * `why` where the target is unreduced over digits that the source is not: such a sum
 * cannot be undone.
 */
int reduce_parts(struct part *out, const struct problem *p, struct text *why);

#endif
