/*
 * Prices of scripts step by step, where the prices of steps add up (planner.h, bound).
 * Collectives come from the table; permutes and exchanges are built once each and
 * remembered.
 */
#ifndef SHARDSIM_PLANNER_BEST_PRICE_H
#define SHARDSIM_PLANNER_BEST_PRICE_H

#include "planner/best/script.h"

struct step_prices;

/*
 * Makes the prices of steps of one problem by a table with a bound; both are borrowed. What
 * the table remembers of steps must be of this problem.
 */
struct step_prices *step_prices_new(const struct problem *p,
                                    const struct prices *prices);
void step_prices_free(struct step_prices *steps);

/*
 * Stores the price of a script. Returns false where it is above `limit` (NULL: none),
 * where a step cannot be said, or where a step takes more work than is left; the price is
 * then one above the limit that it is no less than, or infinite.
 */
bool step_prices_script(struct price *out, struct step_prices *steps,
                        const struct script *s, const struct price *limit);

/*
 * The first returns the work of pricing so far, as a number of messages, each of which
 * takes some 20 ns to price; the second sets how much there may be at most.
 */
int64_t step_prices_work(const struct step_prices *steps);
void step_prices_limit(struct step_prices *steps, int64_t most);

/*
 * Returns the messages of exchanges and permutes: other steps are priced from a table as a
 * rule.
 */
int64_t step_prices_messages(const struct plan *plan);

#endif
