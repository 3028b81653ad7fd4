/*
 * The simulation behind flow_replay.h. Private to sim/tests/flow_replay.c.
 *
 * Every message, or every part of one whose task has `repeats`, is a flow of SimGrid's
 * from the sender's host on that fabric to the receiver's host. It starts as
 * soon as the sending device may, by the rules in cost/flow.h; flow_replay_run.c keeps a struct
 * member for each device and task to know that.
 */
#ifndef SHARDSIM_SIM_TESTS_FLOW_REPLAY_RUN_H
#define SHARDSIM_SIM_TESTS_FLOW_REPLAY_RUN_H

#include "collective/schedule.h"
#include "platform/platform.h"

/*
 * Returns the seconds of `n` schedules one after the other on a platform that was
 * started for flows, as a schedules_fn does (cost/steps.h). Where a message has no
 * route, it returns CLOCK_FAILED_S and prints the reason into `message` (of `size`
 * bytes). It can be called once per process, because nothing is freed and mailboxes
 * keep their owners.
 */
double flow_replay_run(double *wire_s, struct platform *p, const struct schedule *s,
                       int n, char *message, size_t size);

#endif
