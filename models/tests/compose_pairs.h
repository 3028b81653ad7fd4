/*
 * How often two plans of `best` in a row, by way of some layout, are cheaper than its one
 * plan: over all pairs of layouts of whole axes of f32[2304,2304] on a mesh.
 */
#ifndef SHARDSIM_TESTS_COMPOSE_PAIRS_H
#define SHARDSIM_TESTS_COMPOSE_PAIRS_H

#include "array/machine.h"
#include "base/arena.h"

struct compose_case {
	int mesh[4]; /* sizes of the axes; 0 ends them */
	enum { COMPOSE_OPEN, COMPOSE_WRAPPED, COMPOSE_NODES } kind;
	int32_t shape[3];   /* of a torus (0 ends it), or nodes and GPUs of each */
	const char *family; /* `family:shape`, instead of kind and shape; or NULL */
};

/* Pairs that are more than 5 % dearer than the cheapest way by a layout; the worst. */
struct compose_count {
	int pairs, dearer;
	double worst;
};

struct compose_count compose_pairs(const struct compose_case *c);

/*
 * The machine of a family as it is or, of no family: an open torus as TPU v5e, a wrapped one as TPU v4, nodes as DGX A100, with links so many
 * times faster; passes over memory are free unless `passes`.
 */
struct machine *compose_machine(struct arena *a, const struct compose_case *c,
                                double faster, bool passes);

#endif
