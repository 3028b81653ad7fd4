/*
 * What runs on a device, one after another: kernels, collectives, loops.
 *
 * In an optimised program each op is one kernel, and so is a fusion. In others the ops that
 * a compiler would fuse are put together here by one rule. An array is written to memory if
 * it comes in from outside or goes out, is carried by a loop, is the result of a matmul,
 * convolution, reduction, gather, scatter, sort, custom call or collective, or if a matmul,
 * convolution, sort, custom call, collective or loop reads it. Results of other elementwise
 * ops and moves are computed again where they are used, unless there are several uses and
 * the bytes are fewer if they are written once: own x (1 + uses) + leaves < uses x leaves,
 * where leaves are the bytes of the arrays they are made from. A kernel reads its leaves and
 * writes its result; of a leaf that is read through a slice only that counts; an update in
 * place is read and written, the array around it is not. Arrays below 64 KiB stay in caches
 * and are free. A dot that contracts nothing is elementwise; a transpose on the way into a
 * matmul is part of it; reshapes and annotations are other names of an array.
 */
#ifndef SHARDSIM_PROGRAM_KERNELS_H
#define SHARDSIM_PROGRAM_KERNELS_H

#include "cost/compute.h"
#include "program/flat.h"

enum { KERNEL_FREE_BYTES = 64 << 10 };

struct kernel {
	int32_t op;   /* of the program: the op whose result it computes */
	int32_t step; /* in the flat region */
	enum op_class class;
	/*
	 * What compute_op_s() is asked; its flops are those of matmuls and attention. Of a
	 * collective, a loop, a branch and the ends of asynchronous ops it asks nothing.
	 */
	struct compute_ask ask;
	double flops, transcendentals; /* all that it computes */
	double host_bytes;             /* over the link to the host */
};

struct kernels {
	struct flat flat;
	LIST(struct kernel) kernel; /* in the order of the text */
	bool *kept;                 /* [flat values]: written to memory */
};

/* Makes the kernels of a region that runs; all is the arena's. False as flat_make(). */
bool kernels_make(struct kernels *out, struct arena *a, const struct program *p,
                  int32_t region);

#endif
