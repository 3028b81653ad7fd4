/*
 * Numbers for keys: every key that differs from those before it gets the next number, from
 * 0 on, under which the caller keeps what belongs to it. A key is so many bytes, which are
 * copied and always compared.
 */
#ifndef SHARDSIM_BASE_KEYS_H
#define SHARDSIM_BASE_KEYS_H

#include "base/list.h"
#include "base/table.h"

#include <stdbool.h>

struct key_bytes {
	const void *at;
	size_t size;
};

/* `{.arena = a}` has no keys; all its memory is the arena's. */
struct keys {
	struct arena *arena;
	struct table table;
	LIST(struct key_bytes) key;
};

/* Returns the number of a key, -1 if it has none. */
int32_t keys_find(const struct keys *k, const void *at, size_t size);

/* Returns the number of a key, given to it now if it has none; *fresh says that it was. */
int32_t keys_add(struct keys *k, const void *at, size_t size, bool *fresh);

/* The same where the caller has a hash of the key, which equal keys share. */
int32_t keys_add_hashed(struct keys *k, uint64_t hash, const void *at, size_t size,
                        bool *fresh);

#endif
