#include "base/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/assert.h"

enum { TABLE_SLOTS = 64 }; /* of the smallest table that holds anything */

static void slot_put(struct table *t, struct table_slot s)
{
	size_t at = s.tag;

	while (t->slot[at & (t->size - 1)].after)
		at++;
	t->slot[at & (t->size - 1)] = s;
}

static void table_resize(struct table *t, size_t to)
{
	struct table_slot *old = t->slot;
	size_t size = t->size;

	t->size = to;
	if (t->arena) {
		t->slot = arena_alloc(t->arena, t->size, sizeof(*t->slot));
	} else {
		t->slot = xmalloc(t->size, sizeof(*t->slot));
		memset(t->slot, 0, t->size * sizeof(*t->slot));
	}
	for (size_t i = 0; i < size; i++)
		if (old[i].after)
			slot_put(t, old[i]);
	if (!t->arena)
		xfree(old);
}

/* The table stays at most half full, so that runs of taken slots stay short. */
void table_reserve(struct table *t, size_t more)
{
	size_t size = t->size ? t->size : TABLE_SLOTS;

	while (2 * (t->n + more) > size)
		size *= 2;
	if (size > t->size)
		table_resize(t, size);
}

void table_add(struct table *t, uint64_t hash, int32_t number)
{
	assert(number >= 0 && number < INT32_MAX);
	if (2 * (t->n + 1) > t->size)
		table_reserve(t, 1);
	slot_put(t, (struct table_slot){table_tag(hash), number + 1});
	t->n++;
}

void table_clear(struct table *t)
{
	if (t->n > 0)
		memset(t->slot, 0, t->size * sizeof(*t->slot));
	t->n = 0;
}

void table_free(struct table *t)
{
	if (!t->arena)
		xfree(t->slot);
	*t = (struct table){.arena = t->arena};
}
