/*
 * Which fabrics join the devices of a group.
 */
#ifndef SHARDSIM_COLLECTIVE_JOINED_H
#define SHARDSIM_COLLECTIVE_JOINED_H

#include "array/machine.h"

/*
 * Returns the first fabric of which one domain holds all n >= 1 devices; -1 if none
 * does.
 */
int fabric_of_all(const struct machine *m, const int32_t *ids, int32_t n);

/* Returns whether some fabric joins each two of the devices. */
bool devices_joined(const struct machine *m, const int32_t *ids, int32_t n);

#endif
