#include "report/select.h"
#include "report_made.h"
#include "store_made.h"
#include "tests/tests.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const model_only[] = {"model", NULL};
static struct error error;

static void refused(const struct row *rows, size_t n, struct report_options o,
                    const char *option, const char *text)
{
	char *written = NULL;
	size_t size;
	FILE *out = open_memstream(&written, &size);

	error = (struct error){0};
	ck_assert_int_eq(report_print(out, rows, n, &o, &error), E_RANGE);
	fclose(out);
	ck_assert_uint_eq(size, 0);
	free(written);
	ck_assert_str_eq(error.text, text);
	ck_assert_pstr_eq(error.at.file, option);
}

START_TEST(errors)
{
	static const char *const fluid_only[] = {"fluid", NULL};
	static const char *const wrong_clock[] = {"model", "sundial", NULL};
	struct arena *a = arena_new();
	struct row *rows = made_rows(a, mixed, MIXED);
	struct report_options o = {0};
	FILE *full = fopen("/dev/full", "w");
	enum report_format format;

	refused(rows, 0, o, NULL, "the sweep has no rows to report");
	o.baseline = "xla";
	refused(rows, MIXED, o, "--baseline",
	        "no rows of this planner, expected one of: gather, synth, xla-2021");
	o = (struct report_options){.clocks = wrong_clock};
	refused(rows, MIXED, o, "--clock",
	        "no rows of this clock, expected one of: fluid, model");
	o = (struct report_options){0};
	error = (struct error){0};
	ck_assert_int_eq(report_print(full, rows, MIXED, &o, &error), E_IO);
	ck_assert_str_eq(error.text, "cannot write the report");
	fclose(full);
	o.family = "f_3";
	refused(rows, MIXED, o, "--family",
	        "no rows of these families, expected a pattern such as 'f_1'");
	/* f_2 has no row of clock fluid. */
	o = (struct report_options){.family = "f_2", .clocks = fluid_only};
	refused(rows, MIXED, o, "--family",
	        "no rows of these families, expected a pattern such as 'f_1'");
	ck_assert(report_format_parse(&format, "md") && format == REPORT_MD);
	ck_assert(report_format_parse(&format, "csv") && format == REPORT_CSV);
	ck_assert(report_format_parse(&format, "tex") && format == REPORT_TEX);
	ck_assert(!report_format_parse(&format, "pdf"));
	arena_free(a);
}
END_TEST

/* Through a store: the same report, and all rows as CSV. */
START_TEST(stored)
{
	static const char header[] =
		"scenario,family,array,mesh,from,to,to_mesh,num_devices,from_devices,"
		"to_devices,memory_limit,platform,planner,clock,status,"
		"message,"
		"time_s,launch_s,local_s,recv_bytes,send_bytes,peak_array_bytes,"
		"peak_live_bytes,steps,full_remat,bound_s,recv_bound_bytes,"
		"planning_s,devices,"
		"source,base_scenario,base_platform,varied,machine,vocabulary,model,"
		"parallel,compute_s,"
		"exposed_s,bubble_s,other_s,mfu,low_s,high_s,launch\r\n";
	char dir[64], path[80], *text = NULL, *expected;
	struct report_options o = {.clocks = model_only};
	struct arena *a = arena_new();
	struct row *rows = made_rows(a, mixed, MIXED);
	struct store *s;
	size_t size;
	FILE *out;

	snprintf(dir, sizeof(dir), "%s/check_report-XXXXXX", P_tmpdir);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	rows[1].from = "P('x', None)";
	rows[1].time_s = 0.1;
	ck_assert_int_eq(store_open(&s, dir, true, &error), OK);
	for (size_t i = 0; i < MIXED; i++)
		ck_assert_int_eq(kept_put(s, &rows[i], &error), OK);
	ck_assert_int_eq(store_finish(s, &error), OK);
	out = open_memstream(&text, &size);
	ck_assert_int_eq(report_write(out, s, &o, &error), OK);
	fclose(out);
	ck_assert_str_eq(text, made_summary(a, rows, MIXED, o));
	free(text);
	for (int timing = 0; timing < 2; timing++) {
		o.timing = timing;
		text = NULL;
		out = open_memstream(&text, &size);
		ck_assert_int_eq(report_rows_csv(out, s, &o, &error), OK);
		fclose(out);
		ck_assert(strncmp(text, header, sizeof(header) - 1) == 0);
		expected = arena_printf(
			a,
			"\r\ns01,f_1,,,\"P('x', None)\",,,,,,,p-a:2x3,synth,"
			"model,ok,,0.10000000000000001,,,,,,100,,0,0.001,,%s,,,,,,,,,,,"
			",,,,,,"
			"\r\n",
			timing ? "2" : "");
		ck_assert_ptr_nonnull(strstr(text, expected));
		free(text);
	}
	out = fopen("/dev/full", "w");
	ck_assert_int_eq(report_rows_csv(out, s, &o, &error), E_IO);
	fclose(out);
	store_close(s);
	snprintf(path, sizeof(path), "%s/sweep.db", dir);
	remove(path);
	remove(dir);
	arena_free(a);
}
END_TEST

/* Of a store with one damaged row none is printed, as it is not by a report. */
START_TEST(damaged_rows)
{
	struct report_options o = {.clocks = model_only};
	struct error refused = {0};
	struct store *s = kept_open(true);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (int i = 0; i < 9; i++) {
		char name[2] = {(char)('a' + i), '\0'};
		struct row r = kept_key(name, "p", "synth", "model");

		ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	}
	kept_finish(s);
	kept_sql("UPDATE rows SET time_s = 1 WHERE scenario = 'i'");
	s = kept_open(false);
	ck_assert_int_eq(report_rows_csv(out, s, &o, &refused), E_IO);
	store_close(s);
	fclose(out);
	ck_assert_uint_eq(size, 0);
	free(text);
}
END_TEST

/* Rows of the families that match, and no others, are accounted for. */
static const struct {
	const char *pattern, *shown;
	size_t rows;
	const char *line;
} patterns[] = {
	{"f_1", "f_1", 6,
         "Of 6 rows 2 are compared, 2 are those of xla-2021 they are compared "},
	{"?_2", "?_2", 22,
         "Of 22 rows 2 are compared, 2 are those of xla-2021 they are "},
	{"f_*", "f_*", 28,
         "Of 28 rows 4 are compared, 4 are those of xla-2021 they are "},
	{"@(g|f_[1])", "@(g|f_[1])", 6,
         "Of 6 rows 2 are compared, 2 are those of xla-2021 they are "},
};

START_TEST(family_rows)
{
	struct arena *a = arena_new();
	struct row *rows = made_rows(a, mixed, MIXED);
	struct report_options o = {.clocks = model_only, .family = patterns[_i].pattern};
	char *text = made_report(a, rows, MIXED, o);
	size_t n = 0;

	for (int i = 0; i < MIXED; i++)
		n += report_family(&o, &rows[i]);
	ck_assert_uint_eq(n, patterns[_i].rows);
	ck_assert_msg(strstr(text, patterns[_i].line), "%s", text);
	ck_assert_ptr_nonnull(
		strstr(text, arena_printf(a, "match %s.\n\n", patterns[_i].shown)));
	ck_assert_int_eq(strstr(text, "| f_2 ") != NULL, _i == 1 || _i == 2);
	ck_assert_int_eq(strstr(text, "| f_1 ") != NULL, _i != 1);
	arena_free(a);
}
END_TEST

/* Up to 20 families have lines of their own, more only when asked for. */
START_TEST(many_families)
{
	struct arena *a = arena_new();
	size_t n = 3 * (REPORT_FAMILIES + (size_t)_i);
	struct row *rows = arena_alloc(a, 2 * n, sizeof(*rows));
	struct report_options o = {0};
	char *text;

	for (size_t i = 0; i < 2 * n; i++) {
		struct made made = mixed[i % 2];

		made.scenario = arena_printf(a, "s%02zu", i / 2);
		made.family = arena_printf(a, "g%02zu", i / 2 / 3);
		rows[i] = *made_rows(a, &made, 1);
	}
	text = made_report(a, rows, 2 * n, o);
	ck_assert_int_eq(strstr(text, "| synth   | g07 ") != NULL, _i == 0);
	ck_assert_int_eq(strstr(text, "## p-a:2x3, clock model, real\n") != NULL,
	                 _i == 0);
	ck_assert_int_eq(strstr(text, "There are up to 21 families; --families shows "
	                              "the speedups of each.\n") != NULL,
	                 _i == 1);
	o.families = true;
	text = made_report(a, rows, 2 * n, o);
	ck_assert_ptr_nonnull(strstr(text, "| synth   | g07 "));
	ck_assert_ptr_null(strstr(text, "There are up"));
	/* The total is over all of them either way. */
	ck_assert_ptr_nonnull(strstr(
		text,
		arena_printf(a, "| real | p-a:2x3 | model | synth   |  %zu |   3.000 | ",
	                     n)));
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("report_select");
	TCase *tc = tcase_create("report_select");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, errors);
	tcase_add_test(tc, stored);
	tcase_add_loop_test(tc, family_rows, 0, COUNT(patterns));
	tcase_add_loop_test(tc, many_families, 0, 2);
	suite_add_tcase(suite, tc);
	tc = tcase_create("damaged");
	tcase_add_checked_fixture(tc, kept_start, kept_end);
	tcase_add_test(tc, damaged_rows);
	suite_add_tcase(suite, tc);
	return suite;
}
