/* The planners and clocks that options name. */
#ifndef SHARDSIM_SIM_MEASURE_CHOOSE_H
#define SHARDSIM_SIM_MEASURE_CHOOSE_H

#include "base/arena.h"
#include "base/error.h"
#include "planner/planner.h"

/*
 * Stores the planners of `--planner LIST`, every one for "all"; the arena's. E_TYPE:
 * unknown, listed twice, or none.
 */
enum status choose_planners(const struct planner ***out, int *n, struct arena *a,
                            const char *list, struct error *e);

/* Stores the clocks of `--clock LIST`, as indices into clock_kinds; the same. */
enum status choose_clocks(int **out, int *n, struct arena *a, const char *list,
                          struct error *e);

#endif
