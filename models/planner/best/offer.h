/* The cheapest plan that `best` has been offered. Private to models/planner/best/. */
#ifndef SHARDSIM_PLANNER_BEST_OFFER_H
#define SHARDSIM_PLANNER_BEST_OFFER_H

#include "planner/planner.h"

struct script;

/* A search for the cheapest plan of a problem. */
struct best {
	const struct problem *problem;
	const struct prices *prices;
	struct arena *arena;
	struct plan *plan; /* the cheapest that fits (plan/memory.h); NULL: none yet */
	struct price price;
	const struct script *script; /* of it; a plan of another planner: NULL */
	struct plan *smallest; /* the one that needs least of those that do not fit */
};

/*
 * Offers a finished plan of the problem and returns its price. If it is now the
 * cheapest, it must live as long as the search. One beyond the problem's vocabulary is
 * not taken.
 */
struct price best_offer(struct best *b, struct plan *plan);

/*
 * Returns whether a plan that does not fit, with these peaks, is worth an offer: there is
 * none that fits, and it needs less than the smallest so far.
 */
bool best_needs_less(const struct best *b, int64_t array_bytes, int64_t live_bytes);

/* Offers a plan whose price is known, with its script, which must live as long. */
void best_offer_priced(struct best *b, struct plan *plan, struct price price,
                       const struct script *script);

#endif
