#include "cost/price_table.h"

#include "base/hash.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	struct price_key *key; /* NULL: free */
	double wire_s;
	bool more; /* it takes so long and more: rounds were left out */
};

struct price_table {
	struct arena *keys;
	struct entry *entry; /* open addressing; capacity a power of two */
	size_t entries, capacity;
};

struct price_table *price_table_new(void)
{
	struct price_table *t = xmalloc(1, sizeof(*t));

	*t = (struct price_table){.keys = arena_new(), .capacity = 256};
	t->entry = xmalloc(t->capacity, sizeof(*t->entry));
	memset(t->entry, 0, t->capacity * sizeof(*t->entry));
	return t;
}

void price_table_free(struct price_table *t)
{
	arena_free(t->keys);
	free(t->entry);
	free(t);
}

void price_table_clear(struct price_table *t)
{
	memset(t->entry, 0, t->capacity * sizeof(*t->entry));
	t->entries = 0;
	arena_reset(t->keys);
}

/* --- keys ------------------------------------------------------------------------- */

/* Neighbouring digits are merged. */
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

/* --- entries ---------------------------------------------------------------------- */

static size_t key_size(const struct price_key *k)
{
	return offsetof(struct price_key, digit) +
	       (size_t)k->ndigits * sizeof(k->digit[0]);
}

static size_t key_hash(const struct price_key *k)
{
	return hash_bytes(HASH_START, k, key_size(k));
}

/* The entry of the key, or the free one where it belongs. */
static struct entry *find(struct entry *table, size_t capacity,
                          const struct price_key *k)
{
	size_t i = key_hash(k) & (capacity - 1);

	while (table[i].key && (table[i].key->ndigits != k->ndigits ||
	                        memcmp(table[i].key, k, key_size(k)) != 0))
		i = (i + 1) & (capacity - 1);
	return &table[i];
}

static void grow(struct price_table *t)
{
	size_t capacity = 2 * t->capacity;
	struct entry *grown = xmalloc(capacity, sizeof(*grown));

	memset(grown, 0, capacity * sizeof(*grown));
	for (size_t i = 0; i < t->capacity; i++)
		if (t->entry[i].key)
			*find(grown, capacity, t->entry[i].key) = t->entry[i];
	free(t->entry);
	t->entry = grown;
	t->capacity = capacity;
}

bool price_table_find(double *wire_s, const struct price_table *t,
                      const struct price_key *k, double most_s)
{
	const struct entry *e = find(t->entry, t->capacity, k);

	if (!e->key || (e->more && (most_s <= 0 || e->wire_s <= most_s)))
		return false;
	*wire_s = e->wire_s;
	return true;
}

void price_table_set(struct price_table *t, const struct price_key *k, double wire_s,
                     bool more)
{
	struct entry *e = find(t->entry, t->capacity, k);

	if (!e->key && 2 * ++t->entries > t->capacity) {
		grow(t);
		e = find(t->entry, t->capacity, k);
	}
	if (!e->key)
		e->key = arena_dup(t->keys, k, 1, key_size(k));
	e->wire_s = wire_s;
	e->more = more;
}
