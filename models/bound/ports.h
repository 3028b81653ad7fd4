/*
 * What the links between a set of platform devices and all others can carry. Private to
 * models/cost/.
 *
 * Messages run between the devices of a problem, by the machine's routes, on a torus axis
 * after axis. On each axis a route goes from one place that a device of the problem has
 * to another, so links that all these routes leave out no plan uses.
 */
#ifndef SHARDSIM_BOUND_PORTS_H
#define SHARDSIM_BOUND_PORTS_H

#include "array/machine.h"
#include "bound/gate.h"

struct ports;

/* Makes the ports of a machine, which is borrowed, in the arena, which must outlive them. */
struct ports *ports_make(const struct machine *m, struct arena *a);

/*
 * From now on, counts only those links of tori that routes between devices of the
 * problem take, and those ports of switches and graphs that these have, for nobody else
 * relays anything: number[d] < 0 where platform device d has no part in the problem. It
 * is borrowed.
 */
void ports_restrict(struct ports *p, const int32_t *number, struct arena *a);

/*
 * The gates into and out of the `n` devices `member` (distinct) on all fabrics but
 * `except` (-1: none left out). Whatever goes in is a message from a device outside to a
 * member, so any links of which its route has at least one will do:
 *   torus:  those between ports that do not both have members only;
 *   switch: those of ports with members, or those of ports with others, and both
 *           latencies;
 *   graph:  those that routes to members end with; or those that routes from others
 *           begin with; or, of small domains, the i-th link of each route from its first
 *           or its last, for any one i, with the whole latency. Each link once; the
 *           fewest bytes per second count.
 * A port that members share with others counts as one of both.
 */
void ports_gates(struct gate *in, struct gate *out, struct ports *p,
                 const int32_t *member, int32_t n, int except);

/*
 * Returns the devices of a domain of a fabric, ascending, and stores their number in
 * *n.
 */
const int32_t *ports_domain(int32_t *n, const struct ports *p, int fabric,
                            int32_t domain);

/*
 * Adds the links along a torus axis from device d to its neighbour at `dir` (+1, -1) to
 * *out, and those from there to d to *in; none where there is no link, or no route
 * takes it.
 */
void ports_neighbour(struct gate *in, struct gate *out, const struct ports *p,
                     int fabric, int32_t d, int axis, int dir);

#endif
