/*
 * What compilers make of a partitioned program's collectives before they run it.
 *
 * An all-reduce of which only slices are used that begin where the partition's number says,
 * as many as its groups have members, is run as a reduce-scatter (XLA's
 * ReduceScatterCreator).
 *
 * What is gathered twice in a region, over the same groups, is gathered once (XLA's HloCSE).
 *
 * Gathers, sums and scatters of one kind over the same groups, and permutes between the same
 * pairs, of which none needs another's result, are run together as long as that is of no more than 30 MiB (XLA's collective combiners,
 * whose default threshold it is). Larger ones stay alone.
 */
#ifndef SHARDSIM_PROGRAM_CLEAN_H
#define SHARDSIM_PROGRAM_CLEAN_H

#include "program/program.h"

/* Returns which ops are such all-reduces: [ops], the arena's. */
bool *clean_scattered(struct arena *a, const struct program *p);

/* Returns the gather before each op that brings the same, -1: none. [ops], the arena's. */
int32_t *clean_gathered(struct arena *a, const struct program *p);

/*
 * Returns what part each op's own bytes are of what is run together with it, 1: it runs alone.
 * [ops], the arena's. `scattered` is of clean_scattered(), `gathered` of
 * clean_gathered().
 */
double *clean_combined(struct arena *a, const struct program *p, const bool *scattered,
                       const int32_t *gathered);

#endif
