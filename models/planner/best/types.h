/* Steps between two types of a problem. Private to models/planner/best/. */
#ifndef SHARDSIM_PLANNER_BEST_TYPES_H
#define SHARDSIM_PLANNER_BEST_TYPES_H

#include "planner/best/script.h"
#include "planner/between.h"

/*
 * Writes the step between two types: the slice, all-gather or all-to-all that does it, if
 * `collective` and there is one, or else an exchange. The moves are the arena's.
 */
void type_step(struct script_step *out, const struct types_between *t,
               const struct type *before, const struct type *after, bool collective,
               struct arena *a);

#endif
