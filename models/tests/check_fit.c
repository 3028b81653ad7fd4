#include "stat/fit.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* y = x0 is a constant: the fit is the geometric mean. */
struct sample {
	size_t n;
	const double *y;
};

static bool constant(void *self, const double *x, double *residual)
{
	const struct sample *s = self;

	for (size_t i = 0; i < s->n; i++)
		residual[i] = log(x[0] / s->y[i]);
	return true;
}

/*
 * log y = 1, 2, 6: mean 3, deviations -2, -1, 3, variance 14/2 = 7, standard error of
 * the mean sqrt(7/3), root mean square sqrt(14/3).
 */
START_TEST(geometric_mean)
{
	const double y[] = {exp(1), exp(2), exp(6)};
	struct sample s = {3, y};
	struct fit_model m = {3, 1, constant, &s, 0};
	double x[1] = {0.5}, se[1];
	struct fit f = fit_run(&m, x, se);

	ck_assert(f.converged);
	ck_assert_double_eq_tol(log(x[0]), 3, 1e-6);
	ck_assert_double_eq_tol(se[0], sqrt(7.0 / 3), 1e-5);
	ck_assert_double_eq_tol(f.rms, sqrt(14.0 / 3), 1e-6);
}
END_TEST

/* t = a + bytes / b at sizes over nine orders: both constants come back. */
static const double sizes[] = {8, 48 * 1024 + 1, 1e6, 3e7, 5e8, 7e9};
static const double truth[] = {13e-6, 235e9};

struct line {
	double factor[COUNT(sizes)]; /* of the measured times over the truth */
};

static bool line(void *self, const double *x, double *residual)
{
	const struct line *l = self;

	for (int i = 0; i < COUNT(sizes); i++) {
		double t = truth[0] + sizes[i] / truth[1];

		residual[i] = log((x[0] + sizes[i] / x[1]) / (t * l->factor[i]));
	}
	return true;
}

START_TEST(two_constants)
{
	struct line l = {{1, 1, 1, 1, 1, 1}};
	struct fit_model m = {COUNT(sizes), 2, line, &l, 0.2};
	double x[2] = {1e-6, 10e9}, se[2];
	struct fit f = fit_run(&m, x, se);

	ck_assert(f.converged && f.rms < 1e-6);
	for (int i = 0; i < 2; i++)
		ck_assert_double_eq_tol(x[i] / truth[i], 1, 1e-5);
}
END_TEST

/* One time ten times too large: soft weights leave the constants within 5 %. */
START_TEST(outlier)
{
	struct line l = {{1, 1, 10, 1, 1, 1}};
	struct fit_model soft = {COUNT(sizes), 2, line, &l, 0.05};
	struct fit_model plain = {COUNT(sizes), 2, line, &l, 0};
	double x[2] = {5e-6, 100e9}, y[2] = {5e-6, 100e9}, se[2];

	ck_assert(fit_run(&soft, x, se).converged);
	ck_assert(fit_run(&plain, y, se).converged);
	for (int i = 0; i < 2; i++)
		ck_assert_double_eq_tol(x[i] / truth[i], 1, 0.05);
	ck_assert(fabs(log(y[0] / truth[0])) > fabs(log(x[0] / truth[0])));
}
END_TEST

static bool none(void *self, const double *x, double *residual)
{
	(void)self;
	(void)x;
	(void)residual;
	return false;
}

START_TEST(no_answer)
{
	struct fit_model m = {3, 1, none, NULL, 0};
	double x[1] = {2}, se[1];

	ck_assert(!fit_run(&m, x, se).converged);
}
END_TEST

/* Fewer measurements than constants are not fitted; without constants they are rated. */
START_TEST(degenerate)
{
	const double y[] = {exp(1), exp(2), exp(6)};
	struct sample s = {3, y};
	struct line l = {{1, 1, 1, 1, 1, 1}};
	struct fit_model few = {1, 2, line, &l, 0}, fixed = {3, 0, constant, &s, 0};
	double x[2] = {1, 1}, se[2];
	double one[1] = {1};
	struct fit f;

	ck_assert(!fit_run(&few, x, se).converged);
	f = fit_run(&fixed, one, se);
	ck_assert(f.converged);
	ck_assert_double_eq_tol(f.rms, sqrt((1 + 4 + 36) / 3.0), 1e-12);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("fit");
	TCase *t = tcase_create("all");

	tcase_add_test(t, geometric_mean);
	tcase_add_test(t, two_constants);
	tcase_add_test(t, outlier);
	tcase_add_test(t, no_answer);
	tcase_add_test(t, degenerate);
	suite_add_tcase(s, t);
	return s;
}
