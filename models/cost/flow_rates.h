/*
 * The rates of flows that share links by max-min fairness, kept up to date while flows begin
 * and end. Private to cost/flow*.c.
 *
 * The link that has the least left for each of its flows gives them that, and what it gives
 * is taken off the other links of their routes; so on with the links that are left
 * (Bertsekas and Gallager, Data Networks, 6.5.2). SimGrid shares the links between flows by
 * the same rule where latencies do not count (network model CM02).
 *
 * What changes is found, and no more. Links fill up as before, from the least share on, up to
 * the least rate of the flows that went and the least share that links have for those that
 * came: flows that are slower keep their rates. Of the others, those are shared out anew that
 * are joined by links with flows that came or went. Every link has its flows in a heap, the
 * fastest first, so that none but these are looked at.
 *
 * A flow may stand for many that fare alike, a link too (cost/flow_net.h).
 */
#ifndef SHARDSIM_COST_FLOW_RATES_H
#define SHARDSIM_COST_FLOW_RATES_H

#include "cost/flow_net.h"

struct flow_rates;

/* Makes the rates of the messages of a net, which is borrowed. */
struct flow_rates *flow_rates_new(const struct flow_net *net);
void flow_rates_free(struct flow_rates *r);

/* Tell that the flow moves from now on, or no longer. */
void flow_rates_begin(struct flow_rates *r, int32_t flow);
void flow_rates_end(struct flow_rates *r, int32_t flow);

/*
 * Finds the rates after what was told. Returns the flows that may have another rate than
 * before, *n of them, all of which move.
 */
const int32_t *flow_rates_find(int32_t *n, struct flow_rates *r);

/* Returns the bytes per second of a flow that moves. */
double flow_rate_Bps(const struct flow_rates *r, int32_t flow);

/* Returns how many flows were looked at so far, on each of their links. */
int64_t flow_rates_work(const struct flow_rates *r);

#endif
