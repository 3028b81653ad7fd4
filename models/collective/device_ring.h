/*
 * Collectives as one closed ring per group in device order (device_ring.c): what the
 * profile p2 runs.
 */
#ifndef SHARDSIM_COLLECTIVE_DEVICE_RING_H
#define SHARDSIM_COLLECTIVE_DEVICE_RING_H

#include "collective/collective.h"

extern const struct algorithm algorithm_device_ring;

/*
 * Returns the groups with their members by rising number from the first one, the root,
 * on, starting over at the lowest. The arena's.
 */
struct groups device_ring_order(const struct groups *g, struct arena *a);

/*
 * Returns the bytes over every hop of the ring of n devices that hold `held_bytes`
 * before the op.
 */
double device_ring_hop_bytes(enum op op, int32_t n, double held_bytes);

#endif
