/*
 * Seconds by bytes, from those that are known at some.
 *
 * Rounds whose tasks do not hang on the bytes but in how long these take on the wires take the
 * largest of sums of a part that grows with the bytes and one that does not. Their sum over rounds is
 * convex, so where three of its points are on a line all between the outer two are.
 */
#ifndef SHARDSIM_PRICE_CURVE_H
#define SHARDSIM_PRICE_CURVE_H

#include "base/list.h"

#include <stdbool.h>

struct curve_point {
	double bytes, s;
	bool straight; /* from here to the next one, up to rounding */
};

struct curve {
	LIST(struct curve_point) point; /* by rising bytes */
};

/* Returns the seconds of so many bytes; < 0: they are not known. */
double curve_s(const struct curve *c, double bytes);

/* Adds a point that is not known; `convex`: it is on a curve as above. The list is the arena's. */
void curve_add(struct curve *c, struct arena *a, double bytes, double s, bool convex);

#endif
