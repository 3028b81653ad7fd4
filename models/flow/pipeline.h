/*
 * Flows in rounds: data are cut into equal chunks that follow each other, so that all
 * messages of all depths move at once, each a chunk that its sender received a round
 * before.
 *
 * With C chunks and D depths, round r has depths max(0, r - C + 1) to min(D - 1, r), and of
 * each message 1/C. While all are at work rounds are equal, and one with repeats (schedule.h).
 *   rounds  C + D - 1, of which at most 2 D - 1 differ
 *   cost    C + D - 1 latencies + A + (F - (D - 1) A) / C, where A is the busiest link's
 *           time with all depths, and F the sum of that of the first 1 to D - 1 depths and
 *           of the last ones. C is near sqrt((F - (D - 1) A) / latency), where that is least.
 *   need    beside what devices hold and want, two chunks of all that they relay
 * With D = 1 nothing is relayed, and there is one round.
 */
#ifndef SHARDSIM_FLOW_PIPELINE_H
#define SHARDSIM_FLOW_PIPELINE_H

#include "flow/forest.h"

struct pipeline {
	int32_t chunks, depths;
	double seconds; /* by the cost above */
};

enum { PIPELINE_CHUNKS_MAX = 1 << 16 }; /* more are never better by what counts */

/* Chooses the number of chunks, at least `fewest`. */
struct pipeline pipeline_make(const struct flows *flows, const struct network *network,
                              int32_t fewest, struct arena *a);

/* The part of the flows that is one round, or several alike. */
struct pipeline_round {
	int32_t first, last; /* depths */
	int32_t repeats;
};

/* Returns how many rounds differ, and which depths number `i` of them has. */
int32_t pipeline_rounds(const struct pipeline *p);
struct pipeline_round pipeline_round(const struct pipeline *p, int32_t i);

#endif
