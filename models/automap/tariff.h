/*
 * The prices of an evaluation on a machine: collectives by the clock `model`
 * (cost/model.h), over the groups that the axes of the mesh form where its devices stand,
 * kernels by the roofline (cost/compute.h). Changes of layout that take several steps are planned by
 * a planner, if there is one. Every collective and every change is priced once and remembered; what
 * collectives take on the wires is known to all meshes on a machine (price/group_prices.h).
 */
#ifndef SHARDSIM_AUTOMAP_TARIFF_H
#define SHARDSIM_AUTOMAP_TARIFF_H

#include "array/mesh.h"
#include "automap/evaluate.h"
#include "planner/planner.h"
#include "price/group_prices.h"

struct machine_tariff;

/*
 * Prices for a mesh of at most CUT_AXES axes whose positions are the machine's devices
 * device[position]; NULL: in order. `shared` are those of the machine. `planner` NULL: nothing
 * is planned. All are borrowed, and must outlive it.
 */
struct machine_tariff *machine_tariff_new(const struct machine *m,
                                          struct group_prices *shared,
                                          const struct mesh *mesh, const int32_t *device,
                                          const struct planner *planner);
void machine_tariff_free(struct machine_tariff *t); /* or NULL */

/* Returns its prices; `self` is the tariff. */
struct cut_prices machine_tariff_prices(struct machine_tariff *t);

/* Returns how its planner solves a problem on its mesh; NULL: it does not. All is the arena's. */
const struct plan *machine_tariff_plan(struct machine_tariff *t, struct arena *a,
                                       const struct problem *p);

/*
 * What no sharding of so many devices is faster than: all matmuls at full rate, in equal parts, those
 * of the passes as often as there are micro batches.
 */
double machine_bound_s(const struct machine *m, const struct graph *g, int64_t devices,
                       double micro_batches);

#endif
