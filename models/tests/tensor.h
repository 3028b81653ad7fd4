/* Arrays of numbers and their tiles, for tests that run programs. */
#ifndef SHARDSIM_TESTS_TENSOR_H
#define SHARDSIM_TESTS_TENSOR_H

#include "array/layout.h"
#include "program/program.h"

/* An array of numbers, row-major; `at` NULL: there is none. */
struct tensor {
	int32_t rank;
	int64_t dim[RANK_MAX];
	double *at;
};

struct tensor tensor_make(struct arena *a, int32_t rank, const int64_t *dim);
int64_t tensor_count(const struct tensor *c);

/* Writes the indices of cell number i. */
void tensor_index(int64_t *out, const struct tensor *c, int64_t i);

/* Returns the cell at indices, which must be inside. */
double *tensor_at(const struct tensor *c, const int64_t *index);

/* Returns an array of a type, with numbers between -0.9 and 1.1 from a seed. */
struct tensor tensor_new(struct arena *a, const struct value_type *t, uint64_t seed);

/* Cuts an array into the tiles of all devices: `out` [mesh_nids]. */
void tensor_cut(struct tensor *out, struct arena *a, const struct tensor *whole,
                const struct layout *l, const struct mesh *m);

/*
 * Puts an array of `dim` together from its tiles; those that several devices have must be
 * equal. Unreduced ones are added up, or as `max` says the largest is taken.
 */
struct tensor tensor_join(struct arena *a, const struct tensor *tile,
                          const struct value_type *t, const struct layout *l,
                          const struct mesh *m, bool max);

/* Whether two arrays have the same shape and nearly the same numbers. */
bool tensor_equal(const struct tensor *a, const struct tensor *b);

#endif
