/*
 * Programs run on real numbers, for tests: a whole program on one device, a partitioned one on
 * all devices in step. Of a change of layout only its ends count, for its plan is proved apart
 * (plan/check.h): the tiles are put together, where all that have the same must have equal
 * numbers, sums are added up, and the array is cut anew.
 */
#ifndef SHARDSIM_TESTS_INTERPRET_H
#define SHARDSIM_TESTS_INTERPRET_H

#include "program/partition/partition.h"

/* An array of numbers, row-major; `at` NULL: there is none. */
struct cells {
	int32_t rank;
	int64_t dim[RANK_MAX];
	double *at;
};

/* Returns an array of a type, with numbers between -0.9 and 1.1 from a seed. */
struct cells cells_new(struct arena *a, const struct value_type *t, uint64_t seed);

/* Cuts an array into the tiles of all devices: `out` [mesh_nids]. */
void cells_cut(struct cells *out, struct arena *a, const struct cells *whole,
               const struct layout *l, const struct mesh *m);

/*
 * Puts an array of `dim` together from its tiles; those that several devices have must be
 * equal. Unreduced ones are added up, or as `max` says the largest is taken.
 */
struct cells cells_join(struct arena *a, const struct cells *tile,
                        const struct value_type *t, const struct layout *l,
                        const struct mesh *m, bool max);

/* Whether two arrays have the same shape and nearly the same numbers. */
bool cells_equal(const struct cells *a, const struct cells *b);

/*
 * Runs the entry on `n` devices. `param` and `result` are [number * n + device]. `part` is what
 * the program is of, NULL: it is not partitioned, and n is 1. An op that is not known aborts
 * the test.
 */
void interpret(struct cells *result, struct arena *a, const struct program *p,
               const struct partitioned *part, const struct mesh *m, int32_t n,
               const struct cells *param);

#endif
