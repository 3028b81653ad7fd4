/*
 * The page: nothing in it is taken for markup, everything in it is there without scripts,
 * nothing comes from elsewhere, and libxml2 finds its elements well nested.
 */
#include "measure/timeline.h"
#include "report/data.h"
#include "report/html.h"
#include "report_made.h"
#include "tests/tests.h"

#include <check.h>
#include <jansson.h>
#include <libxml/HTMLparser.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TURN "\xe2\x80\xae" /* U+202E, RIGHT-TO-LEFT OVERRIDE */
#define HARMLESS "</script><img src=x onerror='f()'>\"&amp;\\ \t"
#define EVIL TURN HARMLESS

static const char *page_of(struct arena *a, const struct row *rows, size_t n,
                           const char *scenario)
{
	struct report_options o = {.format = REPORT_HTML, .scenario = scenario};

	return made_report(a, rows, n, o);
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)) != NULL; text += strlen(part))
		n++;
	return n;
}

/* The text between two marks, the arena's. */
static char *between(struct arena *a, const char *text, const char *from, const char *to)
{
	const char *start = strstr(text, from), *end;

	ck_assert_msg(start != NULL, "no %s", from);
	start += strlen(from);
	end = strstr(start, to);
	ck_assert_msg(end != NULL, "no %s", to);
	return arena_strndup(a, start, (size_t)(end - start));
}

/* Errors other than elements of HTML 5, which libxml2 does not know. */
static int parse_errors(const char *page)
{
	htmlParserCtxtPtr parser = htmlNewParserCtxt();
	htmlDocPtr doc =
		htmlCtxtReadMemory(parser, page, (int)strlen(page), NULL, "UTF-8",
	                           HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING);
	const xmlError *last = xmlCtxtGetLastError(parser);
	int bad = !doc || (last && last->code != XML_HTML_UNKNOWN_TAG);

	xmlFreeDoc(doc);
	htmlFreeParserCtxt(parser);
	return bad;
}

/* All texts of a row are evil, and there is a step with a link of such a name. */
static struct row *evil_rows(struct arena *a)
{
	struct row *rows = arena_alloc(a, 2, sizeof(*rows));

	for (int i = 0; i < 2; i++) {
		rows[i] = row_empty();
		for (int c = 0; c < ROW_COLUMNS; c++)
			if (row_columns[c].kind == ROW_TEXT)
				*(const char **)((char *)&rows[i] +
				                 row_columns[c].offset) = EVIL;
		rows[i].model = rows[i].parallel = NULL; /* steps have no page */
		rows[i].memory_limit = "64KiB";
		rows[i].vocabulary = "portable";
		rows[i].time_s = 2e-3 - i * 1e-3;
		rows[i].peak_array_bytes = 48 << 10;
		rows[i].varied = "nic.bandwidth=" EVIL;
		rows[i].timeline =
			"[{\"op\":\"slice\",\"algorithm\":\"<i>\",\"time_s\":0.001,"
			"\"launch_s\":0,\"local_s\":0,\"recv_bytes\":7,\"busiest\":1,"
			"\"links\":[[\"<script>x</script>\",1024,0.001]]}]";
	}
	rows[0].planner = "xla-2021";
	return rows;
}

START_TEST(markup_is_text)
{
	struct arena *a = arena_new();
	const char *page = page_of(a, evil_rows(a), 2, NULL);
	char *json = between(a, page, "id=\"cases\">", "</script>");
	json_error_t error;
	json_t *cases = json_loads(json, 0, &error);

	ck_assert_ptr_null(strstr(page, "<img"));
	ck_assert_ptr_null(strstr(page, "<i>"));
	ck_assert_ptr_null(strstr(page, "<script>x"));
	ck_assert_uint_eq(count(page, "<script"), 2);
	ck_assert_uint_eq(count(page, "</script>"), 2);
	ck_assert_ptr_nonnull(
		strstr(page, "&lt;script&gt;x&lt;/script&gt; 1 KiB (1 ms)"));
	ck_assert_ptr_nonnull(strstr(page, "<dt>vocabulary</dt><dd>portable</dd>"));
	ck_assert_ptr_nonnull(cases);
	ck_assert_str_eq(json_string_value(
				 json_array_get(json_object_get(cases, "scenarios"), 0)),
	                 "\xef\xbf\xbd" HARMLESS);
	ck_assert_ptr_null(strstr(page, TURN));
	json_decref(cases);
	ck_assert_int_eq(parse_errors(page), 0);
	arena_free(a);
}
END_TEST

START_TEST(nothing_from_elsewhere)
{
	struct arena *a = arena_new();
	const char *page = page_of(a, made_rows(a, mixed, MIXED), MIXED, NULL);

	ck_assert_ptr_null(strstr(page, "http"));
	ck_assert_ptr_null(strstr(page, " src="));
	ck_assert_ptr_null(strstr(page, "url("));
	ck_assert_ptr_null(strstr(page, "@import"));
	ck_assert_ptr_null(strstr(page, "nan"));
	ck_assert_ptr_null(strstr(page, "inf\""));
	ck_assert_int_eq(parse_errors(page), 0);
	arena_free(a);
}
END_TEST

/* What the hand-made sweep (report_made.h) has on clock model. */
START_TEST(parts)
{
	static const char *const told[] = {
		"<dt>scenarios</dt><dd>15</dd>",
		"<dt>rows</dt><dd>28</dd>",
		"<dt>over-memory</dt><dd>2</dd>",
		"<div class=\"bad\"><dt>wrong</dt><dd>1</dd>",
		"<div class=\"bad\"><dt>failed</dt><dd>1</dd>",
		/* s01, s02 are faster and s03, s04 not; others lack a time or have zeros */
		"In 2 of 4 comparisons some planner is faster than xla-2021.",
		/* s02: 24 ms over 2 ms, 2 ms over 0.25 ms, 2 of 2 */
		"<td class=\"r\">2 ms</td><td class=\"r\">24 ms</td>"
		"<td class=\"r\">12.000</td><td class=\"r\">8.000</td>"
		"<td class=\"r\">300 B</td><td class=\"r\">-</td>"
		"<td class=\"r\">2/2</td></tr>",
		"<h2 id=\"time-over-the-lower-bound\">",
		"2 rows failed or are wrong.",
		"&lt;y_1&gt; &amp; {z}</td>",
		"<td>wrong</td><td class=\"p\">lost 50 % | &quot;x&quot;,",
		"Left out</h2>",
	};
	struct arena *a = arena_new();
	const char *page = page_of(a, made_rows(a, mixed, MIXED), MIXED, NULL);

	for (size_t i = 0; i < COUNT(told); i++)
		ck_assert_msg(strstr(page, told[i]) != NULL, "no %s", told[i]);
	ck_assert_ptr_null(strstr(page, "<dt>vocabulary</dt>"));
	/* there is no memory limit */
	ck_assert_uint_eq(count(page, "memory-against-the-limit"), 0);
	/* up to 24 scenarios: all have their plans */
	ck_assert_uint_eq(count(page, "<section "), 15);
	page = page_of(a, made_rows(a, mixed, MIXED), MIXED, "s0[12]");
	ck_assert_uint_eq(count(page, "<section "), 2);
	page = page_of(a, made_rows(a, mixed, MIXED), MIXED, "s14");
	ck_assert_uint_eq(count(page, "<section "), 1);
	arena_free(a);
}
END_TEST

START_TEST(unknown_scenario)
{
	struct report_options o = {.format = REPORT_HTML, .scenario = "s99"};
	struct arena *a = arena_new();
	struct row *rows = made_rows(a, mixed, MIXED);
	struct error e = {0};
	FILE *out = fopen("/dev/null", "w");

	ck_assert_int_eq(report_print(out, rows, MIXED, &o, &e), E_RANGE);
	ck_assert_str_eq(e.text,
	                 "no rows of such scenarios, expected a name such as 's01'");
	fclose(out);
	arena_free(a);
}
END_TEST

/*
 * 120 scenarios with speedups 1 to 120 over two planners: those with the largest gains have
 * parts, as have those where best loses most and those with faults; the table has 100.
 */
START_TEST(choice_of_scenarios)
{
	enum { N = 120 };
	struct arena *a = arena_new();
	struct row *rows = arena_alloc(a, 3 * N, sizeof(*rows));
	const char *page, *json;

	for (int i = 0; i < 3 * N; i++) {
		static const char *const planner[] = {"xla-2021", "synth", "best"};
		int s = i / 3, k = i % 3;

		rows[i] = row_empty();
		rows[i].scenario = arena_printf(a, "s%03d", s + 1);
		rows[i].platform = "p";
		rows[i].clock = "model";
		rows[i].planner = planner[k];
		rows[i].time_s = k == 0 ? 1e-3 * (s + 1) : 1e-3;
		if (k == 2 && s >= 20 && s < 31) /* 1.01 is no loss above 1 % */
			rows[i].time_s *= 1 + 0.01 * (s - 19);
		if (k == 2 && s < 3)
			rows[i].status = OUTCOME_FAILED;
	}
	page = page_of(a, rows, 3 * N, NULL);
	ck_assert_uint_eq(count(page, "<section "), 8 + 8 + 3);
	ck_assert_ptr_nonnull(strstr(page, "<h3>s120 "));
	ck_assert_ptr_nonnull(strstr(page, "<h3>s113 "));
	ck_assert_ptr_null(strstr(page, "<h3>s112 "));
	ck_assert_ptr_nonnull(strstr(page, "<h3>s031 "));
	ck_assert_ptr_nonnull(strstr(page, "<h3>s024 "));
	ck_assert_ptr_null(strstr(page, "<h3>s023 "));
	ck_assert_ptr_nonnull(strstr(page, "<h3>s003 "));
	ck_assert_uint_eq(count(between(a, page, "id=\"scenario-table\"", "</table>"),
	                        "<tr><td>"),
	                  HTML_TABLE_ROWS);
	json = between(a, page, "id=\"cases\">", "</script>");
	ck_assert_uint_eq(count(json, "\n["), N - 1); /* the first stands on a line */
	/* the first is the largest: numbers of names, 1 ms, 120 ms, 120, the rest unknown */
	ck_assert_ptr_nonnull(strstr(
		json,
		"\"rows\":[[119,0,0,0,1,0.001,0.12,120,null,null,null,3,3,1,19,0]"));
	arena_free(a);
}
END_TEST

/* 30 rows with one message and one with another: each message once, with its rows. */
START_TEST(many_faults)
{
	enum { N = 31 };
	struct arena *a = arena_new();
	struct row *rows = arena_alloc(a, N + 1, sizeof(*rows));
	const char *page, *list;

	for (int i = 0; i <= N; i++) {
		rows[i] = row_empty();
		rows[i].scenario = arena_printf(a, "s%02d", i);
		rows[i].platform = "<p>";
		rows[i].clock = "model";
		rows[i].planner = i == N ? "xla-2021" : "synth";
		rows[i].status = i == N ? OUTCOME_OK : OUTCOME_FAILED;
		rows[i].message = i == 3 ? "it <burned>" : "took longer";
		rows[i].time_s = i == N ? 1 : NAN;
	}
	page = page_of(a, rows, N + 1, NULL);
	ck_assert_int_eq(parse_errors(page), 0);
	list = between(a, page, "id=\"failures\">", "<h2");
	ck_assert_ptr_nonnull(strstr(list, "31 rows failed or are wrong."));
	ck_assert_uint_eq(count(list, "<details>"), 2);
	ck_assert_uint_eq(count(list, "<tr><td>"), 20 + 1);
	ck_assert_ptr_nonnull(strstr(
		list, "<details><summary>30 rows are failed: took longer</summary>"));
	ck_assert_ptr_nonnull(strstr(list, "The first 20 of them:"));
	ck_assert_ptr_nonnull(strstr(
		list, "<summary>1 row is failed: it &lt;burned&gt;</summary>\n<div"));
	ck_assert_ptr_nonnull(strstr(list,
	                             "<tr><td>s03</td><td>&lt;p&gt;</td><td>synth</td>"
	                             "<td>model</td><td>failed</td>"
	                             "<td class=\"p\">it &lt;burned&gt;</td></tr>"));
	/* the more frequent first; up to 20 rows one by one, as in `parts` */
	ck_assert(strstr(list, "took longer") < strstr(list, "burned"));
	page = page_of(a, rows + 11, N + 1 - 11, NULL);
	list = between(a, page, "id=\"failures\">", "<h2");
	ck_assert_uint_eq(count(list, "<details>"), 0);
	ck_assert_uint_eq(count(list, "<tr><td>"), 20);
	arena_free(a);
}
END_TEST

START_TEST(any_order)
{
	struct arena *a = arena_new();
	struct row *rows = made_rows(a, mixed, MIXED);
	const char *page = page_of(a, rows, MIXED, NULL);

	for (size_t i = 0; i < MIXED / 2; i++) {
		struct row swap = rows[i];

		rows[i] = rows[MIXED - 1 - i];
		rows[MIXED - 1 - i] = swap;
	}
	made_same(page_of(a, rows, MIXED, NULL), page);
	arena_free(a);
}
END_TEST

/* Two steps of 3 and 1 ms on a line 510 wide; planners with one plan share it. */
START_TEST(time_lines)
{
	static const char timeline[] =
		"[{\"op\":\"all-gather\",\"algorithm\":\"ring\",\"time_s\":0.003,"
		"\"launch_s\":1e-6,\"local_s\":0,\"recv_bytes\":3072,\"busiest\":4,"
		"\"links\":[[\"up0\",3072,0.0025],[\"up1\",3072,0.0025]]},"
		"{\"op\":\"slice\",\"algorithm\":null,\"time_s\":0.001,\"launch_s\":0,"
		"\"local_s\":0.001,\"recv_bytes\":0,\"busiest\":0,\"links\":[]}]";
	struct arena *a = arena_new();
	struct row rows[3];
	const char *page;

	for (int i = 0; i < 3; i++) {
		static const char *const planner[] = {"gather", "xla-2021", "synth"};

		rows[i] = row_empty();
		rows[i].scenario = "s";
		rows[i].planner = planner[i];
		rows[i].clock = "model";
		rows[i].time_s = i < 2 ? 0.004 : 0.04; /* ten times: cut off at six */
		rows[i].steps = "all-gather {\"x; y\"}: 0->; slice {z}: ->1";
		rows[i].timeline = i < 2 ? timeline : "";
	}
	page = page_of(a, rows, 3, NULL);
	ck_assert_ptr_nonnull(
		strstr(page, ">gather +1<title>gather, xla-2021</title>"));
	ck_assert_ptr_nonnull(strstr(page, "<rect class=\"op all-gather\" x=\"150.00\" "
	                                   "y=\"8.0\" width=\"63.75\""));
	ck_assert_ptr_nonnull(strstr(page, "<rect class=\"op slice\" x=\"213.75\" "
	                                   "y=\"8.0\" width=\"21.25\""));
	ck_assert_ptr_nonnull(strstr(
		page,
		"<title>all-gather {&quot;x; y&quot;}: 0-&gt;: 3 ms, ring, receives "
		"3 KiB; busiest: up0 3 KiB (2.5 ms); up1 3 KiB (2.5 ms); 4 links "
		"as busy as the first</title>"));
	ck_assert_ptr_nonnull(strstr(page, "⋯ 40 ms"));
	ck_assert_ptr_nonnull(strstr(page, "<td class=\"r\">75.0 %</td>"));
	ck_assert_int_eq(parse_errors(page), 0);
	arena_free(a);
}
END_TEST

/* Of what is no timeline nothing is read. */
START_TEST(broken_timelines)
{
	static const char *const texts[] = {
		"", "[", "{}", "3", "[]", "null", "\"x\"",
	};
	struct arena *a = arena_new();
	struct timeline_step *steps;

	for (size_t i = 0; i < COUNT(texts); i++) {
		ck_assert_int_eq(timeline_read(&steps, a, texts[i]), 0);
		ck_assert_ptr_null(steps);
	}
	ck_assert_int_eq(timeline_read(&steps, a,
	                               "[3, {\"op\": 1, \"links\": [7, [\"l\"], 1]}]"),
	                 2);
	ck_assert_str_eq(steps[0].op, "");
	ck_assert_double_nan(steps[1].time_s);
	ck_assert_int_eq(steps[1].nlinks, 1);
	ck_assert_int_eq((int)steps[1].recv_bytes, -1);
	arena_free(a);
}
END_TEST

START_TEST(ticks)
{
	static const double wide[] = {0.1, 1, 10, 100}, narrow[] = {0.5, 1, 2};
	struct html_axis x = {0.05, 200, 10, 110};
	double tick[40];

	ck_assert_int_eq(html_ticks(tick, 40, &x), 4);
	for (int i = 0; i < 4; i++)
		ck_assert_double_eq_tol(tick[i], wide[i], 1e-12);
	x = (struct html_axis){0.5, 2, 10, 110};
	ck_assert_int_eq(html_ticks(tick, 40, &x), 3);
	for (int i = 0; i < 3; i++)
		ck_assert_double_eq_tol(tick[i], narrow[i], 1e-12);
	ck_assert_double_eq_tol(html_at(&x, 1), 60, 1e-9);
	ck_assert_double_eq_tol(html_at(&x, 8), 110, 1e-9); /* beyond its end */
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("report_html");
	TCase *tc = tcase_create("report_html");

	tcase_add_test(tc, markup_is_text);
	tcase_add_test(tc, nothing_from_elsewhere);
	tcase_add_test(tc, parts);
	tcase_add_test(tc, unknown_scenario);
	tcase_add_test(tc, choice_of_scenarios);
	tcase_add_test(tc, many_faults);
	tcase_add_test(tc, any_order);
	tcase_add_test(tc, time_lines);
	tcase_add_test(tc, broken_timelines);
	tcase_add_test(tc, ticks);
	suite_add_tcase(suite, tc);
	return suite;
}
