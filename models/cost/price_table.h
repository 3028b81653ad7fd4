/*
 * Wire times of collectives, remembered by what they depend on besides the order of the
 * mesh's devices.
 */
#ifndef SHARDSIM_COST_PRICE_TABLE_H
#define SHARDSIM_COST_PRICE_TABLE_H

#include "array/mesh.h"
#include "planner/planner.h"

/* A digit of the device position: (position / stride) % size. */
struct digit {
	int32_t stride, size;
};

/* Unused bytes are zero, so that keys compare and hash as bytes. */
struct price_key {
	int32_t op, ndevices, ndigits;
	int32_t any_order; /* of the digits, which are by falling stride: else 0 */
	int64_t bytes;
	struct digit digit[LAYOUT_PARTS_MAX];
};

/* Fills the key of a step over these moves; returns the group size. */
int32_t price_key_make(struct price_key *k, const struct mesh *m,
                       const struct step_ask *ask, const struct move *moves);

/* The key of all orders of the digits. */
struct price_key price_key_sorted(const struct price_key *k);

struct price_table;

struct price_table *price_table_new(void);
void price_table_free(struct price_table *t);

/* Forget everything. */
void price_table_clear(struct price_table *t);

/*
 * The seconds of a key; false if they are not known, or only that they are more than some
 * time and that is no more than `most_s` (<= 0: to be exact).
 */
bool price_table_find(double *wire_s, const struct price_table *t,
                      const struct price_key *k, double most_s);

/* Remember seconds; `more`: they are so many and more. */
void price_table_set(struct price_table *t, const struct price_key *k, double wire_s,
                     bool more);

#endif
