/*
 * Whether the ways of one job are ordered as they were measured: the same collective of the
 * same bytes on the same devices, in place or not, by several algorithms, protocols or callers.
 *
 * Two timings of a job in two ways are a pair if they differ by 1 % or more; outliers are in
 * none, nor are timings whose source does not tell who called. Some pairs say nothing of an order:
 *
 *   - The same run: what the model picks for one way, where nothing is forced, is the algorithm
 *     and protocol that the other forces, by the same caller or by callers who make no
 *     difference there. Its times are then equal. Had the library the same choice, the pair is
 *     one way that was measured twice; whether it had, no source says.
 *   - Near: two reports that differ by less than WAYS_NEAR, as reports of one way do.
 *
 * All others are ordered by simulated times as they were measured, or the other way round, or are
 * tied: the model has one time for two ways, as where one process cannot launch faster, which is
 * neither. Tau is of these. Stated beside it is that of all pairs, in which equal times are an
 * order that was missed: the truth lies between the two.
 */
#ifndef SHARDSIM_SIM_VALIDATE_WAYS_H
#define SHARDSIM_SIM_VALIDATE_WAYS_H

#include "text/pen.h"
#include "validate/validate.h"

/*
 * By how much two reports may differ and have no order, as a logarithm: about the median of
 * how far two of them are apart that timed one way of one job, in the tables that constants are
 * fitted to (struct ways).
 */
#define WAYS_NEAR 0.05

/* Pairs of timings of one job that were taken in two ways. */
struct ways_pairs {
	const char *platform, *collective;
	const char *first, *second; /* the ways, "process" or "process, ring" */
	bool one_report;            /* both are of one set, or of one page */
	int64_t alike, otherwise;   /* ordered as measured, or not */
	int64_t same_run;
	int64_t near_alike, near_otherwise;
	int64_t tied; /* in no order by the model, though two runs */
};

struct ways {
	int64_t n;
	struct ways_pairs *pairs; /* by platform, collective, ways and reports */
	int64_t twice; /* pairs of timings of one way of one job by two reports */
	double noise; /* the median of |log| of how far those are apart; NaN without any */
};

/*
 * Finds them, those of one report first, else in the order of the rows; they are the arena's.
 */
void ways_find(struct ways *out, const struct validation *v, struct arena *a);

/*
 * Returns Kendall's tau of the compared pairs, NaN without any: those ordered alike less those
 * ordered otherwise, over both and the tied; and of all pairs, where the tied and those of the
 * same run are ordered otherwise.
 */
double ways_tau(const struct ways_pairs *p);
double ways_tau_of_all(const struct ways_pairs *p);

/* Adds the counts of `p` to those of `sum`. */
void ways_add(struct ways_pairs *sum, const struct ways_pairs *p);

/* Prints all of that; nothing without a pair. */
void ways_words(const struct pen *pen, const struct validation *v);

#endif
