/*
 * The book-keeping of the searches: their states, found by a number or a type, and a heap
 * of those to be expanded. Orders are total, so equal searches visit equal states.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_STATES_H
#define SHARDSIM_PLANNER_SYNTH_STATES_H

#include "planner/synth/path.h"

struct state {
	uint64_t code;
	int32_t parent;
	int32_t heap_at;           /* -1: not in the heap */
	struct price price, total; /* so far; with the lower bound of the rest */
	struct price rest;         /* that bound, where it is kept */
	int64_t live_bytes;
	uint8_t op, level;
	bool settled;
};

/*
 * Where a state is found; codes are here so that most others need no look, and what most
 * looks are for.
 */
struct state_slot {
	uint64_t code;
	double most_cost; /* ways that cost more are of no use to the state */
	int32_t state;    /* + 1; 0: empty */
};

struct states {
	int32_t n, capacity;
	struct state *state;
	struct type *type; /* [capacity]; NULL: codes say all of types */
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

/* `typed`: codes are but hashes of types, which are kept. */
void states_init(struct states *x, bool typed);
void states_free(struct states *x);

/*
 * The state of a code, and of a type unless that is NULL: of equal types codes are equal.
 * *fresh says that it was made by this call.
 */
int32_t states_find(struct states *x, uint64_t code, const struct type *type,
                    bool *fresh);

/* Where states of codes without types begin to be looked for. */
static inline size_t states_slot(const struct states *x, uint64_t code)
{
	return (code * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (x->size - 1);
}

/* The slot of a code, which says all of its type, or the empty one where it belongs. */
static inline const struct state_slot *states_look(const struct states *x, uint64_t code)
{
	size_t i = states_slot(x, code);

	while (x->index[i].state && x->index[i].code != code)
		i = (i + 1) & (x->size - 1);
	return &x->index[i];
}

/* Say, of a state, what ways to it may cost to be of use; INFINITY before. */
void states_limit(struct states *x, int32_t state, double most_cost);

/* Put a state in the heap, or move it up after its price fell. */
void states_queue(struct states *x, int32_t state);

/* The cheapest queued state, settled, and no way to it of use; -1 when none is left. */
int32_t states_next(struct states *x);

#endif
