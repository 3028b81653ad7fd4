#include "report_made.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define P "p-a:2x3"
#define X "xla-2021"

/*
 * Speedups 3 and 12 in f_1, 1 and 0.5 in f_2; memory 3, 1/3, unknown, 4. The other
 * scenarios end in all the ways there are to be left out.
 */
const struct made mixed[MIXED] = {
	{"s01", "f_1", P, X, "model", OUTCOME_OK, "", 6e-3, 300, true, 1, 1e-3},
	{"s01", "f_1", P, "synth", "model", OUTCOME_OK, "", 2e-3, 100, false, 2, 1e-3},
	{"s01", "f_1", P, "gather", "model", OUTCOME_NOT_APPLICABLE, "unreduced axes",
         NAN, -1, false, NAN, 0},
	{"s01", "f_1", P, "synth", "fluid", OUTCOME_OK, "", 7e-3, 100, false, 2, 0},
	{"s02", "f_1", P, X, "model", OUTCOME_OK, "", 24e-3, 100, true, 3, 0.25e-3},
	{"s02", "f_1", P, "synth", "model", OUTCOME_OK, "", 2e-3, 300, true, 5, 0.25e-3},
	{"s03", "f_2", P, X, "model", OUTCOME_OK, "", 5e-3, -1, false, 3, 0},
	{"s03", "f_2", P, "synth", "model", OUTCOME_OK, "", 5.000004e-3, 7, false, 9, 0},
	{"s04", "f_2", P, X, "model", OUTCOME_OK, "", 5e-3, 8, false, 3, 0},
	{"s04", "f_2", P, "synth", "model", OUTCOME_OK, "", 10e-3, 2, false, NAN, 0},
	/* no data moves */
	{"s05", "f_2", P, X, "model", OUTCOME_OK, "", 0, 8, false, NAN, 0},
	{"s05", "f_2", P, "synth", "model", OUTCOME_OK, "", 0, 8, false, NAN, 0},
	{"s06", "f_2", P, X, "model", OUTCOME_NOT_APPLICABLE, "7 over 2 is uneven", NAN,
         -1, false, NAN, 0},
	{"s06", "f_2", P, "synth", "model", OUTCOME_OK, "", 1e-3, 8, false, NAN, 0},
	/* two reasons that differ in their numbers only */
	{"s07", "f_2", P, X, "model", OUTCOME_OK, "", 1e-3, 8, false, NAN, 0},
	{"s07", "f_2", P, "synth", "model", OUTCOME_OVER_MEMORY, "needs 1025 bytes",
         NAN, -1, false, NAN, 0},
	{"s08", "f_2", P, X, "model", OUTCOME_OK, "", 1e-3, 8, false, NAN, 0},
	{"s08", "f_2", P, "synth", "model", OUTCOME_OVER_MEMORY, "needs 99 bytes", NAN,
         -1, false, NAN, 0},
	{"s09", "f_2", P, "synth", "model", OUTCOME_FAILED, "", NAN, -1, false, NAN, 0},
	{"s10", "f_2", P, "synth", "model", OUTCOME_OK, "", 1e-3, 8, false, NAN, 0},
	/* one side of zero time */
	{"s11", "f_2", P, X, "model", OUTCOME_OK, "", 1e-3, 8, false, NAN, 0},
	{"s11", "f_2", P, "synth", "model", OUTCOME_OK, "", 0, 8, false, NAN, 0},
	{"s12", "f_2", P, X, "model", OUTCOME_OK, "", 0, 8, false, NAN, 0},
	{"s12", "f_2", P, "synth", "model", OUTCOME_OK, "", 1e-3, 8, false, NAN, 0},
	{"s13", "f_2", P, "synth", "model", OUTCOME_WRONG,
         "lost 50 % | \"x\",\n<y_1> & {z}", NAN, -1, false, NAN, 0},
	/* no time known */
	{"s14", "f_2", P, "synth", "model", OUTCOME_OK, "", NAN, 8, false, NAN, 0},
	{"s15", "f_2", P, X, "model", OUTCOME_OK, "", NAN, 8, false, NAN, 0},
	{"s15", "f_2", P, "synth", "model", OUTCOME_OK, "", 1e-3, 8, false, NAN, 0},
};

/*
 * Hand computation. f_1: geometric mean sqrt(36) = 6; of two values the interval is
 * both, as each is drawn twice with 1/4; rank sum 3 of 3, p = 2/4. f_2: sqrt(1/2); the
 * tie is dropped, p = 1. All: 18^(1/4) = 2.060; of the 4^4 resamples 1.95 % have a mean
 * up to 0.595 and 4.3 % up to 0.707, 96.5 % up to 6 and 98.0 % up to 6.447; rank sum 5
 * of 6, p = 2 * 2/8. Memory: sqrt(3 / 3) = 1; 4; 4^(1/3) = 1.587. Gain: log 36 /
 * log 18. Bounds are known of s01 and s02: synth takes 2 and 8 times as long, xla-2021 6
 * and 96 times; the quantile p of two values lies at p between them. The matrix of memory
 * has the seven scenarios where both are ok and known, of which three have a ratio:
 * 4^(1/7) = 1.219.
 *
 * The first table: the median of 0.5, 1, 3 and 12 is 2, that of the two without a full
 * rematerialization 0.75; one tie of 4, and of 2; synth is over memory in s07 and s08. The
 * one speedup above 5.7 is s02's, where xla-2021 rematerializes. The same cases: twelve
 * scenarios have a time of some planner (not s09, s13 and s14); gather has none of them,
 * synth lacks s07 and s08, xla-2021 lacks s06, s10 and s15, so that no case is left.
 */
const char mixed_md[] =
	"# Speedup over xla-2021\n"
	"\n"
	"synth is 2.06 times as fast as xla-2021: geometric means over 4 real "
	"scenarios, clock\n"
	"model.\n"
	"\n"
	"Two or more planners solve 6 real scenarios. No intervals (80 %) are known "
	"of their\n"
	"times, so in none it is certain which is fastest; in 1 all take equally "
	"long.\n"
	"\n"
	"Speedup is the time of xla-2021 divided by the planner's, memory its "
	"peak_live_bytes\n"
	"divided by the planner's: above 1 the planner is better. Both are "
	"geometric means over\n"
	"the n scenarios where both are ok and both times are above zero; a "
	"figure with a count\n"
	"is over that many of them. The interval is a 95 % bootstrap interval "
	"of the mean speedup\n"
	"(10000 resamples, seed 1); w/t/l are wins, ties (within 1e-6 "
	"relative) and losses, and\n"
	"sure is the same where times that their intervals (80 %) do not part "
	"are ties. Cases are\n"
	"all, or those in which xla-2021 does not rematerialize fully: no "
	"device holds the whole\n"
	"array on the way unless an end is replicated. Unfit counts the cases "
	"that are in no mean\n"
	"because a plan does not fit into the memory of the device: that of "
	"xla-2021 / that of\n"
	"the planner alone.\n"
	"\n"
	"## Real scenarios: speedup over xla-2021, clock model\n"
	"\n"
	"| machine          | planner | cases      |   n | speedup |  95 % "
	"interval | median |   min |    max | w/t/l |   ties | sure |    memory | "
	"unfit |\n"
	"| ---------------- | ------- | ---------- | --: | ------: | "
	"-------------: | -----: | ----: | -----: | ----: | -----: | ---: | "
	"--------: | ----: |\n"
	"| p-a:2x3          | synth   | all        |   4 |   2.060 | [0.707, "
	"6.447] |  2.000 | 0.500 | 12.000 | 2/1/1 | 25.0 % |    - | 1.587 (3) "
	"|   0/2 |\n"
	"| p-a:2x3          | synth   | not remat. |   2 |   0.707 | [0.500, "
	"1.000] |  0.750 | 0.500 |  1.000 | 0/1/1 | 50.0 % |    - | 4.000 (1) "
	"|       |\n"
	"| arXiv 2112.01075 | its own | its own    |     |   1.220 |           "
	"     |        |       |  5.700 |       |        |      |           |       "
	"|\n"
	"\n"
	"The abstract of arXiv 2112.01075 gives its synthesizer, after which "
	"synth is made, a\n"
	"geometric mean of 1.22 and at most 5.7 over XLA's partitioner of its "
	"day; it names\n"
	"neither the machine nor the problems. synth's means here, 2.06, "
	"differ for these\n"
	"reasons. The problems are not the paper's. In 2 of 4 cases (each "
	"scenario on each\n"
	"machine) xla-2021 rematerializes fully; without these the means are "
	"0.71; of the cases\n"
	"above 5.7 (1) 1 are such. A mean is not what to expect of one "
	"scenario: in 25 % of the\n"
	"cases both take equally long, and medians are 2.00. Times are "
	"simulated, not measured:\n"
	"launches, links and local copies are in them, and nothing else that a "
	"system does.\n"
	"\n"
	"Not shown: gather (--planner all shows them).\n"
	"\n"
	"## Planners on the same real scenarios, clock model\n"
	"\n"
	"| planner  | p-a:2x3 |\n"
	"| -------- | ------: |\n"
	"| n        | 0 of 12 |\n"
	"| gather   |  - (12) |\n"
	"| synth    |   - (2) |\n"
	"| xla-2021 |   - (3) |\n"
	"\n"
	"On the same cases each cell is the geometric mean of the time of "
	"xla-2021 divided by the\n"
	"planner's, over the n cases that all planners of the machine solve in "
	"times above zero;\n"
	"in brackets is how many cases the planner does not solve, of those "
	"that some planner\n"
	"solves. The line n has both counts.\n"
	"\n"
	"## All planners\n"
	"\n"
	"The same of every planner and clock, over all cases; p is the "
	"two-sided one of\n"
	"Wilcoxon's signed-rank test on the logarithms of the speedups; x "
	"bound is the mean of\n"
	"the planner's time over the lower bound, where that is above zero.\n"
	"\n"
	"| kind | machine | clock | planner |   n | speedup |  95 % interval | "
	"  min |    max | w/t/l | sure |     p |    memory |   x bound |\n"
	"| ---- | ------- | ----- | ------- | --: | ------: | -------------: | "
	"----: | -----: | ----: | ---: | ----: | --------: | --------: |\n"
	"| real | p-a:2x3 | model | gather  |   0 |       - |              - | "
	"    - |      - | 0/0/0 |    - |     - |         - |         - |\n"
	"| real | p-a:2x3 | model | synth   |   4 |   2.060 | [0.707, 6.447] | "
	"0.500 | 12.000 | 2/1/1 |    - | 0.500 | 1.587 (3) | 4.000 (2) |\n"
	"\n"
	"## p-a:2x3, clock model, real\n"
	"\n"
	"| planner | family |   n | speedup |   95 % interval |   min |    max "
	"| w/t/l | sure |     p |    memory |   x bound |\n"
	"| ------- | ------ | --: | ------: | --------------: | ----: | -----: "
	"| ----: | ---: | ----: | --------: | --------: |\n"
	"| gather  | f_1    |   0 |       - |               - |     - |      - "
	"| 0/0/0 |    - |     - |         - |         - |\n"
	"| gather  | (all)  |   0 |       - |               - |     - |      - "
	"| 0/0/0 |    - |     - |         - |         - |\n"
	"| synth   | f_1    |   2 |   6.000 | [3.000, 12.000] | 3.000 | 12.000 "
	"| 2/0/0 |    - | 0.500 |     1.000 |     4.000 |\n"
	"| synth   | f_2    |   2 |   0.707 |  [0.500, 1.000] | 0.500 |  1.000 "
	"| 0/1/1 |    - | 1.000 | 4.000 (1) |         - |\n"
	"| synth   | (all)  |   4 |   2.060 |  [0.707, 6.447] | 0.500 | 12.000 "
	"| 2/1/1 |    - | 0.500 | 1.587 (3) | 4.000 (2) |\n"
	"\n"
	"## Planner against planner\n"
	"\n"
	"Geometric means of the time (the peak_live_bytes) of the column's "
	"planner divided by\n"
	"that of the row's, over the n scenarios where both are ok and the "
	"times are above zero\n"
	"(the bytes known): above 1 the row's planner is better. Columns have "
	"the numbers of the\n"
	"rows. Where n differs, --format csv has it for each pair; a memory "
	"matrix that is that\n"
	"of the clock before is not repeated.\n"
	"\n"
	"### p-a:2x3, clock model, real: time, n = 0 to 4\n"
	"\n"
	"| planner    |   1 |     2 |     3 |\n"
	"| ---------- | --: | ----: | ----: |\n"
	"| 1 gather   |     |     - |     - |\n"
	"| 2 synth    |   - |       | 2.060 |\n"
	"| 3 xla-2021 |   - | 0.485 |       |\n"
	"\n"
	"### p-a:2x3, real: memory, n = 0 to 7\n"
	"\n"
	"| planner    |   1 |     2 |     3 |\n"
	"| ---------- | --: | ----: | ----: |\n"
	"| 1 gather   |     |     - |     - |\n"
	"| 2 synth    |   - |       | 1.219 |\n"
	"| 3 xla-2021 |   - | 0.820 |       |\n"
	"\n"
	"## Time over the lower bound\n"
	"\n"
	"How many times the lower bound a plan takes: the geometric mean and "
	"the quantiles over\n"
	"the planner's n scenarios that are ok and whose time and bound are "
	"above zero.\n"
	"\n"
	"| kind | machine | clock | planner  |   n |   mean |   min |   25 % | "
	"median |   75 % |   95 % |    max |\n"
	"| ---- | ------- | ----- | -------- | --: | -----: | ----: | -----: | "
	"-----: | -----: | -----: | -----: |\n"
	"| real | p-a:2x3 | model | synth    |   2 |  4.000 | 2.000 |  3.500 | "
	" 5.000 |  6.500 |  7.700 |  8.000 |\n"
	"| real | p-a:2x3 | model | xla-2021 |   2 | 24.000 | 6.000 | 28.500 | "
	"51.000 | 73.500 | 91.500 | 96.000 |\n"
	"\n"
	"## Where the gain comes from\n"
	"\n"
	"In remat. of the n scenarios the plan of xla-2021 has a full "
	"rematerialization: a device\n"
	"holds the whole array on the way, although neither end is replicated. "
	"With and without\n"
	"are the mean speedups over these scenarios and over the others; the "
	"part of gain is\n"
	"theirs of the sum of the logarithms of all speedups (above 100 % "
	"where the others lose).\n"
	"\n"
	"| kind | machine | clock | planner |   n | remat. |  share |  with | "
	"without | part of gain |\n"
	"| ---- | ------- | ----- | ------- | --: | -----: | -----: | ----: | "
	"------: | -----------: |\n"
	"| real | p-a:2x3 | model | gather  |   0 |      0 |      - |     - |  "
	"     - |            - |\n"
	"| real | p-a:2x3 | model | synth   |   4 |      2 | 50.0 % | 6.000 |  "
	" 0.707 |      124.0 % |\n"
	"\n"
	"## Left out\n"
	"\n"
	"Of 28 rows 4 are compared, 4 are those of xla-2021 they are compared "
	"with, 19 are left\n"
	"out, and 1 are of clocks not asked for. Reasons that differ only in "
	"their numbers are\n"
	"one, with # for the numbers.\n"
	"\n"
	"| planner  | machine | status         | rows | reason |\n"
	"| -------- | ------- | -------------- | ---: | ------ |\n"
	"| gather   | p-a:2x3 | not-applicable |    1 | unreduced axes |\n"
	"| synth    | p-a:2x3 | ok             |    1 | no communication |\n"
	"| synth    | p-a:2x3 | ok             |    1 | no row of xla-2021 |\n"
	"| synth    | p-a:2x3 | ok             |    1 | no time |\n"
	"| synth    | p-a:2x3 | ok             |    1 | takes no time, "
	"xla-2021 does: no finite ratio |\n"
	"| synth    | p-a:2x3 | ok             |    1 | takes time, xla-2021 "
	"does not: no finite ratio |\n"
	"| synth    | p-a:2x3 | ok             |    1 | xla-2021 has no time "
	"|\n"
	"| synth    | p-a:2x3 | ok             |    1 | xla-2021 is "
	"not-applicable |\n"
	"| synth    | p-a:2x3 | over-memory    |    2 | needs # bytes |\n"
	"| synth    | p-a:2x3 | wrong          |    1 | lost 50 % \\| \"x\", "
	"\\<y_1> & {z} |\n"
	"| synth    | p-a:2x3 | failed         |    1 | failed, no reason |\n"
	"| xla-2021 | p-a:2x3 | ok             |    2 | no communication |\n"
	"| xla-2021 | p-a:2x3 | ok             |    3 | no planner to compare "
	"with |\n"
	"| xla-2021 | p-a:2x3 | ok             |    1 | no time |\n"
	"| xla-2021 | p-a:2x3 | not-applicable |    1 | 7 over 2 is uneven |\n"
	"\n";

struct row *made_rows(struct arena *a, const struct made *made, size_t n)
{
	struct row *rows = arena_alloc(a, n, sizeof(*rows));

	for (size_t i = 0; i < n; i++) {
		rows[i] = row_empty();
		rows[i].scenario = made[i].scenario;
		rows[i].family = made[i].family;
		rows[i].platform = made[i].platform;
		rows[i].planner = made[i].planner;
		rows[i].clock = made[i].clock;
		rows[i].status = made[i].status;
		rows[i].message = made[i].message;
		rows[i].time_s = made[i].time_s;
		rows[i].peak_live_bytes = made[i].peak_live_bytes;
		rows[i].full_remat = made[i].full_remat;
		rows[i].planning_s = made[i].planning_s;
		if (made[i].bound_s > 0)
			rows[i].bound_s = made[i].bound_s;
	}
	return rows;
}

char *made_summary(struct arena *a, const struct row *rows, size_t n,
                   struct report_options o)
{
	char *text = NULL, *kept;
	size_t size;
	struct error error = {0};
	FILE *out = open_memstream(&text, &size);

	ck_assert_msg(report_print(out, rows, n, &o, &error) == OK, "%s", error.text);
	fclose(out);
	kept = arena_strdup(a, text);
	free(text);
	return kept;
}

char *made_report(struct arena *a, const struct row *rows, size_t n,
                  struct report_options o)
{
	o.details = true;
	return made_summary(a, rows, n, o);
}

/* Show the first line that differs rather than two whole reports. */
void made_same(const char *got, const char *expected)
{
	for (int line = 1;; line++) {
		size_t n = strcspn(got, "\n"), m = strcspn(expected, "\n");

		ck_assert_msg(n == m && memcmp(got, expected, n) == 0,
		              "line %d is\n%.*s\nnot\n%.*s", line, (int)n, got, (int)m,
		              expected);
		got += n;
		expected += m;
		if (!*got || !*expected)
			break;
		got++;
		expected++;
	}
	ck_assert_str_eq(got, expected);
}
