/*
 * Which messages the devices of a problem can send each other, and what links these take.
 *
 * Data may be relayed by any device of the problem, so that of a torus only messages to
 * the next of these along an axis are listed: all others are chains of such. On switches
 * every two devices that a fabric joins have a message. All of them take the machine's
 * own routes, so that every clock times what is sent.
 */
#ifndef SHARDSIM_FLOW_NETWORK_H
#define SHARDSIM_FLOW_NETWORK_H

#include "array/machine.h"

/* A message; its links are link[first..last) of the network. */
struct flow_edge {
	int32_t src, dst; /* devices of the problem */
	int32_t fabric;
	int32_t first, last;
	double latency_s;
};

struct network {
	int32_t n;      /* devices of the problem */
	int32_t nedges; /* by rising src, of one in a fixed order */
	struct flow_edge *edge;
	int32_t *out;  /* [n + 1]: those of device d are edge[out[d]..out[d + 1]) */
	int32_t *link; /* numbers below nlinks: of the links that some message takes */
	int32_t nlinks;
	double *s_per_byte; /* [nlinks] */
};

/*
 * Lists the messages of `n` devices, of which device d is platform[d] of the machine.
 * Returns false where there are too many of them, or where a fabric is a graph, whose
 * routes only the platform knows.
 */
bool network_make(struct network *out, const struct machine *m, const int32_t *platform,
                  int32_t n, struct arena *a);

#endif
