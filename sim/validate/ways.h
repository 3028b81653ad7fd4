/*
 * Whether the ways of one job are ordered as they were measured: the same collective of the
 * same bytes on the same devices by several algorithms, protocols or callers.
 */
#ifndef SHARDSIM_SIM_VALIDATE_WAYS_H
#define SHARDSIM_SIM_VALIDATE_WAYS_H

#include "text/pen.h"
#include "validate/validate.h"

/* Pairs of timings of one job that were taken in two ways. */
struct ways_pairs {
	const char *platform, *collective;
	const char *first, *second; /* the ways, "process" or "process, ring" */
	int64_t alike,
		otherwise; /* ordered by simulated times as by measured ones, or not */
};

/*
 * Lists them by platform, collective and ways, in the order of the rows, and returns how many
 * there are. Timings that differ by less than 1 % are in no order, and outliers do not count.
 * The list is the arena's.
 */
int ways_find(struct ways_pairs **out, const struct validation *v, struct arena *a);

/* Prints them, with Kendall's tau, (alike - otherwise) / (alike + otherwise); nothing without any. */
void ways_words(const struct pen *pen, const struct validation *v);

#endif
