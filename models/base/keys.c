#include "base/keys.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

static int32_t keys_look(const struct keys *k, uint64_t hash, const void *at,
                         size_t size)
{
	size_t slot;

	for (int32_t i = table_first(&k->table, hash, &slot); i >= 0;
	     i = table_next(&k->table, hash, &slot))
		if (k->key.at[i].size == size && memcmp(k->key.at[i].at, at, size) == 0)
			return i;
	return -1;
}

int32_t keys_find(const struct keys *k, const void *at, size_t size)
{
	return keys_look(k, hash_bytes(HASH_START, at, size), at, size);
}

int32_t keys_add(struct keys *k, const void *at, size_t size, bool *fresh)
{
	return keys_add_hashed(k, hash_bytes(HASH_START, at, size), at, size, fresh);
}

int32_t keys_add_hashed(struct keys *k, uint64_t hash, const void *at, size_t size,
                        bool *fresh)
{
	int32_t number = keys_look(k, hash, at, size);

	*fresh = number < 0;
	if (number >= 0)
		return number;
	number = (int32_t)k->key.n;
	k->table.arena = k->arena;
	table_add(&k->table, hash, number);
	*list_add(&k->key, k->arena) =
		(struct key_bytes){arena_dup(k->arena, at, 1, size), size};
	return number;
}
