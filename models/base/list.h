/*
 * The one growing list: items one after another that may move when more are added.
 *
 *	LIST(struct node) nodes = {0};
 *
 *	*list_add(&nodes, NULL) = (struct node){...};
 *	for (int64_t i = 0; i < nodes.n; i++)
 *		use(&nodes.at[i]);
 *	xfree(nodes.at);
 *
 * Where an arena is given instead of NULL the memory is the arena's, and is not freed.
 * A list is always grown from the same place: all its calls name the arena, or none.
 */
#ifndef SHARDSIM_BASE_LIST_H
#define SHARDSIM_BASE_LIST_H

#include <stddef.h>
#include <stdint.h>

struct arena;

#define LIST(type)                                                                     \
	struct {                                                                       \
		type *at;                                                              \
		int64_t n, room;                                                       \
	}

/*
 * Makes room for `more` items behind the first n; they are not zeroed and not counted.
 */
#define list_reserve(list, arena, more)                                                \
	((list)->at = list_grow(arena, (list)->at, (list)->n, more, &(list)->room,     \
	                        sizeof(*(list)->at)))

/* Adds one item, which is not zeroed, and returns its place. */
#define list_add(list, arena) (list_reserve(list, arena, 1), &(list)->at[(list)->n++])

/*
 * Moves `at` to at least twice the room, of which *room then tells how much there is.
 */
void *list_move(struct arena *a, void *at, int64_t n, int64_t more, int64_t *room,
                size_t size);

/*
 * Returns `at`, or what it was moved to, with room for `n` + `more` items of `size`
 * bytes; *room is how many fit.
 */
static inline void *list_grow(struct arena *a, void *at, int64_t n, int64_t more,
                              int64_t *room, size_t size)
{
	return more <= *room - n ? at : list_move(a, at, n, more, room, size);
}

/* Orders items of type int32_t for qsort() and bsearch(), the smallest first. */
static inline int compare_int32(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

#endif
