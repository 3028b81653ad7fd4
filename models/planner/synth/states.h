/*
 * The book-keeping of the searches: their states, found by a number or a type, and a heap
 * of those to be expanded. Orders are total, so equal searches visit equal states.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_STATES_H
#define SHARDSIM_PLANNER_SYNTH_STATES_H

#include "base/heap.h"
#include "base/list.h"
#include "base/table.h"
#include "planner/synth/path.h"

struct state {
	uint64_t code;
	double most_cost; /* dearer ways to it are of no use; INFINITY at first */
	int32_t parent;
	uint8_t op, level;
	bool settled;
	struct price price, total; /* so far; with the lower bound of the rest */
	struct price rest;         /* that bound, where it is kept */
	int64_t live_bytes;
};

struct states {
	bool typed;
	LIST(struct state) state;
	LIST(struct type)
	type;                /* of each state, if they are typed: else codes say all */
	struct table number; /* of states by their codes */
	struct heap heap;
};

/*
 * The margin of a quick check that comes before price_compare(), for costs >= 0: if the
 * check finds a cost more, so does price_compare(), for at a tie no cost is more than
 * the margin above the other.
 */
#define PRICE_MARGIN 1e-8

static inline bool price_plainly_more(double cost, double other)
{
	return cost > other * (1 + PRICE_MARGIN);
}

/* Begins with no states. `typed`: codes are but hashes of types, which are kept. */
void states_init(struct states *states, bool typed);
void states_free(struct states *states);

/*
 * Returns the state of a code, and of a type unless that is NULL: of equal types codes are
 * equal. *fresh says that it was made by this call.
 */
int32_t states_find(struct states *states, uint64_t code, const struct type *type,
                    bool *fresh);

static inline uint64_t states_hash(uint64_t code)
{
	return code * UINT64_C(0x9e3779b97f4a7c15);
}

/* Returns the state of a code, which says all of its type, or NULL if there is none. */
static inline const struct state *states_look(const struct states *states, uint64_t code)
{
	size_t at;

	for (int32_t i = table_first(&states->number, states_hash(code), &at); i >= 0;
	     i = table_next(&states->number, states_hash(code), &at))
		if (states->state.at[i].code == code)
			return &states->state.at[i];
	return NULL;
}

/* Puts a state in the heap, or moves it up after its price fell. */
void states_queue(struct states *states, int32_t state);

/* Returns whether a state is in the heap. */
static inline bool states_queued(const struct states *states, int32_t state)
{
	return state < states->heap.place_room && states->heap.place[state] >= 0;
}

/*
 * Returns the cheapest queued state, which is now settled, so that no more ways to it
 * are of use, or -1 if none is left.
 */
int32_t states_next(struct states *states);

#endif
