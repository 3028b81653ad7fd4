/*
 * What to tell a compiler: the cheapest chain of at most three layouts on the way of an
 * array, such that a compiler that plans each hop its own way comes closest to `best`.
 * A user writes such a layout as with_sharding_constraint, sdy.sharding_constraint or
 * redistribute. It is no planner but a question about one.
 */
#ifndef SHARDSIM_PLANNER_ADVISE_H
#define SHARDSIM_PLANNER_ADVISE_H

#include "planner/planner.h"

enum { ADVISE_MOST = 3, ADVISE_HOPS_MAX = ADVISE_MOST + 1 };

/* The planners that stand for compilers which can be told layouts, ended by NULL. */
extern const struct planner *const advise_compilers[];

/* From one layout of a chain to the next: a problem of its own, and the plan for it. */
struct advised_hop {
	const struct problem *problem;
	struct plan *plan;
	struct price price;
};

/* The layouts between are the targets of all hops but the last. */
struct advised_chain {
	int nhops;
	struct advised_hop hop[ADVISE_HOPS_MAX];
	struct price price; /* the sum over the hops */
	/* As those of one plan that has the steps of all hops (plan.h). */
	int64_t peak_array_bytes, peak_live_bytes;
};

/*
 * The cheapest chain over an array that is padded first, as by jnp.pad, so that both layouts
 * cut it evenly into tiles of the size they have anyhow. A compiler that pads and cuts off
 * around every step then has nothing to pad. The problems of its hops are of the larger array;
 * cutting the padding off at the end leaves every device its tile.
 */
struct advised_padding {
	const struct problem *problem; /* of the padded array; NULL: none is cheaper */
	struct price pad;              /* a local copy */
	struct advised_chain chain;    /* `price` and bytes are with the pad's */
};

struct advice {
	/* What the compiler answers by itself; why, where that is no plan that fits. */
	enum answer alone;
	const char *why;
	const struct plan *plan; /* also one that does not fit; NULL: there is none */
	/*
	 * By rising number of layouts, each strictly cheaper than all with fewer; the
	 * first has none where the compiler alone has a plan that fits.
	 */
	int nchains;
	struct advised_chain chain[ADVISE_HOPS_MAX];
	/*
	 * For XLA alone, where it is cheaper than all of these; of at most ADVISE_MOST - 1
	 * layouts, so that with the pad they are no more lines.
	 */
	struct advised_padding padding;
};

struct advise_ask {
	const struct problem *problem;
	const struct planner *compiler; /* one of advise_compilers, or another planner */
	const struct prices *prices;
	/*
	 * Plans of the problem, ended by NULL, whose own layouts are tried first, such as
	 * that of `best`.
	 */
	const struct plan *const *guide;
	/* So many first dimensions stay cut as they are at the source. */
	int held;
};

/*
 * Advises on a problem; everything is the arena's. No chain is dearer
 * than the compiler alone, every hop's plan fits the memory with the source beside it, and
 * of equally dear chains the one of fewer layouts is given, then one without parts of axes,
 * then one that needs less memory. Layouts that the compiler's users cannot say are none:
 * PyTorch's placements take whole axes in the order of the mesh.
 */
void advise(struct advice *out, const struct advise_ask *ask, struct arena *arena);

#endif
