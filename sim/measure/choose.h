/* The planners and clocks that options name. */
#ifndef SHARDSIM_SIM_MEASURE_CHOOSE_H
#define SHARDSIM_SIM_MEASURE_CHOOSE_H

#include "base/arena.h"
#include "base/error.h"
#include "planner/planner.h"

/*
 * Stores the planners that `--planner LIST` names, all of them for "all"; the list is
 * the arena's. It is an E_TYPE if a name is unknown or there twice, or if there is
 * none.
 */
enum status choose_planners(const struct planner ***out, int *n, struct arena *a,
                            const char *list, struct error *e);

/*
 * Stores the clocks that `--clock LIST` names, as indices in clock_kinds; the list is
 * the arena's. The errors are those of choose_planners().
 */
enum status choose_clocks(int **out, int *n, struct arena *a, const char *list,
                          struct error *e);

#endif
