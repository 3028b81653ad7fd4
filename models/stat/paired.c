#include "stat/paired.h"

#include "base/arena.h"
#include "base/assert.h"
#include "stat/summary.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Returns the differences that are not zero, their number to *m; NULL if there is a
 * NaN.
 */
static double *nonzero(const double *d, size_t n, size_t *m)
{
	double *kept = xmalloc(n ? n : 1, sizeof(*kept));

	*m = 0;
	for (size_t i = 0; i < n; i++) {
		if (isnan(d[i])) {
			xfree(kept);
			return NULL;
		}
		if (d[i] != 0)
			kept[(*m)++] = d[i];
	}
	return kept;
}

/*
 * Returns the two-sided p of rank sum w of the positive ones among n, all 2^n choices
 * of signs being equally likely. ways[s] counts the choices with sum s, at most 2^50:
 * exact in a double.
 */
static double exact_p(size_t n, size_t w)
{
	double ways[PAIRED_EXACT * (PAIRED_EXACT + 1) / 2 + 1] = {1};
	size_t largest = n * (n + 1) / 2;
	double below = 0, above = 0, p;

	for (size_t rank = 1; rank <= n; rank++)
		for (size_t s = largest; s >= rank; s--)
			ways[s] += ways[s - rank];
	for (size_t s = 0; s <= w; s++)
		below += ways[s];
	for (size_t s = w; s <= largest; s++)
		above += ways[s];
	p = 2 * fmin(below, above) / exp2((double)n);
	return fmin(p, 1);
}

static double normal_p(double n, double w, double tie_sum)
{
	double mean = n * (n + 1) / 4;
	double variance = n * (n + 1) * (2 * n + 1) / 24 - tie_sum / 48;
	double distance = fmax(fabs(w - mean) - 0.5, 0);

	return fmin(2 * gsl_cdf_ugaussian_Q(distance / sqrt(variance)), 1);
}

/* Returns the sum of t^3 - t over the groups of t equal sizes. */
static double tie_sum(const double *size, size_t n)
{
	double *sorted = xmalloc(n, sizeof(*sorted));
	double sum = 0;
	size_t end;

	memcpy(sorted, size, n * sizeof(*sorted));
	gsl_sort(sorted, 1, n);
	for (size_t i = 0; i < n; i = end) {
		double t;

		end = i + 1;
		while (end < n && sorted[end] == sorted[i])
			end++;
		t = (double)(end - i);
		sum += t * t * t - t;
	}
	xfree(sorted);
	return sum;
}

struct paired paired_wilcoxon(const double *d, size_t n)
{
	struct paired result = {0, NAN, NAN, false};
	double *kept = nonzero(d, n, &result.n), *size, *rank, ties;

	if (!kept)
		return result;
	if (result.n == 0) {
		xfree(kept);
		return n ? (struct paired){0, 0, 1, true} : result;
	}
	size = xmalloc(result.n, sizeof(*size));
	rank = xmalloc(result.n, sizeof(*rank));
	for (size_t i = 0; i < result.n; i++)
		size[i] = fabs(kept[i]);
	stat_ranks(rank, size, result.n);
	result.statistic = 0;
	for (size_t i = 0; i < result.n; i++)
		if (kept[i] > 0)
			result.statistic += rank[i];
	ties = tie_sum(size, result.n);
	result.exact = ties == 0 && result.n <= PAIRED_EXACT;
	result.p = result.exact ? exact_p(result.n, (size_t)result.statistic)
	                        : normal_p((double)result.n, result.statistic, ties);
	xfree(kept);
	xfree(size);
	xfree(rank);
	return result;
}

struct paired paired_sign(const double *d, size_t n)
{
	struct paired result = {0, NAN, NAN, true};
	double *kept = nonzero(d, n, &result.n);
	size_t positive = 0, fewer;

	assert(n < UINT_MAX);
	if (!kept || n == 0) {
		xfree(kept);
		return result;
	}
	for (size_t i = 0; i < result.n; i++)
		positive += kept[i] > 0;
	xfree(kept);
	fewer = positive < result.n - positive ? positive : result.n - positive;
	result.statistic = (double)positive;
	result.p = 2 * gsl_cdf_binomial_P((unsigned)fewer, 0.5, (unsigned)result.n);
	result.p = fmin(result.p, 1);
	return result;
}
