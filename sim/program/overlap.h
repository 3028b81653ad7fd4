/*
 * How long a step takes when collectives run beside kernels (program/timeline.h).
 */
#ifndef SHARDSIM_SIM_PROGRAM_OVERLAP_H
#define SHARDSIM_SIM_PROGRAM_OVERLAP_H

#include "program/price.h"
#include "program/timeline.h"

/* What ran in the entry of a program, for a time line. */
struct overlap_span {
	int32_t op;
	bool collective;
	double start_s, end_s;
};

struct overlapped {
	double *exposed_s; /* [program's ops] of a step: how long kernels waited for it */
	LIST(struct overlap_span) span;
};

/* Returns the usual one: as the text says if it is optimised, else OVERLAP_ASYNC. */
enum overlap overlap_usual(const struct program *p);

/*
 * Sets step_s and exposed_s of a price whose times are known; else it stays as it is.
 * `devices` has the platform device of each of the program's: collectives that stay on
 * one fabric are a stream of their own. All is the arena's.
 */
void program_overlap(struct overlapped *out, struct arena *a,
                     struct program_price *price, const int32_t *devices,
                     enum overlap overlap);

#endif
