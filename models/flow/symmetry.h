/*
 * Which renumberings of the devices leave a problem as it is, on a machine that they leave
 * as it is: flows need be found for one of the data that these turn into one another, and
 * the mean over all of them loads links that are alike alike. Of flows that take least, that
 * mean is one (the busiest link of a mean is no busier), so that nothing is lost.
 *
 * Tried are turns of axes of the mesh and of their prime factors by one place, and mirror
 * images, of up to three at once. Each is proved on every message and datum, and their
 * products are the group. What is not found costs time, and nothing else.
 */
#ifndef SHARDSIM_FLOW_SYMMETRY_H
#define SHARDSIM_FLOW_SYMMETRY_H

#include "flow/demand.h"
#include "flow/network.h"

struct symmetry {
	int32_t n, order;
	int32_t *image; /* [order * n]: what element g makes of device d; first the identity */
	/* Links, supplies and data by the lowest of those that they are turned into. */
	int32_t *link_orbit, *link_orbit_size;
	int32_t *supply_orbit, *supply_orbit_size;
	int64_t *datum_orbit, *datum_orbit_size; /* data numbered through all supplies */
};

/*
 * Finds the symmetries of a demand, the devices being those of a mesh. The group has at
 * most four elements for each device; where there are more it is a part of what there is.
 */
void symmetry_find(struct symmetry *out, const struct network *net,
                   const struct demand *demand, const struct mesh *mesh,
                   struct arena *a);

#endif
