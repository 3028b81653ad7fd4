/*
 * One array from one form to another: local slices as soon as they can be, all-to-alls of
 * an axis that goes to another dimension, all-gathers of what is left.
 */
#ifndef SHARDSIM_AUTOMAP_RESHARD_H
#define SHARDSIM_AUTOMAP_RESHARD_H

#include "automap/lower.h"

enum { HOPS_MAX = 4 * CUT_AXES };

/* A step of it. Axes of a gather may be of several dimensions. */
struct hop {
	enum op op; /* OP_SLICE, OP_ALL_TO_ALL, OP_ALL_GATHER */
	struct cuts from, to;
};

/* Stores the steps and returns how many there are; 0 where both forms are equal. */
int reshard_hops(struct hop *out, const struct cuts *from, const struct cuts *to);

/* Returns the bits of the axes over which devices talk in a step; 0: each has what it needs. */
uint8_t transfer_axes(const struct transfer_step *s);

#endif
