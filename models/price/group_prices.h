/*
 * Seconds of collectives on the wires of a machine by the clock `model` (cost/model.h), for
 * all meshes and placements that are searched on it: groups of equal devices, and equal
 * collectives of these, are priced once.
 *
 * Where the devices of a machine are all alike and a library runs the collectives one group stands
 * for all (price/even.h); on a torus, few do (price/translates.h).
 */
#ifndef SHARDSIM_PRICE_GROUP_PRICES_H
#define SHARDSIM_PRICE_GROUP_PRICES_H

#include "array/machine.h"
#include "array/mesh.h"
#include "plan/plan.h"

struct group_prices;

/* The machine is borrowed; what a user forces on its collectives changes no price (price/price.h). */
struct group_prices *group_prices_new(const struct machine *m);
void group_prices_free(struct group_prices *p); /* or NULL */

/*
 * Returns the number of the groups along parts of axes of a mesh, the first most major, whose
 * positions are the machine's devices device[position] (NULL: in order).
 */
int32_t group_prices_number(struct group_prices *p, const struct mesh *mesh,
                            const int32_t *device, const struct part *part, int nparts);

/*
 * Returns the seconds of a collective over the groups of that number, with so many bytes on each
 * device before it; PRICE_IMPOSSIBLE_S where the machine cannot run it.
 */
double group_prices_s(struct group_prices *p, int32_t number, enum op op, double bytes);

#endif
