/*
 * The closed-form clock `model` (models/README.md, "Clocks").
 *
 * A round takes the larger of
 *   over links:  (bytes ALL tasks put on it) / bandwidth + the smallest latency of a task
 *                using it,
 *   over tasks:  (its own largest bytes on a link / that link's bandwidth) + its latency,
 * where a task's latency is that of its longest route times `repeats` and its `delay_s`,
 * and its bytes take its `least_s` or longer. Rounds add up.
 * No launch and no local work: lower.h adds those, equally for all clocks.
 */
#ifndef SHARDSIM_COST_MODEL_H
#define SHARDSIM_COST_MODEL_H

#include "array/machine.h"
#include "collective/schedule.h"

/*
 * A workspace for one machine, which is borrowed and must outlive it. It takes O(links)
 * once, so that a call costs only the links its messages touch. Threads do not share
 * it.
 */
struct model;

struct model *model_new(const struct machine *m);
void model_free(struct model *model);

/* Returns the machine's routes, which the workspace remembers and owns. */
struct routes *model_routes(struct model *model);

/*
 * Returns the seconds of the schedule on the workspace's machine; equal schedules give
 * equal times. Returns < 0 if a message has no route: its fabric does not join the two
 * devices, or is a graph and the machine has nobody to ask.
 */
double model_schedule_s(struct model *model, const struct schedule *s);

/*
 * One round after the other without a schedule, by the same rule: after model_round() come
 * tasks, each from model_task() to model_task_end() with its messages between these, and
 * then model_round_end(), which returns the seconds of the round. model_message() returns
 * false where there is no route. The bytes of the current task need model_task_wire_s(),
 * its longest route model_task_route_s(); the first of these is given back at its end, with
 * its `repeats`, `delay_s` and `least_s` (schedule.h).
 */
void model_round(struct model *model);
void model_task(struct model *model);
bool model_message(struct model *model, int32_t fabric, int32_t src, int32_t dst,
                   double bytes);
double model_task_wire_s(struct model *model);
double model_task_route_s(const struct model *model);
void model_task_end(struct model *model, double wire_s, int32_t repeats, double delay_s,
                    double least_s);
double model_round_end(struct model *model);

/* Returns the seconds of the slowest task of the round so far: it takes no less. */
double model_round_least_s(const struct model *model);

/*
 * What clocks return instead of seconds: they failed, or they refuse a schedule of that
 * size.
 */
#define CLOCK_FAILED_S (-1.)
#define CLOCK_REFUSED_S (-2.)

/*
 * A clock as the rest of the program sees it: it returns the seconds of one schedule,
 * or one of the two figures above, which are < 0, with the reason in `message` (of
 * `size` bytes).
 */
typedef double clock_fn(void *self, const struct schedule *s, char *message,
                        size_t size);

/* The clock `model`; `self` is a struct model. */
double model_clock(void *self, const struct schedule *s, char *message, size_t size);

#endif
