/*
 * Follows a net of messages from event to event by the rules of cost/flow.h. Private to
 * cost/flow.c.
 */
#ifndef SHARDSIM_COST_FLOW_RUN_H
#define SHARDSIM_COST_FLOW_RUN_H

#include "cost/flow_net.h"

/*
 * Stores in end_s ([steps]) when the last message of each step has arrived; 0 for steps
 * without any. Returns false if that takes more than `most_work` (flow_rates_work(), and
 * the events).
 */
bool flow_run(double *end_s, const struct flow_net *net, int64_t most_work);

#endif
