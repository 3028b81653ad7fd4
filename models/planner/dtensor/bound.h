/*
 * The least that the rest of a way costs DTensor's search. Private to the planner.
 *
 * Only the role of every mesh dimension in a state is kept: replicated, partial,
 * sharding in the place it has in the target with all outer ones in theirs, or sharding
 * elsewhere. Every transform leads from role to role at the same cost, for costs depend
 * on the mesh dimension and on how many shards there are; but between roles any mesh
 * dimension may leave and come at any time. So the cheapest way between roles costs no
 * more than any way between states. Mesh dimensions of equal size, links and role in
 * the target cannot be told apart, so only how many of them have a role is kept. That
 * leaves few states, and the bound of each is found beforehand.
 */
#ifndef SHARDSIM_PLANNER_DTENSOR_BOUND_H
#define SHARDSIM_PLANNER_DTENSOR_BOUND_H

#include "planner/dtensor/dtensor.h"

enum dtensor_role { ROLE_REPLICATED, ROLE_PARTIAL, ROLE_PLACED, ROLE_ASTRAY, ROLES };

struct dtensor_bound {
	/*
	 * By long mesh dimension and role: the number of a state is the sum over the
	 * mesh dimensions.
	 */
	int32_t (*weight)[ROLES];
	double *rest_us; /* by the state's number; INFINITY: no such state */
};

/*
 * Finds the bounds for a target whose mesh dimensions axis[0..n) are longer than 1, and
 * all others not. `partial` says whether a way leads through partial states. All is in
 * the arena. For a target with too many states all bounds are 0.
 */
struct dtensor_bound dtensor_bound_of(const struct dtensor_state *to,
                                      const struct dtensor_links *links,
                                      const struct mesh *m, const int *axis, int n,
                                      double array_bytes, bool partial, struct arena *a);

#endif
