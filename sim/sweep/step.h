/* A training step as a case of a sweep: the planner of its row is `step`, its clock `model`. */
#ifndef SHARDSIM_SIM_SWEEP_STEP_H
#define SHARDSIM_SIM_SWEEP_STEP_H

#include "array/machine.h"
#include "measure/likely.h"
#include "planner/planner.h"
#include "program/model.h"
#include "store/store.h"
#include "suite/suite.h"

/* What stands for the planner of steps, and is in no list of planners. */
extern const struct planner sweep_step_planner;

/* Reads the model of a step with what the suite says in place of its `train`. */
enum status sweep_step_model(struct architecture *out, struct arena *a,
                             const struct suite_step *step, struct error *e);

/*
 * Times a step on the machine and fills in the row, whose texts are the arena's. A model and degrees
 * that do not go together, and a machine that is too small, are not applicable; a step that
 * needs more memory than a device has is over-memory, without a time. `likely` says how sure
 * the time is.
 */
void sweep_step(struct row *r, const struct suite_step *step, const struct machine *m,
                const struct likely_table *likely, struct arena *a);

#endif
