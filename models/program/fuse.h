/*
 * Which arrays of a flat region are written to memory, and what kernels between them compute and
 * read (program/kernels.h has the rule). For kernels.c and automap/graph_kernels.c.
 */
#ifndef SHARDSIM_PROGRAM_FUSE_H
#define SHARDSIM_PROGRAM_FUSE_H

#include "program/kernels.h"

struct fuse {
	const struct flat *f;
	struct arena *a;
	const struct program *p;
	int32_t *base; /* of each flat value: the one that it is another name of */
	bool *kept;    /* written to memory */
	int32_t *seen; /* stamp of the cone that a step was seen in */
	int32_t *leaf_seen;
	int32_t stamp;
	int32_t *stack; /* values of a cone that are to be looked at */
	double *share;  /* of each of them, the part that is read */
};

/* Decides on all arrays; the flat region is borrowed. */
void fuse_start(struct fuse *m, struct arena *a, const struct program *p,
                const struct flat *f);

const struct instruction *fuse_op(const struct fuse *m, int32_t step);

/* Bytes of an array in the device's memory; small ones are free. */
double fuse_bytes(const struct fuse *m, int32_t value);
double fuse_elements(const struct fuse *m, int32_t value);

/* Dots that contract nothing are none. */
bool fuse_is_dot(const struct instruction *op);

/* Whether results are computed again where they are used, unless that costs more. */
bool fuse_again(const struct instruction *op);

bool fuse_slices(const struct instruction *op);

/* The part of its operand that a slice takes. */
double fuse_slice_share(const struct fuse *m, const struct flat_step *s);

/* The array that a matmul reads: a transpose on the way is part of the matmul. */
int32_t fuse_dot_base(const struct fuse *m, int32_t value);

/* What is computed between some values and the arrays in memory they are made of. */
struct cone {
	double leaves; /* bytes of those arrays */
	double flops, transcendentals;
	bool whole; /* false: there are too many ops to look at all */
};

/*
 * Goes from n values, of which `share` is read, to the arrays in memory. Each array counts
 * once, by the first share that reaches it; slices of it one by one.
 */
struct cone fuse_cone(struct fuse *m, const int32_t *value, int32_t n, double share);

#endif
