/*
 * The search of `best`: plans by way of other layouts are tried first (vias.h). Then the
 * cheapest script of the pool that was not looked at is rewritten
 * in all ways (rewrite.h), every result is priced exactly, step by step, and joins the
 * pool, until as much work is done as the number of devices allows.
 */
#ifndef SHARDSIM_PLANNER_BEST_SEARCH_H
#define SHARDSIM_PLANNER_BEST_SEARCH_H

#include "planner/best/pool.h"

/*
 * Adds scripts for a source with unreduced axes of which the target has some reduced
 * (reduce.c).
 */
void best_pool_add_sums(struct best_pool *pool);

/* Runs the search; pool->best takes what is cheaper. */
void best_search(struct best_pool *pool);

#endif
