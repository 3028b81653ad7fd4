/*
 * Plans of two and three steps by way of layouts between source and target, for the
 * search of `best`. Private to models/planner/best/.
 */
#ifndef SHARDSIM_PLANNER_BEST_VIAS_H
#define SHARDSIM_PLANNER_BEST_VIAS_H

#include "planner/best/pool.h"

/*
 * Adds scripts that go by way of one layout or two, so that hardly any two plans in a row
 * are cheaper than one. A pair of layouts for which two are, by way of a third and by more
 * than 5 %, is called open in the comments of these files (tests/exhaust_compose.c counts
 * them). Layouts are reached from source and target by local moves
 * (types.h), those of the least received bytes first. Nothing is added where prices of
 * steps do not add up, or where no pieces of axes say both ends.
 */
void best_add_vias(struct best_pool *pool);

#endif
