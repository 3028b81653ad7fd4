/*
 * What one device holds while a program runs: its arguments, and of what is computed each
 * array from the op that makes it to its last use, in the order of the text.
 *
 * A result that takes over an argument's buffer needs none; nor do values that are computed
 * again where they are used (program/kernels.h), names, and ops that write over an operand
 * that nobody needs any more: dynamic-update-slice, scatter, all-reduce, elementwise ops and
 * fusions whose result has the operand's bytes. A loop carries one copy of its values, on
 * top of which come those of its body; a branch takes what its largest one does. An
 * asynchronous op holds operands and results from its start to its end. Arrays in host
 * memory do not count.
 *
 * For programs before optimisation this is an upper bound: compilers reorder, and compute
 * again what does not fit.
 */
#ifndef SHARDSIM_PROGRAM_LIVENESS_H
#define SHARDSIM_PROGRAM_LIVENESS_H

#include "program/kernels.h"

struct liveness {
	double params_bytes; /* arguments */
	double temp_bytes;   /* the most that is held beside them */

	double peak_bytes; /* both */
	int32_t peak_op;   /* of the program; -1: none */
};

/* One step of the memory over time: what is held once the op has begun. */
struct live_point {
	int32_t op;
	double bytes; /* beside the arguments */
};

/* An array that is held when the most is. */
struct live_array {
	int32_t op; /* that makes it, or the parameter */
	double bytes;
	bool argument;
	int32_t last; /* the op that reads it last; -1: it goes out, or stays in a loop */
};

struct live_arrays {
	LIST(struct live_array)
	array; /* arguments first, then in the order in which made */
};

/*
 * Lists what is held at peak_op of liveness_of(): the bytes of all are its peak_bytes. Within a
 * loop or a branch what is held around it comes first. False as there; all is the arena's.
 */
bool liveness_arrays(struct live_arrays *out, struct arena *a, const struct program *p);

/*
 * False if the program has more calls than can be put in line. `points`, unless it is NULL, gets a
 * point for each op of the entry that runs; it is the arena's.
 */
struct live_points {
	LIST(struct live_point) point;
};
bool liveness_of(struct liveness *out, struct live_points *points, struct arena *a,
                 const struct program *p);

#endif
