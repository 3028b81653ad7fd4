/*
 * The rates of tasks that share links (cost/fair.h), kept up to date while tasks begin
 * and end. Private to cost/fair.c.
 *
 * What every pass of the rule found is kept. A change is followed from pass to pass: the
 * offers of the links of the task that came or went, the parts of those tasks that these
 * offers bind or bound, what their links have left, who is settled with it. What comes out as
 * before changes nothing further, so that most changes stay in their neighbourhood.
 */
#ifndef SHARDSIM_COST_FAIR_RATES_H
#define SHARDSIM_COST_FAIR_RATES_H

#include "cost/fair.h"

struct rates;

/*
 * Makes the rates of a system, for at most so much work: the uses that are looked at,
 * and memory as it is taken.
 */
struct rates *rates_new(const struct fair *f, double precision_Bps, int64_t most_work);
void rates_free(struct rates *r);

/*
 * Tell that the task moves from now on, or no longer. Each is told once for a task, and
 * not both before the next rates_find().
 */
void rates_begin(struct rates *r, int32_t task);
void rates_end(struct rates *r, int32_t task);

/*
 * Returns the rate of every task, [ntasks], which is right for those that move, or NULL
 * if that took too much work.
 */
const double *rates_find(struct rates *r);

/*
 * Stores the tasks whose rates the last rates_find() found anew, until the next call for these
 * rates, and returns how many they are; all others have the rates that they had.
 */
int32_t rates_found(const int32_t **tasks, const struct rates *r);

#endif
