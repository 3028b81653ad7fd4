/* Which devices of a platform run a collective together. */
#ifndef SHARDSIM_SIM_PERF_GROUPS_H
#define SHARDSIM_SIM_PERF_GROUPS_H

#include "array/machine.h"
#include "base/error.h"
#include "plan/plan.h"

/* Texts as given to `perf`, NULL where not: `0-7` or `@FILE`, `x=4,y=2`, `x`. */
struct perf_groups_text {
	const char *devices, *mesh, *axis;
};

/*
 * Makes one group of the devices (all of the machine unless given) in their order, or with
 * an axis the groups along it of the mesh that is laid over the devices, row-major. The arena's.
 * Errors: devices that are not there, a mesh of another number of devices, an axis that
 * the mesh does not have, one of the two without the other.
 */
enum status perf_groups(struct groups *out, struct arena *a, const struct machine *m,
                        const struct perf_groups_text *text, struct error *e);

/*
 * Makes the groups along `axis` of a mesh over the `n` devices `ids` (row-major; borrowed).
 * `mesh_at`, `axis_at` are the places of the two texts.
 */
enum status perf_groups_along(struct groups *out, struct arena *a, const int32_t *ids,
                              int32_t n, const char *mesh, struct where mesh_at,
                              const char *axis, struct where axis_at, struct error *e);

#endif
