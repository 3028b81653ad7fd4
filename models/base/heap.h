/*
 * The one heap: the numbers of items that the caller keeps in an array, first come first.
 *
 * The order is the caller's. It begins with a cost >= 0, which is kept beside the number, so
 * that most comparisons need no look at the items: the order is asked only where costs are
 * not plainly apart, and must say the same where they are. An item is in the heap once at
 * most; where it comes earlier than it did, it is queued again and moves up. Equal items may
 * come in any order, so an order that must not depend on the way here compares the numbers
 * last.
 *
 * Every call names the order, and the same one, so that the compiler can put it in line.
 */
#ifndef SHARDSIM_BASE_HEAP_H
#define SHARDSIM_BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct heap_item {
	double cost;
	int32_t number;
};

/* `struct heap h = {0}` is empty. */
struct heap {
	struct heap_item *item; /* item[k] comes before item[2k + 1] and item[2k + 2] */
	int32_t *place;         /* of each number in it; -1: it is not there */
	int32_t n;
	int64_t item_room, place_room;
};

/* Returns whether item `a` comes before item `b`. */
typedef bool heap_order(const void *context, int32_t a, int32_t b);

/* How far costs >= 0 are plainly apart, as a share of the lesser. */
#define HEAP_MARGIN 1e-8

static inline bool heap_plainly_more(double cost, double other)
{
	return cost > other * (1 + HEAP_MARGIN);
}

static inline bool heap_before(heap_order *before, const void *context,
                               struct heap_item a, struct heap_item b)
{
	if (heap_plainly_more(a.cost, b.cost))
		return false;
	return heap_plainly_more(b.cost, a.cost) || before(context, a.number, b.number);
}

/* Makes room for an item and returns its place, a new one at the end if it has none. */
int32_t heap_place(struct heap *h, int32_t item);

/* Gives back the memory; the heap is empty then. */
void heap_free(struct heap *h);

static inline void heap_put(struct heap *h, int32_t at, struct heap_item item)
{
	h->item[at] = item;
	h->place[item.number] = at;
}

/* Adds the item, or moves up one that is there and comes earlier now. */
static inline void heap_queue(struct heap *h, heap_order *before, const void *context,
                              int32_t number, double cost)
{
	struct heap_item item = {cost, number};
	int32_t at = heap_place(h, number);

	for (; at > 0 && heap_before(before, context, item, h->item[(at - 1) / 2]);
	     at = (at - 1) / 2)
		heap_put(h, at, h->item[(at - 1) / 2]);
	heap_put(h, at, item);
}

/* Takes the first item out; -1 if there is none. */
static inline int32_t heap_take(struct heap *h, heap_order *before, const void *context)
{
	struct heap_item last;
	int32_t first, at = 0;

	if (h->n == 0)
		return -1;
	first = h->item[0].number;
	last = h->item[--h->n];
	while (2 * at + 1 < h->n) {
		int32_t child = 2 * at + 1;

		if (child + 1 < h->n &&
		    heap_before(before, context, h->item[child + 1], h->item[child]))
			child++;
		if (!heap_before(before, context, h->item[child], last))
			break;
		heap_put(h, at, h->item[child]);
		at = child;
	}
	if (h->n > 0)
		heap_put(h, at, last);
	h->place[first] = -1;
	return first;
}

#endif
