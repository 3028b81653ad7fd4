/*
 * Block graphs on a machine: LSHS and round-robin (placement/lshs.h) against sharded
 * programs that use collectives, for the three expressions of arXiv 2206.14276 that move
 * most: X^T X, a step of logistic regression by Newton's method, and a matrix product.
 */
#ifndef SHARDSIM_SIM_PLACE_BLOCKS_H
#define SHARDSIM_SIM_PLACE_BLOCKS_H

#include "measure/measure.h"
#include "text/pen.h"

enum { BLOCK_GRAPHS = 3, BLOCK_WAYS = 3 };

/* What a way to run a graph puts on the machine. */
struct block_load {
	double received; /* most bytes that a device receives from others */
	double between;  /* bytes that go from one node to another, of all devices */
	double memory;   /* most that a device holds: nothing is given back */
	double time_s;   /* of what is sent, by the clock model, without computing */
};

struct block_case {
	const char *name;
	struct block_load way[BLOCK_WAYS]; /* lshs, round-robin, collectives */
};

struct block_study {
	const struct machine *machine;
	struct block_case graph[BLOCK_GRAPHS];
};

/*
 * Runs all of it on all devices of the bench's machine. It is an E_TYPE at `at` if their
 * number is no square, over which a product is laid, or above BLOCK_DEVICES_MAX, and an
 * E_INFEASIBLE if they are not all joined.
 */
enum { BLOCK_DEVICES_MAX = 64 };
enum status block_study_run(struct block_study *out, const struct bench *b,
                            struct where at, struct arena *a, struct error *e);

void block_study_words(const struct pen *pen, const struct block_study *s);
void block_study_csv(FILE *out, const struct block_study *s);

#endif
