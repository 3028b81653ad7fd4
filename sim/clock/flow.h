/*
 * The clock `flow`: schedules replayed in SimGrid with one flow per message.
 * The reference for small cases: nothing waits for what it does not need.
 *
 * Every device runs through the rounds it has a part in, of all steps of a plan in a row,
 * at its own pace. It starts to send what it sends in a round once all it sent and
 * received in its last one has arrived; that a receiver is not as far does not hold a flow
 * up. A task of `repeats` r > 1 is r such rounds again, each with an equal part of every
 * message, of which a device sends the next when it has sent and received the last. A
 * task's `delay_s` passes before its messages leave and `least_s` before they have
 * arrived, in equal shares for its parts. A flow takes the latency of its route, then its
 * bytes at the rate that max-min fairness between all flows under way gives it: flows that
 * share a link get alike of it, however long their routes are.
 *
 * So a plan may take less than its steps one by one, and also more, where flows of the
 * next step take bandwidth from the last ones of this.
 *
 * Flows and parallel tasks (clock/simgrid.h) need different settings of SimGrid, which has
 * one set per process: flows run in processes of their own, which last as long as ours.
 *
 * Up to FLOW_DEVICES_MAX devices, or FLOW_RING_MAX where each exchanges with two others at
 * most in a step (rings and chains), and FLOW_FLOWS_MAX flows; what is larger is refused.
 */
#ifndef SHARDSIM_SIM_CLOCK_FLOW_H
#define SHARDSIM_SIM_CLOCK_FLOW_H

#include "collective/schedule.h"
#include "platform/platform.h"

enum { FLOW_DEVICES_MAX = 64, FLOW_RING_MAX = 512, FLOW_FLOWS_MAX = 1 << 20 };

/*
 * A process that has the platform, which must have been read, and not been started, and
 * must outlive this. It loads it into SimGrid for the first schedule.
 */
struct flow;

struct flow *flow_new(struct platform *p);
void flow_free(struct flow *w);

/*
 * A clock_fn (cost/model.h), and a schedules_fn (cost/steps.h) for the steps of a plan;
 * `self` is a struct flow. Equal schedules give equal times, to the last digit.
 */
double flow_clock(void *self, const struct schedule *s, char *message, size_t size);
double flow_schedules(void *self, double *wire_s, const struct schedule *s, int n,
                      char *message, size_t size);

#endif
