/*
 * The one hash table: from keys to the numbers of items that the caller keeps in an array.
 *
 * The table holds a hash and a number per item; the key is part of the caller's item and
 * is always compared there, since different keys may have equal hashes:
 *
 *	size_t at;
 *	for (int32_t i = table_first(&t, hash, &at); i >= 0; i = table_next(&t, hash, &at))
 *		if (key_equal(&item[i].key, key))
 *			return i;
 *	table_add(&t, hash, n);
 *	item[n++].key = *key;
 *
 * `struct table t = {0}` is an empty table of the heap, `{.arena = a}` one whose memory
 * is the arena's. Several numbers may be added under one hash. Nothing is taken out
 * again but by table_clear().
 */
#ifndef SHARDSIM_BASE_TABLE_H
#define SHARDSIM_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct arena;

struct table_slot {
	uint32_t tag;  /* the hash, folded */
	int32_t after; /* the number + 1; 0: nothing is here */
};

struct table {
	struct arena *arena; /* NULL: the slots are malloc's, and table_free() is needed */
	struct table_slot *slot;
	size_t size, n; /* slots, a power of two or 0; and how many are taken */
};

/* Adds a number from 0 to INT32_MAX - 1 under the hash. */
void table_add(struct table *t, uint64_t hash, int32_t number);

/* Makes room for `more` numbers at once. */
void table_reserve(struct table *t, size_t more);

/* Empties the table but keeps its memory. */
void table_clear(struct table *t);

/* Gives back what a table of the heap holds; it is empty then and can be used again. */
void table_free(struct table *t);

static inline uint32_t table_tag(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

/*
 * Returns the next number under the hash from slot *at on, which is moved; -1 if there
 * is none.
 */
static inline int32_t table_from(const struct table *t, uint64_t hash, size_t *at)
{
	uint32_t tag = table_tag(hash);

	for (; t->size; ++*at) {
		const struct table_slot *s = &t->slot[*at & (t->size - 1)];

		if (!s->after || s->tag == tag)
			return s->after - 1;
	}
	return -1;
}

/*
 * Returns the first number under the hash, -1 if there is none; `at` is for
 * table_next().
 */
static inline int32_t table_first(const struct table *t, uint64_t hash, size_t *at)
{
	*at = table_tag(hash);
	return table_from(t, hash, at);
}

/* Returns the number after the one found last. */
static inline int32_t table_next(const struct table *t, uint64_t hash, size_t *at)
{
	++*at;
	return table_from(t, hash, at);
}

#endif
