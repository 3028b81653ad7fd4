/*
 * The routes of a machine, remembered: a clock asks for the same ones again and again.
 */
#ifndef SHARDSIM_ARRAY_ROUTES_H
#define SHARDSIM_ARRAY_ROUTES_H

#include "array/machine.h"

struct routes;

/*
 * Makes the memory of the routes of a machine, which is borrowed. Threads do not share
 * it.
 */
struct routes *routes_new(const struct machine *m);
void routes_free(struct routes *r);

/*
 * Returns the links of machine_route() and their number in *n, < 0 as there. Good until
 * the next call.
 */
const int32_t *routes_find(int *n, struct routes *r, int fabric, int32_t src,
                           int32_t dst);

#endif
