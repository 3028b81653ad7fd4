/*
 * What sums take between all devices, or all domains of a fabric (models/README.md,
 * "Bounds"). Private to bound.c.
 *
 * Let the devices be in parts: each its own, or those of a domain; none has all contributions
 * to an element to begin with. Of an element k parts or
 * more are needed to have all its contributions, and m parts want their sum. Look at the
 * first part that has, between its devices, all that the sum is made of. Each other of the
 * k parts has sent something that came here, so at least k - 1 messages with the element, or
 * with sums of some of its contributions, came into parts before; and at least m - 1 come
 * into those others that want the sum after it. Where no device that wants an element has a
 * contribution to it, it is one more: either the first is one that wants nothing, or k parts
 * had to send. So
 *   time >= (k - 1 + m - 1) bytes of all elements / (bandwidth of all links into parts)
 *           + the least latency of a route into one,
 * and likewise out of them. An all-reduce over n devices needs 2 (n - 1) / n of its bytes at
 * each (P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
 * workstations", J. Parallel Distrib. Comput. 69, 2009); as there, contributions are added
 * up or passed on, and not coded together with those of other elements.
 *
 * Switches that add up on the way (NVLS) send an element once where many devices did, so
 * that parts are not told apart between which there is one.
 */
#ifndef SHARDSIM_BOUND_SUMS_H
#define SHARDSIM_BOUND_SUMS_H

#include "bound/axis.h"

struct sums;

/*
 * Lists the parts in the arena. The machine is borrowed; number[d] is the problem's of
 * platform device d, < 0 for none, of `ndevices`.
 */
struct sums *sums_make(const struct machine *m, struct ports *ports,
                       const int32_t *number, int32_t ndevices, struct arena *a);

struct sums_bound {
	double s;
	int fabric; /* the parts are its domains; -1: the devices */
	bool in;
};

/*
 * Returns whether a bound of sums is larger than *best, and stores the largest then. There
 * is none unless the source is unreduced.
 */
bool sums_search(struct sums_bound *best, const struct sums *s,
                 const struct bound_asked *asked, struct arena *scratch);

#endif
