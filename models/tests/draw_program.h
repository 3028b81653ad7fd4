/* Random annotated programs, for tests. */
#ifndef SHARDSIM_TESTS_DRAW_PROGRAM_H
#define SHARDSIM_TESTS_DRAW_PROGRAM_H

#include "base/arena.h"

#include <stdint.h>

/*
 * Returns a program of StableHLO on a mesh of 2x2x2, four arguments and some ten ops whose
 * shardings are drawn: elementwise ops, matmuls, reductions, broadcasts, transposes, reshapes,
 * concatenations, slices, constants, constraints. Dimensions are multiples of 8, so that all
 * tiles are whole. The text is the arena's.
 */
const char *draw_program(struct arena *a, uint64_t seed);

#endif
