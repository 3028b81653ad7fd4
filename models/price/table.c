#include "price/table.h"

#include "base/assert.h"
#include "base/keys.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct price_table {
	struct arena *arena;
	struct keys keys;
	LIST(struct price_note *) note; /* by the number of its key */
};

struct price_table *price_table_new(void)
{
	struct price_table *t = xmalloc(1, sizeof(*t));

	*t = (struct price_table){.arena = arena_new()};
	t->keys.arena = t->arena;
	return t;
}

void price_table_free(struct price_table *t)
{
	arena_free(t->arena);
	xfree(t);
}

void price_table_clear(struct price_table *t)
{
	arena_reset(t->arena);
	*t = (struct price_table){.arena = t->arena, .keys.arena = t->arena};
}

struct price_note *price_table_find(const struct price_table *t, const void *key,
                                    size_t size)
{
	int32_t number = keys_find(&t->keys, key, size);

	return number < 0 ? NULL : t->note.at[number];
}

struct price_note *price_table_note(struct price_table *t, const void *key, size_t size)
{
	bool fresh;
	int32_t number = keys_add(&t->keys, key, size, &fresh);

	if (fresh)
		*list_add(&t->note, t->arena) =
			arena_alloc(t->arena, 1, sizeof(struct price_note));
	return t->note.at[number];
}

/* --- keys ------------------------------------------------------------------------- */

/* Adds a digit, merged with the one before it where they are neighbours. */
static void key_add_digit(struct price_key *k, struct digit digit)
{
	struct digit *last = k->ndigits ? &k->digit[k->ndigits - 1] : NULL;

	if (last && last->stride == digit.stride * digit.size) {
		last->stride = digit.stride;
		last->size *= digit.size;
	} else {
		assert(k->ndigits < LAYOUT_PARTS_MAX);
		k->digit[k->ndigits++] = digit;
	}
}

int32_t price_key_make(struct price_key *k, const struct mesh *m,
                       const struct step_ask *ask, const struct move *moves)
{
	int32_t q = 1;

	memset(k, 0, offsetof(struct price_key, digit));
	k->op = ask->op;
	k->ndevices = m->ndevices;
	k->bytes = ask->before_bytes;
	for (int i = 0; i < ask->nmoves; i++) {
		for (int j = 0; j < moves[i].nparts; j++) {
			struct part part = moves[i].parts[j];
			int32_t rest = m->axis[part.axis].size / (part.pre * part.size);
			int64_t stride = mesh_stride(m, part.axis) * rest;

			q *= part.size;
			key_add_digit(k, (struct digit){(int32_t)stride, part.size});
		}
	}
	return q;
}

struct price_key price_key_sorted(const struct price_key *k)
{
	struct price_key out = *k;

	out.any_order = 1;
	out.ndigits = 0;
	for (int i = 0; i < k->ndigits; i++) {
		int at = i;

		for (; at > 0 && out.digit[at - 1].stride < k->digit[i].stride; at--)
			out.digit[at] = out.digit[at - 1];
		out.digit[at] = k->digit[i];
	}
	for (int i = 0; i < k->ndigits; i++)
		key_add_digit(&out, out.digit[i]);
	return out;
}

size_t price_key_size(const struct price_key *k)
{
	return offsetof(struct price_key, digit) +
	       (size_t)k->ndigits * sizeof(k->digit[0]);
}
