/*
 * A family of machines with round figures, for tests of what reads timings: folders with
 * a families.yaml and files beside it.
 *
 * tiny: nodes of 4 GPUs on a switch, profile nccl with every constant as the library has
 * it. A port has 100 GB/s, a route inside a node 2 us, a NIC 10 GB/s, a route over it
 * 5 us, a launch takes 10 us, each of one process for all 5.65048 us, in a graph 4 us.
 */
#ifndef SHARDSIM_TESTS_TINY_FAMILY_H
#define SHARDSIM_TESTS_TINY_FAMILY_H

#include "base/arena.h"

#include <stdbool.h>

/* Makes a folder with families.yaml, which $SHARDSIM_DATA names from then on. */
const char *tiny_start(struct arena *a);

/* Removes the folder and all that is in it. */
void tiny_end(const char *dir);

/* Writes the text to the file DIR/NAME and returns that name, which is the arena's. */
const char *tiny_file(struct arena *a, const char *dir, const char *name,
                      const char *text);

/*
 * Returns the seconds of a collective of `bytes` in all over one node of 4 by NCCL's
 * constants, worked out by hand and without the library's tables: a ring by the
 * cheapest of the three protocols, with `fill_s`. With `twice` it is an all-reduce,
 * else an all-gather or a reduce-scatter.
 */
double tiny_ring_s(double bytes, bool twice, double launch_s, double step,
                   double fill_s);

#endif
