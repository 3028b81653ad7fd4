#include "placement/sums.h"

#include "base/assert.h"

#include <string.h>

const enum op sums_ops[] = {
	OP_ALL_REDUCE, OP_REDUCE_SCATTER, OP_ALL_GATHER, OP_REDUCE, OP_BROADCAST,
};

const char *sums_word(enum op op)
{
	static const char *const words[] = {
		[OP_ALL_REDUCE] = "AllReduce", [OP_REDUCE_SCATTER] = "ReduceScatter",
		[OP_ALL_GATHER] = "AllGather", [OP_REDUCE] = "Reduce",
		[OP_BROADCAST] = "Broadcast",
	};

	return words[op];
}

void sums_start(uint64_t *row, int32_t k)
{
	assert(k >= 1 && k <= SUMS_DEVICES_MAX);
	for (int32_t d = 0; d < k; d++)
		for (int32_t r = 0; r < k; r++)
			row[d * k + r] = UINT64_C(1) << d;
}

bool sums_are_goal(const uint64_t *row, int32_t k, const int32_t *goal)
{
	for (int32_t d = 0; d < k; d++) {
		uint64_t wanted = 0;

		for (int32_t c = 0; c < k; c++)
			if (goal[c] == goal[d])
				wanted |= UINT64_C(1) << c;
		for (int32_t r = 0; r < k; r++)
			if (row[d * k + r] != wanted)
				return false;
	}
	return true;
}

/* Returns the chunks that a device has, as bits. */
static uint64_t rows_of(const uint64_t *device, int32_t k)
{
	uint64_t rows = 0;

	for (int32_t r = 0; r < k; r++)
		if (device[r])
			rows |= UINT64_C(1) << r;
	return rows;
}

/*
 * Makes the union of the members in `sum`; returns false if two have the same bit of a
 * chunk.
 */
static bool unite(uint64_t *sum, const uint64_t *row, int32_t k, const int32_t *ids,
                  int32_t n)
{
	memset(sum, 0, (size_t)k * sizeof(*sum));
	for (int32_t i = 0; i < n; i++)
		for (int32_t r = 0; r < k; r++) {
			uint64_t bits = row[ids[i] * k + r];

			if (sum[r] & bits)
				return false;
			sum[r] |= bits;
		}
	return true;
}

/*
 * Returns whether all members have the same rows (`equal`), or else equally many and no
 * row in common.
 */
static bool rows_fit(const uint64_t *row, int32_t k, const int32_t *ids, int32_t n,
                     bool equal)
{
	uint64_t first = rows_of(row + ids[0] * k, k), seen = first;

	for (int32_t i = 1; i < n; i++) {
		uint64_t rows = rows_of(row + ids[i] * k, k);

		if (equal ? rows != first
		          : rows & seen || __builtin_popcountll(rows) !=
		                                   __builtin_popcountll(first))
			return false;
		seen |= rows;
	}
	return first != 0;
}

/* Leaves member i the i-th of n blocks of the rows of `sum`. */
static bool scatter(uint64_t *row, int32_t k, const int32_t *ids, int32_t n,
                    const uint64_t *sum)
{
	int32_t block = __builtin_popcountll(rows_of(sum, k)), at = 0;

	if (block % n)
		return false;
	block /= n;
	for (int32_t i = 0; i < n; i++)
		memset(row + ids[i] * k, 0, (size_t)k * sizeof(*row));
	for (int32_t r = 0; r < k; r++)
		if (sum[r])
			row[ids[at++ / block] * k + r] = sum[r];
	return true;
}

static bool broadcast(uint64_t *row, int32_t k, const int32_t *ids, int32_t n)
{
	const uint64_t *root = row + ids[0] * k;
	bool news = false;

	for (int32_t i = 1; i < n; i++)
		for (int32_t r = 0; r < k; r++) {
			uint64_t bits = row[ids[i] * k + r];

			if (bits & ~root[r])
				return false;
			news |= bits != root[r];
		}
	for (int32_t i = 1; i < n; i++)
		memcpy(row + ids[i] * k, root, (size_t)k * sizeof(*row));
	return news;
}

static bool group_step(uint64_t *row, int32_t k, enum op op, const int32_t *ids,
                       int32_t n)
{
	uint64_t sum[SUMS_DEVICES_MAX];

	if (op == OP_BROADCAST)
		return broadcast(row, k, ids, n);
	if (!rows_fit(row, k, ids, n, op != OP_ALL_GATHER) ||
	    !unite(sum, row, k, ids, n))
		return false;
	if (op == OP_REDUCE_SCATTER)
		return scatter(row, k, ids, n, sum);
	for (int32_t i = 0; i < n; i++)
		if (i == 0 || op != OP_REDUCE)
			memcpy(row + ids[i] * k, sum, (size_t)k * sizeof(*row));
		else
			memset(row + ids[i] * k, 0, (size_t)k * sizeof(*row));
	return true;
}

bool sums_step(uint64_t *row, int32_t k, enum op op, const struct groups *g)
{
	if (g->size < 2)
		return false;
	for (int32_t i = 0; i < g->ngroups; i++)
		if (!group_step(row, k, op, g->ids + (int64_t)i * g->size, g->size))
			return false;
	return true;
}
