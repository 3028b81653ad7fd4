/*
 * Device orders to choose from: every parallelism matrix (placement/matrix.h) of a mesh
 * on the hierarchy of a platform.
 */
#ifndef SHARDSIM_SIM_PLACE_PLACING_H
#define SHARDSIM_SIM_PLACE_PLACING_H

#include "array/machine.h"
#include "measure/measure.h"
#include "placement/matrix.h"
#include "suite/suite.h"

/*
 * Makes the hierarchy of a machine for which the user gave none. For tori it is their
 * lengths, with the number of domains in front if there are several; else it is the
 * number of nodes of the first fabric and the number of devices in a node. A mesh of
 * fewer devices takes as many whole nodes, or devices of one node. It is an E_TYPE if
 * the devices of a node do not follow each other, or do not fit.
 * A part of a torus has the lengths of its slice, if it fills that. Where the devices
 * are is not said yet.
 */
enum status placing_hierarchy(struct hierarchy *out, const struct machine *m,
                              int32_t ndevices, struct where at, struct error *e);

/*
 * Puts a hierarchy on the slice that its devices take of a machine (array/seat.h), or on
 * the first devices; returns the slice as text, or NULL. All is the arena's.
 */
const char *placing_take(struct hierarchy *h, const struct machine *m, struct arena *a);

/*
 * Returns the device order of a matrix in the form that `--devices` reads, the arena's.
 */
const char *placing_devices(const struct matrix *m, const struct hierarchy *h,
                            struct arena *a);

/*
 * Plans a scenario with `placement: free` by `planner` in every placement, and keeps
 * the cheapest plan, of equal ones that of the first matrix. It leaves out placements
 * whose bound is not below the cheapest plan so far. Afterwards `problem` is that of
 * the plan kept, and the bench is placed on its devices; the message names its matrix,
 * and the bound is the least of all placements. If no placement has a plan, the answer
 * is that of the first.
 */
void placing_measure(struct measurement *out, struct problem *problem, struct bench *b,
                     const struct scenario *sc, const struct planner *planner,
                     struct arena *a);

#endif
