/*
 * The digits of positions in a mesh, and which of them tell copies of a tile apart: those
 * by which senders are chosen by coordinates.
 */
#ifndef SHARDSIM_PLANNER_SEND_PLACES_H
#define SHARDSIM_PLANNER_SEND_PLACES_H

#include "array/layout.h"

/* A digit of positions in the mesh: position / stride % size. */
struct place {
	int32_t stride, size;
};

struct places {
	int n, ncopies;
	struct place place[LAYOUT_PARTS_MAX];
	int copy[LAYOUT_PARTS_MAX]; /* places that cut no dimension of the layout, rising */
};

/* Returns the prime digits of all axes. The layout is of axes. */
struct places places_of(const struct mesh *m, const struct layout *l);

/*
 * Returns them with neighbours of one axis joined where all of them, or none, tell copies
 * apart: an axis that the layout leaves alone is one place.
 */
struct places places_joined(const struct mesh *m, const struct layout *l);

/* Returns the coordinate of a position. */
int32_t place_coordinate(struct place p, int32_t position);

#endif
