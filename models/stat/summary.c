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
 * Resamples are drawn in blocks: the sums of one block wait for each other's additions and
 * not for their own. The numbers drawn are the same for all samples of one size.
 */
enum { BLOCK = 8 };

/* The random numbers of a block of resamples of n > 1 values. */
struct draws {
	struct rng *rng;
	uint32_t n, range,
		*random; /* [n]: one random number below `range` for several */
	int each;        /* so many, below n, are independent parts of it */
	uint64_t inverse;
	uint32_t *index; /* [n][BLOCK] */
};

/*
 * One random number below n^draws is `draws` independent ones below n; n^draws stays below
 * 2^31, where few are rejected.
 */
static struct draws draws_start(uint32_t n, uint64_t seed)
{
	struct draws d = {.rng = rng_new(seed), .n = n, .range = n};

	d.each = n <= 1290 ? 3 : n <= 46340 ? 2 : 1;
	d.inverse = UINT64_MAX / n + 1;
	for (int i = 1; i < d.each; i++)
		d.range *= n;
	d.random = xmalloc(n, sizeof(*d.random));
	d.index = xmalloc((size_t)n * BLOCK, sizeof(*d.index));
	memset(d.index, 0, (size_t)n * BLOCK * sizeof(*d.index));
	return d;
}

static void draws_end(struct draws *d)
{
	rng_free(d->rng);
	xfree(d->random);
	xfree(d->index);
}

/* Draws the indices of the next `resamples`, one resample after the other. */
static void draw(struct draws *d, int resamples)
{
	size_t numbers = (d->n + (size_t)d->each - 1) / (size_t)d->each;

	for (int b = 0; b < resamples; b++) {
		uint32_t *index = d->index + b;
		size_t left = d->n;

		rng_fill_below(d->random, numbers, d->rng, d->range);
		for (size_t i = 0; i < numbers; i++) {
			uint32_t k = d->random[i];

			for (int part = 0; part < d->each && left; part++, left--) {
				uint32_t rest = quotient(k, d->inverse);

				*index = k - rest * d->n;
				index += BLOCK;
				k = rest;
			}
		}
	}
}

/* Adds up the values of each resample in the order in which they were drawn. */
static void add_up(double *sums, const double *x, const struct draws *d, int resamples)
{
	double sum[BLOCK] = {0};
	const uint32_t *index = d->index;

	for (uint32_t i = 0; i < d->n; i++, index += BLOCK)
		for (int b = 0; b < BLOCK; b++)
			sum[b] += x[index[b]];
	memcpy(sums, sum, (size_t)resamples * sizeof(*sums));
}

/* Returns whether the interval of a sample needs resamples, else stores what it is. */
static bool needs_draws(struct bootstrap *s)
{
	struct summary all = summary_of(s->x, s->n);

	assert(s->n < UINT32_MAX);
	s->interval = (struct interval){NAN, NAN};
	if (isnan(all.geomean) || isinf(all.geomean))
		return false;
	if (all.min == all.max)
		s->interval = (struct interval){all.min, all.max};
	return all.min != all.max;
}

static int by_size(const void *a, const void *b)
{
	const struct bootstrap *x = *(struct bootstrap *const *)a;
	const struct bootstrap *y = *(struct bootstrap *const *)b;

	return (x->n > y->n) - (x->n < y->n);
}

/* Finds the intervals of `k` samples of one size. */
static void bootstrap_alike(struct bootstrap **s, size_t k, int resamples, double level,
                            uint64_t seed)
{
	size_t n = s[0]->n, each = (size_t)resamples;
	double *log_x = xmalloc(k * n, sizeof(*log_x));
	double *sums = xmalloc(k * each, sizeof(*sums));
	struct draws d = draws_start((uint32_t)n, seed);

	for (size_t i = 0; i < k * n; i++)
		log_x[i] = log(s[i / n]->x[i % n]);
	for (int done = 0; done < resamples; done += BLOCK) {
		int block = resamples - done < BLOCK ? resamples - done : BLOCK;

		draw(&d, block);
		for (size_t i = 0; i < k; i++)
			add_up(sums + i * each + done, log_x + i * n, &d, block);
	}
	for (size_t i = 0; i < k; i++) {
		const double p[] = {(1 - level) / 2, (1 + level) / 2};
		double at[2];

		stat_quantiles(at, sums + i * each, each, p, 2);
		s[i]->interval = (struct interval){exp(at[0] / (double)n),
		                                   exp(at[1] / (double)n)};
	}
	draws_end(&d);
	xfree(log_x);
	xfree(sums);
}

void stat_bootstraps(struct bootstrap *s, size_t k, int resamples, double level,
                     uint64_t seed)
{
	struct bootstrap **drawn = xmalloc(k ? k : 1, sizeof(*drawn));
	size_t n = 0, end;

	assert(resamples > 0 && level > 0 && level < 1);
	for (size_t i = 0; i < k; i++)
		if (needs_draws(&s[i]))
			drawn[n++] = &s[i];
	qsort(drawn, n, sizeof(*drawn), by_size);
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && drawn[end]->n == drawn[i]->n; end++)
			;
		bootstrap_alike(drawn + i, end - i, resamples, level, seed);
	}
	xfree(drawn);
}

struct interval stat_bootstrap(const double *x, size_t n, int resamples, double level,
                               uint64_t seed)
{
	struct bootstrap one = {.x = x, .n = n};

	stat_bootstraps(&one, 1, resamples, level, seed);
	return one.interval;
}
