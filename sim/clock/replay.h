/*
 * Replays in SimGrid, each in a process of its own. A simulation moves SimGrid's clock and
 * leaves actors behind, and SimGrid ends the process on a fault. So every replay runs in a
 * child of a process that has loaded the platform: it starts at SimGrid's time 0, equal
 * schedules give equal times to the last digit, and a death is an answer.
 */
#ifndef SHARDSIM_SIM_CLOCK_REPLAY_H
#define SHARDSIM_SIM_CLOCK_REPLAY_H

#include "collective/schedule.h"
#include "platform/platform.h"

/*
 * A simulation of `n` schedules one after the other, as a schedules_fn gives their seconds
 * (cost/steps.h), on a platform that is in SimGrid. It runs once per process.
 */
typedef double replay_fn(double *wire_s, struct platform *p, const struct schedule *s,
                         int n, char *message, size_t size);

/* What comes of a replay of n schedules; < 0 as of a clock_fn, with the reason. */
struct replay {
	double total_s;
	char message[400];
	double wire_s[]; /* [n] */
};

/* Memory that a child shares with its parent; NULL, with errno, if there is none. */
struct replay *replay_new(int n);
void replay_free(struct replay *r, int n);

/* The bytes of a replay of n schedules. */
size_t replay_size(int n);

/*
 * Runs the simulation in a child and waits for it. A child that dies makes the replay
 * CLOCK_FAILED_S, with the last words that SimGrid said. What it said is passed on to our
 * own stderr, too.
 */
void replay_run(struct replay *out, replay_fn *run, struct platform *p,
                const struct schedule *s, int n);

#endif
