#include "base/list.h"

#include "base/arena.h"
#include "base/assert.h"

enum { LIST_ROOM = 16 }; /* items of a list that holds any */

void *list_move(struct arena *a, void *at, int64_t n, int64_t more, int64_t *room,
                size_t size)
{
	int64_t wanted;

	assert(n >= 0 && more >= 0 && more <= INT64_MAX / 2 - n);
	wanted = n + more;
	if (wanted < 2 * *room)
		wanted = 2 * *room;
	*room = wanted < LIST_ROOM ? LIST_ROOM : wanted;
	if (a)
		return arena_grow(a, at, (size_t)n, (size_t)*room, size);
	return xrealloc(at, (size_t)*room, size);
}
