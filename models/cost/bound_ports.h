/*
 * What the links between a set of platform devices and all others can carry.
 */
#ifndef SHARDSIM_COST_BOUND_PORTS_H
#define SHARDSIM_COST_BOUND_PORTS_H

#include "array/machine.h"

/*
 * One way through: bytes per second of all links that a message through must take one
 * of, and the least latency of a route that goes through. No way: {0, INFINITY}.
 * Unknown, on graphs without routes or with domains of more than GRAPH_PORTS_MAX
 * devices: {INFINITY, 0}.
 */
struct gate {
	double bandwidth_Bps, latency_s;
};

enum { GRAPH_PORTS_MAX = 16 };

struct ports;

/* Of the machine, which is borrowed; in the arena. */
struct ports *ports_make(const struct machine *m, struct arena *a);

/*
 * The gates into and out of the `n` devices `member` (distinct) on all fabrics but
 * `except` (-1: none left out). Torus: the links to neighbours outside. Switch: the
 * smaller of the links of the members and those of the others in the domain. Graph: of
 * each route its slowest link, each link once.
 */
void ports_gates(struct gate *in, struct gate *out, struct ports *p,
                 const int32_t *member, int32_t n, int except);

/* The devices of a domain of a fabric, ascending; *n of them. */
const int32_t *ports_domain(int32_t *n, const struct ports *p, int fabric,
                            int32_t domain);

/* Add links that are in parallel. */
void gate_add(struct gate *g, double bandwidth_Bps, double latency_s);

/*
 * The links along a torus axis from device d to its neighbour at `dir` (+1, -1) and
 * from there to d; nothing where there is none.
 */
void ports_neighbour(struct gate *in, struct gate *out, const struct ports *p,
                     int fabric, int32_t d, int axis, int dir);

#endif
