/*
 * The one heap: the numbers of items that the caller keeps in an array, first come first.
 *
 * The order is the caller's. An item is in the heap once at most; where it comes earlier
 * than it did, it is queued again and moves up. Equal items may come in any order, so an
 * order that must not depend on the way here compares the numbers last.
 */
#ifndef SHARDSIM_BASE_HEAP_H
#define SHARDSIM_BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct heap {
	/* Returns whether item `a` comes before item `b`. */
	bool (*before)(const void *context, int32_t a, int32_t b);
	const void *context;
	int32_t *item; /* the heap: item[k] comes before item[2k + 1] and item[2k + 2] */
	int32_t *place; /* of each item in it; -1: it is not there */
	int32_t n;
	int64_t item_room, place_room;
};

/* Adds the item, or moves up one that is there and comes earlier now. */
void heap_queue(struct heap *h, int32_t item);

/* Takes the first item out; -1 if there is none. */
int32_t heap_take(struct heap *h);

/* Gives back the memory; the heap is empty then, with the same order. */
void heap_free(struct heap *h);

#endif
