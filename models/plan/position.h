/*
 * Where the devices of a problem are on a machine: both meshes together on one slice
 * (array/seat.h), unless the problem names devices.
 */
#ifndef SHARDSIM_PLAN_POSITION_H
#define SHARDSIM_PLAN_POSITION_H

#include "array/machine.h"
#include "plan/problem.h"

/*
 * Returns the platform device of every number of the problem, [ndevices], the arena's;
 * NULL where they stand in order.
 */
const int32_t *position_devices(const struct problem *p, const struct machine *m,
                                struct arena *a);

/*
 * Puts a problem that was just made on a machine: its `platform` and, where these are
 * not the first devices, the lists of both meshes as if they had been given; `position`
 * says which slice it is. Without a machine (NULL) nothing changes.
 */
void position_take(struct problem *p, const struct machine *m);

/* Returns how many devices a machine must have: one more than the largest number. */
int32_t position_needs(const struct problem *p);

#endif
