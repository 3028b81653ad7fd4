/*
 * The clock `simgrid`: the rounds of a plan run in SimGrid, as parallel tasks under its host
 * model ptask_L07. It is what the clock `fluid` (cost/fluid.h) follows without SimGrid.
 *
 * Every task of a round is one parallel task over just its hosts, or one per message where
 * it is too large (cost/hosts.h). Tasks of a round start together, those of merged rounds
 * some latencies late, and the next round starts when all have ended; a round's time is a
 * difference of SimGrid's clock. All steps of a plan are one replay, which starts at
 * SimGrid's time 0 (clock/replay.h).
 *
 * SimGrid is opened and the platform loaded into it by simgrid_start(), which the first
 * replay calls; that and a file to be tried (platform_begin()) are all that does.
 *
 * SimGrid's time for a round grows with its messages times the tasks or links that each
 * may meet. A plan is refused if the messages of one of its rounds times their hosts are
 * more than SIMGRID_ROUND_MAX.
 */
#ifndef SHARDSIM_SIM_CLOCK_SIMGRID_H
#define SHARDSIM_SIM_CLOCK_SIMGRID_H

#include "collective/schedule.h"
#include "platform/platform.h"

/* All pairs of 400 hosts, or four messages of each of 4,096: a minute at the most. */
enum { SIMGRID_ROUND_MAX = 1 << 26 };

/* A workspace for the platform, which must outlive it. */
struct simgrid;

struct simgrid *simgrid_new(struct platform *p);
void simgrid_free(struct simgrid *w);

/*
 * Loads the platform into SimGrid in this process, unless that was tried before. What went
 * wrong then is the reason why all replays fail.
 */
enum status simgrid_start(struct simgrid *w, struct error *e);

/*
 * A clock_fn (cost/model.h), and a schedules_fn (cost/steps.h) for the steps of a plan;
 * `self` is a struct simgrid. Equal schedules give equal times, to the last digit.
 */
double simgrid_clock(void *self, const struct schedule *s, char *message, size_t size);
double simgrid_schedules(void *self, double *wire_s, const struct schedule *s, int n,
                         char *message, size_t size);

#endif
