/*
 * What the pricer assumes of wires before a step is built. Private to models/cost/.
 */
#ifndef SHARDSIM_PRICE_WIRES_H
#define SHARDSIM_PRICE_WIRES_H

#include "array/machine.h"
#include "collective/local.h"

struct price_wires {
	/*
	 * A permute costs its tile over one link of the slowest fabric it may use; where
	 * the links of a fabric belong to no device (a graph), it is the slowest link of
	 * the machine (models/README.md, "Prices").
	 */
	double permute_s_per_byte, permute_latency_s;
	double receive_s_per_byte; /* of the device with the widest way in */
};

/*
 * Returns the wires of the first n devices, placed (NULL: the identity); `a` holds its
 * work.
 */
struct price_wires price_wires(const struct machine *m, const struct placement *place,
                               int32_t n, struct arena *a);

#endif
