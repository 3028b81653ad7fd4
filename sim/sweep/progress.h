/*
 * The progress of a sweep on stderr: rows done of all, rate, time left, failures, and
 * rows done of all on each platform. On a terminal it is one line that is written over
 * and is no longer than the terminal is wide; elsewhere it is a plain line now and
 * then.
 */
#ifndef SHARDSIM_SIM_SWEEP_PROGRESS_H
#define SHARDSIM_SIM_SWEEP_PROGRESS_H

#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress_platform {
	const char *name;
	int64_t done, total;
};

struct progress {
	FILE *out;
	bool terminal;     /* one line is written over; else lines are plain */
	double interval_s; /* between two lines */
	int64_t done, total, failed;
	int64_t before; /* how many of `done` were there when it began */
	int nplatforms;
	struct progress_platform *platform; /* borrowed */
	double start_s, shown_s;
	int length; /* that of the line on the terminal */
};

/* Starts the clock; all else is set by the caller. */
void progress_start(struct progress *p);

/* Counts one more row of a platform, and shows that when the interval has passed. */
void progress_row(struct progress *p, int platform, enum outcome o);

/* Shows how far it is when the interval has passed. */
void progress_tick(struct progress *p);

/* Shows the last line, in any case. */
void progress_end(struct progress *p);

#endif
