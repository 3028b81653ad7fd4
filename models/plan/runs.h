/*
 * Ordered lists of index runs: what one device holds of one dimension while a plan is
 * interpreted (check.h).
 */
#ifndef SHARDSIM_PLAN_RUNS_H
#define SHARDSIM_PLAN_RUNS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Consecutive indices [lo, hi). */
struct run {
	int64_t lo, hi;
};

/* Runs in the order in which they lie in memory; neighbours in sequence are merged. */
struct list {
	int32_t n;
	const struct run *run;
};

/* Returns the list of one run; empty if lo >= hi. */
struct list list_of(struct arena *a, int64_t lo, int64_t hi);

int64_t list_length(struct list l);
bool list_equal(struct list a, struct list b);

/* Returns `count` lists one after another as one. */
struct list list_join(struct arena *a, const struct list *parts, int32_t count);

/*
 * Takes block number `block` of `factor` equal ones; returns false if the length does
 * not divide.
 */
bool list_block(struct list *out, struct arena *a, struct list l, int32_t block,
                int32_t factor);

/* Returns the indices that are in both. */
struct list list_common(struct arena *a, struct list x, struct list y);

/*
 * Returns whether the list is the `size` indices from `lo` on, in order, where indices
 * from `limit` on are padding, for which anything may stand.
 */
bool list_matches(struct list l, int64_t lo, int64_t size, int64_t limit);

/* Returns whether one run of the list holds all of [lo, hi). */
bool list_holds(struct list l, int64_t lo, int64_t hi);

/*
 * Returns whether the lists together are every index of [0, n) exactly once, in any
 * order.
 */
bool lists_partition(struct arena *a, const struct list *parts, int32_t count,
                     int64_t n);

#endif
