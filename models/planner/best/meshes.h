/* What `best` offers for two meshes, or for layouts that are lists of devices. */
#ifndef SHARDSIM_PLANNER_BEST_MESHES_H
#define SHARDSIM_PLANNER_BEST_MESHES_H

#include "planner/best/offer.h"

/*
 * Makes the same problem with both layouts said by axes of the source mesh, since
 * scripts are over the axes of one mesh. Returns false where these axes cannot say
 * them, where the result is the problem as it is, or where something is unreduced.
 */
bool best_one_mesh(struct problem *out, const struct problem *p, struct arena *a);

/*
 * Turns a plan of that problem into one of `p`. Returns false if that cannot be said.
 */
bool best_plan_of_problem(struct plan *plan, const struct problem *p, struct arena *a);

/*
 * Offers hierarchical exchanges for two meshes (models/README.md, Best). The target's
 * tiles are cut by an axis of the target mesh that replicates them, by some of its
 * digits or by all such axes; each device pulls such a part, and an all-gather between
 * devices of the target mesh follows. Slow links then carry every part once.
 */
void best_gather_after(struct best *b);

#endif
