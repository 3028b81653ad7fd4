/*
 * Device orders to choose from: every parallelism matrix (placement/matrix.h) of a mesh
 * on the hierarchy of a platform.
 */
#ifndef SHARDSIM_SIM_PLACE_PLACING_H
#define SHARDSIM_SIM_PLACE_PLACING_H

#include "measure/measure.h"
#include "placement/matrix.h"
#include "suite/suite.h"

/*
 * Makes the hierarchy that stands for a machine where the user gave none: the lengths of
 * its tori, with the number of domains in front if there are several; else nodes of the
 * first fabric and the devices of one. For a mesh of fewer devices as many whole nodes, or devices of one.
 * E_TYPE where the devices of a node do not follow each other, or do not fit.
 */
enum status placing_hierarchy(struct hierarchy *out, const struct machine *m,
                              int32_t ndevices, struct where at, struct error *e);

/* Returns the device order of a matrix as `--devices` reads it; the arena's. */
const char *placing_devices(const struct matrix *m, struct arena *a);

/*
 * Plans a scenario with `placement: free` by `planner` in every placement and keeps the
 * cheapest plan; of equal ones that of the first matrix. Placements whose bound is not below the
 * cheapest so far are left out. `problem` is then that of the kept plan, on whose devices
 * the bench is placed; the message names its matrix and the bound is the least of all.
 * Without a plan in any of them the answer is that of the first.
 */
void placing_measure(struct measurement *out, struct problem *problem, struct bench *b,
                     const struct scenario *sc, const struct planner *planner,
                     struct arena *a);

#endif
