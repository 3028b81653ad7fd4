/*
 * The cuts of one axis of a torus in two (bound/bound.h): sets of devices at neighbouring
 * places. Private to bound.c.
 *
 * A wrapped axis of n places has some n^2 / 2 of them, so none is kept: each is made from
 * the one looked at before, by the devices at the places that come and go. Where all links
 * along the axis are alike, lengths of which no set can have a larger bound than the
 * largest so far are passed over as a whole, which often leaves a few.
 */
#ifndef SHARDSIM_BOUND_AXIS_H
#define SHARDSIM_BOUND_AXIS_H

#include "bound/cells.h"
#include "bound/ports.h"

struct axis_cuts;

/*
 * Makes the cuts of an axis of a domain of a fabric; axis_cuts_free() frees them. The
 * machine, the ports and the numbers are borrowed: number[d] is the problem's of platform
 * device d, < 0 for none.
 */
struct axis_cuts *axis_cuts_make(const struct machine *m, struct ports *ports,
                                 const int32_t *number, int fabric, int32_t domain,
                                 int axis);
void axis_cuts_free(struct axis_cuts *c);

/*
 * Returns whether all links along the axis are alike, in both directions, and stores one
 * of them then.
 */
bool axis_cuts_link(struct gate *link, const struct axis_cuts *c);

/* A problem, and how many elements it has. */
struct bound_asked {
	struct cells *cells;
	int32_t ndevices;
	int bits;                /* of an element */
	int64_t want, have, all; /* of a tile wanted, of one held, of the array */
	struct singles single;   /* where boxes are looked at (box.h) */
};

/*
 * Returns how many elements n tiles have at most, of all there are.
 */
static inline int64_t most_elements(int64_t tile, int32_t n, int64_t all)
{
	return tile < all / n ? tile * n : all;
}

/* A bound by a cut, into the places [lo, hi) (mod the length of the axis) or out of them. */
struct axis_bound {
	double s;
	int32_t lo, hi;
	bool in;
};

/*
 * Looks for a cut with a larger bound than *best, and returns whether there is one. Among
 * equal ones that counts which comes first: of an axis that wraps by the number of places,
 * then by the first, else by the place where it is cut; and into before out of.
 */
bool axis_cuts_search(struct axis_bound *best, struct axis_cuts *c,
                      const struct bound_asked *asked);

#endif
