/*
 * The exact search's bounds where the price is not received bytes: tiles smaller than the
 * target's grow in all-gathers, and these can only gather atoms that the target does not
 * list. What they cost at least, over all orders, is known beforehand.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_REST_H
#define SHARDSIM_PLANNER_SYNTH_REST_H

#include "planner/synth/code.h"

struct rest {
	const struct coded *coded;
	double set_cost[1 << CODE_ATOMS_MAX]; /* by atoms as bits; < 0: not yet known */
};

void rest_init(struct rest *out, const struct coded *coded);

/*
 * Returns a cost that all-gathers of these atoms, which the target does not list, up to
 * its tile are not below: that of the cheapest ones, without local work.
 */
double rest_cost(struct rest *rest, uint32_t atoms);

/*
 * Returns the same from tiles of so many elements, whichever atoms these are, or
 * INFINITY where gathers cannot lead to the target.
 */
double rest_least_cost(struct rest *rest, int64_t elements);

/*
 * Returns the least cost of one or more steps by which some device receives so many
 * elements.
 */
double rest_received_cost(const struct synth *s, int64_t elements);

/*
 * Returns a cost that an all-to-all of tiles of so many elements is not below: some
 * device receives half a tile or more.
 */
double rest_step_cost(const struct synth *s, int64_t elements);

#endif
