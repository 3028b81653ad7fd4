/*
 * Meshes for a number of devices, and their places on a machine, in stages that are counted.
 *
 * First all meshes of two axes, `batch` and `model`, in all placements (placement/matrix.h), each
 * with a short search; the better third of these, eight at least, with as long a search as was asked for. Then the
 * best two have an axis split in two, in all ways in which the new axis, `expert`, is within one
 * level of the machine: short searches that start from what was found for the whole axis, cut on
 * both of its parts; and the best of these with a long one. Where no tactic tells axes apart, meshes
 * that differ in the order of their axes are one.
 */
#ifndef SHARDSIM_SIM_AUTOMAP_SHAPES_H
#define SHARDSIM_SIM_AUTOMAP_SHAPES_H

#include "automap/run.h"

/* Fills the best and the second, and how many meshes and placements were tried. */
enum status automap_shapes(struct automap_answer *out, struct arena *a,
                           const struct automap_ask *ask, struct error *e);

#endif
