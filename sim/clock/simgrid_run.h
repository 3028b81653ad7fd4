/* The simulation behind the clock `simgrid`. Private to sim/clock/simgrid.c. */
#ifndef SHARDSIM_SIM_CLOCK_SIMGRID_RUN_H
#define SHARDSIM_SIM_CLOCK_SIMGRID_RUN_H

#include "collective/schedule.h"
#include "platform/platform.h"

/*
 * Is a replay_fn (clock/replay.h) on a platform that was started for parallel tasks. It
 * stores the seconds of each schedule in `wire_s` and returns their sum, or
 * CLOCK_FAILED_S where a message has no route. It frees nothing, because the process
 * ends after it.
 */
double simgrid_run_schedules(double *wire_s, struct platform *p,
                             const struct schedule *s, int n, char *message,
                             size_t size);

#endif
