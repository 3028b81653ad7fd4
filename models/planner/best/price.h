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
void step_prices_free(struct step_prices *steps);

/*
 * Stores the price of a script. False where it is above `limit` (NULL: none), where a
 * step cannot be said, or where a step takes more work than is left.
 */
bool step_prices_script(struct price *out, struct step_prices *steps,
                        const struct script *s, const struct price *limit);

/*
 * Returns what pricing has taken so far, told as so many messages that are priced, each of
 * them some 50 ns; and says how much it may have taken at most.
 */
int64_t step_prices_work(const struct step_prices *steps);
void step_prices_limit(struct step_prices *steps, int64_t most);

/*
 * Returns the messages of exchanges and permutes: other steps are priced from a table as a
 * rule.
 */
int64_t step_prices_messages(const struct plan *plan);

#endif
