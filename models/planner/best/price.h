/*
 * Prices of scripts step by step, where the prices of steps add up (planner.h, bound):
 * collectives from the table, permutes and exchanges built once each and remembered.
 */
#ifndef SHARDSIM_PLANNER_BEST_PRICE_H
#define SHARDSIM_PLANNER_BEST_PRICE_H

#include "planner/best/script.h"

struct step_prices;

/* Of one problem and a table with a bound; both are borrowed. */
struct step_prices *step_prices_new(const struct problem *p,
                                    const struct prices *prices);
void step_prices_free(struct step_prices *x);

enum pricing {
	PRICING_DONE,
	PRICING_NONE, /* above the limit, or a step cannot be said */
	PRICING_LATE  /* a step takes more work than it may; the price is a bound */
};

/*
 * The price of a script, unless it is above `limit` (NULL: none), which is found out by
 * bounds before a step is built.
 */
enum pricing step_prices_script(struct price *out, struct step_prices *x,
                                const struct script *s, const struct price *limit);

/*
 * What pricing has taken so far, told as so many messages that are priced, each of them some
 * 50 ns; how much it may have taken at most, and how much one step may take, as far as can be
 * told before: others are not built.
 */
int64_t step_prices_work(const struct step_prices *x);
void step_prices_limit(struct step_prices *x, int64_t most, int64_t most_step);

/* A bound on what it takes from a layout over the view to another. */
struct price step_prices_bound(struct step_prices *x, const struct view *view,
                               const struct layout *from, const struct layout *to);

#endif
