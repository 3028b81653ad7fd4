#include "planner/synth_states.h"

#include "base/hash.h"

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

static size_t index_of(const struct states *x, const struct type *type, enum phase phase)
{
	size_t i = hash_bytes(HASH_START + (uint64_t)phase, type, sizeof(*type)) &
	           (x->size - 1);

	while (x->index[i]) {
		const struct state *s = &x->state[x->index[i] - 1];

		if (s->phase == phase && type_equal(&s->type, type))
			break;
		i = (i + 1) & (x->size - 1);
	}
	return i;
}

static void grow(struct states *x)
{
	x->capacity *= 2;
	x->state = xrealloc(x->state, (size_t)x->capacity, sizeof(*x->state));
	x->heap = xrealloc(x->heap, (size_t)x->capacity, sizeof(*x->heap));
	x->size *= 2;
	x->index = xrealloc(x->index, x->size, sizeof(*x->index));
	memset(x->index, 0, x->size * sizeof(*x->index));
	for (int32_t s = 0; s < x->n; s++)
		x->index[index_of(x, &x->state[s].type, x->state[s].phase)] = s + 1;
}

int32_t states_find(struct states *x, const struct type *type, enum phase phase,
                    bool *fresh)
{
	size_t i = index_of(x, type, phase);

	*fresh = x->index[i] == 0;
	if (!*fresh)
		return x->index[i] - 1;
	if (x->n == x->capacity) {
		grow(x);
		i = index_of(x, type, phase);
	}
	x->state[x->n] = (struct state){
		.type = *type, .phase = (uint8_t)phase, .parent = -1, .heap_at = -1};
	x->index[i] = ++x->n;
	return x->n - 1;
}

/* Total price, then memory, then the order in which the states were made. */
static bool before(const struct states *x, int32_t a, int32_t b)
{
	const struct state *s = &x->state[a], *t = &x->state[b];
	int order = price_compare(s->total, t->total);

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
	return first;
}
