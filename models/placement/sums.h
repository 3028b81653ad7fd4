/*
 * What devices hold while they reduce, and which collectives are meaningful on it: the
 * semantics of Xie et al. 2022, 3.2 and figure 8.
 *
 * k devices hold data cut into k chunks. The state of a device is a k x k bit matrix:
 * bit c of row r says that its copy of chunk r contains the contribution of device c. A
 * row without bits is a chunk the device does not have. A state is that of all devices:
 * row[d * k + r].
 */
#ifndef SHARDSIM_PLACEMENT_SUMS_H
#define SHARDSIM_PLACEMENT_SUMS_H

#include "plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

enum { SUMS_DEVICES_MAX = 64 };

/* The collectives, and their names in the paper: "AllReduce". */
enum { SUMS_OPS = 5 };
extern const enum op sums_ops[SUMS_OPS];
const char *sums_word(enum op op);

/* Starts with every device's own contribution in all k chunks. */
void sums_start(uint64_t *row, int32_t k);

/*
 * Returns whether every device has, in all chunks, exactly the devices of its group
 * (those of equal goal[d]).
 */
bool sums_are_goal(const uint64_t *row, int32_t k, const int32_t *goal);

/*
 * Runs one collective over all groups (of numbers below k, disjoint) at once, in place;
 * the other devices keep their state. Returns false, with the state undefined, if a
 * group breaks the rule; a group's first member is its root:
 *
 *   all-reduce      all members have the same rows, at least one, and for every chunk
 *                   the contributors are pairwise disjoint -> all have the union
 *   reduce-scatter  as before, and the group's size divides the number of rows
 *                   -> member i keeps the i-th block of rows of the union, in row order
 *   all-gather      rows pairwise disjoint, equally many and at least one
 *                   -> all have the union
 *   reduce          as all-reduce -> the root has the union, the others nothing
 *   broadcast       each member's bits are among the root's, one's are not all of them
 *                   -> all have the root's
 *
 * A group of size 1 breaks every rule (appendix B). That a group of devices without
 * data does is not said in the paper, but its program counts follow only so.
 */
bool sums_step(uint64_t *row, int32_t k, enum op op, const struct groups *g);

#endif
