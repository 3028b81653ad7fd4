/*
 * Sums as one exchange, for `direct` on runtimes that take schedules of messages: every device
 * sends its contributions to where the sums are wanted, which a schedule adds up on the way
 * (collective/scheduled.c).
 */
#ifndef SHARDSIM_PLANNER_DIRECT_SUMS_H
#define SHARDSIM_PLANNER_DIRECT_SUMS_H

#include "planner/planner.h"

/*
 * Finds the moves of a slice: in each dimension the parts of `to` after those of `from`.
 * Returns false where `to` is no slice of `from`.
 */
bool slice_moves(struct move *moves, int *n, const struct layout *from,
                 const struct layout *to, struct arena *a);

/*
 * Plans a problem with an unreduced source. What replicates the source is sliced first, so that
 * no two devices have the same contribution, and what replicates the target is gathered last,
 * by an all-gather or an exchange, which may be a schedule too, whichever is cheaper: its axes
 * cut it before. Not applicable to targets that are unreduced, and to tiles that do
 * not divide.
 */
enum answer direct_sums(struct plan **out, const struct problem *p,
                        const struct prices *prices, struct arena *arena,
                        struct text *why);

#endif
