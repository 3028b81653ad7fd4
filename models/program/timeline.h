/*
 * When the kernels and collectives of a region run, and how long the region takes: one
 * stream of kernels in the order of the text, and streams of collectives beside it.
 *
 * OVERLAP_NONE: one after another; times add up.
 * OVERLAP_ASYNC: what a compiler or framework that hides communication does with a text that
 * has no schedule. A stream runs one collective at a time; a collective starts when its operands
 * are there, the first of the text first, and a kernel waits for what it reads. A gather of
 * what comes in from outside (parameters, and what a loop never changes) is not started at
 * once, for its result takes memory: no more than the gathers of two layers are ahead of the
 * kernels, the one that runs and the next. A layer is what is called, or the body of a loop;
 * where nothing is called all gathers may be early.
 * OVERLAP_STREAM: as the text says. A collective starts where its start stands, and the
 * kernels wait where its end stands; one that is not asynchronous holds them up.
 *
 * A loop takes its first trips one by one, which may overlap, and every further one as long as
 * the last of these did.
 */
#ifndef SHARDSIM_PROGRAM_TIMELINE_H
#define SHARDSIM_PROGRAM_TIMELINE_H

#include "program/flat.h"

enum overlap { OVERLAP_NONE, OVERLAP_ASYNC, OVERLAP_STREAM };

enum { TIMELINE_STREAMS = 4 };

/* What a step of a flat region takes. */
struct timed_step {
	double s;      /* 0: nothing runs */
	int8_t stream; /* of a collective: 0 to TIMELINE_STREAMS - 1; -1: a kernel or loop */
};

/* What is asked of a step besides its time where it is no op of a program. */
struct timeline_fact {
	bool forms; /* it only brings an array into a form, as ops that move elements do */
	int32_t layer; /* of a collective: the layer that it is for; -1: none */
	double bytes;  /* of its result */
};

struct timeline_ask {
	const struct program *program; /* NULL: `fact` tells, of OVERLAP_ASYNC alone */
	const struct flat *flat;
	const struct timed_step *step; /* [flat->step.n] */
	enum overlap overlap;
	double trips; /* of a loop's body, whose results are its next parameters; else 1 */
	const struct timeline_fact *fact; /* [flat->step.n] */
};

/* A step of the first trip as it ran. */
struct timeline_span {
	int32_t step;
	double start_s, end_s;
};

struct timeline {
	double s;         /* until all is done, all trips */
	double compute_s; /* of kernels, all trips */
	double exposed_s; /* s - compute_s */
	/* [flat->step.n] of exposed_s: waiting for this collective; the rest is for none. */
	double *exposed;
	LIST(struct timeline_span) span;
};

/* Runs a region; all is the arena's. */
void timeline_run(struct timeline *out, struct arena *a, const struct timeline_ask *ask);

#endif
