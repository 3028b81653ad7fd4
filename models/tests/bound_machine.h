/* Machines for tests of bounds. */
#ifndef SHARDSIM_TESTS_BOUND_MACHINE_H
#define SHARDSIM_TESTS_BOUND_MACHINE_H

#include "array/machine.h"
#include "base/rng.h"

extern const struct link bound_ici;    /* 45 GB/s, 1 us */
extern const struct link bound_nvlink; /* 240 GB/s, 0.7 us */
extern const struct link bound_nic;    /* 23 GB/s, 2.5 us */
extern const struct device bound_device;

/* `pods` copies of a torus side by side, joined by a network with a NIC per device. */
struct machine *machine_pods(struct arena *arena, int naxes, const int32_t *shape,
                             const bool *wrap, int32_t pods);

/*
 * n devices on a connected graph of their own, of links one or both ways, routes by
 * fewest hops. With `ends` the machine says what links routes begin and end with.
 */
struct machine *machine_web(struct rng *r, struct arena *arena, int32_t n, bool ends);

/*
 * At least n devices, `share` of them to a port: two nodes with that many GPUs to a
 * NIC; or two rings of chips with that many cores, all joined by a network as well.
 */
struct machine *machine_shared(struct arena *arena, int32_t n, int32_t share,
                               bool chips);

/*
 * A torus, nodes or pods with room for n devices, all latencies times `latency`; each
 * link has its own bandwidth and latency unless they are `alike`.
 */
struct machine *random_machine(struct rng *r, struct arena *arena, int32_t n,
                               double latency, bool alike);

/* One of those, or a twisted torus, a graph, or one with shared ports. */
struct machine *random_any_machine(struct rng *r, struct arena *arena, int32_t n,
                                   double latency, bool alike);

#endif
