/*
 * Pieces of rounds (cost/pieces.h) timed by SimGrid's rule (cost/fair.h) and not by
 * SimGrid, after those tasks and links that fare alike were made one (cost/alike.h).
 */
#ifndef SHARDSIM_SIM_CLOCK_SHARED_H
#define SHARDSIM_SIM_CLOCK_SHARED_H

#include "array/machine.h"
#include "collective/schedule.h"

/* A task of a piece. */
struct shared_task {
	const struct task *task;
	const int32_t *routes; /* of its messages (pieces_routes()) */
	bool apart;            /* its messages do not wait for each other */
};

/* When a task starts, and when it ends at the earliest, after the round starts. */
struct shared_times {
	double after_s, until_s;
};

/*
 * Those of a task whose longest route has that latency: each of the rounds that were
 * merged into it pays it, all but the last before the task starts.
 */
struct shared_times shared_times(const struct task *t, double longest_s);

struct shared;

/* A workspace for one machine (borrowed, must outlive it). */
struct shared *shared_new(const struct machine *m);
void shared_free(struct shared *w);

/*
 * Seconds of n tasks of the schedule that start together; < 0 if their links are shared in
 * too many ways to be followed, with the reason in `message` (of `size` bytes).
 */
double shared_s(struct shared *w, const struct schedule *s, const struct shared_task *t,
                int64_t n, char *message, size_t size);

#endif
