/* The first tables of a report, worked out by hand. */
#include "report/data.h"
#include "report_made.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A row of one machine and clock; a time of 0 or more is ok, NAN is what `status` says. */
struct brief {
	const char *scenario, *family, *source, *planner;
	double time_s;
	bool full_remat;
	enum outcome status;
};

static struct report gather(struct arena *a, const struct brief *brief, size_t n,
                            struct report_options o, struct row **rows)
{
	struct row *row = arena_alloc(a, n, sizeof(*row));
	struct error error = {0};
	struct report r;

	for (size_t i = 0; i < n; i++) {
		row[i] = row_empty();
		row[i].scenario = brief[i].scenario;
		row[i].family = brief[i].family;
		row[i].source = brief[i].source;
		row[i].planner = brief[i].planner;
		row[i].platform = "m:1";
		row[i].clock = "model";
		row[i].status = brief[i].status;
		row[i].time_s = brief[i].time_s;
		row[i].full_remat = brief[i].full_remat;
	}
	if (rows)
		*rows = row;
	ck_assert_int_eq(report_gather(&r, a, row, n, &o, &error), OK);
	return r;
}

#define X "xla-2021"
#define NA OUTCOME_NOT_APPLICABLE
#define OVER OUTCOME_OVER_MEMORY
#define URL "https://example.org"
#define RANDOM "generated: random"
#define LAYOUTS "generated: layouts"

/* Speedups: real 4, 9 (remat.) and 1; random 2 (remat.); layouts 0.25. */
static const struct brief kinds[] = {
	{"r1", "f", URL, X, 4, false, OUTCOME_OK},
	{"r1", "f", URL, "synth", 1, false, OUTCOME_OK},
	{"r2", "f", "", X, 9, true, OUTCOME_OK},
	{"r2", "f", "", "synth", 1, false, OUTCOME_OK},
	{"r3", "f", "random walk", X, 5, false, OUTCOME_OK},
	{"r3", "f", "random walk", "synth", 5, true, OUTCOME_OK},
	{"g1", "f", RANDOM, X, 2, true, OUTCOME_OK},
	{"g1", "f", RANDOM, "synth", 1, false, OUTCOME_OK},
	{"l1", "f", LAYOUTS, X, 1, false, OUTCOME_OK},
	{"l1", "f", LAYOUTS, "synth", 4, false, OUTCOME_OK},
};

/* Means 36^(1/3) and 4^(1/2); medians of 1, 4, 9 and of 1, 4. */
static const struct {
	enum report_kind kind;
	bool without;
	size_t n, ties;
	double mean, median;
} kind_lines[] = {
	{KIND_REAL, false, 3, 1, 3.3019272, 4},  {KIND_REAL, true, 2, 1, 2, 2.5},
	{KIND_RANDOM, false, 1, 0, 2, 2},        {KIND_RANDOM, true, 0, 0, NAN, NAN},
	{KIND_LAYOUTS, false, 1, 0, 0.25, 0.25}, {KIND_LAYOUTS, true, 1, 0, 0.25, 0.25},
};

static void same_figure(double got, double expected)
{
	if (isnan(expected))
		ck_assert_double_nan(got);
	else
		ck_assert_double_eq_tol(got, expected, 1e-7);
}

/* No figure is over problems of two kinds, in any table. */
START_TEST(kinds_apart)
{
	struct arena *a = arena_new();
	struct row *rows;
	struct report r =
		gather(a, kinds, COUNT(kinds), (struct report_options){0}, &rows);
	char *text;

	ck_assert_uint_eq(r.nfirst, COUNT(kind_lines));
	for (size_t i = 0; i < r.nfirst; i++) {
		const struct report_line *l = &r.first[i];

		ck_assert_int_eq(l->kind, kind_lines[i].kind);
		ck_assert_int_eq(l->without, kind_lines[i].without);
		ck_assert_uint_eq(l->speedup.n, kind_lines[i].n);
		ck_assert_uint_eq(l->ties, kind_lines[i].ties);
		same_figure(l->speedup.geomean, kind_lines[i].mean);
		same_figure(l->speedup.median, kind_lines[i].median);
	}
	ck_assert_uint_eq(r.first[0].above, 1);
	ck_assert_uint_eq(r.first[0].above_remat, 1);
	ck_assert_uint_eq(r.nmatrices, REPORT_KINDS);
	ck_assert_uint_eq(r.norigins, REPORT_KINDS);
	ck_assert_uint_eq(r.nsame, REPORT_KINDS);
	ck_assert_uint_eq(r.nlines, 2 * REPORT_KINDS);
	for (size_t i = 0; i < r.nlines; i++)
		ck_assert_uint_le(r.line[i].speedup.n, 3);
	text = made_summary(a, rows, COUNT(kinds), (struct report_options){0});
	ck_assert_ptr_nonnull(
		strstr(text, "synth is 3.30 times as fast as xla-2021: geometric means "
	                     "over 3 real scenarios"));
	ck_assert_ptr_nonnull(strstr(text, "| m:1     |   3 | 3.30 (4.00) |\n"));
	ck_assert_ptr_nonnull(strstr(text, "| m:1     |   1 | 2.00 (2.00) |\n"));
	ck_assert_msg(strstr(text, "| m:1     |   1 | 0.25 (0.25) |\n"), "%s", text);
	ck_assert_ptr_null(strstr(text, "interval |"));
	arena_free(a);
}
END_TEST

/* What does not fit is in no mean, and is counted: the baseline's first. */
START_TEST(unfit)
{
	static const struct brief rows[] = {
		{"s1", "f", "", X, 3, false, OUTCOME_OK},
		{"s1", "f", "", "synth", 1, false, OUTCOME_OK},
		{"s2", "f", "", X, NAN, true, OVER},
		{"s2", "f", "", "synth", 1, false, OUTCOME_OK},
		{"s3", "f", "", X, NAN, true, OVER},
		{"s3", "f", "", "synth", NAN, false, OVER},
		{"s4", "f", "", X, 7, false, OUTCOME_OK},
		{"s4", "f", "", "synth", NAN, false, OVER},
		{"s5", "f", "", X, 7, false, OUTCOME_OK},
		{"s5", "f", "", "synth", NAN, false, NA},
	};
	struct arena *a = arena_new();
	struct row *row;
	struct report r = gather(a, rows, COUNT(rows), (struct report_options){0}, &row);

	ck_assert_uint_eq(r.first[0].speedup.n, 1);
	same_figure(r.first[0].speedup.geomean, 3);
	ck_assert_uint_eq(r.first[0].baseline_over, 2);
	ck_assert_uint_eq(r.first[0].over, 1);
	ck_assert_ptr_nonnull(
		strstr(made_report(a, row, COUNT(rows), (struct report_options){0}),
	               "|   2/1 |\n"));
	arena_free(a);
}
END_TEST

/*
 * Both planners and the baseline solve s1 and s5 in times above zero: a is 2 and 1 times as
 * fast, b 4 and 1/4 times. s4 is solved by none, s6 takes nobody any time.
 */
START_TEST(same_cases)
{
	static const struct brief rows[] = {
		{"s1", "f", "", X, 8, false, OUTCOME_OK},
		{"s1", "f", "", "a", 4, false, OUTCOME_OK},
		{"s1", "f", "", "b", 2, false, OUTCOME_OK},
		{"s2", "f", "", X, 9, false, OUTCOME_OK},
		{"s2", "f", "", "a", 1, false, OUTCOME_OK},
		{"s2", "f", "", "b", NAN, false, NA},
		{"s3", "f", "", X, NAN, false, OVER},
		{"s3", "f", "", "a", 1, false, OUTCOME_OK},
		{"s3", "f", "", "b", 1, false, OUTCOME_OK},
		{"s4", "f", "", X, NAN, false, NA},
		{"s4", "f", "", "a", NAN, false, NA},
		{"s4", "f", "", "b", NAN, false, NA},
		{"s5", "f", "", X, 2, false, OUTCOME_OK},
		{"s5", "f", "", "a", 2, false, OUTCOME_OK},
		{"s5", "f", "", "b", 8, false, OUTCOME_OK},
		{"s6", "f", "", X, 0, false, OUTCOME_OK},
		{"s6", "f", "", "a", 0, false, OUTCOME_OK},
		{"s6", "f", "", "b", 0, false, OUTCOME_OK},
	};
	static const double speedup[] = {1.41421356, 1, 1};
	static const size_t cannot[] = {0, 1, 1};
	struct arena *a = arena_new();
	struct row *row;
	struct report r = gather(a, rows, COUNT(rows), (struct report_options){0}, &row);

	ck_assert_uint_eq(r.nsame, 1);
	ck_assert_uint_eq(r.same[0].n, 2);
	ck_assert_uint_eq(r.same[0].all, 5);
	ck_assert_uint_eq(r.same[0].nplanners, 3);
	for (size_t p = 0; p < 3; p++) {
		same_figure(r.same[0].speedup[p], speedup[p]);
		ck_assert_uint_eq(r.same[0].cannot[p], cannot[p]);
	}
	ck_assert_ptr_nonnull(
		strstr(made_report(a, row, COUNT(rows), (struct report_options){0}),
	               "| planner  |       m:1 |\n"
	               "| -------- | --------: |\n"
	               "| n        |    2 of 5 |\n"
	               "| a        | 1.414 (0) |\n"
	               "| b        | 1.000 (1) |\n"
	               "| xla-2021 | 1.000 (1) |\n"));
	arena_free(a);
}
END_TEST

/* The family of that name among a report's lines, or NULL. */
static const struct report_line *line_of(const struct report *r, const char *family)
{
	for (size_t i = 0; i < r->nlines; i++)
		if (r->line[i].family && strcmp(r->line[i].family, family) == 0)
			return &r->line[i];
	return NULL;
}

/*
 * Families of one and two scenarios are one, of three it is not, nor is one that nobody
 * solves or that takes no time; a single small one keeps its name.
 */
START_TEST(others)
{
	static const struct brief rows[] = {
		{"a1", "three", "", X, 2, false, OUTCOME_OK},
		{"a1", "three", "", "synth", 1, false, OUTCOME_OK},
		{"a2", "three", "", X, 2, false, OUTCOME_OK},
		{"a2", "three", "", "synth", 1, false, OUTCOME_OK},
		{"a3", "three", "", X, 2, false, OUTCOME_OK},
		{"a3", "three", "", "synth", 1, false, OUTCOME_OK},
		{"d1", "none", "", X, NAN, false, NA},
		{"d1", "none", "", "synth", NAN, false, NA},
		{"e1", "still", "", X, 0, false, OUTCOME_OK},
		{"e1", "still", "", "synth", 0, false, OUTCOME_OK},
		{"b1", "one", "", X, 4, false, OUTCOME_OK},
		{"b1", "one", "", "synth", 1, false, OUTCOME_OK},
		{"c1", "two", "", X, 9, false, OUTCOME_OK},
		{"c1", "two", "", "synth", 1, false, OUTCOME_OK},
		{"c2", "two", "", X, 6, false, OUTCOME_OK},
		{"c2", "two", "", "synth", 1, false, OUTCOME_OK},
	};
	struct arena *a = arena_new();
	struct row *row;
	struct report r = gather(a, rows, COUNT(rows), (struct report_options){0}, &row);
	const struct report_line *l = line_of(&r, REPORT_OTHERS);

	ck_assert_uint_eq(r.nfamilies, 4);
	ck_assert_ptr_nonnull(l);
	ck_assert_uint_eq(l->speedup.n, 3);
	same_figure(l->speedup.geomean, 6); /* 4, 9, 6 */
	ck_assert_str_eq(l->members, "one, two");
	ck_assert_ptr_null(line_of(&r, "one"));
	ck_assert_uint_eq(line_of(&r, "three")->speedup.n, 3);
	ck_assert_ptr_nonnull(line_of(&r, "none"));
	ck_assert_ptr_nonnull(line_of(&r, "still"));
	ck_assert_ptr_nonnull(
		strstr(made_report(a, row, COUNT(rows), (struct report_options){0}),
	               "one line, others: one, two."));
	r = gather(a, rows, COUNT(rows), (struct report_options){.families = true},
	           NULL);
	ck_assert_ptr_null(line_of(&r, REPORT_OTHERS));
	ck_assert_uint_eq(line_of(&r, "two")->speedup.n, 2);
	r = gather(a, rows, 12, (struct report_options){0}, NULL);
	ck_assert_ptr_null(line_of(&r, REPORT_OTHERS));
	ck_assert_uint_eq(line_of(&r, "one")->speedup.n, 1);
	arena_free(a);
}
END_TEST

/*
 * Rows of one machine that ran on platforms of its sizes are in one figure; a scenario that
 * ran on two of them is two cases. Speedups 2, 8 and 4.
 */
START_TEST(machines)
{
	static const struct {
		const char *scenario, *platform, *planner;
		double time_s;
	} ran[] = {
		{"s1", "t:2", X, 2}, {"s1", "t:2", "synth", 1},
		{"s2", "t:4", X, 8}, {"s2", "t:4", "synth", 1},
		{"s1", "t:4", X, 4}, {"s1", "t:4", "synth", 1},
		{"s3", "u:1", X, 3}, {"s3", "u:1", "synth", 1},
	};
	struct arena *a = arena_new();
	struct row *row = arena_alloc(a, COUNT(ran), sizeof(*row));
	struct error error = {0};
	struct report r;

	for (size_t i = 0; i < COUNT(ran); i++) {
		row[i] = row_empty();
		row[i].scenario = ran[i].scenario;
		row[i].platform = ran[i].platform;
		row[i].machine = i < 6 ? "t:{n}" : "u:1";
		row[i].clock = "model";
		row[i].planner = ran[i].planner;
		row[i].time_s = ran[i].time_s;
	}
	ck_assert_int_eq(report_gather(&r, a, row, COUNT(ran),
	                               &(struct report_options){0}, &error),
	                 OK);
	ck_assert_uint_eq(r.nfirst, 4);
	ck_assert_str_eq(r.first[0].platform, "t:{n}");
	ck_assert_uint_eq(r.first[0].speedup.n, 3);
	same_figure(r.first[0].speedup.geomean, 4);
	ck_assert_str_eq(r.first[2].platform, "u:1");
	ck_assert_uint_eq(r.same[0].n, 3);
	ck_assert_uint_eq(r.matrix[0].cell[1].n, 3);
	ck_assert_ptr_nonnull(
		strstr(made_report(a, row, COUNT(ran), (struct report_options){0}),
	               "| t:{n}   | t:2 (1), t:4 (2) |\n\n"));
	arena_free(a);
}
END_TEST

/* Which planners the first tables show; best-portable is no rival of best. */
START_TEST(shown)
{
	static const struct brief rows[] = {
		{"s1", "f", "", "xla", 4, false, OUTCOME_OK},
		{"s1", "f", "", "best", 1, false, OUTCOME_OK},
		{"s1", "f", "", "best-portable", 1, false, OUTCOME_OK},
		{"s1", "f", "", "digit", 2, false, OUTCOME_OK},
		{"s1", "f", "", "gather", 8, false, OUTCOME_OK},
	};
	struct arena *a = arena_new();
	struct report r = gather(a, rows, COUNT(rows),
	                         (struct report_options){.baseline = "xla"}, NULL);

	ck_assert_uint_eq(r.nshown, 2);
	ck_assert_str_eq(r.shown[0], "best");
	ck_assert_str_eq(r.shown[1], "best-portable");
	ck_assert_uint_eq(r.nfirst, 4);
	ck_assert_uint_eq(r.best[0].wins, 1);
	same_figure(r.best[0].gain, 2);
	r = gather(a, rows + 3, 2, (struct report_options){.baseline = "gather"}, NULL);
	ck_assert_uint_eq(r.nshown, 1);
	ck_assert_str_eq(r.shown[0], "digit");
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("report_first");
	TCase *tc = tcase_create("report_first");

	tcase_add_test(tc, kinds_apart);
	tcase_add_test(tc, unfit);
	tcase_add_test(tc, same_cases);
	tcase_add_test(tc, others);
	tcase_add_test(tc, machines);
	tcase_add_test(tc, shown);
	suite_add_tcase(suite, tc);
	return suite;
}
