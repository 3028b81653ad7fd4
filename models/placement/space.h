/*
 * Synthesis spaces: what the positions of a synthesis hierarchy are on the machine
 * (Xie et al. 2022, 2.5, 3.4 and appendix B).
 *
 * A reduction over some axes of a placed mesh can be synthesized on four hierarchies:
 *   hardware  the levels of the system
 *   columns   the columns of the matrix one after the other, axis by axis in each
 *   rows      its rows one after the other, level by level in each
 *   axes      only the rows of the axes reduced over
 * each with (root, 1) in front and without factors of 1. Theorem 3.2: each allows at
 * least the programs of the one before. (Tests find two limits: rows cannot name a
 * level that two reduction axes share, nor the masters of a level that is above another
 * axis.) The first three have one copy and say with `goal` who is to be summed; in the
 * last a program is repeated over all other coordinates.
 *
 * What is used is the last one with the factors of one hardware level made one (on
 * switches splitting them gains nothing). Its positions are assigned to devices in
 *   ORDER_ROW    the order of the mesh, as the published system does: the first axis
 *                outermost. Where it lives on an inner level, the levels of the
 *                synthesis hierarchy then do not match those of the machine
 *   ORDER_LEVEL  the order of the devices: each level is one of the machine
 * which differ only for two and more reduction axes. On switched nodes with one NIC the
 * best program in level order was never slower than that in row order. Where links
 * inside a level differ (pairs of V100 on NVLink, rings of four closed over PCIe), row
 * order may happen to split that level, which the levels of the machine do not: then
 * level order has them split into prime factors, and is never slower again.
 */
#ifndef SHARDSIM_PLACEMENT_SPACE_H
#define SHARDSIM_PLACEMENT_SPACE_H

#include "placement/matrix.h"
#include "plan/plan.h"

enum space_kind { SPACE_HARDWARE, SPACE_COLUMNS, SPACE_ROWS, SPACE_AXES };
enum order { ORDER_ROW, ORDER_LEVEL, ORDERS };

/* Returns "row" or "level". */
const char *order_name(enum order o);

struct space {
	struct hierarchy tree; /* (root, 1) first; positions are its devices */
	int32_t ncopies;
	const int32_t *device; /* [ncopies * tree.ndevices], of the platform */
	const int32_t *goal; /* [tree.ndevices]: positions with equal values are summed */
};

/*
 * Makes the space of the reduction of matrix `m` of hierarchy `h` over the axes in the
 * bits of `reduce`. Arrays and names are the arena's or the hierarchy's. Levels without
 * a name are called level0, level1, ...
 */
void space_of(struct space *out, struct arena *a, const struct hierarchy *h,
              const struct matrix *m, uint32_t reduce, enum space_kind kind);
void space_collapsed(struct space *out, struct arena *a, const struct hierarchy *h,
                     const struct matrix *m, uint32_t reduce, enum order order);

/*
 * The same in ORDER_LEVEL with every level in prime factors, from the innermost level on
 * as long as there are at most SPLIT_LEVELS_MAX of them: level2_0, level2_1, outermost
 * first. False if there is nothing to split.
 */
enum { SPLIT_LEVELS_MAX = 5 }; /* what is searched in milliseconds */
bool space_split(struct space *out, struct arena *a, const struct hierarchy *h,
                 const struct matrix *m, uint32_t reduce);

/* Returns the groups of positions on the devices of all copies; the arena's. */
struct groups space_groups(const struct space *s, struct groups positions,
                           struct arena *a);

#endif
