/*
 * The rewrites of a script (script.h) that the search of `best` tries: each result is
 * added to the search.
 */
#ifndef SHARDSIM_PLANNER_BEST_REWRITE_H
#define SHARDSIM_PLANNER_BEST_REWRITE_H

#include "planner/best/pool.h"

/*
 * Tries other steps; without a platform it only tries one exchange in place of several
 * steps. If the script is not `near` the cheapest, it tries no over-slices, which add
 * to what is done.
 */
void best_rewrite(struct best_pool *pool, const struct script *script, bool near);

/* Tries senders of permutes and exchanges by the prices of paths. */
void best_rewrite_paths(struct best_pool *pool, const struct script *script);

/* Tries senders of exchanges by coordinates, in one digit more than the script has. */
void best_rewrite_mixed(struct best_pool *pool, const struct script *script);

/*
 * Takes the one exchange of a script apart into three steps at once, as two of them may be too
 * dear to be kept until a third is found. Slices of what nothing cuts yet come first, strided,
 * as what moves then is smaller, or gathers of what nothing cuts any more come last. Or an axis
 * that is gone at the end is brought behind what cuts a dimension, where it stays while others
 * above it come and go, and is gathered last. The other step is tried in two halves.
 */
void best_rewrite_single(struct best_pool *pool, const struct script *script);

#endif
