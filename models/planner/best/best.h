/*
 * The planner `best`: the cheapest plan, by the prices it is given and within the
 * memory limit, over those of every other planner and candidates of its own (spec
 * redistribution.md 10.2 to 10.8).
 *
 * Every candidate is a finished plan with an exact price. Prices within 1e-9 are equal;
 * then less memory wins, then the printed plan that comes first (design 4). As the
 * plans of the other planners are candidates as they are, none of these planners is
 * cheaper; but for one that would take too long to ask (planner.h, quick), which is asked
 * only where there is no other plan: dtensor-mincost may be cheaper where its search sees
 * more than DTENSOR_STATES_QUICK states.
 */
#ifndef SHARDSIM_PLANNER_BEST_BEST_H
#define SHARDSIM_PLANNER_BEST_BEST_H

#include "planner/planner.h"

extern const struct planner planner_best;

/* A search for the cheapest plan of a problem. */
struct best {
	const struct problem *problem;
	const struct prices *prices;
	struct arena *arena;
	struct plan *plan; /* the cheapest within the memory limit; NULL: none yet */
	struct price price;
	uint32_t senders; /* of its script (send.h); a plan of another planner: 0 */
	struct plan *smallest; /* of those above the limit, by peak_array_bytes */
};

/*
 * Offer a finished plan of the problem; its price. Where it is now the cheapest it must
 * live as long as the search.
 */
struct price best_offer(struct best *b, struct plan *plan);

/* The same of a known price, with the number of its script's senders. */
void best_offer_priced(struct best *b, struct plan *plan, struct price price,
                       uint32_t senders);

#endif
