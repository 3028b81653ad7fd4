/*
 * The clock `flow` replays schedules in SimGrid with one flow per message. It is the
 * reference for cases that are not large, because nothing waits for what it does not need.
 *
 * Every device runs at its own pace through the rounds that it has a part in, over all
 * steps of a plan. It starts to send its messages of a round once all that it sent and
 * received in its previous round has arrived. A flow starts even if its receiver is
 * still in an earlier round. A task with `repeats` r > 1 is run as r such rounds, each
 * with an equal part of every message; a device sends its next part when it has sent
 * and received the one before. A task's `delay_s` passes before its messages leave, and
 * at least `least_s` passes before they have arrived; both are divided equally among
 * its parts. A flow takes the latency of its route, then sends its bytes at the rate
 * that max-min fairness between all flows under way gives it: flows that share a link
 * get equal shares of it, however long their routes are.
 *
 * So a plan may take less than the sum of its steps. It may also take more, where flows
 * of the next step take bandwidth from the last flows of this one.
 *
 * Flows and parallel tasks (clock/simgrid.h) need different settings of SimGrid, and a
 * process can have only one set of them. So flows run in processes of their own, which
 * last as long as ours.
 *
 * The clock takes up to FLOW_FLOWS_MAX flows, parts counted, of any number of devices, and
 * up to FLOW_AT_ONCE_MAX under way at once, each of which has an actor of SimGrid with a
 * stack of its own: Linux gives a process some 65,000 areas of memory, and an actor takes
 * three. The rates of those under way are found anew as flows end, so the product of both
 * numbers may be up to FLOW_WORK_MAX: some ten seconds. It refuses larger schedules.
 */
#ifndef SHARDSIM_SIM_CLOCK_FLOW_H
#define SHARDSIM_SIM_CLOCK_FLOW_H

#include "collective/schedule.h"
#include "platform/platform.h"

enum { FLOW_AT_ONCE_MAX = 1 << 13, FLOW_FLOWS_MAX = 1 << 20, FLOW_WORK_MAX = 1 << 30 };

/*
 * A process that replays schedules on a platform. The platform must have been read and
 * must not have been started; it must outlive the struct. The process loads it into
 * SimGrid at the first schedule.
 */
struct flow;

struct flow *flow_new(struct platform *p);
void flow_free(struct flow *flow);

/*
 * flow_clock() is a clock_fn (cost/model.h), and flow_schedules() is a schedules_fn
 * (cost/steps.h) for the steps of a plan; `self` is a struct flow. Equal schedules take
 * equal times, to the last digit.
 */
double flow_clock(void *self, const struct schedule *s, char *message, size_t size);
double flow_schedules(void *self, double *wire_s, const struct schedule *s, int n,
                      char *message, size_t size);

#endif
