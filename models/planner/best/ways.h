/*
 * Plans by way of one layout and of two, priced as far as they may be the cheapest. Private
 * to models/planner/best/.
 */
#ifndef SHARDSIM_PLANNER_BEST_WAYS_H
#define SHARDSIM_PLANNER_BEST_WAYS_H

#include "planner/best/look.h"

/* Adds the script of n steps between types to the pool. */
void vias_add_script(struct vias *vias, const struct type *const *type,
                     const struct hop *hop, int n);

/* Prices plans by way of the layouts that are looked at, within the shares of the work. */
void vias_price_all(struct vias *vias);

#endif
