/*
 * Replays in SimGrid, each in a process of its own. A simulation moves SimGrid's clock and
 * leaves actors behind, and SimGrid ends the process on a fault. So every replay runs in a
 * child of a process that has loaded the platform. It starts at SimGrid's time 0, equal
 * schedules take equal times to the last digit, and the death of a child is an answer.
 */
#ifndef SHARDSIM_SIM_CLOCK_REPLAY_H
#define SHARDSIM_SIM_CLOCK_REPLAY_H

#include "collective/schedule.h"
#include "platform/platform.h"

/*
 * Simulates `n` schedules one after the other on a platform that is in SimGrid, and
 * gives their seconds as a schedules_fn does (cost/steps.h). It is called once per
 * process.
 */
typedef double replay_fn(double *wire_s, struct platform *p, const struct schedule *s,
                         int n, char *message, size_t size);

/* The result of a replay of n schedules. */
struct replay {
	double total_s;    /* < 0 where there is none, as from a clock_fn */
	char message[400]; /* why there is none */
	double wire_s[];   /* [n] */
};

/*
 * Returns memory that a child shares with its parent; NULL, with errno, if that fails.
 */
struct replay *replay_new(int n);
void replay_free(struct replay *r, int n);

/* Returns the number of bytes of a replay of n schedules. */
size_t replay_size(int n);

/* Simulates something and returns `total_s`; it may store what fits into `out`. */
typedef double replay_call(void *self, struct replay *out);

/*
 * Runs the simulation in a child and waits for it. If the child dies, `out` has the
 * time CLOCK_FAILED_S and SimGrid's last words. All that the child said is copied to
 * our own stderr as well.
 */
void replay_in_child(struct replay *out, replay_call *call, void *self);

/* Does so with schedules. */
void replay_run(struct replay *out, replay_fn *run, struct platform *p,
                const struct schedule *s, int n);

#endif
