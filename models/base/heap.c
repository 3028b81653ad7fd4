#include "base/heap.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/list.h"

static void heap_put(struct heap *h, int32_t at, int32_t item)
{
	h->item[at] = item;
	h->place[item] = at;
}

static void places_until(struct heap *h, int32_t item)
{
	int64_t known = h->place_room;

	if (item < known)
		return;
	h->place = list_grow(NULL, h->place, known, item + 1 - known, &h->place_room,
	                     sizeof(*h->place));
	for (; known < h->place_room; known++)
		h->place[known] = -1;
}

void heap_queue(struct heap *h, int32_t item)
{
	int32_t at;

	places_until(h, item);
	at = h->place[item];
	if (at < 0) {
		h->item = list_grow(NULL, h->item, h->n, 1, &h->item_room,
		                    sizeof(*h->item));
		at = h->n++;
	}
	for (; at > 0 && h->before(h->context, item, h->item[(at - 1) / 2]);
	     at = (at - 1) / 2)
		heap_put(h, at, h->item[(at - 1) / 2]);
	heap_put(h, at, item);
}

int32_t heap_take(struct heap *h)
{
	int32_t first, last, at = 0;

	if (h->n == 0)
		return -1;
	first = h->item[0];
	last = h->item[--h->n];
	while (2 * at + 1 < h->n) {
		int32_t child = 2 * at + 1;

		if (child + 1 < h->n &&
		    h->before(h->context, h->item[child + 1], h->item[child]))
			child++;
		if (!h->before(h->context, h->item[child], last))
			break;
		heap_put(h, at, h->item[child]);
		at = child;
	}
	if (h->n > 0)
		heap_put(h, at, last);
	h->place[first] = -1;
	return first;
}

void heap_free(struct heap *h)
{
	xfree(h->item);
	xfree(h->place);
	*h = (struct heap){.before = h->before, .context = h->context};
}
