/*
 * Flows in rounds: data are cut into equal chunks that follow each other, so that all
 * messages of all depths move at once, each a chunk that its sender received a round
 * before.
 *
 * There are R = C + D - 1 rounds, for D depths and C chunks of what goes along trees of all
 * depths; chunk k moves at depth d in round k + d. What goes along a lower tree, of h depths,
 * has C chunks as well, and then its links are idle for D - h rounds; or R + 1 - h, *spread*
 * over all rounds, which is taken where it is faster. (h is that of the tree's class of
 * heights, struct flows.) Rounds D - 1 to C - 1 have messages of all depths; they are equal,
 * and one with repeats (schedule.h), so that at most 2 D - 1 differ.
 *   cost    of a round the most, over its messages, of the time of the busiest link that a
 *           message takes and the message's latency; C is where their sum is least
 *   need    beside what devices hold and want, two chunks of all that they relay
 * With D = 1 nothing is relayed, and there is one round.
 *
 * On a part of a torus some messages pass devices that are not of the problem, and take longer
 * to begin than others. None waits for them within a round: messages are told apart by their
 * *lag*, their latency in sixteenths of the longest, and each lag is a task of its own.
 */
#ifndef SHARDSIM_FLOW_PIPELINE_H
#define SHARDSIM_FLOW_PIPELINE_H

#include "flow/forest.h"

struct pipeline {
	int32_t chunks, depths;
	bool spread;
	double seconds; /* by the cost above */
	int32_t nlags;
	const int32_t *lag; /* [messages of the flows] below nlags */
	/* [messages * depths] in the first rounds, and in the last ones, from the end on */
	const double *begins, *ends;
};

enum { PIPELINE_CHUNKS_MAX = 1 << 16 }; /* more are never better by what counts */

/* Chooses the number of chunks, at least `fewest`. */
struct pipeline pipeline_make(const struct flows *flows, const struct network *network,
                              int32_t fewest, struct arena *a);

/* Returns the chunks of what goes along trees of so many depths. */
int32_t pipeline_chunks(const struct pipeline *p, const struct flows *f, int32_t height);

/* Returns how many rounds differ, and how often there is number `i` of them. */
int32_t pipeline_rounds(const struct pipeline *p);
int32_t pipeline_repeats(const struct pipeline *p, int32_t i);

/* Returns the bytes of a message in round `i`, all repeats together. */
double pipeline_bytes(const struct pipeline *p, int32_t message, int32_t i);

#endif
