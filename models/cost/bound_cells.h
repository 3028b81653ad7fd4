/*
 * How much must cross into and out of a set of devices (models/README.md, "Bounds").
 * Private to bound.c.
 *
 * The tiles of a layout are the cells of a grid, held by one device or several. What a
 * set S wants or holds is a union of cells, so sizes of unions are sums over distinct
 * cells, and what two unions have in common is
 *   the smaller of them                   where the other is the whole array,
 *   a product of overlaps per dimension   where both are products of index sets,
 *   a sum over pairs of meeting cells     otherwise.
 * Where the third has too many pairs (a few ten thousand) the smaller union stands in
 * for it, which can only make the crossing smaller: still a lower bound.
 */
#ifndef SHARDSIM_COST_BOUND_CELLS_H
#define SHARDSIM_COST_BOUND_CELLS_H

#include "plan/problem.h"

struct cells;

/* Makes the cells of a problem, which is borrowed, in the arena. */
struct cells *cells_make(const struct problem *p, struct arena *a);

/*
 * Real elements that must cross, at least, into and out of the `n` devices `member`
 * (of the problem, distinct):
 *   in:  what some member wants less what the members hold between them,
 *   out: what only members hold less what only members want.
 * Of an unreduced source an element is held by a set if all its contributions are, and
 * at least one value crosses for each that is not. An unreduced target asks for
 * nothing: which contribution is where is free, and most may be zeros.
 */
struct crossing {
	int64_t in, out;
};

struct crossing cells_crossing(struct cells *c, const int32_t *member, int32_t n);

#endif
