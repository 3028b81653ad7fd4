/*
 * Who sends what (models/README.md, Best): the pairs of a permute and the senders
 * of an exchange, where several devices hold the same tile.
 */
#ifndef SHARDSIM_PLANNER_BEST_SENDERS_H
#define SHARDSIM_PLANNER_BEST_SENDERS_H

#include "planner/planner.h"

/*
 * The most paths that are priced for a permute. The limit changes no row, but the
 * assignments take time with the cube of the replicas.
 */
enum { BEST_PATHS_MAX = 1 << 16 };

/*
 * Ways to choose senders. SENDERS_RULE goes by numbers alone, as plan_permute and
 * plan_exchange_axes do; SENDERS_PATHS by an assignment with the prices of paths. With
 * numbers from SENDERS_MIXED on, the sender of an exchange has, in the k-th digit of
 * the device number that tells copies of a tile apart, the receiver's coordinate, to which
 * comes something of a digit of equal size that is none of these. The k-th digit of number -
 * SENDERS_MIXED to the base of SENDERS_BASE says what: 0 nothing, 2i - 1 the receiver's
 * coordinate in the i-th of them, 2i how far the receiver is from the sender there, which
 * turns with the mesh (planner/send/relative.h).
 * So the messages of one receiver come from several directions and all copies send
 * alike.
 */
enum { SENDERS_RULE, SENDERS_PATHS, SENDERS_MIXED, SENDERS_BASE = 8 };

/*
 * Appends a permute to `after` (equal local shape). Devices that have their new tile
 * already keep it; every other tile goes from its holders to those that want it by a
 * min-cost assignment. Returns false, with nothing appended, if that takes too many
 * paths.
 */
bool best_permute(struct plan *p, const struct layout *after,
                  const struct prices *prices);

/*
 * Chooses the senders of an exchange step anew among the devices that hold its boxes.
 */
void best_senders(struct plan *p, int step, uint32_t senders,
                  const struct prices *prices);

/*
 * Returns how many digits tell copies of a tile of a layout apart: SENDERS_MIXED
 * numbers them.
 */
int best_copies(const struct problem *p, const struct layout *l);

#endif
