/*
 * Summaries of a sample: means, order statistics, ranks, and the bootstrap interval of
 * a geometric mean. GSL behind our names.
 *
 * All functions take the sample as `x, n`, leave it alone and return by value. What is
 * not defined is NaN: figures of an empty sample, and all figures of one that holds a
 * NaN. No function fails.
 */
#ifndef SHARDSIM_STAT_SUMMARY_H
#define SHARDSIM_STAT_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

struct summary {
	size_t n;
	double geomean; /* NaN unless all values are > 0 */
	double median, min, max;
};

struct summary summary_of(const double *x, size_t n);

/*
 * Returns exp(mean(log x)), NaN unless all values are > 0. An infinite value makes it
 * so.
 */
double stat_geomean(const double *x, size_t n);

/*
 * Returns the quantile p in [0, 1] by linear interpolation (type 7 of Hyndman and Fan
 * 1996).
 */
double stat_quantile(const double *x, size_t n, double p);

/* Stores the same of m quantiles p into out[0..m), sorting once. */
void stat_quantiles(double *out, const double *x, size_t n, const double *p, size_t m);

/* Stores ranks from 1 upwards into rank[0..n); equal values share their mean rank. */
void stat_ranks(double *rank, const double *x, size_t n);

/* Returns Spearman's rank correlation; NaN for n < 2 or a sample without variation. */
double stat_spearman(const double *x, const double *y, size_t n);

struct interval {
	double lo, hi;
};

/*
 * Returns the bootstrap percentile interval of the geometric mean (Efron and Tibshirani
 * 1993, ch. 13): of `resamples` samples of n values drawn with replacement, the
 * quantiles (1 - level) / 2 and (1 + level) / 2 of their geometric means. Equal
 * arguments give equal bits. NaN unless all values are > 0 and finite; the value itself
 * twice if all are equal.
 *
 * A true bootstrap at every n: no binning, no normal approximation, so that the
 * intervals of small and large samples mean the same. n < 2^32.
 */
struct interval stat_bootstrap(const double *x, size_t n, int resamples, double level,
                               uint64_t seed);

/*
 * Finds the intervals of k samples, each to the bit that of stat_bootstrap(). What is drawn
 * depends on n alone, so it is drawn once for all samples of a size: a value costs 2 to
 * 3 ns for the first of these and below 1 ns for others.
 */
struct bootstrap {
	const double *x; /* [n] */
	size_t n;
	struct interval interval; /* out */
};
void stat_bootstraps(struct bootstrap *s, size_t k, int resamples, double level,
                     uint64_t seed);

#endif
