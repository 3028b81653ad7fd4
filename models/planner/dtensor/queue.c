#include "planner/dtensor/queue.h"

#include "base/arena.h"

#include <stdbool.h>

static bool comes_before(struct dtensor_entry a, struct dtensor_entry b)
{
	return a.cost < b.cost || (a.cost == b.cost && a.counter < b.counter);
}

void dtensor_queue_push(struct dtensor_queue *q, double cost, int32_t node)
{
	struct dtensor_entry e = {cost, q->counter++, node};
	int32_t at = q->n++;

	if (q->n > q->capacity) {
		q->capacity = q->capacity ? 2 * q->capacity : 256;
		q->entry = xrealloc(q->entry, (size_t)q->capacity, sizeof(*q->entry));
	}
	for (; at > 0 && comes_before(e, q->entry[(at - 1) / 2]); at = (at - 1) / 2)
		q->entry[at] = q->entry[(at - 1) / 2];
	q->entry[at] = e;
}

int32_t dtensor_queue_pop(struct dtensor_queue *q)
{
	int32_t node = q->entry[0].node, at = 0;
	struct dtensor_entry last = q->entry[--q->n];

	for (;;) {
		int32_t child = 2 * at + 1;

		if (child + 1 < q->n &&
		    comes_before(q->entry[child + 1], q->entry[child]))
			child++;
		if (child >= q->n || !comes_before(q->entry[child], last))
			break;
		q->entry[at] = q->entry[child];
		at = child;
	}
	q->entry[at] = last;
	return node;
}
