/*
 * The groups that the reduction language can name (Xie et al. 2022, 3.3 and table 2).
 *
 * A slice is a level e of a hierarchy: the devices under one instance of e are one
 * slice group. Its form says who communicates:
 *   InsideGroup     the devices of every slice group
 *   Parallel(e')    for each instance of the ancestor e' and each place j: the j-th
 *                   devices of all slice groups under it
 *   Master(e')      the same for place 0 only
 * The top level of the hierarchy has size 1; it is the `root` of synthesis hierarchies.
 *
 * On [(rack,1),(server,2),(CPU,2),(GPU,4)]: (CPU, InsideGroup) has four groups of four,
 * (server, Parallel(rack)) eight groups of two, (CPU, Master(rack)) one group of four.
 */
#ifndef SHARDSIM_PLACEMENT_SLICE_H
#define SHARDSIM_PLACEMENT_SLICE_H

#include "placement/hierarchy.h"
#include "plan/plan.h"

#include <stdbool.h>

enum form { FORM_INSIDE, FORM_PARALLEL, FORM_MASTER };

struct slice {
	int8_t level, ancestor; /* ancestor < level; equal for FORM_INSIDE */
	uint8_t form;
};

/*
 * Lists the slices that denote different groups of two devices or more: those with
 * InsideGroup by rising level, then with Parallel and with Master by rising level and
 * ancestor; each named by the first that denotes it. With L levels of size > 1 these
 * are L(L+1)/2 without Master and L(L-1)/2 with it. The array is the arena's.
 */
int slices_of(struct slice **out, struct arena *a, const struct hierarchy *h);

/*
 * Returns its groups, of positions of the hierarchy, members by rising position (the
 * first is the root of the collective), groups by rising first member. The arena's.
 * Parallel over levels of sizes x0..xn from i to above j (lemma B.2): groups of size
 * x[j+1] ... x[i], and x[0] ... x[j] x[i+1] ... x[n] of them.
 */
struct groups slice_groups(const struct hierarchy *h, struct slice s, struct arena *a);

/* Finds the levels whose places vary within a group: *first to *last. */
void slice_levels(int *first, int *last, const struct hierarchy *h, struct slice s);

/* Returns the devices in one of its groups: the product of those levels' sizes. */
int32_t slice_size(const struct hierarchy *h, struct slice s);

#endif
