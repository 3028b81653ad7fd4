/*
 * Bounds by cuts of a torus around boxes: products of runs of places, one for each axis,
 * of which two at least are not the whole axis (the cuts of one axis: axis.h). Private to
 * bound.c.
 *
 * Links cross the faces of a box along each axis that it does not fill, two for a line of
 * places where the axis wraps. Every datum that some member lacks counts once, so a box
 * says more than its devices where these want the same, and more than a run of an axis
 * where what they want is near in several axes.
 *
 * Which boxes: all where they are few; else those whose lengths divide the axes', at
 * multiples of their lengths, as layouts over digits of the axes have them; of large
 * tori those of them at place 0. The family hangs on the shape alone, so that a faster
 * link never makes a bound larger.
 */
#ifndef SHARDSIM_BOUND_BOX_H
#define SHARDSIM_BOUND_BOX_H

#include "bound/axis.h"

/* Of axis i the places [lo[i], lo[i] + len[i]) (mod its length). */
struct box {
	int32_t lo[TORUS_AXES_MAX], len[TORUS_AXES_MAX];
};

struct box_cuts;

/*
 * Makes the boxes of a domain of a fabric, which is a torus or has its ports, given the
 * cuts of its axes (NULL for an axis of one place); box_cuts_free() frees them. All are
 * borrowed, as axis_cuts_make() has it. Returns NULL where there is no box.
 */
struct box_cuts *box_cuts_make(const struct machine *m, struct ports *ports,
                               const int32_t *number, int fabric, int32_t domain,
                               struct axis_cuts *const *axis);
void box_cuts_free(struct box_cuts *c);

/* A bound by a box, into it or out of it. */
struct box_bound {
	double s;
	struct box box;
	bool in;
};

/*
 * Looks for a box with a larger bound than best->s, and returns whether there is one.
 * Among equal ones that with the shortest runs counts, the first axis first, then the
 * lowest places; and into before out of.
 */
bool box_cuts_search(struct box_bound *best, struct box_cuts *c,
                     const struct bound_asked *asked);

#endif
