/* Tiles along one dimension of an array, which devices exchange. Private to halo.c and far.c. */
#ifndef SHARDSIM_PROGRAM_PARTITION_ROW_H
#define SHARDSIM_PROGRAM_PARTITION_ROW_H

#include "program/partition/split.h"

/* Tiles along a dimension of a layout. */
struct row {
	struct split *b;
	const struct instruction *like;
	int32_t value; /* the tiles */
	int32_t dim, n;
	int64_t size; /* of a tile */
	const struct part *part;
	int nparts;
	const int64_t *tile; /* [devices] by partition */
};

/* The tiles of `value`, which has a layout, for the op `like`. */
struct row split_row(struct split *b, const struct instruction *like, int32_t value,
                     int32_t layout, int32_t dim);

/* A value's type with another size along the dimension. */
struct value_type row_type(const struct row *r, int32_t value, int64_t size);

/* Elements [from, to) along the dimension. */
int32_t row_cut(const struct row *r, int32_t value, int64_t from, int64_t to);

/* Each device's value from that of the tile that `from` has for its own; -1: from nobody. */
int32_t row_permute(const struct row *r, int32_t value, const int64_t *from);

/* Zeros where there is no device to send any. */
int32_t row_nothing(const struct row *r, int64_t size);

/* n pieces one behind the other, together of a size. */
int32_t row_join(const struct row *r, const int32_t *piece, int32_t n, int64_t size);

/* So many elements from where a scalar of each device says. */
int32_t row_from(const struct row *r, int32_t value, int32_t place, int64_t size);

/*
 * The window of each device that is further away than it is long (spmd_partitioner_util.cc,
 * ExchangeHaloCompact): a permute brings pieces of many windows, from whatever tiles they are of,
 * as long as each tile is sent once and received once in it. What is outside of the array is
 * anything.
 */
int32_t row_far(const struct row *r, const struct halo *h);

#endif
