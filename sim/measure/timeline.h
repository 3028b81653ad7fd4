/*
 * The steps of a timed plan with what they took and the links they load, as a row keeps
 * them for reports (store/store.h, column `timeline`).
 *
 * Compact JSON, an array with an object per step:
 *   {"op":"all-gather","algorithm":"bidir-ring","time_s":4.1e-05,"launch_s":5e-06,
 *    "local_s":0,"recv_bytes":1048576,"busiest":16,
 *    "links":[["node0_up3",1048576,3.5e-05],...]}
 * `algorithm` is null for a local step. `links` has the TIMELINE_LINKS links that carry
 * the step's bytes for longest, the longest first, then in the machine's order: name,
 * bytes, bytes / bandwidth in seconds; `busiest` links are as busy as the first (within
 * 1e-9). 0 and empty for a local step.
 */
#ifndef SHARDSIM_SIM_MEASURE_TIMELINE_H
#define SHARDSIM_SIM_MEASURE_TIMELINE_H

#include "measure/measure.h"

enum { TIMELINE_LINKS = 3 };

/*
 * Returns the timeline of a measurement that `clock` of the bench has timed, "" if it has
 * not; the arena's.
 */
const char *timeline_make(struct arena *a, const struct measurement *m,
                          const struct bench *b, int clock);

/* What a row's timeline says, for reports. NaN and -1 where it says nothing. */
struct timeline_link {
	const char *name;
	double bytes, busy_s;
};

struct timeline_step {
	const char *op, *algorithm; /* NULL: local */
	double time_s, launch_s, local_s;
	int64_t recv_bytes;
	int64_t busiest; /* links as busy as the first */
	int nlinks;
	struct timeline_link link[TIMELINE_LINKS];
};

/*
 * Stores the steps, the arena's, and returns how many there are: 0, with NULL, where the
 * text is no timeline.
 */
int timeline_read(struct timeline_step **out, struct arena *a, const char *text);

#endif
