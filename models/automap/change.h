/*
 * Changes of layout of a lowered step (automap/lower.h) as problems of redistribution, and as plans
 * of the steps that reshard.h has for them.
 */
#ifndef SHARDSIM_AUTOMAP_CHANGE_H
#define SHARDSIM_AUTOMAP_CHANGE_H

#include "automap/reshard.h"

/*
 * Makes the problem of an array in one form that is needed in another, over a mesh of the cutting's
 * axes whose positions are the platform's devices device[position] (NULL: in order); `sums` are the
 * axes along which it is a partial sum. The mesh's names and the devices are borrowed, all else is
 * the arena's.
 */
void change_problem(struct problem *out, struct arena *a, const struct mesh *mesh,
                    const int32_t *device, const struct value_type *type,
                    const struct cuts *from, const struct cuts *to, uint8_t sums);

/* Returns the plan of the step whose problem it is; the arena's. */
struct plan *change_plan(struct arena *a, const struct problem *p,
                         const struct transfer_step *s);

#endif
