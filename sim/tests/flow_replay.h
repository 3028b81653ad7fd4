/*
 * The rules of the clock flow (cost/flow.h) in SimGrid, with one flow of SimGrid's for each
 * message, or each part of one: what the clock is held to. Slow, and for some thousand
 * messages at once only.
 *
 * Flows and parallel tasks (clock/simgrid.h) need different settings of SimGrid, and a
 * process can have only one set of them. So flows run in processes of their own, which
 * last as long as ours.
 */
#ifndef SHARDSIM_SIM_TESTS_FLOW_REPLAY_H
#define SHARDSIM_SIM_TESTS_FLOW_REPLAY_H

#include "collective/schedule.h"
#include "platform/platform.h"

/*
 * A process that replays schedules on a platform. The platform must have been read and
 * must not have been started; it must outlive the struct. The process loads it into
 * SimGrid at the first schedule.
 */
struct flow_replay;

struct flow_replay *flow_replay_new(struct platform *p);
void flow_replay_free(struct flow_replay *r);

/* A schedules_fn (cost/steps.h); `self` is a struct flow_replay. */
double flow_replay_schedules(void *self, double *wire_s, const struct schedule *s,
                             int n, char *message, size_t size);

#endif
