/*
 * The replays that were done last. Planners often find the same plan for a problem, whose
 * schedules then take the same time to the last digit: it is replayed once.
 */
#ifndef SHARDSIM_SIM_CLOCK_REPLAYS_H
#define SHARDSIM_SIM_CLOCK_REPLAYS_H

#include "collective/schedule.h"

enum { REPLAYS_KEPT = 16, REPLAYS_BYTES_MAX = 4 << 20 }; /* how many; of one of them */

/* The schedules of a replay, one field after another, and what came out. */
struct replay_kept {
	struct text schedules;
	double total_s, *wire_s;
};

/* {0} holds none. */
struct replays {
	struct replay_kept kept[REPLAYS_KEPT];
	int next;          /* the oldest, whose place is taken next */
	struct text asked; /* what replays_find() was asked for last */
};

/*
 * Returns whether the `n` schedules are known to the byte, and then stores their seconds
 * as a schedules_fn does.
 */
bool replays_find(struct replays *r, double *total_s, double *wire_s,
                  const struct schedule *s, int n);

/* Keeps the seconds, all of them >= 0, of the schedules that were asked for last. */
void replays_keep(struct replays *r, double total_s, const double *wire_s, int n);

void replays_free(struct replays *r);

#endif
