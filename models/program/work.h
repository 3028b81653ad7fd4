/*
 * What ops compute and move on one device, by the rules of XLA's HloCostAnalysis
 * (xla/service/hlo_cost_analysis.cc).
 *
 * flops: a dot 2 x result elements x contracted sizes; a convolution 2 x result elements x
 * positions of the kernel that fall on elements of the input, neither on its padding nor
 * between them, x input features of a group; an elementwise op 1 of each result element, where
 * exp, log, tanh, sqrt and their like are `transcendentals` and counted apart; a reduction
 * what its computation costs, for each element but the first; a sort n log2 n of each row.
 * bytes: of operands and results; of a slice or dynamic-slice twice the result, of a
 * dynamic-update-slice twice the update, of a gather twice the result and the indices, of a
 * scatter twice the updates and the indices; none of ops that only name values, and of
 * reshapes.
 */
#ifndef SHARDSIM_PROGRAM_WORK_H
#define SHARDSIM_PROGRAM_WORK_H

#include "program/program.h"

struct work {
	double flops; /* all but transcendentals */
	double transcendentals;
	double dot_flops; /* the part of flops of matmuls and convolutions */
	double bytes;
};

/*
 * Returns the work of one op, once. Loops, branches and calls have none of their own; a
 * fusion has the flops of its ops, and the bytes of its operands and results.
 */
struct work op_work(const struct program *p, const struct instruction *op);

/* Returns the sum over all ops of a region, once, with all that it calls. */
struct work region_work(const struct program *p, int32_t region);

/*
 * Returns the sum over the program: each op as often as its region runs, ops of fusions within
 * these.
 */
struct work program_work(const struct program *p);

/* Dimensions of a matmul: `b` matrices [m, k] times [k, n]. */
struct matmul {
	double b, m, n, k;
};

/* Returns those of a dot, or of a convolution seen as one. */
struct matmul dot_matmul(const struct program *p, const struct instruction *op);
struct matmul conv_matmul(const struct program *p, const struct instruction *op);

#endif
