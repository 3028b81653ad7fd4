/*
 * Who sends what (models/README.md, Best): the pairs of a permute and the senders
 * of an exchange, where several devices hold the same tile.
 */
#ifndef SHARDSIM_PLANNER_BEST_SENDERS_H
#define SHARDSIM_PLANNER_BEST_SENDERS_H

#include "planner/planner.h"

/*
 * No more paths than these are priced for a permute: it changes no row, but the assignments
 * take time with the cube of the replicas.
 */
enum { BEST_PATHS_MAX = 1 << 16 };

/*
 * Ways to choose. SENDERS_RULE: by numbers alone, as plan_permute and
 * plan_exchange_axes do. SENDERS_PATHS: by an assignment with the prices of paths.
 * Numbers from SENDERS_MIXED on: the sender of an exchange has, in the k-th digit of
 * the device number that tells copies of a tile apart, the sum of the receiver's
 * coordinates in that digit and in one of equal size that is not of these (which: the
 * k-th digit of number - SENDERS_MIXED to the base of SENDERS_BASE; 0: none), so that
 * messages of one receiver come from several directions and all copies send alike.
 */
enum { SENDERS_RULE, SENDERS_PATHS, SENDERS_MIXED, SENDERS_BASE = 8 };

/*
 * Append a permute to `after` (equal local shape): devices that have their new tile
 * already keep it, then every tile goes from its holders to those that want it by a
 * min-cost assignment. False, with nothing appended, if that takes too many paths.
 */
bool best_permute(struct plan *p, const struct layout *after,
                  const struct prices *prices);

/* Choose the senders of an exchange step anew among the devices that hold its boxes. */
void best_senders(struct plan *p, int step, uint32_t senders,
                  const struct prices *prices);

/*
 * How many digits tell copies of a tile of a layout apart: SENDERS_MIXED numbers them.
 */
int best_copies(const struct problem *p, const struct layout *l);

#endif
