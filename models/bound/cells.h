/*
 * How much must cross into and out of a set of devices (models/README.md, "Bounds").
 * Private to models/bound/.
 *
 * The tiles of a layout are the cells of a grid, held by one device or several. What a
 * set S wants or holds is a union of cells, so sizes of unions are sums over distinct
 * cells, and what two unions have in common is
 *   the smaller of them                   where the other is the whole array,
 *   a product of overlaps per dimension   where both are products of index sets,
 *   a sum over pairs of meeting cells     otherwise.
 * Where the third has too many pairs (a few ten thousand) the smaller union stands in
 * for it, which can only make the crossing smaller: still a lower bound.
 *
 * All sums are kept while devices come and go, so that a set that differs from the one
 * before by a few devices costs what those meet.
 */
#ifndef SHARDSIM_BOUND_CELLS_H
#define SHARDSIM_BOUND_CELLS_H

#include "bound/grid.h"
#include "plan/problem.h"

struct cells;

/*
 * Makes the cells of a problem, which is borrowed, in the arena, with an empty set of
 * devices.
 */
struct cells *cells_make(const struct problem *p, struct arena *a);

/*
 * Real elements that must cross, at least, into and out of a set of devices:
 *   in:  what some member wants less what the members hold between them,
 *   out: what only members hold less what only members want.
 * Of an unreduced source an element is held by a set if all its contributions are, and
 * at least one value crosses for each that is not. An unreduced target asks for
 * nothing: which contribution is where is free, and most may be zeros.
 */
struct crossing {
	int64_t in, out;
};

/* Returns whether the target asks for nothing: then nothing crosses anywhere. */
bool cells_free(const struct cells *c);

/* Return who holds which cell of the source, and who wants which of the target. */
const struct grid *cells_from(const struct cells *c);
const struct grid *cells_to(const struct cells *c);

/* Empties the set. */
void cells_clear(struct cells *c);

/* Puts a device of the problem into the set, where it is not, and takes one out of it. */
void cells_put(struct cells *c, int32_t d);
void cells_take(struct cells *c, int32_t d);

/* Returns what crosses for the set. */
struct crossing cells_cross(struct cells *c);

/*
 * Returns the elements that the set holds (in) and those that only its members want
 * (out): what never crosses for this set nor for any larger one.
 */
struct crossing cells_kept(const struct cells *c);

/* Of all devices one by one: what comes into one at most, and what one holds at least. */
struct singles {
	int64_t most_in, least_kept;
};

/* Looks at each of the problem's n devices. */
struct singles cells_singles(const struct cells *c, int32_t n);

/* Returns what crosses for the `n` devices `member` (distinct); the set may change. */
struct crossing cells_crossing(struct cells *c, const int32_t *member, int32_t n);

#endif
