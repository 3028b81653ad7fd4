/*
 * The exact search's bound where the price is not received bytes: a flat part with tiles
 * smaller than the target's ends in all-gathers, and these can only gather atoms that the
 * target does not list. What they cost at least, over all orders, is known beforehand.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_REST_H
#define SHARDSIM_PLANNER_SYNTH_REST_H

#include "planner/synth_code.h"

/* Sizes of tiles: one for every choice of atoms, and those on the way to the target's. */
enum { REST_SIZES_MAX = 2 << CODE_ATOMS_MAX };

struct rest {
	struct synth *s;
	int64_t target; /* elements of its tile; 0: nothing is asked */
	int natoms;
	uint8_t atom[CODE_ATOMS_MAX]; /* those that the target does not list */
	int nsizes;
	struct {
		int64_t elements;
		double cost;
	} size[REST_SIZES_MAX]; /* known */
};

/* Of a problem on types; {0} knows of no bound. */
void rest_init(struct rest *out, struct synth *s);

/*
 * The cost of all-gathers from tiles of so many elements up to the target's is no less:
 * that of the cheapest ones, without local work. 0 where nothing is left to gather;
 * INFINITY where gathers cannot lead there.
 */
double rest_cost(struct rest *x, int64_t elements);

/* The cost of one or more steps by which some device receives so many elements, at least. */
double rest_received_cost(const struct synth *s, int64_t elements);

/*
 * The cost of an all-to-all of tiles of so many elements is no less: some device receives
 * half a tile or more. And that of any step that leaves tiles their size, also a permute.
 */
double rest_step_cost(const struct synth *s, int64_t elements);
double rest_move_cost(struct synth *s, int64_t elements);

#endif
