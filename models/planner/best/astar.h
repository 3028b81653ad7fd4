/*
 * A* over types (spec redistribution.md 10.8): the cheapest plan of collectives and
 * exchanges between the types of a problem.
 *
 * A state is a type (types.h). From each an edge leads to every other: slice,
 * all-gather, all-to-all, reduce-scatter or all-reduce where one of these does it, priced
 * by the table, and an exchange (spec 10.2), which is priced as late as possible: at
 * first it counts as what its devices must receive over the widest way in. What is still
 * to be done counts as the larger of that and the lower bound of the rest (spec 10.5).
 * Both are never above the true price, so the first plan that arrives is the cheapest.
 */
#ifndef SHARDSIM_PLANNER_BEST_ASTAR_H
#define SHARDSIM_PLANNER_BEST_ASTAR_H

#include "planner/best/price.h"
#include "planner/best/types.h"

enum astar {
	ASTAR_FOUND,
	ASTAR_NONE,   /* no plan is cheaper than the limit */
	ASTAR_STOPPED /* it takes more work than allowed */
};

/*
 * The cheapest plan below `limit` (NULL: none) and its price. The script lives in `a`. It
 * stops after so much work, told as that of `x`. Deterministic.
 */
enum astar best_astar(struct script *out, struct price *price, const struct types *t,
                      struct step_prices *x, const struct prices *prices,
                      const struct price *limit, int64_t most_work, struct arena *a);

#endif
