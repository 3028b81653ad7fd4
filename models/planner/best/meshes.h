/*
 * Candidates of `best` for two meshes, or layouts that are lists of devices.
 */
#ifndef SHARDSIM_PLANNER_BEST_MESHES_H
#define SHARDSIM_PLANNER_BEST_MESHES_H

#include "planner/best/offer.h"

/*
 * Makes the same problem with both layouts said by axes of the source mesh, since scripts
 * are over the axes of one mesh. False where these axes cannot say them, where that is the
 * problem as it is, or where something is unreduced.
 */
bool best_one_mesh(struct problem *out, const struct problem *p, struct arena *a);

/* Makes a plan of that problem one of `p`; false if that cannot be said. */
bool best_plan_of_problem(struct plan *plan, const struct problem *p, struct arena *a);

/*
 * Offers, for two meshes, hierarchical exchanges (models/README.md, Best): the
 * target's tiles are cut by an axis of the target mesh that replicates them, or some of
 * its digits or all such axes, each device pulls such a part, and an all-gather between
 * devices of the target mesh follows. Slow links so carry every part once.
 */
void best_gather_after(struct best *b);

#endif
