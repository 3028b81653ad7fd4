/* How far the clock flow is from the clock of rounds. */
#include "report/data.h"
#include "report_made.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define ROW(scenario, platform, planner, clock, time_s)                                \
	{                                                                              \
		scenario, "f", platform, planner, clock, OUTCOME_OK, "", time_s, 1,    \
			false, NAN, 0                                                  \
	}

/*
 * Scenarios x hold an exchange, s do not. On p flow takes 3/2, 4/5, 21/20 and 1 times as
 * long as fluid for those that do: two are apart by more than 10 %, s1, by 12/10, too. On q
 * 11/10 is not more. Not compared are x4 (flow refuses it), x5 (flow alone), s2 (no time).
 */
static const struct made made[] = {
	ROW("x1", "p", "a", "fluid", 2),
	ROW("x1", "p", "a", "flow", 3),
	ROW("x1", "p", "b", "fluid", 5),
	ROW("x1", "p", "b", "flow", 4),
	ROW("x2", "p", "a", "flow", 21),
	ROW("x2", "p", "a", "fluid", 20),
	ROW("x3", "p", "a", "flow", 7),
	ROW("x3", "p", "a", "fluid", 7),
	ROW("x4", "p", "a", "fluid", 9),
	ROW("x5", "p", "a", "flow", 9),
	ROW("s1", "p", "a", "fluid", 10),
	ROW("s1", "p", "a", "flow", 12),
	ROW("s2", "p", "a", "fluid", 0),
	ROW("s2", "p", "a", "flow", 0),
	ROW("x1", "p", "a", "model", 100),
	ROW("x1", "q", "a", "fluid", 10),
	ROW("x1", "q", "a", "flow", 11),
	{"x4", "f", "p", "a", "flow", OUTCOME_NOT_APPLICABLE, "no", NAN, 1, false, NAN,
         0},
};

/* Returns the rows with steps, in another order than any they are sorted in. */
static struct row *rows_of(struct arena *a, size_t n)
{
	struct row *rows = made_rows(a, made, n), *out;

	ck_assert_uint_ne(n % 7, 0);
	out = arena_alloc(a, n, sizeof(*out));
	for (size_t i = 0; i < n; i++) {
		struct row *row = &rows[(i * 7 + 3) % n];

		row->steps = row->scenario[0] == 'x' ? "slice {x}: ->0; exchange"
		                                     : "all-gather {x}: 0->";
		out[i] = *row;
	}
	return out;
}

static struct report gathered(struct arena *a, const struct row *rows, size_t n)
{
	struct report_options o = {.baseline = "a"};
	struct error error = {0};
	struct report r;

	ck_assert_int_eq(report_gather(&r, a, rows, n, &o, &error), OK);
	return r;
}

static void check_line(const struct report_apart *line, const char *machine,
                       bool exchange, size_t n, size_t apart, double product)
{
	ck_assert_str_eq(row_machine(line->worst), machine);
	ck_assert_int_eq(report_apart_exchanges(line), exchange);
	ck_assert_uint_eq(line->n, n);
	ck_assert_uint_eq(line->apart, apart);
	ck_assert_double_eq_tol(line->mean, pow(product, 1.0 / (double)n), 1e-14);
}

START_TEST(lines)
{
	struct arena *a = arena_new();
	struct report r = gathered(a, rows_of(a, COUNT(made)), COUNT(made));

	ck_assert_uint_eq(r.naparts, 3);
	check_line(&r.apart[0], "p", true, 4, 2, 3.0 / 2 * 4 / 5 * 21 / 20);
	ck_assert(r.apart[0].least == 4.0 / 5 && r.apart[0].largest == 3.0 / 2);
	ck_assert_str_eq(r.apart[0].worst->scenario, "x1");
	ck_assert_str_eq(r.apart[0].worst->planner, "a");
	check_line(&r.apart[1], "p", false, 1, 1, 12.0 / 10);
	check_line(&r.apart[2], "q", true, 1, 0, 11.0 / 10);
	arena_free(a);
}
END_TEST

/* With simgrid's rows that clock is the other one. */
START_TEST(simgrid_first)
{
	struct arena *a = arena_new();
	struct row *rows = rows_of(a, COUNT(made));
	struct report r;

	for (size_t i = 0; i < COUNT(made); i++)
		if (strcmp(rows[i].clock, "model") == 0)
			rows[i].clock = "simgrid";
	r = gathered(a, rows, COUNT(made));
	ck_assert_uint_eq(r.naparts, 1);
	check_line(&r.apart[0], "p", true, 1, 1, 3.0 / 100);
	ck_assert_str_eq(r.apart[0].worst_other->clock, "simgrid");
	arena_free(a);
}
END_TEST

/* The summary has a sentence, all details a table; without rows of flow there is neither. */
START_TEST(words)
{
	struct arena *a = arena_new();
	struct row *rows = rows_of(a, COUNT(made));
	struct report_options o = {.baseline = "a"};
	const char *const rounds[] = {"fluid", NULL};
	char *text = made_summary(a, rows, COUNT(made), o);

	ck_assert_ptr_nonnull(
		strstr(text, "Clocks: flow differs from fluid by more than 10 % on 2 "
	                     "of 5 plans with an exchange and 1\nof 1 without; worst, "
	                     "1.500 times as long: x1 by a on p.\n"));
	text = made_report(a, rows, COUNT(made), o);
	ck_assert_ptr_nonnull(strstr(text, "## Clock flow over fluid\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "| real | p       | with     |   4 | 1.059 | 0.800 | "
	                     "1.500 |      2 | x1, a |\n"));
	o.clocks = rounds;
	text = made_report(a, rows, COUNT(made), o);
	ck_assert_ptr_null(strstr(text, "Clock flow"));
	text = made_summary(a, rows, COUNT(made), o);
	ck_assert_ptr_null(strstr(text, "Clocks:"));
	arena_free(a);
}
END_TEST

/* In CSV the other clock is the baseline, so that figures are the other way round. */
START_TEST(csv)
{
	struct arena *a = arena_new();
	struct report_options o = {.baseline = "a", .format = REPORT_CSV};
	char *text = made_report(a, rows_of(a, COUNT(made)), COUNT(made), o);

	ck_assert_ptr_nonnull(
		strstr(text, "\r\nclocks,p,flow,a,fluid,,1,0.833333333,,,0.833333333,"
	                     "0.833333333,,,,,,,,,,,,1,more than 10 % apart,s1,"));
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("report_apart");
	TCase *tc = tcase_create("report_apart");

	tcase_add_test(tc, lines);
	tcase_add_test(tc, simgrid_first);
	tcase_add_test(tc, words);
	tcase_add_test(tc, csv);
	suite_add_tcase(suite, tc);
	return suite;
}
