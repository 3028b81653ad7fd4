/*
 * From cuts to collectives: what has to move so that every op finds its operands as it
 * runs (models/README.md, "Automap").
 *
 * An op makes its results as it runs: cut along the factors that they have, partial sums
 * along those that only operands have. Partial sums stay so through additions,
 * subtractions, negations whose operands are all partial on the same axes, and through
 * reshapes, transposes and conversions to no wider type, if every user is such an op;
 * otherwise they are reduced once: where the value itself is cut on the axis, evenly beside
 * what its op cuts, by a reduce-scatter, else by an all-reduce. Operands are brought to how
 * their op runs: by a local slice, an all-gather, or both, or an all-to-all; what several ops
 * of one phase (forward, backward, update) need in the same way moves once. A result that
 * takes an argument's place has its cuts.
 */
#ifndef SHARDSIM_AUTOMAP_LOWER_H
#define SHARDSIM_AUTOMAP_LOWER_H

#include "automap/cutting.h"
#include "plan/plan.h"

/* One array brought from one form to another. */
struct transfer_step {
	enum op op; /* OP_ALL_REDUCE, OP_REDUCE_SCATTER, or OP_EXCHANGE: any reshard */
	int32_t value;
	int32_t before; /* op in front of which it runs; -1: behind the last one */
	int32_t until;  /* the last op that reads what it makes */
	struct cuts from, to;
	uint8_t axes; /* of reductions: those that are summed over */
	enum phase phase;
	double weight;
};

/*
 * The steps of a set of cuts. They are found anew only where a call finds other cuts than the one
 * before it did, so that states that differ in a few cuts cost little.
 */
struct lowered_cuts {
	LIST(struct transfer_step) step; /* in the order in which values are made */
	LIST(int32_t) slot; /* of each step: its place, which it has in all calls */
	/* [values] as made, after its reduction; its own cuts where it is an argument. */
	struct cuts *made;
	uint8_t *runs_without; /* [ops] axes that an op does not run along: its sums wait */
	/* What the last call found anew: ops that run otherwise, values with all their steps. */
	LIST(int32_t) changed_op, changed_value;
	/* Steps by their slots; those of a value are chained. */
	struct transfer_step *in_slot; /* [slots] */
	int32_t *first_slot, *next;    /* [values], [slots]; -1: no more */
	/* Private to lower.c. */
	struct arena *arena;
	int32_t nslots;
	bool *filled;            /* [slots] */
	struct cuts *value, *op; /* as the last call found them */
	bool *stale_value, *stale_op, *stale_set;
	struct partial_sum *sum, *was; /* [values] */
	/* [values] the set of those whose partial sums hang together; their lists. */
	int32_t *set, *first_of, *of;
	LIST(int32_t) stale;    /* sets that are to be found anew */
	LIST(int32_t) in_place; /* results that take an argument's place */
};

/* Makes the room for cuts of a graph; all is the arena's. */
void lower_start(struct lowered_cuts *out, struct arena *a, const struct graph *g);

/* Finds all steps. */
void lower_cuts(struct lowered_cuts *l, const struct cutting *c);

/* How an operand or result of an op is cut where it runs. */
struct cuts lower_form(const struct lowered_cuts *l, const struct cutting *c,
                       int32_t op, int32_t tensor);

#endif
