/*
 * The steps of a timed plan with what they took and the links they load, as a row keeps
 * them for reports (store/store.h, column `timeline`).
 *
 * Compact JSON, an array with an object per step:
 *   {"op":"all-gather","algorithm":"bidir-ring","time_s":4.1e-05,"launch_s":5e-06,
 *    "local_s":0,"recv_bytes":1048576,"busiest":16,
 *    "links":[["node0_up3",1048576,3.5e-05],...]}
 * `algorithm` is null for a local step. `links` lists the TIMELINE_LINKS links that are
 * busy longest, by falling time and then in the machine's order, each with its name,
 * its bytes and its bytes / bandwidth in seconds. `busiest` is the number of links that
 * are as busy as the first (within 1e-9). For a local step it is 0 and `links` is
 * empty.
 */
#ifndef SHARDSIM_SIM_MEASURE_TIMELINE_H
#define SHARDSIM_SIM_MEASURE_TIMELINE_H

#include "measure/measure.h"

enum { TIMELINE_LINKS = 3 };

/*
 * Returns the timeline of a measurement that `clock` of the bench has timed, "" if it has
 * not; the arena's.
 */
const char *timeline_make(struct arena *a, const struct measurement *m, struct bench *b,
                          int clock);

/* What a row's timeline says, for reports; NaN and -1 stand where it says nothing. */
struct timeline_link {
	const char *name;
	double bytes, busy_s;
};

struct timeline_step {
	const char *op, *algorithm; /* `algorithm` is NULL for a local step */
	double time_s, launch_s, local_s;
	int64_t recv_bytes;
	int64_t busiest; /* how many links are as busy as the first */
	int nlinks;
	struct timeline_link link[TIMELINE_LINKS];
};

/*
 * Stores the steps, the arena's, and returns how many there are: 0, with NULL, where the
 * text is no timeline.
 */
int timeline_read(struct timeline_step **out, struct arena *a, const char *text);

#endif
