/*
 * Prices of scripts step by step, where the prices of steps add up (planner.h, bound):
 * collectives from the table, permutes and exchanges built once each and remembered.
 */
#ifndef SHARDSIM_PLANNER_BEST_PRICE_H
#define SHARDSIM_PLANNER_BEST_PRICE_H

#include "planner/best_script.h"

struct step_prices;

/* Of one problem and a table with a bound; both are borrowed. */
struct step_prices *step_prices_new(const struct problem *p,
                                    const struct prices *prices);
void step_prices_free(struct step_prices *x);

/*
 * The price of a script. False if it is above `limit` (NULL: none), which is found out by
 * bounds before a step is built, or if a step cannot be said.
 */
bool step_prices_script(struct price *out, struct step_prices *x,
                        const struct script *s, const struct price *limit);

/* Messages of the permutes and exchanges built so far: what pricing has taken. */
int64_t step_prices_messages(const struct step_prices *x);

/* A bound on what it takes from a layout over the view to another. */
struct price step_prices_bound(struct step_prices *x, const struct view *view,
                               const struct layout *from, const struct layout *to);

#endif
