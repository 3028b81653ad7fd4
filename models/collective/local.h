/*
 * Local work and launches, by one rule for steps of plans and for prices in a search
 * (models/README.md, "Prices").
 */
#ifndef SHARDSIM_COLLECTIVE_LOCAL_H
#define SHARDSIM_COLLECTIVE_LOCAL_H

#include "array/machine.h"
#include "collective/lower.h"
#include "plan/plan.h"

/* Returns the platform device of a logical one (a NULL placement is the identity). */
int32_t placement_device(const struct placement *place, int32_t d);

/* Returns how many devices it can place on the machine. */
int32_t placement_size(const struct placement *place, const struct machine *m);

/* Of the slowest device among those a plan runs on. */
struct local_rates {
	double s_per_byte; /* of memory traffic; 0: local passes are free */
	double launch_s;   /* profile_launch_s() of them */
};

/*
 * Returns the rates of the `n` logical devices that `place` puts on the machine (NULL:
 * devices 0..n-1).
 */
struct local_rates local_rates(const struct machine *m, const struct placement *place,
                               int32_t n);

/*
 * Returns the bytes that the local passes of a step move through a device's memory. A
 * pass reads and writes, so it counts twice:
 *   slice, pad, partial  2 x its result
 *   all-gather  2 x its result if it is unpacked (`unpack`)
 *   all-to-all  2 x the tile for packing and as much for unpacking
 *   permute     none (whole tiles travel)
 *   reductions  3 x what is received, in groups of q (q-1)/q of the tile in a
 *               reduce-scatter and twice that in an all-reduce: two reads and a write
 */
double local_traffic_bytes(enum op op, double before_bytes, double after_bytes,
                           int32_t q, bool unpack);

#endif
