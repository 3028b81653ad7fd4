#include "planner/synth_states.h"

#include <stdlib.h>
#include <string.h>

void states_init(struct states *x)
{
	*x = (struct states){.capacity = 256, .size = 1024};
	x->state = xmalloc((size_t)x->capacity, sizeof(*x->state));
	x->heap = xmalloc((size_t)x->capacity, sizeof(*x->heap));
	x->index = xmalloc(x->size, sizeof(*x->index));
	memset(x->index, 0, x->size * sizeof(*x->index));
}

void states_free(struct states *x)
{
	free(x->state);
	free(x->heap);
	free(x->index);
}

/* Where a code is looked for first. */
static size_t slot_of(const struct states *x, uint64_t code)
{
	return (code * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (x->size - 1);
}

static void grow(struct states *x)
{
	x->capacity *= 2;
	x->state = xrealloc(x->state, (size_t)x->capacity, sizeof(*x->state));
	x->heap = xrealloc(x->heap, (size_t)x->capacity, sizeof(*x->heap));
	x->size *= 2;
	x->index = xrealloc(x->index, x->size, sizeof(*x->index));
	memset(x->index, 0, x->size * sizeof(*x->index));
	for (int32_t s = 0; s < x->n; s++) {
		size_t i = slot_of(x, x->state[s].code);

		while (x->index[i].state)
			i = (i + 1) & (x->size - 1);
		x->index[i] = (struct state_slot){x->state[s].code, s + 1,
		                                  x->state[s].settled};
	}
}

/* The slot of a state, or the empty one where it belongs. */
static struct state_slot *find_slot(const struct states *x, uint64_t code,
                                    const struct type *type)
{
	size_t i = slot_of(x, code);

	while (x->index[i].state &&
	       (x->index[i].code != code ||
	        (type && !type_equal(&x->state[x->index[i].state - 1].type, type))))
		i = (i + 1) & (x->size - 1);
	return &x->index[i];
}

const struct state *states_look(const struct states *x, uint64_t code, bool *settled)
{
	const struct state_slot *slot = find_slot(x, code, NULL);

	*settled = slot->settled;
	return slot->state ? &x->state[slot->state - 1] : NULL;
}

int32_t states_find(struct states *x, uint64_t code, const struct type *type,
                    bool *fresh)
{
	struct state_slot *slot;

	if (x->n == x->capacity)
		grow(x);
	slot = find_slot(x, code, type);
	*fresh = !slot->state;
	if (slot->state)
		return slot->state - 1;
	x->state[x->n] = (struct state){.code = code, .parent = -1, .heap_at = -1};
	if (type)
		x->state[x->n].type = *type;
	*slot = (struct state_slot){code, ++x->n, false};
	return x->n - 1;
}

/* Total price, then memory, then the order in which the states were made. */
static bool before(const struct states *x, int32_t a, int32_t b)
{
	const struct state *s = &x->state[a], *t = &x->state[b];
	int order;

	if (price_plainly_more(s->total.cost, t->total.cost))
		return false;
	if (price_plainly_more(t->total.cost, s->total.cost))
		return true;
	order = price_compare(s->total, t->total);
	if (order != 0)
		return order < 0;
	if (s->live_bytes != t->live_bytes)
		return s->live_bytes < t->live_bytes;
	return a < b;
}

static void place(struct states *x, int32_t at, int32_t state)
{
	x->heap[at] = state;
	x->state[state].heap_at = at;
}

void states_queue(struct states *x, int32_t state)
{
	int32_t at = x->state[state].heap_at;

	if (at < 0)
		at = x->nheap++;
	for (; at > 0 && before(x, state, x->heap[(at - 1) / 2]); at = (at - 1) / 2)
		place(x, at, x->heap[(at - 1) / 2]);
	place(x, at, state);
}

static void settle(struct states *x, int32_t state)
{
	size_t i = slot_of(x, x->state[state].code);

	while (x->index[i].state != state + 1)
		i = (i + 1) & (x->size - 1);
	x->index[i].settled = true;
	x->state[state].settled = true;
}

int32_t states_next(struct states *x)
{
	int32_t first, last, at = 0;

	if (x->nheap == 0)
		return -1;
	first = x->heap[0];
	last = x->heap[--x->nheap];
	while (2 * at + 1 < x->nheap) {
		int32_t child = 2 * at + 1;

		if (child + 1 < x->nheap && before(x, x->heap[child + 1], x->heap[child]))
			child++;
		if (!before(x, x->heap[child], last))
			break;
		place(x, at, x->heap[child]);
		at = child;
	}
	if (x->nheap > 0)
		place(x, at, last);
	x->state[first].heap_at = -1;
	settle(x, first);
	return first;
}
