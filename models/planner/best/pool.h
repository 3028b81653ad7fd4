/*
 * The scripts that `best` rewrites, by rising price, and the work that this may take: no
 * clock is asked, so that equal problems get equal plans. Private to models/planner/best/.
 */
#ifndef SHARDSIM_PLANNER_BEST_POOL_H
#define SHARDSIM_PLANNER_BEST_POOL_H

#include "base/keys.h"
#include "planner/best/key.h"
#include "planner/best/offer.h"
#include "planner/best/price.h"

/* The number of scripts that are kept; with 16 of them 36 rows would be dearer. */
enum { BEST_POOL_MAX = 64 };

struct pooled {
	const struct script *script;
	struct price price;
	int64_t array_bytes, live_bytes; /* the peaks of its plan */
	bool over_memory, expanded;      /* expanded: it was rewritten */
};

struct best_pool {
	struct best *best;
	struct arena *arena;       /* of the scripts */
	struct arena *plans;       /* of a plan while it is priced */
	struct step_prices *steps; /* NULL where prices of steps do not add up */
	int64_t work, most; /* done so far, without that of `steps`; where to stop */
	int64_t most_of_all;
	int64_t improved;      /* the work done when the cheapest plan was found */
	int64_t patience;      /* how much more there is without a cheaper one */
	struct keys seen;      /* all scripts, priced or not */
	struct script_key key; /* of the script that is looked at */
	int n;
	struct pooled entry[BEST_POOL_MAX + 1]; /* by rising price */
};

struct best_pool *best_pool_new(struct best *b);
void best_pool_free(struct best_pool *pool);

/*
 * Prices a script that was not seen before, unless all work is done, and keeps it if it
 * is among the cheapest. The cheapest of all is offered to pool->best.
 */
void best_pool_add(struct best_pool *pool, const struct script *script);

/* Keeps the script of a finished plan of this price, if it has one. */
void best_pool_add_plan(struct best_pool *pool, const struct plan *plan,
                        struct price price);

/* Returns whether a problem has so few devices that there is more work for each. */
bool best_pool_is_small(const struct best_pool *pool);

/*
 * Returns whether the axes of the mesh have so few prime digits that all layouts over them
 * can be looked at.
 */
bool best_pool_has_few_digits(const struct best_pool *pool);

/* Returns the work done so far. */
int64_t best_pool_work(const struct best_pool *pool);

/* Returns whether as much work is done as may be, or too much of it for nothing. */
bool best_pool_is_over(const struct best_pool *pool);

/*
 * Returns whether a script of several steps is so dear that it is not worth much work.
 */
bool best_pool_is_far(const struct best_pool *pool, const struct pooled *e);

#endif
