/*
 * A price table for planner tests: bytes or seconds by simple rules, which an oracle
 * can apply without a planner.
 */
#ifndef SHARDSIM_TESTS_TARIFF_H
#define SHARDSIM_TESTS_TARIFF_H

#include "planner/planner.h"

/* What an op on atoms costs: in the oracle and in the price table alike. */
struct tariff {
	bool seconds;                 /* else received bytes and counts */
	double launch_s, axis_Bps[8]; /* by axis; several axes at the slowest */
};

/*
 * One op with `before_bytes` on each device, over groups of q devices along a set of
 * axes. `unpack`: an all-gather has to put its result in order.
 */
struct price tariff_price(const struct tariff *t, enum op op, double before_bytes,
                          double q, uint32_t axes, bool unpack);

/* The price table of a tariff, which is borrowed. */
struct prices tariff_prices(struct tariff *t);

/* The price of a finished plan, from the plan alone. */
struct price tariff_plan(void *self, const struct plan *plan);

#endif
