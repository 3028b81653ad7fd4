/* Which devices of a platform run a collective together. */
#ifndef SHARDSIM_SIM_PERF_GROUPS_H
#define SHARDSIM_SIM_PERF_GROUPS_H

#include "array/machine.h"
#include "base/error.h"
#include "plan/plan.h"

/*
 * The texts that `perf` was given, such as `0-7` or `@FILE`, `x=4,y=2`, `x`, else NULL.
 */
struct perf_groups_text {
	const char *devices, *mesh, *axis;
};

/*
 * Makes one group of the devices that were given, or of all devices of the machine.
 * With an axis it makes the groups along that axis of the mesh, which is laid over the
 * devices in row-major order; without given devices a mesh smaller than the machine sits
 * on a slice of it (array/seat.h). Everything is the arena's. It is an error if a device is
 * not there, if the mesh has another number of devices or lacks the axis, or if only
 * one of mesh and axis is given.
 */
enum status perf_groups(struct groups *out, struct arena *a, const struct machine *m,
                        const struct perf_groups_text *text, struct error *e);

/*
 * Finds how many devices a machine must have for them: one more than the largest that is
 * given, or those of the mesh; 0 where neither is given. Errors: those of the texts.
 */
enum status perf_groups_need(int32_t *n, struct arena *a,
                             const struct perf_groups_text *text, struct error *e);

/*
 * Makes the groups along `axis` of a mesh over the `n` devices `ids` (row-major; borrowed).
 * `mesh_at`, `axis_at` are the places of the two texts.
 */
enum status perf_groups_along(struct groups *out, struct arena *a, const int32_t *ids,
                              int32_t n, const char *mesh, struct where mesh_at,
                              const char *axis, struct where axis_at, struct error *e);

#endif
