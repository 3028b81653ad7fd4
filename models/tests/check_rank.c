#include "base/rng.h"
#include "stat/rank.h"
#include "stat/summary.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Canned tuna: lightness and a panel's score (Hollander and Wolfe 1973, 8.1); tau 4/9.
 */
static const double tuna[] = {44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1};
static const double panel[] = {2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8};

static const struct {
	double x[6], y[6];
	size_t n;
	struct pair_counts counts;
	double tau;
} rank_table[] = {
	{{0}, {0}, 0, {0, 0, 0, 0, 0}, NAN},
	{{3}, {4}, 1, {0, 0, 0, 0, 0}, NAN},
	{{3, 5}, {7, 11}, 2, {1, 1, 0, 0, 0}, 1},
	{{3, 5}, {11, 7}, 2, {1, 0, 1, 0, 0}, -1},
	{{3, 3}, {11, 7}, 2, {1, 0, 0, 1, 0}, NAN},
	{{3, 5, 4}, {7, 7, 7}, 3, {3, 0, 0, 0, 3}, NAN},
	/* By hand: ties of x (1,4), (2,5), of y (1,4); of the others 2 and 6. */
	{{12, 2, 1, 12, 2}, {1, 4, 7, 1, 0}, 5, {10, 2, 6, 2, 1}, -0.47140452079103173},
	{{1, 2, 3, 4, 5, 6}, {2, 1, 4, 3, 6, 5}, 6, {15, 12, 3, 0, 0}, 0.6},
	{{1, NAN, 3}, {1, 2, 3}, 3, {3, 1, 0, 0, 0}, NAN},
	{{1, 2, INFINITY}, {1, 2, 3}, 3, {3, 3, 0, 0, 0}, 1},
};

static void same(double found, double wanted)
{
	if (isnan(wanted))
		ck_assert_double_nan(found);
	else
		ck_assert_double_eq_tol(found, wanted, 1e-15);
}

START_TEST(pairs_by_hand)
{
	const double *x = rank_table[_i].x, *y = rank_table[_i].y;
	size_t n = rank_table[_i].n;
	struct pair_counts c = stat_pairs(x, y, n), w = rank_table[_i].counts;

	ck_assert_int_eq(c.pairs, w.pairs);
	ck_assert_int_eq(c.concordant, w.concordant);
	ck_assert_int_eq(c.inversions, w.inversions);
	ck_assert_int_eq(c.tied_x, w.tied_x);
	ck_assert_int_eq(c.tied_y, w.tied_y);
	same(stat_kendall(x, y, n), rank_table[_i].tau);
	same(stat_kendall(y, x, n), rank_table[_i].tau);
}
END_TEST

START_TEST(kendall_of_tuna)
{
	same(stat_kendall(tuna, panel, COUNT(tuna)), 4.0 / 9);
	/* R's cor(method = "spearman") of the same. */
	same(stat_spearman(tuna, panel, COUNT(tuna)), 0.6);
}
END_TEST

/* Only the order counts, and turning one round turns the sign. */
START_TEST(kendall_of_orders)
{
	struct rng *r = rng_new(7);
	double x[48], y[48], z[48], down[48];

	for (size_t i = 0; i < COUNT(x); i++) {
		x[i] = rng_below(r, 31);
		y[i] = x[i] + rng_below(r, 23);
		z[i] = exp(y[i] / 5) - 3;
		down[i] = -y[i];
	}
	ck_assert_double_gt(stat_kendall(x, y, COUNT(x)), 0.3);
	same(stat_kendall(x, z, COUNT(x)), stat_kendall(x, y, COUNT(x)));
	same(stat_kendall(x, down, COUNT(x)), -stat_kendall(x, y, COUNT(x)));
	same(stat_kendall(x, x, COUNT(x)), 1);
	rng_free(r);
}
END_TEST

START_TEST(places)
{
	const double x[] = {5, 2.385, 7, 2.385, NAN, 5.0000001, 1};
	const size_t wanted[] = {4, 2, 6, 2, 8, 5, 1};

	for (size_t i = 0; i < COUNT(x); i++)
		ck_assert_uint_eq(stat_place(x, COUNT(x), i, 0), wanted[i]);
	ck_assert_uint_eq(stat_place(x, COUNT(x), 5, 1e-6), 4);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("rank");
	TCase *t = tcase_create("rank");

	tcase_add_loop_test(t, pairs_by_hand, 0, COUNT(rank_table));
	tcase_add_test(t, kendall_of_tuna);
	tcase_add_test(t, kendall_of_orders);
	tcase_add_test(t, places);
	suite_add_tcase(s, t);
	return s;
}
