/*
 * Schedules that follow each other as a net of messages, links, devices and their parts in
 * tasks, and the same with all that fare alike made one. Private to cost/flow*.c.
 *
 * The net is written as a system of tasks and links (cost/fair.h), so that cost/alike.h can
 * fold it: it knows no more than a graph with figures. Tasks are messages, and after them
 * devices; links are the machine's, and after them members: a device's part in one task. A
 * message uses the links of its route, the member that sends it and the one that receives
 * it; a device uses its members. The bytes of a use say which of these it is. Whatever the
 * clock makes of all in step it then makes equal within a kind, by induction over events.
 */
#ifndef SHARDSIM_COST_FLOW_NET_H
#define SHARDSIM_COST_FLOW_NET_H

#include "array/routes.h"
#include "base/list.h"
#include "collective/schedule.h"
#include "cost/fair.h"

/* Bytes of a use: what a message does there, or of a device the number of the round + this. */
enum { NET_WIRE = 1, NET_SENDS, NET_RECEIVES, NET_ROUND };

/* What a message is, whoever sends it. */
struct net_what {
	int32_t step; /* which of the schedules */
	int32_t repeats;
	double bytes;            /* of all its parts */
	double delay_s, least_s; /* of one part */
};

/*
 * `fair.task[i].after_s` is the number of a message in `what`, and `latency_s` that of its
 * route. `fair.use[i].tasks` is how many such messages use each such link, or how many each
 * such member sends or receives.
 */
struct flow_net {
	struct fair fair;
	int32_t nmessages, ndevices; /* tasks */
	int32_t nlinks, nmembers;    /* links; members have no bandwidth */
	LIST(struct net_what) what;
};

/* A workspace for one machine, which is borrowed and must outlive it. */
struct flow_nets;

struct flow_nets *flow_nets_new(const struct machine *m);
void flow_nets_free(struct flow_nets *nets);

enum flow_net_status {
	FLOW_NET_OK,
	FLOW_NET_NO_ROUTE, /* of a message */
	FLOW_NET_TOO_LARGE /* more than `most` kinds of messages and devices */
};

/*
 * Makes the net of `n` schedules, folded. flow_net_free() frees it whatever is returned.
 */
enum flow_net_status flow_net_make(struct flow_net *out, struct flow_nets *nets,
                                   const struct schedule *s, int n, int64_t most);
void flow_net_free(struct flow_net *net);

#endif
