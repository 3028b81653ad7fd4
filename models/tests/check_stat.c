#include "base/rng.h"
#include "stat/paired.h"
#include "stat/summary.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Darwin's maize: differences of heights, in eighths of an inch (Fisher 1935). */
static const double maize[] = {49, -67, 8,  16, 6,  23, 28, 41,
                               14, 29,  56, 24, 75, 60, -48};

/* Hamilton depression scale before and after (Hollander and Wolfe 1973, table 3.1). */
static const double before[] = {1.83, .50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
static const double after[] = {.878, .647, .598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};

static bool same(double a, double b, double tolerance)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	return a == b || fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static void logs(double *out, const double *x, const double *y, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = log(x[i] / y[i]);
}

static const struct {
	double x[7];
	size_t n;
	double geomean, median, min, max;
} summary_table[] = {
	{{0}, 0, NAN, NAN, NAN, NAN},
	{{2.385}, 1, 2.385, 2.385, 2.385, 2.385},
	{{3, 12}, 2, 6, 7.5, 3, 12},
	{{8, 1, 27}, 3, 6, 8, 1, 27},
	{{5, 5, 5, 5, 5}, 5, 5, 5, 5, 5},
	{{1e-300, 1e300, 1e-300, 1e300}, 4, 1, 5e299, 1e-300, 1e300},
	{{3, -2, 7}, 3, NAN, 3, -2, 7},
	{{3, 0, 7}, 3, NAN, 3, 0, 7},
	{{3, INFINITY, 7}, 3, INFINITY, 7, 3, INFINITY},
	{{3, NAN, 7}, 3, NAN, NAN, NAN, NAN},
	{{NAN}, 1, NAN, NAN, NAN, NAN},
};

START_TEST(summary_rows)
{
	struct summary s = summary_of(summary_table[_i].x, summary_table[_i].n);

	ck_assert_uint_eq(s.n, summary_table[_i].n);
	ck_assert(same(s.geomean, summary_table[_i].geomean, 1e-14));
	ck_assert(same(s.median, summary_table[_i].median, 1e-15));
	ck_assert(same(s.min, summary_table[_i].min, 0));
	ck_assert(same(s.max, summary_table[_i].max, 0));
	ck_assert(same(stat_geomean(summary_table[_i].x, summary_table[_i].n),
	               s.geomean, 0));
}
END_TEST

/* Position (n - 1) p between the sorted values 1, 3, 7, 48, 99. */
static const struct {
	double p, quantile;
} quantile_table[] = {
	{0, 1}, {0.125, 2}, {0.25, 3}, {0.5, 7}, {0.7, 39.8}, {0.975, 93.9}, {1, 99},
};

START_TEST(quantile_rows)
{
	static const double x[] = {48, 3, 99, 1, 7};

	ck_assert(same(stat_quantile(x, 5, quantile_table[_i].p),
	               quantile_table[_i].quantile, 1e-14));
	ck_assert(same(stat_quantile(x + 2, 1, quantile_table[_i].p), 99, 0));
	ck_assert(isnan(stat_quantile(x, 0, quantile_table[_i].p)));
	ck_assert(x[0] == 48 && x[4] == 7);
}
END_TEST

/* All of the table at once, out of order. */
START_TEST(quantiles)
{
	static const double x[] = {48, 3, 99, 1, 7}, bad[] = {3, NAN};
	double p[COUNT(quantile_table)], out[COUNT(quantile_table)];
	size_t m = COUNT(quantile_table);

	for (size_t i = 0; i < m; i++)
		p[i] = quantile_table[m - 1 - i].p;
	stat_quantiles(out, x, 5, p, m);
	for (size_t i = 0; i < m; i++)
		ck_assert(same(out[i], quantile_table[m - 1 - i].quantile, 1e-14));
	stat_quantiles(out, x, 0, p, 2);
	ck_assert(isnan(out[0]) && isnan(out[1]));
	out[0] = 3;
	stat_quantiles(out, bad, 2, p, 1);
	ck_assert(isnan(out[0]));
	stat_quantiles(out, x, 5, p, 0);
}
END_TEST

START_TEST(ranks)
{
	static const double x[] = {7, 3, 7, 1, 3, 7, INFINITY};
	static const double expected[] = {5, 2.5, 5, 1, 2.5, 5, 7};
	double rank[7];

	stat_ranks(rank, x, 7);
	for (int i = 0; i < 7; i++)
		ck_assert_double_eq(rank[i], expected[i]);
	stat_ranks(rank, x + 3, 1);
	ck_assert_double_eq(rank[0], 1);
	stat_ranks(rank, x, 0);
	stat_ranks(rank, (const double[]){3, NAN}, 2);
	ck_assert(isnan(rank[0]) && isnan(rank[1]));
}
END_TEST

/* A textbook example; squared rank differences sum to 194: 1 - 6 * 194 / (10 * 99). */
START_TEST(spearman)
{
	static const double iq[] = {106, 100, 86, 101, 99, 103, 97, 113, 112, 110};
	static const double tv[] = {7, 27, 2, 50, 28, 29, 20, 12, 6, 17};
	static const double flat[] = {3, 3, 3}, tied_x[] = {1, 1, 3},
			    tied_y[] = {5, 7, 9};

	ck_assert(same(stat_spearman(iq, tv, 10), -29.0 / 165, 1e-13));
	ck_assert(same(stat_spearman(iq, iq, 10), 1, 1e-13));
	/* ranks 1.5 1.5 3 and 1 2 3: covariance 1.5, variances 1.5 and 2 */
	ck_assert(same(stat_spearman(tied_x, tied_y, 3), 1.5 / sqrt(3), 1e-13));
	ck_assert(isnan(stat_spearman(iq, tv, 0)));
	ck_assert(isnan(stat_spearman(iq, tv, 1)));
	ck_assert(isnan(stat_spearman(flat, tied_x, 3)));
	ck_assert(isnan(stat_spearman(tied_x, (const double[]){1, NAN, 3}, 3)));
}
END_TEST

START_TEST(bootstrap_edges)
{
	static const double bad[][3] = {
		{3, -1, 2}, {3, 0, 2}, {3, NAN, 2}, {3, INFINITY}};
	static const double equal[] = {2.385, 2.385, 2.385};
	struct interval i;

	for (size_t b = 0; b < COUNT(bad); b++) {
		i = stat_bootstrap(bad[b], 3, 99, 0.95, 1);
		ck_assert(isnan(i.lo) && isnan(i.hi));
	}
	i = stat_bootstrap(equal, 0, 99, 0.95, 1);
	ck_assert(isnan(i.lo) && isnan(i.hi));
	for (size_t n = 1; n <= 3; n++) {
		i = stat_bootstrap(equal, n, 99, 0.95, 1);
		ck_assert_double_eq(i.lo, 2.385);
		ck_assert_double_eq(i.hi, 2.385);
	}
}
END_TEST

/*
 * Of n values, half 1 and half 4, a resample has geometric mean 4^(k/n), k binomial:
 * for n = 2 P(k = 0) = 0.25; for n = 6 P(k = 0) = 0.0156 < 0.025 < P(k <= 1) = 0.109.
 */
/* The interval of the definition: one sum after the other, each draw by a division. */
static struct interval plain_bootstrap(const double *x, uint32_t n, int resamples)
{
	double *sums = malloc((size_t)resamples * sizeof(*sums));
	struct rng *rng = rng_new(7);
	uint32_t each = n <= 1290 ? 3 : n <= 46340 ? 2 : 1, range = n;
	struct interval out;

	for (uint32_t i = 1; i < each; i++)
		range *= n;
	for (int r = 0; r < resamples; r++) {
		sums[r] = 0;
		for (uint32_t i = 0, k = 0; i < n; i++, k /= n) {
			k = i % each ? k : rng_below(rng, range);
			sums[r] += log(x[k % n]);
		}
	}
	out.lo = exp(stat_quantile(sums, (size_t)resamples, 0.05) / n);
	out.hi = exp(stat_quantile(sums, (size_t)resamples, 0.95) / n);
	rng_free(rng);
	free(sums);
	return out;
}

/* To the bit, whatever other samples there are, and for all of a size at once. */
START_TEST(bootstraps_are_exact)
{
	static const size_t size[] = {2, 3, 5, 5, 1290, 1291, 1291, 46341, 3, 1, 0};
	enum { N = sizeof(size) / sizeof(*size), RESAMPLES = 21 };
	static double x[N][46341];
	struct bootstrap s[N + 1];
	struct rng *rng = rng_new(3);

	for (int i = 0; i < N; i++) {
		for (size_t k = 0; k < size[i]; k++)
			x[i][k] = 0.2 + rng_uniform(rng);
		s[i] = (struct bootstrap){.x = x[i], .n = size[i]};
	}
	s[N] = (struct bootstrap){.x = (const double[]){1, -1}, .n = 2};
	stat_bootstraps(s, N + 1, RESAMPLES, 0.9, 7);
	for (int i = 0; i < N - 2; i++) {
		struct interval wanted =
			plain_bootstrap(x[i], (uint32_t)size[i], RESAMPLES);

		ck_assert(s[i].interval.lo == wanted.lo);
		ck_assert(s[i].interval.hi == wanted.hi);
	}
	ck_assert(s[N - 2].interval.lo == x[N - 2][0]);
	ck_assert_double_nan(s[N - 1].interval.lo);
	ck_assert_double_nan(s[N].interval.hi);
	rng_free(rng);
}
END_TEST

/* Numbers that are drawn together are those that are drawn one by one. */
START_TEST(numbers_drawn_together)
{
	static const uint32_t below[] = {
		1, 2, 3, 1000, 2147483647, 2147483648, 2147483649, 4294967295};

	for (size_t i = 0; i < sizeof(below) / sizeof(*below); i++) {
		struct rng *a = rng_new(i), *b = rng_new(i);
		uint32_t all[1000];

		rng_fill_below(all, 1000, a, below[i]);
		for (int k = 0; k < 1000; k++)
			ck_assert_uint_eq(all[k], rng_below(b, below[i]));
		rng_free(a);
		rng_free(b);
	}
}
END_TEST

START_TEST(bootstrap_binomial)
{
	static const double x[] = {1, 4, 1, 4, 1, 4};
	struct interval two = stat_bootstrap(x, 2, 10000, 0.95, 1);
	struct interval six = stat_bootstrap(x, 6, 10000, 0.95, 1), again;

	ck_assert(same(two.lo, 1, 1e-14) && same(two.hi, 4, 1e-14));
	ck_assert(same(six.lo, pow(4, 1.0 / 6), 1e-14));
	ck_assert(same(six.hi, pow(4, 5.0 / 6), 1e-14));
	again = stat_bootstrap(x, 6, 10000, 0.95, 1);
	ck_assert(memcmp(&six, &again, sizeof(six)) == 0);
}
END_TEST

/*
 * For many values the interval nears mean +- 1.96 sd / sqrt(n) of the logs. The sizes
 * take three, two and one values from a random number.
 */
static const size_t bootstrap_size[] = {1289, 1303, 46349};

START_TEST(bootstrap_normal)
{
	size_t n = bootstrap_size[_i];
	double *x = malloc(n * sizeof(*x)), mean = 0, square = 0, half;
	struct rng *rng = rng_new(7);
	struct interval i;

	for (size_t k = 0; k < n; k++) {
		double log_x = rng_uniform(rng) * 3 - 0.7;

		x[k] = exp(log_x);
		mean += log_x / (double)n;
		square += log_x * log_x / (double)n;
	}
	half = 1.959964 * sqrt((square - mean * mean) / (double)n);
	i = stat_bootstrap(x, n, 1000, 0.95, 1);
	ck_assert_double_eq_tol(log(i.lo), mean - half, 0.15 * half);
	ck_assert_double_eq_tol(log(i.hi), mean + half, 0.15 * half);
	rng_free(rng);
	free(x);
}
END_TEST

/* Published: scipy.stats.wilcoxon and R's wilcox.test document these very figures. */
START_TEST(wilcoxon_published)
{
	double d[COUNT(before)];
	struct paired p = paired_wilcoxon(maize, COUNT(maize));

	ck_assert_uint_eq(p.n, 15);
	ck_assert_double_eq(p.statistic, 96);
	ck_assert(p.exact);
	ck_assert_double_eq(p.p, 0.041259765625);
	for (size_t i = 0; i < COUNT(d); i++)
		d[i] = before[i] - after[i];
	p = paired_wilcoxon(d, COUNT(d));
	ck_assert_double_eq(p.statistic, 40);
	ck_assert_double_eq(p.p, 2 * 0.01953125);
}
END_TEST

/*
 * Ten pairs of a textbook with one zero and tied sizes: ranks 1.5 1.5 3 4 5 6 7 8 9, 27
 * of them positive; variance 9 * 10 * 19 / 24 - (2^3 - 2) / 48 = 71.125, so
 * z = (27 - 22.5 - 0.5) / sqrt(71.125).
 */
START_TEST(wilcoxon_ties)
{
	static const double d[] = {15, -7, 5, 20, 0, -9, 17, -12, 5, -10};
	struct paired p = paired_wilcoxon(d, COUNT(d));

	ck_assert_uint_eq(p.n, 9);
	ck_assert_double_eq(p.statistic, 27);
	ck_assert(!p.exact);
	ck_assert(same(p.p, erfc(4 / sqrt(71.125) / sqrt(2)), 1e-12));
}
END_TEST

/* All signs equal: 2 / 2^n while exact, then n(n + 1)/4 - 1/2 standard units. */
START_TEST(wilcoxon_one_sided)
{
	double d[PAIRED_EXACT + 1], n = PAIRED_EXACT + 1, mean = n * (n + 1) / 4;
	struct paired p;

	for (int i = 0; i <= PAIRED_EXACT; i++) {
		d[i] = -0.7 - i;
		p = paired_wilcoxon(d, (size_t)i + 1);
		ck_assert_double_eq(p.statistic, 0);
		ck_assert(p.exact == (i < PAIRED_EXACT));
		if (p.exact)
			ck_assert_double_eq(p.p, fmin(exp2(-i), 1));
	}
	ck_assert(same(p.p, erfc((mean - 0.5) / sqrt(n * (n + 1) * (2 * n + 1) / 12)),
	               1e-12));
}
END_TEST

/* The exact p against all 2^n choices of signs. */
START_TEST(wilcoxon_enumerated)
{
	static const double size[] = {3, 1, 7, 48, 5, 2.385, 99, 1025, 0.5, 12, 13};
	static const int rank[] = {4, 2, 6, 9, 5, 3, 10, 11, 1, 7, 8};
	int n = 11, all = 1 << n, count[67] = {0};

	for (int signs = 0; signs < all; signs++) {
		int sum = 0;

		for (int i = 0; i < n; i++)
			sum += signs >> i & 1 ? rank[i] : 0;
		count[sum]++;
	}
	for (int signs = 0; signs < all; signs += 37) {
		double d[11];
		int sum = 0, below = 0, above = 0, least;
		struct paired p;

		for (int i = 0; i < n; i++) {
			d[i] = signs >> i & 1 ? size[i] : -size[i];
			sum += signs >> i & 1 ? rank[i] : 0;
		}
		for (int s = 0; s < 67; s++) {
			below += s <= sum ? count[s] : 0;
			above += s >= sum ? count[s] : 0;
		}
		least = below < above ? below : above;
		p = paired_wilcoxon(d, 11);
		ck_assert_double_eq(p.statistic, sum);
		ck_assert_double_eq(p.p, fmin(2.0 * least / all, 1));
	}
}
END_TEST

/* Two-sided p of k of n: 2 sum of C(n, i), i <= min(k, n - k), over 2^n, at most 1. */
static const struct {
	size_t positive, negative, zero;
	double p;
} sign_table[] = {
	{8, 2, 0, 2 * 56.0 / 1024},
	{2, 8, 3, 2 * 56.0 / 1024},
	{0, 1, 0, 1},
	{3, 3, 1, 1},
	{0, 7, 0, 2.0 / 128},
	{0, 0, 5, 1},
};

START_TEST(sign_rows)
{
	double d[20];
	size_t n = 0;
	struct paired p;

	for (size_t i = 0; i < sign_table[_i].positive; i++)
		d[n++] = 0.3 + (double)i;
	for (size_t i = 0; i < sign_table[_i].zero; i++)
		d[n++] = 0;
	for (size_t i = 0; i < sign_table[_i].negative; i++)
		d[n++] = -1e-9;
	p = paired_sign(d, n);
	ck_assert_uint_eq(p.n, sign_table[_i].positive + sign_table[_i].negative);
	ck_assert_double_eq(p.statistic, (double)sign_table[_i].positive);
	ck_assert(same(p.p, sign_table[_i].p, 1e-13));
	ck_assert(p.exact);
}
END_TEST

START_TEST(paired_edges)
{
	static const double zeros[] = {0, 0, -0.0}, bad[] = {3, NAN, -1};
	double d[COUNT(before)];
	struct paired p;

	ck_assert(isnan(paired_wilcoxon(zeros, 0).p));
	ck_assert(isnan(paired_sign(zeros, 0).p));
	ck_assert(isnan(paired_wilcoxon(bad, 3).p));
	ck_assert(isnan(paired_sign(bad, 3).p));
	p = paired_wilcoxon(zeros, 3);
	ck_assert(p.n == 0 && p.p == 1);
	ck_assert_double_eq(paired_wilcoxon(bad, 1).p, 1);
	/* An infinite difference has the largest rank. */
	p = paired_wilcoxon((const double[]){-3, INFINITY, 1}, 3);
	ck_assert_double_eq(p.statistic, 4);
	/* Log ratios of x to y and of y to x: the same p, the other ranks. */
	logs(d, before, after, COUNT(d));
	p = paired_wilcoxon(d, COUNT(d));
	logs(d, after, before, COUNT(d));
	ck_assert_double_eq(paired_wilcoxon(d, COUNT(d)).p, p.p);
	ck_assert_double_eq(paired_wilcoxon(d, COUNT(d)).statistic, 45 - p.statistic);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("stat");
	TCase *tc = tcase_create("stat");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, summary_rows, 0, COUNT(summary_table));
	tcase_add_loop_test(tc, quantile_rows, 0, COUNT(quantile_table));
	tcase_add_test(tc, quantiles);
	tcase_add_test(tc, ranks);
	tcase_add_test(tc, spearman);
	tcase_add_test(tc, bootstrap_edges);
	tcase_add_test(tc, bootstrap_binomial);
	tcase_add_test(tc, bootstraps_are_exact);
	tcase_add_test(tc, numbers_drawn_together);
	tcase_add_loop_test(tc, bootstrap_normal, 0, COUNT(bootstrap_size));
	tcase_add_test(tc, wilcoxon_published);
	tcase_add_test(tc, wilcoxon_ties);
	tcase_add_test(tc, wilcoxon_one_sided);
	tcase_add_test(tc, wilcoxon_enumerated);
	tcase_add_loop_test(tc, sign_rows, 0, COUNT(sign_table));
	tcase_add_test(tc, paired_edges);
	suite_add_tcase(suite, tc);
	return suite;
}
