#include "cost/flow.h"

#include "cost/flow_net.h"
#include "cost/flow_run.h"
#include "cost/model.h"

#include <math.h>
#include <stdio.h>

struct flow {
	const struct machine *machine;
	struct flow_nets *nets;
};

struct flow *flow_new(const struct machine *m)
{
	struct flow *flow = xmalloc(1, sizeof(*flow));

	*flow = (struct flow){m, flow_nets_new(m)};
	return flow;
}

void flow_free(struct flow *flow)
{
	if (!flow)
		return;
	flow_nets_free(flow->nets);
	xfree(flow);
}

/* Returns 0, or what the clock returns in place of seconds. */
static double run_nets(double *end_s, const struct flow *flow, const struct schedule *s,
                       int n, char *message, size_t size)
{
	struct flow_net net;
	double result = CLOCK_REFUSED_S;

	switch (flow_net_make(&net, flow->nets, s, n, FLOW_KINDS_MAX)) {
	case FLOW_NET_NO_ROUTE:
		snprintf(message, size, "a message has no route on %s",
		         flow->machine->name);
		result = CLOCK_FAILED_S;
		break;
	case FLOW_NET_TOO_LARGE:
		snprintf(message, size,
		         "takes up to %d messages that fare differently, but here are "
		         "more",
		         FLOW_KINDS_MAX);
		break;
	case FLOW_NET_OK:
		if (flow_run(end_s, &net, FLOW_WORK_MAX))
			result = 0;
		else
			snprintf(message, size,
			         "takes too long for %d messages that fare differently",
			         (int)net.nmessages);
	}
	flow_net_free(&net);
	return result;
}

double flow_schedules(void *self, double *wire_s, const struct schedule *s, int n,
                      char *message, size_t size)
{
	double ended_s = 0, result;
	int64_t nmessages = 0;

	for (int k = 0; k < n; k++) {
		wire_s[k] = 0;
		nmessages += s[k].nmessages;
	}
	if (nmessages > FLOW_MESSAGES_MAX) {
		snprintf(message, size, "takes up to %d messages, but here are %lld",
		         FLOW_MESSAGES_MAX, (long long)nmessages);
		return CLOCK_REFUSED_S;
	}
	result = nmessages ? run_nets(wire_s, self, s, n, message, size) : 0;
	if (result < 0)
		return result;
	for (int k = 0; k < n; k++) {
		double until_s = fmax(ended_s, wire_s[k]);

		wire_s[k] = until_s - ended_s;
		ended_s = until_s;
	}
	return ended_s;
}

double flow_clock(void *self, const struct schedule *s, char *message, size_t size)
{
	double wire_s;

	return flow_schedules(self, &wire_s, s, 1, message, size);
}
