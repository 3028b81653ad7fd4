#include "stat/summary.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/rng.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool has_nan(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isnan(x[i]))
			return true;
	return false;
}

static double *sorted_copy(const double *x, size_t n)
{
	double *copy = xmalloc(n, sizeof(*copy));

	memcpy(copy, x, n * sizeof(*copy));
	gsl_sort(copy, 1, n);
	return copy;
}

double stat_geomean(const double *x, size_t n)
{
	double *log_x, mean;
	bool infinite = false;

	if (n == 0)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		if (!(x[i] > 0))
			return NAN;
		infinite |= isinf(x[i]);
	}
	if (infinite)
		return INFINITY;
	log_x = xmalloc(n, sizeof(*log_x));
	for (size_t i = 0; i < n; i++)
		log_x[i] = log(x[i]);
	mean = gsl_stats_mean(log_x, 1, n);
	xfree(log_x);
	return exp(mean);
}

/* Not GSL's: that weighs the neighbour with 0 * x, which is NaN where x is infinite. */
static double interpolated(const double *sorted, size_t n, double p)
{
	double position = (double)(n - 1) * p, below = floor(position);
	double part = position - below;
	size_t i = (size_t)below;

	return part == 0 ? sorted[i] : (1 - part) * sorted[i] + part * sorted[i + 1];
}

void stat_quantiles(double *out, const double *x, size_t n, const double *p, size_t m)
{
	bool known = n > 0 && !has_nan(x, n);
	double *copy = known ? sorted_copy(x, n) : NULL;

	for (size_t i = 0; i < m; i++) {
		assert(p[i] >= 0 && p[i] <= 1);
		out[i] = known ? interpolated(copy, n, p[i]) : NAN;
	}
	xfree(copy);
}

double stat_quantile(const double *x, size_t n, double p)
{
	double value;

	stat_quantiles(&value, x, n, &p, 1);
	return value;
}

struct summary summary_of(const double *x, size_t n)
{
	struct summary s = {n, NAN, NAN, NAN, NAN};

	if (n == 0 || has_nan(x, n))
		return s;
	s.geomean = stat_geomean(x, n);
	s.median = stat_quantile(x, n, 0.5);
	gsl_stats_minmax(&s.min, &s.max, x, 1, n);
	return s;
}

void stat_ranks(double *rank, const double *x, size_t n)
{
	size_t *order, end;

	if (has_nan(x, n)) {
		for (size_t i = 0; i < n; i++)
			rank[i] = NAN;
		return;
	}
	order = xmalloc(n ? n : 1, sizeof(*order));
	gsl_sort_index(order, x, 1, n);
	for (size_t i = 0; i < n; i = end) {
		end = i + 1;
		while (end < n && x[order[end]] == x[order[i]])
			end++;
		for (size_t j = i; j < end; j++)
			rank[order[j]] = 0.5 * (double)(i + 1 + end);
	}
	xfree(order);
}

double stat_spearman(const double *x, const double *y, size_t n)
{
	double *work, rho;

	if (n < 2 || has_nan(x, n) || has_nan(y, n))
		return NAN;
	work = xmalloc(2 * n, sizeof(*work));
	rho = gsl_stats_spearman(x, 1, y, 1, n, work);
	xfree(work);
	return rho;
}

/*
 * Returns k / n for `inverse` = floor((2^64 - 1) / n) + 1, exact for 32-bit k and n > 1
 * (Lemire, Kaser and Kurz 2019), without the division that would take most of the time.
 */
static uint32_t quotient(uint32_t k, uint64_t inverse)
{
	return (uint32_t)((unsigned __int128)inverse * k >> 64);
}

/*
 * Returns the sum of n > 1 values drawn with replacement. One random number below
 * n^draws is `draws` independent ones below n; n^draws stays below 2^31, where few are
 * rejected.
 */
static double resampled_sum(const double *x, uint32_t n, struct rng *rng)
{
	const uint32_t draws = n <= 1290 ? 3 : n <= 46340 ? 2 : 1;
	const uint64_t inverse = UINT64_MAX / n + 1;
	uint32_t range = n;
	double sum = 0;

	for (uint32_t d = 1; d < draws; d++)
		range *= n;
	for (uint32_t i = 0; i < n;) {
		uint32_t k = rng_below(rng, range);

		for (uint32_t d = 0; d < draws && i < n; d++, i++) {
			uint32_t rest = quotient(k, inverse);

			sum += x[k - rest * n];
			k = rest;
		}
	}
	return sum;
}

struct interval stat_bootstrap(const double *x, size_t n, int resamples, double level,
                               uint64_t seed)
{
	struct interval interval = {NAN, NAN};
	struct summary s = summary_of(x, n);
	double *log_x, *sums;
	struct rng *rng;

	assert(resamples > 0 && level > 0 && level < 1 && n < UINT32_MAX);
	if (isnan(s.geomean) || isinf(s.geomean))
		return interval;
	if (s.min == s.max)
		return (struct interval){s.min, s.max};
	log_x = xmalloc(n, sizeof(*log_x));
	for (size_t i = 0; i < n; i++)
		log_x[i] = log(x[i]);
	sums = xmalloc((size_t)resamples, sizeof(*sums));
	rng = rng_new(seed);
	for (int i = 0; i < resamples; i++)
		sums[i] = resampled_sum(log_x, (uint32_t)n, rng);
	rng_free(rng);
	interval.lo = stat_quantile(sums, (size_t)resamples, (1 - level) / 2);
	interval.hi = stat_quantile(sums, (size_t)resamples, (1 + level) / 2);
	interval.lo = exp(interval.lo / (double)n);
	interval.hi = exp(interval.hi / (double)n);
	xfree(log_x);
	xfree(sums);
	return interval;
}
