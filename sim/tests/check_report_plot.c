/* Plots through gnuplot: names are texts and never commands, and files whole or absent. */
#include "report/plot.h"
#include "store_made.h"
#include "tests/tests.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[400];
static struct error error;
static struct arena *arena;

/* Relative names: what a command in a text would make, it would make here. */
static void start(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%.300s/check_plot-XXXXXX", tmp ? tmp : P_tmpdir);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	error = (struct error){0};
	arena = arena_new();
}

static void end(void)
{
	unlink("sweep.db");
	unlink("plot.svg");
	unlink("plot.pdf");
	unlink("it's \"a\" `plot`.svg");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(dir), 0);
	arena_free(arena);
}

/* Two planners on a platform, three scenarios each. */
static const char *made_clock = "model";

static struct store *made(const char *platform, const char *baseline,
                          const char *planner)
{
	static const double time_s[2][3] = {{3, 5, 7}, {3, 2.5, 1}};
	struct store *s;

	unlink("sweep.db");
	ck_assert_int_eq(store_open(&s, ".", true, &error), OK);
	for (int i = 0; i < 6; i++) {
		struct row r = row_empty();

		r.scenario = arena_printf(arena, "s%d", i % 3);
		r.platform = platform;
		r.planner = i / 3 ? planner : baseline;
		r.clock = made_clock;
		r.time_s = time_s[i / 3][i % 3];
		ck_assert_int_eq(kept_put(s, &r, &error), OK);
	}
	ck_assert_int_eq(store_finish(s, &error), OK);
	return s;
}

/*
 * On p two planners solve different scenarios, so that nothing is common; on q both solve
 * one of two.
 */
static struct store *made_curves(void)
{
	static const struct {
		const char *platform, *scenario, *planner;
	} solved[] = {
		{"p", "s", "base"}, {"p", "u", "base"}, {"p", "s", "one"},
		{"p", "u", "two"},  {"q", "s", "base"}, {"q", "u", "base"},
		{"q", "s", "one"},  {"q", "s", "two"},  {"q", "u", "one"},
	};
	struct store *s;

	ck_assert_int_eq(store_open(&s, ".", true, &error), OK);
	for (size_t i = 0; i < 2 * sizeof(solved) / sizeof(solved[0]); i++) {
		struct row r = row_empty();

		r.scenario = r.base_scenario = solved[i / 2].scenario;
		r.base_platform = solved[i / 2].platform;
		r.varied = i % 2 ? "nic.bandwidth=25GBps" : "nic.bandwidth=50GBps";
		r.platform = arena_printf(arena, "%s{%s}", r.base_platform, r.varied);
		r.planner = solved[i / 2].planner;
		r.clock = "model";
		r.time_s = 1 + (double)i;
		ck_assert_int_eq(kept_put(s, &r, &error), OK);
	}
	ck_assert_int_eq(store_finish(s, &error), OK);
	return s;
}

static char *contents(const char *path)
{
	static char text[100000];
	FILE *f = fopen(path, "rb");
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	return text;
}

static const struct {
	const char *name, *in_svg;
} names[] = {
	{"a`touch ran`", "a`touch ran`"},
	{"a\"b", "a&quot;b"},
	{"it's ''", "it's ''"},
	{"$HOME", "$HOME"},
	{"a_b^{c}@d", "a_b^{c}@d"},
	{"a\\\\nb\\\\", "a\\\\nb\\\\"},
	{"a\n!touch ran\nb", "a !touch ran b"},
	{"a'; system('touch ran'); '", "a'; system('touch ran'); '"},
	{"50%d %s %n", "50%d %s %n"},
	{"a", "a''"},
	{"\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9"},
};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* As a platform, a planner and the baseline: each is in the picture as it is. */
START_TEST(texts)
{
	for (int place = 0; place < 3; place++) {
		const char *name = names[_i].name, *svg, *wanted = names[_i].in_svg;
		struct report_options o = {.baseline = place == 2 ? name : "base"};
		struct store *s = made(place == 0 ? name : "p", o.baseline,
		                       place == 1 ? name : "q");

		ck_assert_msg(report_plot("plot.svg", s, &o, &error) == OK, "%s",
		              error.text);
		svg = contents("plot.svg");
		ck_assert_ptr_nonnull(strstr(svg, "</svg>"));
		ck_assert_msg(strstr(svg, wanted) || strstr(svg, name),
		              "no %s in the picture", wanted);
		ck_assert_int_ne(access("ran", F_OK), 0);
		store_close(s);
	}
}
END_TEST

START_TEST(endings)
{
	struct report_options o = {.baseline = "base"};
	struct store *s = made("p", "base", "q");

	ck_assert_int_eq(report_plot("plot.pdf", s, &o, &error), OK);
	ck_assert_int_eq(strncmp(contents("plot.pdf"), "%PDF-", 5), 0);
	ck_assert_int_eq(report_plot("it's \"a\" `plot`.svg", s, &o, &error), OK);
	ck_assert_ptr_nonnull(strstr(contents("it's \"a\" `plot`.svg"), "</svg>"));
	ck_assert_int_eq(report_plot("plot.png", s, &o, &error), E_SYNTAX);
	error = (struct error){0};
	ck_assert_int_eq(report_plot("none/plot.svg", s, &o, &error), E_IO);
	ck_assert_str_eq(error.text, "cannot write it: No such file or directory");
	error = (struct error){0};
	setenv("PATH", "/none", 1);
	ck_assert_int_eq(report_plot("plot.svg", s, &o, &error), E_IO);
	ck_assert_str_eq(error.text, "plots need the program gnuplot");
	ck_assert_int_ne(access("plot.svg", F_OK), 0);
	store_close(s);
}
END_TEST

START_TEST(common_scenarios)
{
	struct report_options o = {.baseline = "base"};
	struct store *s = made_curves();
	const char *svg;

	ck_assert_msg(report_plot("plot.svg", s, &o, &error) == OK, "%s", error.text);
	svg = contents("plot.svg");
	ck_assert_ptr_nonnull(strstr(svg, "of p, n = 1, 1 left out"));
	ck_assert_ptr_nonnull(strstr(svg, "of q, n = 1, 1 left out"));
	store_close(s);
}
END_TEST

/* Random problems are in no picture of real scenarios: one of each is n = 1. */
START_TEST(kinds_apart)
{
	static const char *const sources[] = {"", "generated: random"};
	struct report_options o = {.baseline = "base"};
	struct store *s;

	ck_assert_int_eq(store_open(&s, ".", true, &error), OK);
	for (int i = 0; i < 4; i++) {
		struct row r = row_empty();

		r.scenario = i % 2 ? "drawn" : "met";
		r.source = sources[i % 2];
		r.platform = "p";
		r.planner = i < 2 ? "base" : "one";
		r.clock = "model";
		r.time_s = 1 + (double)i;
		ck_assert_int_eq(kept_put(s, &r, &error), OK);
	}
	ck_assert_int_eq(store_finish(s, &error), OK);
	ck_assert_msg(report_plot("plot.svg", s, &o, &error) == OK, "%s", error.text);
	ck_assert_ptr_nonnull(strstr(contents("plot.svg"), "real scenarios"));
	ck_assert_ptr_nonnull(strstr(contents("plot.svg"), "p, n = 1<"));
	store_close(s);
}
END_TEST

/* Rows of one clock need no --clock, whichever it is; without the baseline it is said. */
START_TEST(the_clock_there_is)
{
	struct report_options o = {.baseline = "base"};
	struct store *s;

	made_clock = "flow";
	s = made("p", "base", "q");
	made_clock = "model";
	ck_assert_msg(report_plot("plot.svg", s, &o, &error) == OK, "%s", error.text);
	ck_assert_ptr_nonnull(strstr(contents("plot.svg"), "clock flow"));
	o.baseline = "other";
	ck_assert_int_eq(report_plot("plot.svg", s, &o, &error), E_RANGE);
	ck_assert_ptr_nonnull(strstr(error.text, "no rows of this planner"));
	error = (struct error){0};
	store_close(s);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("report_plot");
	TCase *tc = tcase_create("report_plot");

	tcase_add_checked_fixture(tc, start, end);
	tcase_add_loop_test(tc, texts, 0, NAMES);
	tcase_add_test(tc, common_scenarios);
	tcase_add_test(tc, endings);
	tcase_add_test(tc, kinds_apart);
	tcase_add_test(tc, the_clock_there_is);
	suite_add_tcase(s, tc);
	return s;
}
