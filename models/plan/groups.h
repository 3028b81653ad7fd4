/*
 * From axes to device numbers: replica groups, chunk numbers and permute pairs of the
 * parts that a step acts on (models/README.md, "Collectives").
 */
#ifndef SHARDSIM_PLAN_GROUPS_H
#define SHARDSIM_PLAN_GROUPS_H

#include "plan/plan.h"

/*
 * Returns the groups of the devices that differ only in the parts of `moves`: members
 * by the mixed radix over the parts in listed order (move 0 most major), groups by
 * rising position of their first member. The arena's.
 */
struct groups groups_of_moves(const struct mesh *m, const struct move *moves,
                              int nmoves, struct arena *a);

/* Returns the chunk numbers of every device in every move: [ndevices * nmoves]. */
const int32_t *chunks_of_moves(const struct mesh *m, const struct move *moves,
                               int nmoves, struct arena *a);

/*
 * Returns the devices in the order of the mixed radix of (sharding parts in dim order,
 * then the unused digits in mesh order); of a tile assignment: its id list. Equal
 * places of two layouts with equal tiles make Shardy's permute pairs.
 */
const int32_t *devices_in_order(const struct layout *l, const struct mesh *m,
                                struct arena *a);

/* Returns the pairs of that rule, one per device, by rising source; the arena's. */
const struct pair *pairs_of_layouts(const struct layout *from, const struct layout *to,
                                    const struct mesh *m, struct arena *a);

/*
 * Finds the moves that lead from one LAYOUT_AXES layout to another by one `op`: for a
 * slice the parts appended per dimension, for an all-gather those removed, for an
 * all-to-all those that changed dimension. Returns how many there are, or -1 when the
 * layouts do not differ by whole suffixes. `out` holds RANK_MAX moves; parts are the
 * arena's.
 */
int moves_between(struct move *out, enum op op, const struct layout *before,
                  const struct layout *after, struct arena *a);

#endif
