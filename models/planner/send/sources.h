/*
 * The one way in which planners choose who sends a box that several devices hold: by the
 * prices of paths, so that no device sends much longer than others (send.h).
 */
#ifndef SHARDSIM_PLANNER_SEND_SOURCES_H
#define SHARDSIM_PLANNER_SEND_SOURCES_H

#include "planner/planner.h"
#include "planner/send/holders.h"

/*
 * Chooses the sender of every box among the holders of the tile that it is of: `src` is
 * the number of that tile before and the device after. The work grows with the number of
 * devices alone: where there are too many paths to price them all, the devices that hold
 * a tile and its boxes are cut alike into runs, each for itself. Deterministic.
 */
void sources_choose(struct transfer *box, int64_t n, const struct holders *holders,
                    const struct problem *p, const struct prices *prices);

#endif
