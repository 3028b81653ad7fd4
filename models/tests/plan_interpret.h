/*
 * A second opinion on plans for tests: every device holds an explicit number for each
 * element of its tile, and steps move them one by one. Slow, small and independent of
 * plan/check.c, plan/groups.c and array/tile.c: tiles are computed from the definition
 * of layouts alone (spec redistribution.md 1 and 2).
 */
#ifndef SHARDSIM_TESTS_PLAN_INTERPRET_H
#define SHARDSIM_TESTS_PLAN_INTERPRET_H

#include "plan/plan.h"

/* Element numbers are row-major in the padded array; NULL where a device has no data. */
struct held {
	struct shape tile;
	int32_t **element; /* [ndevices][elements of the tile] */
};

/* What every device holds under a layout; the arena's. */
struct held held_by_layout(const struct layout *l, const struct mesh *m,
                           const struct shape *padded, struct arena *a);

/* The coordinate of a device in one part of an axis. */
int32_t part_coordinate(const struct mesh *m, struct part p, int32_t position);

/*
 * Run all steps. True if each ends with the tiles its layout claims and the last with
 * those of the target. *wrong_step: the first that does not, nsteps for the target.
 */
bool plan_interpret(const struct plan *p, struct arena *a, int *wrong_step);

/*
 * Elements that a device receives in each step of a right plan: [nsteps * ndevices], of
 * the padded and of the real array.
 */
void interpret_received(const struct plan *p, struct arena *a, int64_t **padded,
                        int64_t **real);

#endif
