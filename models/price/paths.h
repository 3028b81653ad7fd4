/*
 * Prices of paths between devices, by which planners choose among sources (planner.h).
 * Private to models/price/.
 */
#ifndef SHARDSIM_PRICE_PATHS_H
#define SHARDSIM_PRICE_PATHS_H

#include "array/machine.h"
#include "array/routes.h"
#include "collective/local.h"

struct price_paths;

/*
 * Makes the prices of paths of a machine for devices placed on it (NULL: the identity),
 * whose routes are remembered in `routes`. All are borrowed.
 */
struct price_paths *price_paths_new(const struct machine *m,
                                    const struct placement *place,
                                    struct routes *routes);
void price_paths_free(struct price_paths *paths);

/*
 * Returns the price of a path between two placed devices, < 0 where there is none. The
 * slowest link of the route decides; of equally fast routes the shorter one puts its
 * bytes on fewer links, at a sixty-fourth of the time for each. The price is relative to
 * the time on the fastest link of the machine and rounded, so that sources are chosen
 * alike where all links are faster by one factor.
 */
double price_path(struct price_paths *paths, int32_t src, int32_t dst);

#endif
