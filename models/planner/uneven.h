/*
 * Steps over dimensions that their shards do not divide, as PyTorch and Shardy run them:
 * what a collective or a slice will cut is padded before it to a multiple, and what it
 * put together is cut off after it. Both are local pads, one pad where the one follows
 * the other; where every dimension divides there are none.
 */
#ifndef SHARDSIM_PLANNER_UNEVEN_H
#define SHARDSIM_PLANNER_UNEVEN_H

#include "plan/plan.h"

/*
 * Append what plan_axes_step does, and a pad before it where one is due. Tiles before it
 * are ceil(before / shards), after it ceil(after / shards) and what it put together is
 * not cut off yet; the plan's shape for both does what PyTorch does. False, with the
 * reason in `why`, if tiles of that size are not local: their elements lie on other
 * devices (a dimension in several shards whose tiles would begin elsewhere).
 */
bool uneven_step(struct plan *plan, enum op op, const struct move *moves, int nmoves,
                 const struct shape *before, const struct shape *after,
                 struct text *why);

/* The pad that leaves tiles of ceil(extent / shards), where one is due. */
bool uneven_trim(struct plan *plan, const struct shape *extent, struct text *why);

#endif
