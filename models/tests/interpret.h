/*
 * Programs run on real numbers, for tests: a whole program on one device, a partitioned one on
 * all devices in step. Of a change of layout only its ends count, for its plan is proved apart
 * (plan/check.h): the tiles are put together, where all that have the same must have equal
 * numbers, sums are added up, and the array is cut anew.
 */
#ifndef SHARDSIM_TESTS_INTERPRET_H
#define SHARDSIM_TESTS_INTERPRET_H

#include "program/partition/partition.h"
#include "tests/tensor.h"

/*
 * Runs the entry on `n` devices. `param` and `result` are [number * n + device]. `part` is what
 * the program is of, NULL: it is not partitioned, and n is 1. An op that is not known aborts
 * the test.
 */
void interpret(struct tensor *result, struct arena *a, const struct program *p,
               const struct partitioned *part, const struct mesh *m, int32_t n,
               const struct tensor *param);

#endif
