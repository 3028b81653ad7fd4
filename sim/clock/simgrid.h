/*
 * The clock `simgrid` runs the rounds of a plan in SimGrid, as parallel tasks under its
 * host model ptask_L07. The clock `fluid` (cost/fluid.h) follows it without SimGrid.
 *
 * Every task of a round is one parallel task over just its hosts, or one parallel task
 * per message where it is too large for that (cost/hosts.h). The tasks of a round start
 * together, except that those of merged rounds start some latencies later, and the next
 * round starts when all have ended. The time of a round is a difference of SimGrid's
 * clock. All steps of a plan are one replay, which starts at SimGrid's time 0
 * (clock/replay.h).
 *
 * simgrid_start() opens SimGrid and loads the platform into it; the first replay calls
 * it. Apart from that, only the trial of a file (platform_begin()) opens SimGrid for
 * this clock.
 *
 * The time that SimGrid needs for a round grows with its messages times the tasks or
 * links that each of them may meet. A plan is refused if one of its rounds has more
 * than SIMGRID_ROUND_MAX messages times hosts.
 */
#ifndef SHARDSIM_SIM_CLOCK_SIMGRID_H
#define SHARDSIM_SIM_CLOCK_SIMGRID_H

#include "collective/schedule.h"
#include "platform/platform.h"

/*
 * That is all pairs of 400 hosts, or four messages of each of 4,096: seconds where the
 * hosts are those of one task, minutes where every message is a task of its own.
 */
enum { SIMGRID_ROUND_MAX = 1 << 26 };

/* The clock on a platform, which must outlive it. */
struct simgrid;

struct simgrid *simgrid_new(struct platform *p);
void simgrid_free(struct simgrid *simgrid);

/*
 * Loads the platform into SimGrid in this process, unless that was tried before. If it
 * failed, then and now, all replays fail with its error.
 */
enum status simgrid_start(struct simgrid *simgrid, struct error *e);

/*
 * simgrid_clock() is a clock_fn (cost/model.h), and simgrid_schedules() is a
 * schedules_fn (cost/steps.h) for the steps of a plan; `self` is a struct simgrid.
 * Equal schedules take equal times, to the last digit.
 */
double simgrid_clock(void *self, const struct schedule *s, char *message, size_t size);
double simgrid_schedules(void *self, double *wire_s, const struct schedule *s, int n,
                         char *message, size_t size);

#endif
