/*
 * Shardings that a program's text gives, as decisions that are made: arguments, results and
 * constraints within it (program/sharding.h) are cut as they say, all of them before anything
 * propagates. An op whose operands then have an axis on several factors runs along that of the first
 * one, as arrays that flow come before weights in programs of layers. What a text leaves whole a
 * search may still cut.
 */
#ifndef SHARDSIM_AUTOMAP_GIVEN_H
#define SHARDSIM_AUTOMAP_GIVEN_H

#include "automap/cutting.h"
#include "program/sharding.h"

/*
 * Cuts what is given and propagates; axis[i] is that of the cutting for axis i of the text's mesh,
 * -1: of size 1. Returns how many cuts there were; `lost` gets the number of those that could not
 * be: of a part of an axis, or of a dimension that does not divide.
 */
int given_cut(struct cutting *c, const struct shardings *s, const int *axis, int *lost);

#endif
