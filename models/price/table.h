/*
 * Prices, remembered by keys of what they depend on besides the order of the mesh's
 * devices; keys are compared byte by byte.
 */
#ifndef SHARDSIM_PRICE_TABLE_H
#define SHARDSIM_PRICE_TABLE_H

#include "array/mesh.h"
#include "planner/planner.h"

/* A digit of the device position: (position / stride) % size. */
struct digit {
	int32_t stride, size;
};

/* Unused bytes are zero, so that keys compare and hash as bytes. */
struct price_key {
	int32_t op, ndevices, ndigits;
	int32_t any_order; /* 1: for all orders of the digits, which fall in stride */
	int64_t bytes;
	struct digit digit[LAYOUT_PARTS_MAX];
};

/* Fills the key of a step over these moves and returns the group size. */
int32_t price_key_make(struct price_key *k, const struct mesh *m,
                       const struct step_ask *ask, const struct move *moves);

/* Returns the key of all orders of the digits. */
struct price_key price_key_sorted(const struct price_key *k);

/* Returns the size of the part of a key that counts, in bytes. */
size_t price_key_size(const struct price_key *k);

struct price_table;

struct price_table *price_table_new(void);
void price_table_free(struct price_table *t);

/* Forgets everything, notes that were given out included. */
void price_table_clear(struct price_table *t);

/* Returns the note of a key, NULL if there is none. */
struct price_note *price_table_find(const struct price_table *t, const void *key,
                                    size_t size);

/* Returns the note of a key, a new one of zeros if there was none. */
struct price_note *price_table_note(struct price_table *t, const void *key, size_t size);

#endif
