#include "planner/synth/states.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void states_init(struct states *x, bool typed)
{
	*x = (struct states){.capacity = 512, .size = 1024};
	x->state = xmalloc((size_t)x->capacity, sizeof(*x->state));
	if (typed)
		x->type = xmalloc((size_t)x->capacity, sizeof(*x->type));
	x->heap = xmalloc((size_t)x->capacity, sizeof(*x->heap));
	x->index = xmalloc(x->size, sizeof(*x->index));
	memset(x->index, 0, x->size * sizeof(*x->index));
}

void states_free(struct states *x)
{
	free(x->state);
	free(x->type);
	free(x->heap);
	free(x->index);
}

static void grow(struct states *x)
{
	struct state_slot *old = x->index;
	size_t size = x->size;

	x->capacity *= 4;
	x->state = xrealloc(x->state, (size_t)x->capacity, sizeof(*x->state));
	if (x->type)
		x->type = xrealloc(x->type, (size_t)x->capacity, sizeof(*x->type));
	x->heap = xrealloc(x->heap, (size_t)x->capacity, sizeof(*x->heap));
	x->size *= 4;
	x->index = xmalloc(x->size, sizeof(*x->index));
	memset(x->index, 0, x->size * sizeof(*x->index));
	for (size_t k = 0; k < size; k++) {
		size_t i = states_slot(x, old[k].code);

		if (!old[k].state)
			continue;
		while (x->index[i].state)
			i = (i + 1) & (x->size - 1);
		x->index[i] = old[k];
	}
	free(old);
}

/* The slot of a state, or the empty one where it belongs. */
static struct state_slot *find_slot(const struct states *x, uint64_t code,
                                    const struct type *type)
{
	size_t i = states_slot(x, code);

	while (x->index[i].state &&
	       (x->index[i].code != code ||
	        (type && !type_equal(&x->type[x->index[i].state - 1], type))))
		i = (i + 1) & (x->size - 1);
	return &x->index[i];
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
		x->type[x->n] = *type;
	*slot = (struct state_slot){code, INFINITY, ++x->n};
	return x->n - 1;
}

void states_limit(struct states *x, int32_t state, double most_cost)
{
	size_t i = states_slot(x, x->state[state].code);

	while (x->index[i].state != state + 1)
		i = (i + 1) & (x->size - 1);
	x->index[i].most_cost = most_cost;
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
	x->state[first].settled = true;
	states_limit(x, first, -INFINITY);
	return first;
}
