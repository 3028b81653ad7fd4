/*
 * Time lines of timed plans and programs as Chrome trace events ("Trace Event Format", JSON object
 * form), which Perfetto and chrome://tracing open.
 *
 * Every planner and clock has two groups of rows. "PLANNER by CLOCK: devices" has a row
 * for each device of the problem, with a slice for each step of the plan, and inside it
 * its launch, the rounds of messages the device takes part in, and its local work, which
 * is drawn behind the messages whether it packs or unpacks. "PLANNER by CLOCK: links" has
 * a row for each link that carries anything, busy from the begin of a round for bytes /
 * bandwidth.
 *
 * Steps and rounds take as long as the clock says; a device's part of a round ends when
 * its last task would by the clock `model` if it had the links to itself, and not later
 * than the round. A step of more than TRACE_EVENTS_MAX slices in its rounds, or timed by
 * a clock whose rounds overlap, is drawn as if it had one round.
 *
 * Steps are drawn one behind the other. By the clock `flow`, in which a device may begin a step
 * before the last one is over, a step is drawn from where the last one ends, and the rows of
 * several steps say "flow, without overlap".
 *
 * Times are microseconds in whole nanoseconds, rounded at both ends, so that slices nest;
 * what is exact is in the arguments. What no clock has timed has no rows.
 */
#ifndef SHARDSIM_SIM_MEASURE_TRACE_H
#define SHARDSIM_SIM_MEASURE_TRACE_H

#include "measure/timed.h"

enum { TRACE_EVENTS_MAX = 1 << 17 };

/*
 * Returns whether plans or programs have several steps, timed by a clock in which they overlap,
 * as no trace shows.
 */
bool trace_hides_overlap(const struct bench *b, const struct timed *t, int n);

/*
 * Prints the trace of `n` timed plans or programs on the devices of one problem; it is
 * the whole text of a file.
 */
void trace_print(struct text *out, struct bench *b, const struct placement *devices,
                 const struct timed *t, int n);

#endif
