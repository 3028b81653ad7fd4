/*
 * The simulation behind the clock `flow`. Private to sim/replay_flow*.c.
 *
 * Every message, or every part of one whose task has `repeats`, is one flow of SimGrid's
 * from the sender's host on that fabric to the receiver's. Which flow starts when is kept
 * by device (struct member in the .c), as flow.h says.
 */
#ifndef SHARDSIM_SIM_CLOCK_FLOW_RUN_H
#define SHARDSIM_SIM_CLOCK_FLOW_RUN_H

#include "collective/schedule.h"
#include "platform/platform.h"

/*
 * The seconds of `n` schedules one after the other, as a schedules_fn gives them
 * (cost/steps.h), on a platform started for flows. Once per process: nothing is freed,
 * and mailboxes keep their owners. CLOCK_FAILED_S with the reason in `message` (of `size`
 * bytes) where a message has no route.
 */
double flow_run(double *wire_s, struct platform *p, const struct schedule *s, int n,
                char *message, size_t size);

#endif
