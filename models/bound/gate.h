/* The links that lead into a set of devices, or out of it. Private to models/cost/. */
#ifndef SHARDSIM_BOUND_GATE_H
#define SHARDSIM_BOUND_GATE_H

#include <math.h>
#include <stdint.h>

/*
 * One way into or out of a set: the bytes per second of all links of which a message
 * must take one, and the least latency of a route that passes. Where no message can
 * pass it is {0, INFINITY}. It is unknown, {INFINITY, 0}, on graphs whose ends are not
 * known (machine.h) if their domains have more than GRAPH_PORTS_MAX devices or routes
 * that nobody knows.
 */
struct gate {
	double bandwidth_Bps, latency_s;
};

enum { GRAPH_PORTS_MAX = 16 };

/* Adds links that are in parallel. */
static inline void gate_add(struct gate *g, double bandwidth_Bps, double latency_s)
{
	g->bandwidth_Bps += bandwidth_Bps;
	g->latency_s = fmin(g->latency_s, latency_s);
}

/*
 * Returns the seconds that `elements` of so many bits take through a gate, at least; 0
 * where none pass or nothing is known.
 */
static inline double gate_s(const struct gate *g, int64_t elements, int bits)
{
	double bytes = (double)elements * bits / 8;

	if (elements == 0 || g->bandwidth_Bps == 0)
		return 0;
	return bytes / g->bandwidth_Bps + g->latency_s;
}

#endif
