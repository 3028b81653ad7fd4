/* How sure the communication of a priced program is. */
#ifndef SHARDSIM_SIM_PROGRAM_SURE_H
#define SHARDSIM_SIM_PROGRAM_SURE_H

#include "measure/likely.h"
#include "program/price.h"

/*
 * Returns the seconds between which the collectives of a step take what communication_s says,
 * four times of five: as if all were too long, or too short, together. How sure kernels are is
 * not in it. NaN without a machine, a collective, or timings of such machines.
 */
struct likely program_likely(const struct likely_table *t,
                             const struct program_price *p);

#endif
