/*
 * The book-keeping of the searches: their states, found by a number or a type, and a heap
 * of those to be expanded. Orders are total, so equal searches visit equal states.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_STATES_H
#define SHARDSIM_PLANNER_SYNTH_STATES_H

#include "planner/synth_path.h"

struct state {
	uint64_t code;
	struct type type; /* unless the code says it all */
	uint8_t op, level;
	bool settled;
	int32_t parent;
	int32_t heap_at;           /* -1: not in the heap */
	struct price price, total; /* so far; with the lower bound of the rest */
	double rest_cost;          /* another bound of it, where `total` has none */
	int64_t live_bytes;
};

/*
 * Where a state is found; codes are here so that most others need no look, and what most
 * looks are for.
 */
struct state_slot {
	uint64_t code;
	int32_t state; /* + 1; 0: empty */
	bool settled;
};

struct states {
	int32_t n, capacity;
	struct state *state;
	int32_t nheap;
	int32_t *heap;
	size_t size;
	struct state_slot *index; /* open addressing; [size], a power of two */
};

/*
 * A quick look before price_compare(): true only if that says so, for costs >= 0, too,
 * of which the first is no more than the margin above the second at a tie.
 */
#define PRICE_MARGIN 1e-8

static inline bool price_plainly_more(double cost, double other)
{
	return cost > other * (1 + PRICE_MARGIN);
}

void states_init(struct states *x);
void states_free(struct states *x);

/*
 * The state of a code, and of a type unless that is NULL: of equal types codes are equal.
 * *fresh says that it was made by this call.
 */
int32_t states_find(struct states *x, uint64_t code, const struct type *type,
                    bool *fresh);

/*
 * The state of a code, which says all of its type, and whether it is settled; NULL if there
 * is none.
 */
const struct state *states_look(const struct states *x, uint64_t code, bool *settled);

/* Put a state in the heap, or move it up after its price fell. */
void states_queue(struct states *x, int32_t state);

/* The cheapest queued state, settled; -1 when none is left. */
int32_t states_next(struct states *x);

#endif
