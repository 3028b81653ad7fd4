/*
 * Lower bounds on the time of any plan (design 7, `bound_s`): no launch, no local work.
 */
#ifndef SHARDSIM_COST_BOUND_H
#define SHARDSIM_COST_BOUND_H

#include "array/machine.h"
#include "collective/lower.h"
#include "plan/problem.h"

/*
 * Seconds below which no plan of the problem can be on the machine, for its devices
 * placed there (NULL: the identity): every device must receive the real elements that it
 * lacks, through all its links of all fabrics at once (the injection bandwidth), and the
 * first of them has a route's latency:
 *   max over devices that lack something of (bytes / injection + shortest latency).
 * 0 if no device lacks anything. A graph fabric tells neither its ports nor its
 * distances without asking for all routes, so a device on one is given no bound.
 * The devices must fit on the machine.
 */
double bound_s(const struct problem *p, const struct machine *m,
               const struct placement *place);

#endif
