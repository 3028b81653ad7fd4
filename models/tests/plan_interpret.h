/*
 * A second opinion on plans for tests: every device holds an explicit number for each
 * element of its tile, and steps move them one by one. Slow, small and independent of
 * plan/check.c, plan/groups.c and array/tile.c: tiles are computed from the definition
 * of layouts alone (models/README.md, "Layouts").
 */
#ifndef SHARDSIM_TESTS_PLAN_INTERPRET_H
#define SHARDSIM_TESTS_PLAN_INTERPRET_H

#include "plan/plan.h"

/*
 * An element of a tile: its row-major number in the whole array, CELL_NOTHING where no
 * data came; beyond the array CELL_PADDING less its number in an array of one more in
 * every dimension, where all that is beyond has the last index. `sum` is its value:
 * contribution c of element e is a random-looking 64-bit number, so a sum is right only
 * if it has each of them once.
 */
enum { CELL_NOTHING = -1, CELL_PADDING = -2 };

struct cell {
	int32_t element;
	uint64_t sum;
};

/* By device number, as many as the mesh has; NULL where a device has no data. */
struct held {
	struct shape tile;
	struct cell **cell; /* [devices][elements of the tile] */
};

/*
 * What every device holds under a layout of an array of shape `whole`, which its tiles
 * may pass; the arena's. `tile`: its tiles if they are larger than usual, or NULL.
 */
struct held held_by_layout(const struct layout *l, const struct mesh *m,
                           const struct shape *whole, const struct shape *tile,
                           struct arena *a);

/* As held_by_layout; `start` says where tiles start, [devices * rank], or is NULL. */
struct held held_from(const struct layout *l, const struct mesh *m,
                      const struct shape *whole, const struct shape *tile,
                      const int64_t *start, struct arena *a);

/* The coordinate of a device in one part of an axis. */
int32_t part_coordinate(const struct mesh *m, struct part p, int32_t position);

/* Value of an element: the sum of its first `n` contributions from number `first` on. */
uint64_t element_value(int32_t element, int32_t first, int32_t n);

/*
 * Run all steps. True if each ends with the tiles its layout claims and the last with
 * those of the target. *wrong_step: the first that does not, nsteps for the target.
 */
bool plan_interpret(const struct plan *p, struct arena *a, int *wrong_step);

/*
 * Elements that a device receives in each step of a right plan: [nsteps * ndevices], of
 * the padded and of the real array. Of arrays that are not unreduced.
 */
void interpret_received(const struct plan *p, struct arena *a, int64_t **padded,
                        int64_t **real);

#endif
