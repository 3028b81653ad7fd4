/*
 * Collectives as one closed ring per group in device order (device_ring.c): what the
 * profile p2 runs, and on a torus one of two rings of groups that are no box of it.
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

/* Returns whether device_ring_order() gives some group another ring. */
bool device_ring_differs(const struct groups *g);

/*
 * Returns the bytes over every hop of the ring of n devices that hold `held_bytes`
 * before the op.
 */
double device_ring_hop_bytes(enum op op, int32_t n, double held_bytes);

#endif
