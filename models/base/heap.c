#include "base/heap.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/list.h"

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

int32_t heap_place(struct heap *h, int32_t item)
{
	places_until(h, item);
	if (h->place[item] >= 0)
		return h->place[item];
	h->item = list_grow(NULL, h->item, h->n, 1, &h->item_room, sizeof(*h->item));
	return h->n++;
}

void heap_free(struct heap *h)
{
	xfree(h->item);
	xfree(h->place);
	*h = (struct heap){0};
}
