/*
 * What compilers make of a partitioned program's collectives before they run it.
 *
 * An all-reduce of which only slices are used that begin where the partition's number says,
 * as many as its groups have members, is run as a reduce-scatter (XLA's
 * ReduceScatterCreator).
 */
#ifndef SHARDSIM_PROGRAM_CLEAN_H
#define SHARDSIM_PROGRAM_CLEAN_H

#include "program/program.h"

/* Returns which ops are such all-reduces: [ops], the arena's. */
bool *clean_scattered(struct arena *a, const struct program *p);

#endif
