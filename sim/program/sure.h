/* How sure the communication of a priced program is, and the time of a training step. */
#ifndef SHARDSIM_SIM_PROGRAM_SURE_H
#define SHARDSIM_SIM_PROGRAM_SURE_H

#include "measure/likely.h"
#include "program/model.h"
#include "program/price.h"

/*
 * Returns the seconds between which the collectives of a step take what communication_s says,
 * four times of five: as if all were too long, or too short, together. How sure kernels are is
 * not in it. NaN without a machine, a collective, or timings of such machines.
 */
struct likely program_likely(const struct likely_table *t,
                             const struct program_price *p);

/*
 * Returns the seconds between which a training step of the model takes what step_s says, four
 * times of five, if it runs as published ones do: communication beside kernels (OVERLAP_ASYNC).
 * NaN where step_s is, and without timings of such machines.
 */
struct likely step_likely(const struct likely_table *t, const struct machine *machine,
                          const struct architecture *model, double step_s);

#endif
