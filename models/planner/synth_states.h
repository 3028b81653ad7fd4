/*
 * The book-keeping of the exact search: its states, found by type and phase, and a heap
 * of those to be expanded. Orders are total, so equal searches visit equal states.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_STATES_H
#define SHARDSIM_PLANNER_SYNTH_STATES_H

#include "planner/synth_path.h"

enum phase {
	PHASE_START, /* the source, before any step */
	PHASE_FLAT,  /* after the slice: all-to-alls, permutes, then gathers */
	PHASE_SHAPE, /* virtual: all types of one local shape, after paying a permute */
	PHASE_GATHER, /* all-gathers only; the target is such a state */
};

struct state {
	struct type type; /* PHASE_SHAPE: sizes in place of atoms, sorted per dimension */
	uint8_t phase, op;
	bool settled;
	int32_t parent;
	int32_t heap_at;           /* -1: not in the heap */
	struct price price, total; /* so far; with the lower bound of the rest */
	int64_t live_bytes;
};

struct states {
	int32_t n, capacity;
	struct state *state;
	int32_t nheap;
	int32_t *heap;
	size_t size; /* of `index`: state + 1, 0 where empty */
	int32_t *index;
};

void states_init(struct states *x);
void states_free(struct states *x);

/* The state of a type and phase; *fresh says that it was made by this call. */
int32_t states_find(struct states *x, const struct type *type, enum phase phase,
                    bool *fresh);

/* Put a state in the heap, or move it up after its price fell. */
void states_queue(struct states *x, int32_t state);

/* The cheapest queued state, settled; -1 when none is left. */
int32_t states_next(struct states *x);

#endif
