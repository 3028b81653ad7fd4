/*
 * Compilers that rematerialize where XLA's log says that one did, and the planners of this
 * project that stand for XLA do not: of another version, or with a bug.
 */
#ifndef SHARDSIM_SIM_CLI_WARNED_H
#define SHARDSIM_SIM_CLI_WARNED_H

#include "planner/planner.h"

/*
 * Returns a planner that gathers everything and then slices, but for what XLA does in one
 * step: any one collective or a slice where XLA's plan for the problem that was warned of,
 * `plan`, has several steps; else only an all-gather or a slice, so that it gathers for
 * that problem in either case. `manual`: dimension 0 numbers the groups of a manual
 * region and stays cut.
 */
const struct planner *warned_compiler(const struct plan *plan, bool manual);

#endif
