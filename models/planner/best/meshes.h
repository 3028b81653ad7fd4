/*
 * Candidates of `best` for two meshes, or layouts that are lists of devices.
 */
#ifndef SHARDSIM_PLANNER_BEST_MESHES_H
#define SHARDSIM_PLANNER_BEST_MESHES_H

#include "planner/best/best.h"

/*
 * Offer the best plan of the same problem with both layouts said by axes of the source
 * mesh, where these can say them: scripts are over the axes of one mesh. Nothing where
 * that is the problem as it is, or where something is unreduced.
 */
void best_one_mesh(struct best *b);

/*
 * Offer, for two meshes, hierarchical exchanges (spec redistribution.md 10.3, 10.4): the
 * target's tiles are cut by an axis of the target mesh that replicates them, or some of
 * its digits or all such axes, each device pulls such a part, and an all-gather between
 * devices of the target mesh follows. Slow links so carry every part once.
 */
void best_gather_after(struct best *b);

#endif
