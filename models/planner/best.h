/*
 * The planner `best`: the cheapest plan, by the prices it is given and within the
 * memory limit, over those of every other planner and candidates of its own (spec
 * redistribution.md 10.2 to 10.8).
 *
 * Every candidate is a finished plan with an exact price. Prices within 1e-9 are equal;
 * then less memory wins, then the printed plan that comes first (design 4). As the
 * plans of the other planners are candidates as they are, none of these planners is
 * cheaper.
 */
#ifndef SHARDSIM_PLANNER_BEST_H
#define SHARDSIM_PLANNER_BEST_H

#include "planner/planner.h"

extern const struct planner planner_best;

/* A search for the cheapest plan of a problem. */
struct best {
	const struct problem *problem;
	const struct prices *prices;
	struct arena *arena;
	struct plan *plan; /* the cheapest within the memory limit; NULL: none yet */
	struct price price;
	struct plan *smallest; /* of those above the limit, by peak_array_bytes */
};

/*
 * Is a finished plan of this price cheaper than the cheapest, or does it win the tie?
 */
bool best_would_take(const struct best *b, const struct plan *plan, struct price price);

/*
 * Offer a finished plan of the problem. True if it is now the cheapest; it must then
 * live as long as the search.
 */
bool best_offer(struct best *b, struct plan *plan);

#endif
