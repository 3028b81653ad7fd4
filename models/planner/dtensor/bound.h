/*
 * What the rest of a way costs DTensor's search at least. Private to the planner.
 *
 * Of a state only the role of every mesh dimension is kept: replicated, partial, sharding
 * in the place it has in the target with all outer ones in theirs, or sharding elsewhere.
 * Every transform is one between roles, at the same cost, for costs depend on the mesh
 * dimension and on how many shards there are; but between roles any mesh dimension may
 * leave and come at any time. So the cheapest way between roles costs no more than any
 * way between states. Mesh dimensions of equal size, links and role in the target are
 * told apart by nothing, and only how many of them have a role is kept: there are few
 * states, and the bound of each is known beforehand.
 */
#ifndef SHARDSIM_PLANNER_DTENSOR_BOUND_H
#define SHARDSIM_PLANNER_DTENSOR_BOUND_H

#include "planner/dtensor/dtensor.h"

enum dtensor_role { ROLE_REPLICATED, ROLE_PARTIAL, ROLE_PLACED, ROLE_ASTRAY, ROLES };

struct dtensor_bound {
	/*
	 * By long mesh dimension and role; the sum over the mesh dimensions is the number of
	 * a state.
	 */
	int32_t (*weight)[ROLES];
	double *rest_us; /* by the number; INFINITY where no such state is */
};

/*
 * The bounds for a target, whose mesh dimensions axis[0..n) are longer than 1, all others
 * not. `partial`: does a way lead through partial states? All is the arena's. Of a target
 * with too many states all bounds are 0.
 */
struct dtensor_bound dtensor_bound_of(const struct dtensor_state *to,
                                      const struct dtensor_links *links,
                                      const struct mesh *m, const int *axis, int n,
                                      double array_bytes, bool partial, struct arena *a);

#endif
