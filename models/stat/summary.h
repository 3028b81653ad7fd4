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

/* exp(mean(log x)); NaN unless all values are > 0. An infinite value makes it so. */
double stat_geomean(const double *x, size_t n);

/* The quantile p in [0, 1] by linear interpolation (type 7 of Hyndman and Fan 1996). */
double stat_quantile(const double *x, size_t n, double p);

/* Ranks from 1 upwards into rank[0..n); equal values share their mean rank. */
void stat_ranks(double *rank, const double *x, size_t n);

/* Spearman's rank correlation; NaN for n < 2 or a sample without variation. */
double stat_spearman(const double *x, const double *y, size_t n);

struct interval {
	double lo, hi;
};

/*
 * Bootstrap percentile interval of the geometric mean (Efron and Tibshirani 1993, ch.
 * 13): of `resamples` samples of n values drawn with replacement, the quantiles
 * (1 - level) / 2 and (1 + level) / 2 of their geometric means. Equal arguments give
 * equal bits. NaN unless all values are > 0 and finite; the value itself twice if all
 * are equal.
 *
 * Costs resamples * n additions and between a third of and as many random numbers,
 * 4 to 10 ns per value: 10,000 resamples of 1,000 values take 40 ms, of 50,000 5 s.
 * n < 2^32.
 */
struct interval stat_bootstrap(const double *x, size_t n, int resamples, double level,
                               uint64_t seed);

#endif
