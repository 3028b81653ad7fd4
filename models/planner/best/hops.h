/*
 * The cheapest single steps between types of layouts, for plans that go by way of some.
 * Private to models/planner/best/.
 */
#ifndef SHARDSIM_PLANNER_BEST_HOPS_H
#define SHARDSIM_PLANNER_BEST_HOPS_H

#include "planner/best/pool.h"
#include "planner/best/types.h"

/* A step between two types: what it takes (INFINITY: too much), and how it is done. */
struct hop {
	double seconds;
	bool collective;
	uint32_t senders; /* of an exchange */
};

/* What steps are priced with. They are remembered with the prices of the problem. */
struct hops {
	struct best_pool *pool;
	const struct types_between *types;
	struct arena *arena;
	uint32_t tags;        /* which view steps are of */
	uint32_t senders;     /* of exchanges, before others are tried */
	bool has_keys;        /* types tell what exchanges do */
	bool few;             /* best_pool_has_few_digits() */
	struct script script; /* of the step that is priced */
};

/*
 * Begins to price steps between types over a view, one of several with a number each. All
 * is borrowed.
 */
void hops_begin(struct hops *out, struct best_pool *pool,
                const struct types_between *types, const struct view *view,
                uint32_t number, struct arena *a);

/*
 * Returns the seconds of a step between two types as one collective, INFINITY if none is.
 * Where they are more than `most_s` they may be less than what it takes, but more than that.
 */
double hop_collective_s(struct hops *hops, const struct type *before,
                        const struct type *after, double most_s);

/*
 * Returns the same as an exchange: its seconds are INFINITY if they are not known, or the
 * vocabulary has none.
 */
struct hop hop_exchange(struct hops *hops, const struct type *before,
                        const struct type *after, double most_s);

#endif
