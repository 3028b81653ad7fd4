/* The simulation behind the clock `simgrid`. Private to sim/clock/simgrid.c. */
#ifndef SHARDSIM_SIM_CLOCK_SIMGRID_RUN_H
#define SHARDSIM_SIM_CLOCK_SIMGRID_RUN_H

#include "collective/schedule.h"
#include "platform/platform.h"

/*
 * A replay_fn (clock/replay.h) on a platform started for parallel tasks: the sum of the
 * seconds of the schedules, each of which goes to `wire_s`. CLOCK_FAILED_S where a message
 * has no route. Nothing is freed: the process ends with it.
 */
double simgrid_run_schedules(double *wire_s, struct platform *p,
                             const struct schedule *s, int n, char *message,
                             size_t size);

#endif
