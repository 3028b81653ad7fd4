/*
 * How long a step takes when collectives run beside kernels (program/timeline.h).
 */
#ifndef SHARDSIM_SIM_PROGRAM_OVERLAP_H
#define SHARDSIM_SIM_PROGRAM_OVERLAP_H

#include "program/price.h"
#include "program/timeline.h"

/*
 * What ran, for a time line: all of the entry and of what it calls, and of a loop's body the
 * first turn.
 */
struct overlap_span {
	int32_t op;
	int8_t stream; /* of a collective: the fabric; -1: a kernel, or a loop as a whole */
	int8_t depth;          /* how many loops and branches are around it */
	double trips;          /* of a loop; of all else 0 */
	double start_s, end_s; /* from the start of the step */
};

struct overlapped {
	double *exposed_s; /* [program's ops] of a step: how long kernels waited for it */
	LIST(struct overlap_span) span; /* each before those within it */
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
