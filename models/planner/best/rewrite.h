/*
 * The rewrites of a script (script.h) that the search of `best` tries: each result is
 * added to the search.
 */
#ifndef SHARDSIM_PLANNER_BEST_REWRITE_H
#define SHARDSIM_PLANNER_BEST_REWRITE_H

#include "planner/best/pool.h"

/*
 * In other steps; without a platform by one exchange in place of several alone. Not `near`
 * the cheapest: no over-slices, which add to what is done.
 */
void best_rewrite(struct best_pool *pool, const struct script *script, bool near);

/* Senders of permutes and exchanges by the prices of paths. */
void best_rewrite_paths(struct best_pool *pool, const struct script *script);

/* Senders of exchanges by coordinates, one digit more than the script has. */
void best_rewrite_mixed(struct best_pool *pool, const struct script *script);

#endif
