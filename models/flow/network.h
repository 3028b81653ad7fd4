/*
 * Which messages the devices of a problem can send each other, and what links these take.
 *
 * Data may be relayed by any device of the problem, so that of a torus only messages to
 * the next of these along an axis are listed: all others are chains of such. A switch
 * joins its members by one link up from the sender and one down to the receiver, so that
 * it is a hub instead of a message for each pair. All messages take the machine's own
 * routes, so that every clock times what is sent.
 */
#ifndef SHARDSIM_FLOW_NETWORK_H
#define SHARDSIM_FLOW_NETWORK_H

#include "array/machine.h"

/* A message along an axis of a torus; its links are link[first..last) of the network. */
struct flow_edge {
	int32_t src, dst; /* devices of the problem */
	int32_t fabric;
	int32_t first, last;
};

/* The devices of the problem that a switch joins. */
struct flow_hub {
	int32_t fabric, n;
	int32_t *member;
};

/* Where a device is on a switch: numbers of links below nlinks. */
struct flow_port {
	int32_t hub; /* -1: on none of that fabric */
	int32_t at;  /* member[at] of it */
	int32_t up, down;
};

enum { FLOW_DEPTH_MAX = 64 }; /* messages of a tree behind one another */

/*
 * Which devices of a switch between nodes send each other messages. What is for another rail
 * crosses inside a node, and a device has one peer in each other node instead of all its
 * devices: NCCL's PXN, "rail" as in W. Wang and others, "Rail-only", arXiv 2307.12169.
 */
enum flow_reach {
	FLOW_ALL,
	FLOW_RAILS, /* those that are as many places behind the first of their nodes */
	FLOW_TREES, /* the same, for trees over nodes (flow/trees.h) */
	FLOW_REACHES
};

struct network {
	const struct machine *machine;
	enum flow_reach reach;
	const int32_t *platform; /* [n] devices of the machine */
	int32_t n;               /* devices of the problem */
	int32_t nedges;          /* by rising src, of one in a fixed order */
	struct flow_edge *edge;
	int32_t *out;  /* [n + 1]: those of device d are edge[out[d]..out[d + 1]) */
	int32_t *link; /* numbers below nlinks */
	int32_t nhubs;
	struct flow_hub *hub;
	struct flow_port *port;         /* [n * nfabrics of the machine] */
	int32_t nlinks;                 /* that some message takes */
	double *s_per_byte, *latency_s; /* [nlinks] */
	int32_t depth_max;              /* that a device may have on a tree */
	int64_t looks; /* at devices and messages, that one tree of cheapest paths takes */
};

/* A message: `via` is the number of an edge, or nedges and that of a switch's fabric. */
struct flow_message {
	int32_t src, dst, via;
};

/*
 * Lists the messages of `n` devices, of which device d is platform[d] of the machine.
 * Returns false where there are too many of them, where a fabric is a graph, whose routes
 * only the platform knows, and for rails where there are none. Machine and platform are
 * borrowed.
 */
bool network_make(struct network *out, const struct machine *m, const int32_t *platform,
                  int32_t n, enum flow_reach reach, struct arena *a);

/*
 * Turns all messages around: one from a to b then takes the links that one from b to a took.
 * Flows on it, run backwards, take the links of the machine. False where some message has none
 * back.
 */
bool network_turn(struct network *net, struct arena *a);

/* Returns how many links a message takes, at most STEPS_MAX, and in *list which. */
int32_t network_links(const struct network *net, const struct flow_message *message,
                      const int32_t **list, int32_t pair[2]);

/* Returns the number of the fabric that a message takes. */
static inline int32_t network_fabric(const struct network *net, int32_t via)
{
	return via < net->nedges ? net->edge[via].fabric : via - net->nedges;
}

#endif
