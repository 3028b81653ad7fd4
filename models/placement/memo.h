/*
 * A reduction_clock (placement/search.h) that remembers what another one said: the same
 * collective on the same groups is part of many programs, orders and matrices (of 1024
 * devices in 626 matrices, reduced over two axes, 93,261 questions are 3,320).
 */
#ifndef SHARDSIM_PLACEMENT_MEMO_H
#define SHARDSIM_PLACEMENT_MEMO_H

#include "placement/search.h"

struct memo;

/*
 * Makes the memo of a clock (its `self` is borrowed) whose seconds depend on the op,
 * the bytes held and the groups as reduction_groups() orders them, which is how they
 * are put to it. Refusals are not remembered. It keeps the groups of every question: 4
 * bytes per device.
 */
struct memo *memo_new(struct reduction_clock clock);
void memo_free(struct memo *m);

/* Returns the memo as a clock. */
struct reduction_clock memo_clock(struct memo *m);

#endif
