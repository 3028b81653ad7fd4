/*
 * The progress of what takes long on stderr: rows done of all, rate, time left, failures,
 * and of a sweep rows done of all on each platform. On a terminal it is one line that is written over
 * and is no longer than the terminal is wide; elsewhere it is a plain line now and
 * then.
 */
#ifndef SHARDSIM_SIM_TEXT_PROGRESS_H
#define SHARDSIM_SIM_TEXT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress_platform {
	const char *name;
	int64_t done, total;
};

struct progress {
	FILE *out;         /* NULL: it is not shown */
	bool terminal;     /* one line is written over; else lines are plain */
	bool brief;        /* what ends within the first interval is not shown at all */
	double interval_s; /* between two lines */
	int64_t done, total, failed;
	int64_t before; /* how many of `done` were there when it began */
	int nplatforms; /* 0: rows are of no platform, or all of one */
	struct progress_platform *platform; /* borrowed */
	double start_s, shown_s;
	int length; /* that of the line on the terminal */
};

/*
 * Begins with that many rows of no platform where stderr is a terminal; else it is never
 * shown, nor is what takes a fifth of a second.
 */
void progress_begin(struct progress *p, int64_t total);

/* Starts the clock; all else is set by the caller. */
void progress_start(struct progress *p);

/*
 * Counts one more row, of a platform where there are some, and shows that when the interval
 * has passed.
 */
void progress_row(struct progress *p, int platform, bool failed);

/* Shows how far it is when the interval has passed. */
void progress_tick(struct progress *p);

/* Shows the last line, in any case unless it is `brief`. */
void progress_end(struct progress *p);

#endif
