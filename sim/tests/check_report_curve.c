/* Curves over varied figures, and where the fastest planner changes. */
#include "report/data.h"
#include "report_made.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct point {
	const char *scenario, *varied, *planner;
	double time_s;
	const char *steps;
};

/*
 * Two scenarios over nic.bandwidth 25, 50, 100 GB/s; a third has no time of synth at 100.
 *   s: gather 8 4 2 falls as a power -1, synth 4 4 4: they cross at 50, where they tie, so
 *      synth stays until gather alone is the fastest, from 50 to 100.
 *   t: gather 9 6 1, synth 3 3 3: log(2) above at 50, log(3) below at 100, so they cross at
 *      50 * 2^(log 2 / log 6) = 50 * 2^0.386853 = 65.3769 GB/s.
 *   u: gather 7 7 7, synth 5 5 - : at 100 gather is left, without a crossing.
 */
#define B25 "nic.bandwidth=25GBps launch_s=3us"
#define B50 "nic.bandwidth=50GBps launch_s=3us"
#define B100 "nic.bandwidth=100GBps launch_s=3us"
static const struct point points[] = {
	{"s", B25, "gather", 8, "g"},
	{"s", B50, "gather", 4, "g"},
	{"s", B100, "gather", 2, "g"},
	{"s", B25, "synth", 4, "s"},
	{"s", B50, "synth", 4, "s"},
	{"s", B100, "synth", 4, "s"},
	{"s", B25, "best", 4, "part 6; s"},
	{"s", B50, "best", 4, "part 12; s"},
	{"s", B100, "best", 2, "part 12; g"},
	{"s", B25, "xla", 16, "x"},
	{"s", B50, "xla", 8, "x"},
	{"s", B100, "xla", 8, "x"},
	{"t", B25, "gather", 9, "g"},
	{"t", B50, "gather", 6, "g"},
	{"t", B100, "gather", 1, "g"},
	{"t", B25, "synth", 3, "s"},
	{"t", B50, "synth", 3, "s"},
	{"t", B100, "synth", 3, "s"},
	{"t", B25, "xla", 36, "x"},
	{"t", B50, "xla", 24, "x"},
	{"t", B100, "xla", 18, "x"},
	{"u", B25, "gather", 7, "g"},
	{"u", B50, "gather", 7, "g"},
	{"u", B100, "gather", 7, "g"},
	{"u", B25, "synth", 5, "s"},
	{"u", B50, "synth", 5, "s"},
	{"u", B100, "synth", NAN, ""},
};

static struct row *make(struct arena *a, const struct point *p, size_t n)
{
	struct row *rows = arena_alloc(a, n, sizeof(*rows));

	for (size_t i = 0; i < n; i++) {
		rows[i] = row_empty();
		rows[i].scenario = rows[i].base_scenario = p[i].scenario;
		rows[i].family = "f";
		rows[i].platform = arena_printf(a, "p{%s}", p[i].varied);
		rows[i].base_platform = "p";
		rows[i].varied = p[i].varied;
		rows[i].clock = "model";
		rows[i].planner = p[i].planner;
		rows[i].time_s = p[i].time_s;
		rows[i].steps = p[i].steps;
		if (isnan(p[i].time_s)) {
			rows[i].status = OUTCOME_OVER_MEMORY;
			rows[i].message = "needs 9 bytes";
		}
	}
	return rows;
}

static struct report_curves curves_of(struct arena *a, const struct point *p, size_t n)
{
	struct row *rows = make(a, p, n);
	const struct row **at = arena_alloc(a, n, sizeof(*at));

	for (size_t i = 0; i < n; i++)
		at[n - 1 - i] = &rows[i]; /* in any order */
	return report_curves(a, "xla", at, n);
}

START_TEST(points_of_curve)
{
	struct arena *a = arena_new();
	struct report_curves curves = curves_of(a, points, COUNT(points));
	const struct report_curve *c = curves.curve;

	/* launch_s has one value and so no curve */
	ck_assert_uint_eq(curves.ncurves, 1);
	ck_assert_str_eq(c->key, "nic.bandwidth");
	ck_assert_str_eq(c->others, "launch_s=3us");
	ck_assert_str_eq(c->platform, "p");
	ck_assert_ptr_null(c->scenario);
	ck_assert_uint_eq(c->nscenarios, 3);
	ck_assert_uint_eq(c->npoints, 3);
	ck_assert_str_eq(c->point[2].value, "100GBps"); /* not byte order */
	ck_assert_double_eq(c->point[1].x, 50e9);
	ck_assert_int_eq(c->nplanners, 4);
	/* t lacks best, u lacks xla: s alone is common, gather 16/8, 8/4, 8/2 */
	ck_assert_uint_eq(c->n, 1);
	ck_assert_double_eq_tol(c->point[0].speedup[1], 2, 1e-12);
	ck_assert_double_eq_tol(c->point[1].speedup[1], 2, 1e-12);
	ck_assert_double_eq_tol(c->point[2].speedup[1], 4, 1e-12);
	ck_assert_double_eq_tol(c->point[0].speedup[2], 4, 1e-12);
	/* synth is fastest in s, t, u; in s (tie), t, u; gather in all three */
	ck_assert_int_eq(c->point[0].fastest, 2);
	ck_assert_uint_eq(c->point[0].fastest_n, 3);
	ck_assert_int_eq(c->point[1].fastest, 2);
	ck_assert_uint_eq(c->point[1].fastest_n, 3);
	ck_assert_int_eq(c->point[2].fastest, 1);
	ck_assert_uint_eq(c->point[2].fastest_n, 3);
	ck_assert_uint_eq(c->point[2].timed_n, 3);
	arena_free(a);
}
END_TEST

static const struct {
	const char *scenario, *low, *high, *before, *after;
	double at;
	bool plan;
} changes[] = {
	{"s", "50GBps", "100GBps", "synth", "gather", 50e9, false},
	/* from "6" to "12" only the size differs */
	{"s", "50GBps", "100GBps", "part 12; s", "part 12; g", NAN, true},
	{"t", "50GBps", "100GBps", "synth", "gather", 65.3769e9, false},
	{"u", "50GBps", "100GBps", "synth", "gather", NAN, false},
};

START_TEST(changes_of_planners)
{
	struct arena *a = arena_new();
	struct report_curves curves = curves_of(a, points, COUNT(points));

	ck_assert_uint_eq(curves.nchanges, COUNT(changes));
	for (size_t i = 0; i < COUNT(changes); i++) {
		const struct report_change *c = &curves.change[i];

		ck_assert_str_eq(c->scenario, changes[i].scenario);
		ck_assert_str_eq(c->low, changes[i].low);
		ck_assert_str_eq(c->high, changes[i].high);
		ck_assert_str_eq(c->before, changes[i].before);
		ck_assert_str_eq(c->after, changes[i].after);
		ck_assert_int_eq(c->plan, changes[i].plan);
		if (isnan(changes[i].at))
			ck_assert_double_nan(c->at);
		else
			ck_assert_double_eq_tol(c->at / changes[i].at, 1, 1e-5);
	}
	arena_free(a);
}
END_TEST

/*
 * u is not for synth, and nothing is for pim. Over s and t, which the others solve:
 *   best  16/4 and 36/4 at 25: sqrt(4 * 9) = 6; 16/8 and 16/2 at 100: sqrt(2 * 8) = 4.
 *   synth 16/4 and 36/9 at 25: sqrt(4 * 4) = 4; 16/16 and 16/4 at 100: sqrt(1 * 4) = 2.
 * With u, where best is as slow as xla, best would have cbrt(36) = 3.30 at 25, which is
 * below a synth that is nowhere faster.
 */
#define ONLY25 "nic.bandwidth=25GBps"
#define ONLY100 "nic.bandwidth=100GBps"
static const struct point partial[] = {
	{"s", ONLY25, "xla", 16, ""},    {"s", ONLY100, "xla", 16, ""},
	{"t", ONLY25, "xla", 36, ""},    {"t", ONLY100, "xla", 16, ""},
	{"u", ONLY25, "xla", 5, ""},     {"u", ONLY100, "xla", 5, ""},
	{"s", ONLY25, "best", 4, ""},    {"s", ONLY100, "best", 8, ""},
	{"t", ONLY25, "best", 4, ""},    {"t", ONLY100, "best", 2, ""},
	{"u", ONLY25, "best", 5, ""},    {"u", ONLY100, "best", 5, ""},
	{"s", ONLY25, "synth", 4, ""},   {"s", ONLY100, "synth", 16, ""},
	{"t", ONLY25, "synth", 9, ""},   {"t", ONLY100, "synth", 4, ""},
	{"u", ONLY25, "synth", NAN, ""}, {"u", ONLY100, "synth", NAN, ""},
	{"s", ONLY25, "pim", NAN, ""},   {"s", ONLY100, "pim", NAN, ""},
	{"t", ONLY25, "pim", NAN, ""},   {"t", ONLY100, "pim", NAN, ""},
};

START_TEST(same_scenarios)
{
	static const double best[] = {6, 4}, synth[] = {4, 2};
	struct arena *a = arena_new();
	struct report_curves curves = curves_of(a, partial, COUNT(partial));
	const struct report_curve *c = curves.curve;

	ck_assert_uint_eq(curves.ncurves, 1);
	ck_assert_uint_eq(c->nscenarios, 3);
	ck_assert_uint_eq(c->n, 2);
	ck_assert_str_eq(c->planner[0], "best");
	ck_assert_str_eq(c->planner[2], "synth");
	for (size_t i = 0; i < 2; i++) {
		ck_assert_double_eq_tol(c->point[i].speedup[0], best[i], 1e-12);
		ck_assert_double_nan(c->point[i].speedup[1]);
		ck_assert_double_eq_tol(c->point[i].speedup[2], synth[i], 1e-12);
		ck_assert_double_eq_tol(c->point[i].speedup[3], 1, 1e-12);
	}
	ck_assert_str_eq(report_curve_scope(a, c),
	                 "n = 2, 1 left out; not compared: pim");
	arena_free(a);
}
END_TEST

/* Of best and synth, which solve different scenarios, only the first has a line. */
START_TEST(nothing_in_common)
{
	static const struct point apart[] = {
		{"s", ONLY25, "xla", 8, ""},   {"s", ONLY100, "xla", 8, ""},
		{"u", ONLY25, "xla", 8, ""},   {"u", ONLY100, "xla", 8, ""},
		{"s", ONLY25, "best", 4, ""},  {"s", ONLY100, "best", 4, ""},
		{"u", ONLY25, "synth", 2, ""}, {"u", ONLY100, "synth", 2, ""},
	};
	struct report_options o = {.baseline = "xla", .format = REPORT_HTML};
	struct arena *a = arena_new();
	struct report_curves curves = curves_of(a, apart, COUNT(apart));
	const char *text;

	ck_assert_uint_eq(curves.curve->n, 1);
	ck_assert_double_eq_tol(curves.curve->point[0].speedup[0], 2, 1e-12);
	ck_assert_double_nan(curves.curve->point[0].speedup[1]);
	ck_assert_str_eq(report_curve_scope(a, curves.curve),
	                 "n = 1, 1 left out; not compared: synth (1 of 2)");
	text = made_report(a, make(a, apart, COUNT(apart)), COUNT(apart), o);
	ck_assert_ptr_nonnull(strstr(text,
	                             "Scenarios: n = 1, 1 left out; not compared: "
	                             "synth (1 of 2)."));
	ck_assert_ptr_null(strstr(text, "nan"));
	arena_free(a);
}
END_TEST

/*
 * The baseline and gather solve five scenarios, synth four of them, dtensor two, digit the
 * fifth: two are half of four, none of the fifth are among these.
 */
START_TEST(weak_planners)
{
	static const struct {
		const char *planner, *scenarios;
		double speedup; /* over the two that are left; 0: not compared */
	} of[] = {{"digit", "e", 0},  {"dtensor", "cd", 4}, {"gather", "abcde", 2},
	          {"shardy", "a", 0}, {"synth", "abcd", 8}, {"xla", "abcde", 1}};
	static const char *const varied[] = {"nic.bandwidth=1GBps",
	                                     "nic.bandwidth=2GBps"};
	struct arena *a = arena_new();
	struct point *p = arena_alloc(a, 64, sizeof(*p));
	struct report_curves curves;
	size_t n = 0;

	for (size_t i = 0; i < COUNT(of); i++)
		for (const char *s = of[i].scenarios; *s; s++)
			for (int k = 0; k < 2; k++)
				p[n++] = (struct point){
					arena_printf(a, "%c", *s), varied[k],
					of[i].planner,
					8 / (of[i].speedup ? of[i].speedup : 100), ""};
	curves = curves_of(a, p, n);
	ck_assert_uint_eq(curves.curve->n, 2);
	ck_assert_str_eq(
		report_curve_scope(a, curves.curve),
		"n = 2, 3 left out; not compared: digit (1 of 5), shardy (1 of 5)");
	for (size_t i = 0; i < COUNT(of); i++) {
		double mean = curves.curve->point[1].speedup[i];

		ck_assert_str_eq(curves.curve->planner[i], of[i].planner);
		ck_assert(of[i].speedup ? fabs(mean - of[i].speedup) < 1e-12
		                        : isnan(mean));
	}
	arena_free(a);
}
END_TEST

/* What has no number stands in byte order and has no crossing. */
START_TEST(figures_without_numbers)
{
	static const struct point mesh[] = {
		{"s", "mesh=x=8", "gather", 1, ""},
		{"s", "mesh=x=8", "synth", 2, ""},
		{"s", "mesh=x=2,y=4", "gather", 2, ""},
		{"s", "mesh=x=2,y=4", "synth", 1, ""},
		{"s", "mesh=x=8", "xla", 3, ""},
		{"s", "mesh=x=2,y=4", "xla", 0, ""},
	};
	struct arena *a = arena_new();
	struct report_curves curves = curves_of(a, mesh, COUNT(mesh));

	ck_assert_uint_eq(curves.ncurves, 1);
	ck_assert_str_eq(curves.curve->scenario, "s");
	ck_assert_str_eq(curves.curve->point[0].value, "x=2,y=4");
	ck_assert_str_eq(curves.curve->point[1].value, "x=8");
	/* xla takes no time at one point: nothing is compared, and it is the fastest */
	ck_assert(!curves.curve->compared[0]);
	ck_assert_double_nan(curves.curve->point[1].speedup[0]);
	ck_assert_uint_eq(curves.nchanges, 1);
	ck_assert_str_eq(curves.change->before, "xla");
	ck_assert_str_eq(curves.change->after, "gather");
	ck_assert_double_nan(curves.change->at);
	arena_free(a);
}
END_TEST

START_TEST(in_words)
{
	static const char *const told[] = {
		"## Varied figures\n",
		"### nic.bandwidth of p, clock model, launch_s=3us\n",
		"Scenarios: n = 1, 2 left out.\n",
		"| nic.bandwidth | fastest but best |  in |      n |  best | gather "
		"| synth |\n",
		"|        25GBps | synth            | 3/3 | 1 of 3 | 4.000 |  2.000 "
		"| 4.000 |\n",
		"|       100GBps | gather           | 3/3 | 1 of 3 | 4.000 |  4.000 "
		"| 2.000 |\n",
		"| t        | 50GBps | 100GBps | 65.38 GB/s | synth  | gather |\n",
		"### Where the plan of best changes\n",
	};
	struct report_options o = {.baseline = "xla"};
	struct arena *a = arena_new();
	struct row *rows = make(a, points, COUNT(points));
	const char *text = made_report(a, rows, COUNT(points), o);

	for (size_t i = 0; i < COUNT(told); i++)
		ck_assert_msg(strstr(text, told[i]) != NULL, "no %s", told[i]);
	o.format = REPORT_CSV;
	text = made_report(a, rows, COUNT(points), o);
	ck_assert_ptr_nonnull(strstr(text, "\ncurve,p,model,gather,xla,,1,2,"));
	ck_assert_ptr_nonnull(strstr(text, ",nic.bandwidth=25GBps launch_s=3us,"));
	ck_assert_ptr_nonnull(strstr(text, "change,p,model,gather,synth,"));
	ck_assert_ptr_nonnull(
		strstr(text, "nic.bandwidth=50GBps..100GBps launch_s=3us,t,"));
	ck_assert_ptr_nonnull(strstr(text, ",6.53768"));
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("report_curve");
	TCase *tc = tcase_create("report_curve");

	tcase_add_test(tc, points_of_curve);
	tcase_add_test(tc, changes_of_planners);
	tcase_add_test(tc, same_scenarios);
	tcase_add_test(tc, nothing_in_common);
	tcase_add_test(tc, weak_planners);
	tcase_add_test(tc, figures_without_numbers);
	tcase_add_test(tc, in_words);
	suite_add_tcase(suite, tc);
	return suite;
}
