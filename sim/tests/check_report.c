#include "report/data.h"
#include "report_made.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const model_only[] = {"model", NULL};
static struct error error;

START_TEST(markdown)
{
	struct arena *a = arena_new();
	struct row *rows = made_rows(a, mixed, MIXED);

	made_same(made_report(a, rows, MIXED,
	                      (struct report_options){.clocks = model_only}),
	          mixed_md);
	arena_free(a);
}
END_TEST

/*
 * A family of which nobody solves anything is named once, and has no line in the table;
 * one that a single planner solves has a line of every planner that has rows of it.
 */
START_TEST(absent_families)
{
	static const struct made rows[] = {
		{"s1", "none", "p", "xla", "model", OUTCOME_OK, "", 1e-3, 8, false, NAN,
	         0},
		{"s1", "none", "p", "digit", "model", OUTCOME_NOT_APPLICABLE, "why",
	         NAN, -1, false, NAN, 0},
		{"s2", "some", "p", "xla", "model", OUTCOME_OK, "", 1e-3, 8, false, NAN,
	         0},
		{"s2", "some", "p", "digit", "model", OUTCOME_NOT_APPLICABLE, "why",
	         NAN, -1, false, NAN, 0},
		{"s2", "some", "p", "synth", "model", OUTCOME_OK, "", 1e-3, 8, false,
	         NAN, 0},
		{"s3", "void", "p", "synth", "model", OUTCOME_NOT_APPLICABLE, "why",
	         NAN, -1, false, NAN, 0},
		{"s3", "void", "p", "digit", "model", OUTCOME_NOT_APPLICABLE, "why",
	         NAN, -1, false, NAN, 0},
	};
	struct arena *a = arena_new();
	char *text = made_report(a, made_rows(a, rows, COUNT(rows)), COUNT(rows),
	                         (struct report_options){.baseline = "xla",
	                                                 .clocks = model_only,
	                                                 .families = true});

	ck_assert_ptr_nonnull(strstr(text, "case to compare in: none, void.\n"));
	ck_assert_ptr_null(strstr(text, "| none"));
	ck_assert_ptr_null(strstr(text, "| void"));
	ck_assert_ptr_nonnull(strstr(text, "| digit   | some   |   0 |"));
	ck_assert_ptr_nonnull(strstr(text, "| synth   | some   |   1 |"));
	arena_free(a);
}
END_TEST

static char *field_of(char *line, int field)
{
	static char value[200];
	size_t n = 0;

	for (; field > 0; line++)
		field -= *line == ',';
	while (*line != ',' && *line != '\r')
		value[n++] = *line++;
	value[n] = '\0';
	return value;
}

static const char first[] =
	"section,platform,clock,planner,baseline,family,n,speedup,speedup_low,"
	"speedup_high,speedup_min,speedup_max,wins,ties,losses,p,memory_n,"
	"memory_ratio,remat_n,speedup_remat,speedup_rest,gain_remat,status,"
	"rows,"
	"reason,example,planning_median_s,planning_max_s,bound_n,times_bound,"
	"times_bound_min,times_bound_q25,times_bound_median,times_bound_q75,"
	"times_bound_q95,times_bound_max,time_s,baseline_time_s,solved,"
	"scenarios,bytes_n,times_recv_bound,times_recv_bound_q95,"
	"times_recv_bound_max,crossing,kind,speedup_median,cases,"
	"baseline_over_memory,over_memory,cannot,sure_wins,sure_ties,"
	"sure_losses\r\n"
	"first,p-a:2x3,model,synth,xla-2021,,4,2.05976673,";

static const struct {
	int line, field;
	double value;
} figures[] = {
	/* the first table, all cases and those without a full rematerialization */
	{1, 6, 4},
	{1, 7, 2.0597667},
	{1, 46, 2},
	{1, 48, 0},
	{1, 49, 2},
	{2, 6, 2},
	{2, 7, 0.70710678},
	{2, 13, 1},
	{2, 46, 0.75},
	/* what gather, synth and xla-2021 do not solve of twelve scenarios */
	{3, 39, 12},
	{3, 50, 12},
	{4, 50, 2},
	{5, 6, 0},
	{5, 50, 3},
	/* all cases */
	{10, 6, 4},
	{10, 7, 2.0597667},
	{10, 8, 0.70710678},
	{10, 9, 6.4474183},
	{10, 10, 0.5},
	{10, 11, 12},
	{10, 12, 2},
	{10, 13, 1},
	{10, 14, 1},
	{10, 15, 0.5},
	{10, 16, 3},
	{10, 17, 1.5874011},
	{10, 28, 2},
	{10, 29, 4},
	/* of s01 to s04, s11 and s12, which take time, all tie in s03; no interval is known */
	{11, 6, 6},
	{11, 13, 1},
	{11, 47, 0},
	/* the matrix: synth over xla-2021 and the other way round */
	{15, 6, 4},
	{15, 7, 2.0597667},
	{15, 16, 7},
	{15, 17, 1.2190137},
	{17, 7, 0.4854919},
	/* time over bound of synth and xla-2021 */
	{18, 28, 2},
	{18, 29, 4},
	{18, 30, 2},
	{18, 31, 3.5},
	{18, 32, 5},
	{18, 33, 6.5},
	{18, 34, 7.7},
	{18, 35, 8},
	{19, 29, 24},
	{19, 34, 91.5},
	/* of 13 scenarios that a planner solves */
	{20, 38, 0},
	{20, 39, 13},
	{21, 38, 11},
	{21, 40, 0},
	{22, 38, 10},
	/* where the gain comes from, and the rows */
	{24, 6, 4},
	{24, 18, 2},
	{24, 19, 6},
	{24, 20, 0.7071065},
	{24, 21, 1.2398126},
	{40, 23, 28},
	{41, 23, 4},
	{42, 23, 4},
	{43, 23, 19},
	{44, 23, 1},
	{45, 23, 0},
};

/* The figures of the Markdown with all their digits, and the accounting. */
START_TEST(csv)
{
	struct arena *a = arena_new();
	struct row *rows = made_rows(a, mixed, MIXED);
	char *line[50], *text;
	int n = 0;

	text = made_report(
		a, rows, MIXED,
		(struct report_options){.format = REPORT_CSV, .clocks = model_only});
	for (char *at = text; *at; at = strstr(at, "\r\n") + 2)
		line[n++] = at;
	ck_assert_int_eq(n, 46); /* 1 + 2 + 3 + 5 + 1 + 6 + 2 + 3 + 2 + 15 + 6 */
	ck_assert(strncmp(text, first, sizeof(first) - 1) == 0);
	for (size_t i = 0; i < COUNT(figures); i++) {
		char *value = field_of(line[figures[i].line], figures[i].field);

		ck_assert_double_eq_tol(strtod(value, NULL), figures[i].value, 3e-6);
	}
	ck_assert_ptr_nonnull(strstr(text,
	                             ",wrong,1,\"lost 50 % | \"\"x\"\",\n<y_1> & {z}\""
	                             ",s13,,,,,,,,,,,,,,,,,,,,,,,,,,,,\r\n"));
	ck_assert_ptr_nonnull(strstr(
		text,
		",over-memory,2,needs # bytes,s07,,,,,,,,,,,,,,,,,,,,,,,,,,,,\r\n"));
	arena_free(a);
}
END_TEST

START_TEST(tex)
{
	static const char *const parts[] = {
		"% Needs \\usepackage{booktabs,graphicx}.\n",
		"\\noindent Speedup is the time of xla-2021 divided by",
		"\\begin{table}\n\\centering\\footnotesize\n"
		"\\caption{Speedup over xla-2021 on p-a:2x3, clock model, real, $n = "
		"0$ to "
		"$4$}\\label{tab:families-p-a-2x3-clock-model-real}\n",
		"\\begin{tabular}{@{}llrrrrrrrrrr@{}}\n\\toprule\n"
		"planner & family & n & speedup & 95 \\% interval & min & max & w/t/l "
		"& sure & p & "
		"memory & x bound \\\\\n\\midrule\n"
		"gather & f\\_1 & 0 & - & - & - & - & 0/0/0 & - & - & - & - \\\\\n",
		"synth & f\\_1 & 2 & 6.000 & [3.000, 12.000] & 3.000 & 12.000 & 2/0/0 "
		"& - & "
		"0.500 & 1.000 & 4.000 \\\\\n",
		"1.587 (3) & 4.000 (2) "
		"\\\\\n\\bottomrule\n\\end{tabular}}\n\\par\\smallskip\\parbox{"
		"\\linewidth}{\\scriptsize n: scenarios. ",
		"synth & p-a:2x3 & over-memory & 2 & needs \\# bytes \\\\\n",
		"& 1 & lost 50 \\% \\textbar{} ''x'', \\textless{}y\\_1\\textgreater{} "
		"\\& "
		"\\{z\\} \\\\\n",
		"\\begin{tabular}{@{}lllrp{0.6\\linewidth}@{}}\n",
	};
	struct arena *a = arena_new();
	struct row *rows = made_rows(a, mixed, MIXED);
	char *text = made_report(
		a, rows, MIXED,
		(struct report_options){.format = REPORT_TEX, .clocks = model_only});
	int depth = 0;

	for (size_t i = 0; i < COUNT(parts); i++)
		ck_assert_msg(strstr(text, parts[i]), "no '%s'", parts[i]);
	for (const char *c = text; *c; c++) { /* braces balance */
		depth += *c == '{' && (c == text || c[-1] != '\\');
		depth -= *c == '}' && c[-1] != '\\';
		ck_assert_int_ge(depth, 0);
	}
	ck_assert_int_eq(depth, 0);
	arena_free(a);
}
END_TEST

/* All characters LaTeX takes for itself. */
START_TEST(tex_specials)
{
	struct arena *a = arena_new();
	struct made made[2] = {mixed[0], mixed[1]};
	struct row *rows;

	made[1].status = OUTCOME_FAILED;
	made[1].message = "a\\b~c^d$e\tf'g";
	rows = made_rows(a, made, 2);
	ck_assert_ptr_nonnull(strstr(
		made_report(a, rows, 2, (struct report_options){.format = REPORT_TEX}),
		"a\\textbackslash{}b\\textasciitilde{}c\\textasciicircum{}d\\$e f'g"));
	arena_free(a);
}
END_TEST

/* Equal rows in any order give equal bytes; planning times only when asked for. */
START_TEST(any_order)
{
	static const enum report_format formats[] = {REPORT_MD, REPORT_CSV, REPORT_TEX};
	struct arena *a = arena_new();
	size_t n = MIXED;
	struct made turned[MIXED];
	struct row *rows = made_rows(a, mixed, n), *others;

	for (size_t i = 0; i < n; i++) {
		turned[i] = mixed[(i * 11 + 5) % n];
		turned[i].planning_s = 0.125;
	}
	others = made_rows(a, turned, n);
	for (size_t f = 0; f < COUNT(formats); f++) {
		struct report_options o = {.format = formats[f]};
		char *text = made_report(a, rows, n, o);

		ck_assert_str_eq(text, made_report(a, others, n, o));
		o.timing = true;
		ck_assert_str_ne(text, made_report(a, rows, n, o));
		ck_assert_str_ne(made_report(a, rows, n, o),
		                 made_report(a, others, n, o));
	}
	arena_free(a);
}
END_TEST

/* Planning times of synth 2, 5, 9: median 5; all clocks, all statuses, the baseline. */
START_TEST(timing)
{
	struct arena *a = arena_new();
	struct row *rows = made_rows(a, mixed, MIXED);
	char *text =
		made_report(a, rows, MIXED, (struct report_options){.timing = true});

	ck_assert_ptr_nonnull(strstr(
		text,
		"## Planning time\n\n"
		"| kind | machine | clock | planner  |   n |  median s |     max s |\n"
		"| ---- | ------- | ----- | -------- | --: | --------: | --------: |\n"
		"| real | p-a:2x3 | fluid | synth    |   1 | 2.000e+00 | 2.000e+00 |\n"
		"| real | p-a:2x3 | model | gather   |   0 |         - |         - |\n"
		"| real | p-a:2x3 | model | synth    |   3 | 5.000e+00 | 9.000e+00 |\n"
		"| real | p-a:2x3 | model | xla-2021 |   4 | 3.000e+00 | 3.000e+00 "
		"|\n\n"));
	arena_free(a);
}
END_TEST

/* Another baseline, the sign test, and two platforms, one without the baseline. */
START_TEST(options)
{
	static const struct made made[] = {
		{"a", "f", "q:1", "one", "model", OUTCOME_OK, "", 3, 5, false, NAN, 0},
		{"a", "f", "q:1", "two", "model", OUTCOME_OK, "", 1, 5, false, NAN, 0},
		{"b", "f", "q:1", "one", "model", OUTCOME_OK, "", 5, 5, false, NAN, 0},
		{"b", "f", "q:1", "two", "model", OUTCOME_OK, "", 1, 5, false, NAN, 0},
		{"a", "f", "r:1", "two", "model", OUTCOME_OK, "", 1, 5, false, NAN, 0},
		{"c", "f", "q:1", "two", "model", OUTCOME_FAILED, "x", 1, 5, false, 0, 0},
		{"c", "f", "r:1", "two", "model", OUTCOME_FAILED, "x", 1, 5, false, 0, 0},
	};
	struct arena *a = arena_new();
	struct row *rows = made_rows(a, made, COUNT(made));
	struct report_options o = {.baseline = "one", .test = REPORT_SIGN};
	char *text = made_report(a, rows, COUNT(made), o);

	ck_assert_ptr_nonnull(strstr(text, "sign"));
	ck_assert_ptr_nonnull(
		strstr(text, "| real | q:1     | model | two     |   2 |   3.873 | "
	                     "[3.000, 5.000] | 3.000 | 5.000 | 2/0/0 |    - | 0.500 "
	                     "|  1.000 |       - |\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "| real | r:1     | model | two     |   0 |       - |"));
	ck_assert_ptr_nonnull(strstr(
		text, "| two     | r:1     | ok     |    1 | no row of one |\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "| two     | q:1     | failed |    1 | x |\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "| two     | r:1     | failed |    1 | x |\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "|   2 |      0 | 0.0 % |    - |   3.873 |"));
	o.baseline = "two";
	ck_assert_ptr_nonnull(strstr(made_report(a, rows, COUNT(made), o),
	                             "|   2 |   0.258 | [0.200, 0.333] |"));
	arena_free(a);
}
END_TEST

/* Nothing but the baseline, nothing but failures, and nothing left out. */
START_TEST(poor_sweeps)
{
	struct arena *a = arena_new();
	struct made made[2] = {mixed[0], mixed[1]};
	char *text =
		made_report(a, made_rows(a, made, 1), 1, (struct report_options){0});

	made_same(text,
	          "# Speedup over xla-2021\n\n"
	          "There is no other planner to compare with it.\n\n"
	          "## Time over the lower bound\n\n"
	          "How many times the lower bound a plan takes: the geometric mean and "
	          "the quantiles over\nthe planner's n scenarios that are ok and whose "
	          "time and bound are above zero.\n\n"
	          "| kind | machine | clock | planner  |   n |  mean |   min |  25 % "
	          "| median |  75 % |  95 % |   max |\n"
	          "| ---- | ------- | ----- | -------- | --: | ----: | ----: | ----: "
	          "| -----: | ----: | ----: | ----: |\n"
	          "| real | p-a:2x3 | model | xla-2021 |   1 | 6.000 | 6.000 | 6.000 | "
	          " 6.000 "
	          "| 6.000 | 6.000 | 6.000 |\n\n"
	          "## Left out\n\n"
	          "Of 1 rows 0 are compared, 0 are those of xla-2021 they are compared "
	          "with, 1 are left\nout, and 0 are of clocks not asked for. Reasons "
	          "that differ only in their numbers are\none, with # for the "
	          "numbers.\n\n"
	          "| planner  | machine | status | rows | reason |\n"
	          "| -------- | ------- | ------ | ---: | ------ |\n"
	          "| xla-2021 | p-a:2x3 | ok     |    1 | no planner to compare with "
	          "|\n\n");
	text = made_report(a, made_rows(a, made, 2), 2, (struct report_options){0});
	ck_assert_ptr_nonnull(strstr(
		text, "## Left out\n\nOf 2 rows 1 are compared, 1 are those of "
		      "xla-2021 they are compared with, 0 are left\nout, and 0 are "
		      "of clocks not asked for.\n\n"));
	for (int i = 0; i < 2; i++) {
		made[i].status = OUTCOME_FAILED;
		made[i].message = "killed";
	}
	text = made_report(a, made_rows(a, made, 2), 2, (struct report_options){0});
	ck_assert_ptr_nonnull(strstr(text, "Of 2 rows 0 are compared, 0 are those"));
	ck_assert_ptr_nonnull(
		strstr(text, "| synth    | p-a:2x3 | failed |    1 | killed"));
	ck_assert_ptr_nonnull(
		strstr(text, "| xla-2021 | p-a:2x3 | failed |    1 | killed"));
	arena_free(a);
}
END_TEST

/* Figures far from 1 keep their digits, and names their columns. */
START_TEST(extremes)
{
	static const struct {
		double baseline_s, planner_s;
		const char *shown;
	} table[] = {
		{1, 1e-7, "| 10000000 |"},   {12345, 1, "|   12345 |"},
		{1234.56, 1, "|  1234.6 |"}, {99.9994, 1, "|  99.999 |"},
		{99.9996, 1, "|   100.0 |"}, {0.0123456, 1, "|   0.012 |"},
		{1e-3, 7, "| 1.43e-04 |"},
	};
	struct arena *a = arena_new();

	for (size_t i = 0; i < COUNT(table); i++) {
		struct made made[2] = {mixed[0], mixed[1]};
		char *text;

		made[0].family = made[1].family =
			"\xc3\xa9t\xc3\xa9"; /* 3 columns wide */
		made[0].time_s = table[i].baseline_s;
		made[1].time_s = table[i].planner_s;
		text = made_report(a, made_rows(a, made, 2), 2,
		                   (struct report_options){0});
		ck_assert_msg(strstr(text, table[i].shown), "%s in\n%s", table[i].shown,
		              text);
		ck_assert_ptr_nonnull(
			strstr(text, "| synth   | \xc3\xa9t\xc3\xa9    |   1 |"));
	}
	arena_free(a);
}
END_TEST

/* Many equal wins: p has an exponent, or is below what a double holds. */
START_TEST(small_p)
{
	struct arena *a = arena_new();
	size_t n = 2 * 3001;
	struct row *rows = arena_alloc(a, n, sizeof(*rows));
	struct report_options o = {.test = REPORT_SIGN};

	for (size_t i = 0; i < n; i++) {
		rows[i] = row_empty();
		rows[i].scenario = arena_printf(a, "s%zu", i / 2);
		rows[i].planner = i % 2 ? "synth" : "xla-2021";
		rows[i].time_s = i % 2 ? 1e-3 : 2e-3;
	}
	/* The sign test: 2 / 2^11 and 2 / 2^3001. */
	ck_assert_ptr_nonnull(
		strstr(made_report(a, rows, 22, o), "| 11/0/0 |    - | 9.8e-04 |"));
	ck_assert_ptr_nonnull(
		strstr(made_report(a, rows, n, o), "| 3001/0/0 |    - | <1e-300 |"));
	/* Memory is known of none. */
	ck_assert_ptr_nonnull(strstr(made_report(a, rows, 22, (struct report_options){0}),
	                             "|      - |       - |\n"));
	arena_free(a);
}
END_TEST

/* included + left out = all, whatever the baseline and the clocks. */
START_TEST(accounting)
{
	static const char *const baselines[] = {"xla-2021", "synth", "gather"};
	static const char *const fluid[] = {"fluid", NULL}, *const both[] = {"fluid",
	                                                                     "model",
	                                                                     NULL};
	const char *const *const clocks[] = {NULL, fluid, both, model_only, both + 2};
	struct arena *a = arena_new();
	struct row *rows = made_rows(a, mixed, MIXED);

	for (size_t i = 0; i < COUNT(baselines) * COUNT(clocks); i++) {
		struct report_options o = {.baseline = baselines[i % COUNT(baselines)],
		                           .clocks = clocks[i / COUNT(baselines)]};
		size_t left = 0, compared = 0, family = 0;
		struct report r;

		ck_assert_int_eq(report_gather(&r, a, rows, MIXED, &o, &error), OK);
		for (size_t k = 0; k < r.nlefts; k++)
			left += r.left[k].rows;
		for (size_t k = 0; k < r.nlines; k++) {
			const struct report_line *l = &r.line[k];

			*(l->family ? &family : &compared) += l->speedup.n;
			ck_assert_uint_eq(l->wins + l->ties + l->losses, l->speedup.n);
		}
		ck_assert_uint_eq(left, r.left_out);
		ck_assert_uint_eq(compared, r.compared);
		ck_assert_uint_eq(family, r.compared);
		ck_assert_uint_eq(r.all, MIXED);
		ck_assert_uint_eq(r.all, r.compared + r.references + r.left_out +
		                                 r.other_clocks);
	}
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("report");
	TCase *tc = tcase_create("report");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, markdown);
	tcase_add_test(tc, absent_families);
	tcase_add_test(tc, csv);
	tcase_add_test(tc, tex);
	tcase_add_test(tc, tex_specials);
	tcase_add_test(tc, any_order);
	tcase_add_test(tc, timing);
	tcase_add_test(tc, options);
	tcase_add_test(tc, poor_sweeps);
	tcase_add_test(tc, extremes);
	tcase_add_test(tc, small_p);
	tcase_add_test(tc, accounting);
	suite_add_tcase(suite, tc);
	return suite;
}
