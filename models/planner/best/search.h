/*
 * The search of `best`: scripts rewritten as long as that pays (script.h).
 *
 * A pool of scripts by rising price. The cheapest one that was not looked at is
 * rewritten in all ways, every result is priced exactly, step by step, and joins the pool,
 * until as much work is done as the number of devices allows: no clock is asked, so that
 * equal problems get equal plans.
 */
#ifndef SHARDSIM_PLANNER_BEST_SEARCH_H
#define SHARDSIM_PLANNER_BEST_SEARCH_H

#include "planner/best/best.h"
#include "planner/best/script.h"

struct best_search;

struct best_search *best_search_new(struct best *b);
void best_search_free(struct best_search *s);

/*
 * Put a script, or that of a finished plan of this price if it has one, into the pool.
 */
void best_search_add(struct best_search *s, const struct script *script);
void best_search_add_plan(struct best_search *s, const struct plan *plan,
                          struct price price);

/*
 * Scripts for a source with unreduced axes, some of which the target has reduced
 * (reduce.c); they live in the arena, as long as the search.
 */
void best_search_sums(struct best_search *s, const struct problem *p, struct arena *a);

const struct prices *best_search_prices(const struct best_search *s);

/* Of what lives as long as the search. */
struct arena *best_search_arena(struct best_search *s);

/* Rewrite; what is cheaper is taken by the struct best it was made of. */
void best_search_run(struct best_search *s);

#endif
