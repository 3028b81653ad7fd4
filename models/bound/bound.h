/*
 * Lower bounds on the time of any plan, the `bound_s` of the outputs, without launches
 * and local work (models/README.md, "Bounds").
 *
 * Every bound is about a set S of devices of the machine. What devices in S want and S
 * does not hold must come in, so with C bytes per second of links into S
 *   time >= bytes in / C + the least latency of a route into S,
 * and likewise out of S, whatever is relayed where: some link into S carries at least
 * its share of the bytes, and on no clock do they start before that latency. Sets:
 *   - each device: the receive bound (in, over the links into all its hosts; of a torus
 *     those that routes between devices of the problem take) and the send bound (out:
 *     what it alone holds and others want leaves it at least once),
 *   - each domain of a fabric: a node, a pod, in and out over the other fabrics; and
 *     each node less one device, over all fabrics, on machines of up to 1,024 devices
 *     that have several,
 *   - each axis of a torus: every run of neighbours at an end or between, where it does
 *     not wrap; where it does, every run of 1 to floor(n/2) of them, by two links per
 *     line (what is left is the same cut, in for out). Links of other fabrics that the
 *     devices have count too. Of a torus that lacks cables those that are there count, if
 *     its routes keep to them,
 *   - boxes of a torus: products of such runs (box.h). Not of a twisted one.
 * Where the source is unreduced, all devices together are bounded, too, and all domains of
 * a fabric: whoever has a sum first got the other contributions, and the others the sum
 * (sums.h).
 * Nobody relays but devices of the problem, so that ports which only others have count
 * nowhere. The best that fractional flows of data can do, by a linear program, is 0.4 %
 * above these bounds in the mean over drawn problems of 8 to 16 devices, and 20 % at most
 * (tests/check_bound_lp.c).
 * The total traffic along an axis over its links (bytes times least distances) does not
 * say more either: on a wrapped axis of n an element that goes s places, s <= n/2, comes
 * into s of the n runs of floor(n/2), so the mean over these runs is that bound.
 * Bytes are of real elements, bits / 8 of each without rounding (a collective may send
 * half a byte). Unreduced arrays: bound_cells.h. What the gates of a set can carry, on
 * graphs and where devices share ports too: bound_ports.h.
 */
#ifndef SHARDSIM_BOUND_BOUND_H
#define SHARDSIM_BOUND_BOUND_H

#include "array/machine.h"
#include "collective/lower.h"
#include "plan/plan.h"

/*
 * Seconds, and what they are for: "receive of device 5", "into node 2 of nvlink",
 * "out of places 3 to 0 of axis 1 of pod 0", "into node 0 of nvlink without device 5",
 * "into places 0 to 1 of axis 0 and 2 to 3 of axis 1 of pod 0", "sums into all devices",
 * "sums out of all nodes of nvlink".
 */
struct bound {
	double s;
	const char *what; /* NULL if s is 0 */
};

/*
 * Returns the seconds below which no plan of the problem can be on the machine, for its
 * devices placed there (NULL: the identity). This is the largest of the bounds above;
 * among equal ones the first counts, devices, domains, domains less a
 * device, axes, boxes, sums in this order.
 * Devices are named by platform number, axes by their place in the torus' shape. The
 * bound is 0 if no device lacks anything or nothing is known. The devices must fit on the
 * machine. The text is in the arena.
 */
struct bound bound_find(const struct problem *p, const struct machine *m,
                        const struct placement *place, struct arena *a);

/* Returns only the seconds of bound_find(). */
double bound_s(const struct problem *p, const struct machine *m,
               const struct placement *place);

/*
 * Returns the `floor_s` of the outputs: what a plan takes that is as fast as the bound on
 * the wires, is one launch, and packs and unpacks once. The device that lacks most reads and
 * writes what it unpacks, and as much that it packs, for devices send in the mean what they
 * receive: 4 times problem.recv_bound_bytes of memory traffic (collective/local.h). It is an
 * estimate and no bound: what lies in memory as it is sent needs no packing, so that
 * gathers, for one, may take less. 0 where the bound is.
 */
double floor_s(const struct problem *p, const struct machine *m,
               const struct placement *place, double bound_s);

/*
 * Returns the bound of one step of a finished plan: of the problem from the layout before it
 * to the one after it. Of a plan over a view, whose strided tiles only its digits say, the
 * array is that of the digits, so that padding counts. NaN where tiles are not those of a
 * layout.
 */
double step_bound_s(const struct plan *plan, int step, const struct machine *m,
                    const struct placement *place);

/*
 * The sets and what their links carry, found once for many problems of `ndevices` devices
 * with the same placement. The machine is borrowed, the placement is not kept. bounds_s()
 * returns what bound_s() does, and reads the array, the meshes and the layouts of the
 * problem.
 */
struct bounds;

struct bounds *bounds_new(const struct machine *m, const struct placement *place,
                          int32_t ndevices);
double bounds_s(struct bounds *b, const struct problem *p);
void bounds_free(struct bounds *b);

#endif
