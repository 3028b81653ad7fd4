/*
 * The clock `flow`: every message is a flow of its own, and nothing waits for what it does
 * not need.
 *
 * Every device runs at its own pace through the rounds that it has a part in, over all
 * steps of a plan. It starts to send its messages of a round once all that it sent and
 * received in its previous round has arrived. A flow starts even if its receiver is
 * still in an earlier round. A task with `repeats` r > 1 is run as r such rounds, each
 * with an equal part of every message, in whole bytes; a device sends its next part when
 * it has sent and received the one before. A task's `delay_s` passes before its messages
 * leave, and at least `least_s` passes before they have arrived; both are divided equally
 * among its parts. A flow takes the latency of its route, then sends its bytes at the rate
 * that max-min fairness between all flows under way gives it (cost/flow_rates.h): flows
 * that share a link get equal shares of it, however long their routes are.
 *
 * So a plan may take less than the sum of its steps. It may also take more, where flows
 * of the next step take bandwidth from the last flows of this one.
 *
 * Messages, devices and links that fare alike over the whole plan are found first and are
 * one from there on (cost/flow_net.h), so that machines on which all do the same cost what
 * a few devices do. The rest is followed from event to event; what is due within 1e-12 s,
 * or 1e-9 of the time until then if that is less, happens at once. Tests hold this clock to
 * SimGrid with a flow per message (sim/tests/flow_replay.h), on machines of all families up
 * to 64 devices, to 1e-8 of the time, and the shares to those that are found from the
 * beginning whenever anything changes.
 */
#ifndef SHARDSIM_COST_FLOW_H
#define SHARDSIM_COST_FLOW_H

#include "array/machine.h"
#include "collective/schedule.h"

/*
 * The most messages, the most that fare differently, which take some 1,000 bytes each where
 * routes have eight links, and the most work: the flows that are looked at, on every link of
 * their routes, whenever rates change: some fifteen seconds.
 */
enum {
	FLOW_MESSAGES_MAX = 1 << 21,
	FLOW_KINDS_MAX = 1 << 19,
	FLOW_WORK_MAX = 1000000000
};

/*
 * A workspace for one machine, which is borrowed and must outlive it. Threads do not
 * share it.
 */
struct flow;

struct flow *flow_new(const struct machine *m);
void flow_free(struct flow *flow);

/*
 * flow_clock() is a clock_fn (cost/model.h), and flow_schedules() is a schedules_fn
 * (cost/steps.h) for the steps of a plan; `self` is a struct flow. Equal schedules take
 * equal times, to the last digit. They fail where a message has no route, and refuse more
 * messages, more of them that fare differently, or more work than above.
 */
double flow_clock(void *self, const struct schedule *s, char *message, size_t size);
double flow_schedules(void *self, double *wire_s, const struct schedule *s, int n,
                      char *message, size_t size);

#endif
