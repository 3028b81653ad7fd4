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
 * Appends what plan_axes_step does, and a pad before it where one is due. Tiles before
 * it are ceil(before / shards), and after it ceil(after / shards); what it put together
 * is not cut off yet. With the plan's shape as `before` and as `after` this is what
 * PyTorch does. Returns false, with the reason in `why`, if tiles of that size are not
 * local: their elements lie on other devices (a dimension in several shards whose tiles
 * would begin elsewhere).
 */
bool uneven_step(struct plan *plan, enum op op, const struct move *moves, int nmoves,
                 const struct shape *before, const struct shape *after,
                 struct text *why);

/* Appends the pad that leaves tiles of ceil(extent / shards), where one is due. */
bool uneven_trim(struct plan *plan, const struct shape *extent, struct text *why);

#endif
