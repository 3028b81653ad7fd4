/* Planners among themselves: best, matrices, time over bound, faults. */
#include "report/data.h"
#include "report_made.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct error error;

#define ROW(scenario, clock, planner, time_s, bytes)                                   \
	{                                                                              \
		scenario, "f", "q:1", planner, clock, OUTCOME_OK, "", time_s, bytes,   \
			false, NAN, 0                                                  \
	}

/*
 * Against the fastest other planner best ties in s1 (2 : 2), wins by 2 in s2 (6 : 3) and
 * by 8 in s3 (40 : 5, a is not applicable), loses 8 : 10 in s4 and 100 : 100.5, below
 * 1 %, in s5; s6 has no other planner and s7 takes no time. s8 and s9 have a zero on one
 * side: a loss and a win without a finite ratio.
 */
static const struct made rivals[] = {
	ROW("s1", "model", "best", 2, 5),
	ROW("s1", "model", "a", 2, 10),
	ROW("s1", "model", "b", 4, -1),
	ROW("s2", "model", "best", 3, 7),
	ROW("s2", "model", "a", 9, 7),
	ROW("s2", "model", "b", 6, 14),
	ROW("s3", "model", "best", 5, 3),
	{"s3", "f", "q:1", "a", "model", OUTCOME_NOT_APPLICABLE, "no", NAN, 3, false,
         NAN, 0},
	ROW("s3", "model", "b", 40, 6),
	ROW("s4", "model", "best", 10, 4),
	ROW("s4", "model", "a", 8, 100),
	ROW("s4", "model", "b", 12, 25),
	ROW("s5", "model", "best", 100.5, -1),
	ROW("s5", "model", "a", 100, -1),
	ROW("s6", "model", "best", 1, -1),
	ROW("s7", "model", "best", 0, -1),
	ROW("s7", "model", "a", 0, -1),
	ROW("s8", "model", "best", 1, -1),
	ROW("s8", "model", "a", 0, -1),
	ROW("s9", "model", "best", 0, -1),
	ROW("s9", "model", "a", 1, -1),
	ROW("s2", "fluid", "best", 8, 7),
	ROW("s2", "fluid", "a", 3, 7),
	ROW("s2", "fluid", "b", 4, 14),
};

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-14 * fabs(b);
}

/* Rows in another order than any the report sorts them in. */
static struct row *turned(struct arena *a, const struct made *made, size_t n)
{
	struct row *rows = made_rows(a, made, n), *out;

	out = arena_alloc(a, n, sizeof(*out));
	for (size_t i = 0; i < n; i++)
		out[i] = rows[(i * 7 + 3) % n];
	return out;
}

static struct report gathered(struct arena *a, const struct made *made, size_t n)
{
	struct report_options o = {.baseline = "a"};
	struct report r;

	ck_assert_uint_ne(n % 7, 0); /* `turned` has every row */
	ck_assert_int_eq(report_gather(&r, a, turned(a, made, n), n, &o, &error), OK);
	return r;
}

START_TEST(best)
{
	struct arena *a = arena_new();
	struct report r = gathered(a, rivals, COUNT(rivals));
	const struct report_best *b;

	ck_assert_uint_eq(r.nbests, 2);
	b = &r.best[0];
	ck_assert_str_eq(b->clock, "fluid");
	ck_assert(b->n == 1 && b->wins == 0 && b->ties == 0 && b->losses == 1);
	ck_assert(near(b->gain, 3.0 / 8));
	b = &r.best[1];
	ck_assert_str_eq(b->clock, "model");
	ck_assert_str_eq(b->platform, "q:1");
	ck_assert(b->n == 7 && b->wins == 3 && b->ties == 1 && b->losses == 3);
	ck_assert(near(b->gain, pow(1 * 2 * 8 * 0.8 * (100 / 100.5), 1.0 / 5)));
	ck_assert(b->first_loss == 1 && b->nlosses == 2);
	ck_assert_uint_eq(r.nlosses, 3);
	ck_assert_str_eq(r.loss[0].scenario, "s2");
	ck_assert_str_eq(r.loss[0].rival, "a");
	/* The largest comes first. */
	ck_assert_str_eq(r.loss[1].scenario, "s8");
	ck_assert_str_eq(r.loss[2].scenario, "s4");
	ck_assert(r.loss[2].best_s == 10 && r.loss[2].rival_s == 8);
	arena_free(a);
}
END_TEST

/*
 * Clock model, planners a, b, best; products over the scenarios where both have a time
 * above zero (and known bytes).
 */
static const struct {
	size_t row, column, n, memory_n;
	double speedup, memory; /* the products, of column over row */
} cells[] = {
	{0, 1, 3, 2, 4.0 / 2 * 6 / 9 * 12 / 8, 14.0 / 7 * 25 / 100},
	{0, 2, 4, 3, 2.0 / 2 * 3 / 9 * 10 / 8 * 100.5 / 100, 5.0 / 10 * 7 / 7 * 4 / 100},
	{1, 2, 4, 3, 2.0 / 4 * 3 / 6 * 5 / 40 * 10 / 12, 7.0 / 14 * 3 / 6 * 4 / 25},
};

START_TEST(matrix_rows)
{
	struct arena *a = arena_new();
	struct report r = gathered(a, rivals, COUNT(rivals));
	const struct report_matrix *m = &r.matrix[1];
	const struct report_cell *over, *under;

	ck_assert_uint_eq(r.nmatrices, 2);
	ck_assert_str_eq(m->clock, "model");
	ck_assert_uint_eq(m->nplanners, 3);
	ck_assert_str_eq(m->planner[0], "a");
	ck_assert_str_eq(m->planner[1], "b");
	ck_assert_str_eq(m->planner[2], "best");
	over = &m->cell[cells[_i].row * 3 + cells[_i].column];
	under = &m->cell[cells[_i].column * 3 + cells[_i].row];
	ck_assert(over->n == cells[_i].n && under->n == cells[_i].n);
	ck_assert(over->memory_n == cells[_i].memory_n);
	ck_assert(under->memory_n == cells[_i].memory_n);
	ck_assert(near(over->speedup, pow(cells[_i].speedup, 1.0 / (double)over->n)));
	ck_assert(near(over->memory,
	               pow(cells[_i].memory, 1.0 / (double)over->memory_n)));
	ck_assert(near(over->speedup * under->speedup, 1));
	ck_assert(near(over->memory * under->memory, 1));
	arena_free(a);
}
END_TEST

/* Gain: 12.736^(1/5) = 1.663. Memory of clock fluid and of model differ in n: shown. */
START_TEST(words)
{
	static const char *const parts[] = {
		"## The planner best\n\n",
		"| kind | machine | clock |   n | fastest | w/t/l |  sure |  gain | "
		"> 1 % | exchange |\n"
		"| ---- | ------- | ----- | --: | ------: | ----: | ----: | ----: | "
		"----: | -------: |\n"
		"| real | q:1     | fluid |   1 |   0.0 % | 0/0/1 |     - | 0.375 | "
		"    1 |    0.0 % |\n"
		"| real | q:1     | model |   7 |  42.9 % | 3/1/3 | 3/3/1 | 1.663 | "
		"    2 |   28.6 % |\n\n",
		"### Losses of best above 1 %\n\nbest takes what is cheapest under "
		"model.",
		"takes.\n\n"
		"| machine | clock | scenario | planner | its time | best | "
		"ratio | cause                                                |\n"
		"| ------- | ----- | -------- | ------- | -------: | ---: | "
		"----: | ---------------------------------------------------- |\n"
		"| q:1     | fluid | s2       | a       |      3 s |  8 s | "
		"2.667 | collectives: 2.667 x model, the other's plan 0.333 x |\n"
		"| q:1     | model | s8       | a       |     0 us |  1 s | "
		"  inf | dearer by the prices it chose by                     |\n"
		"| q:1     | model | s4       | a       |      8 s | 10 s | "
		"1.250 | dearer by the prices it chose by                     |\n\n",
		"### q:1, clock model, real: time, n = 3 to 4\n\n"
		"| planner |     1 |     2 |     3 |\n"
		"| ------- | ----: | ----: | ----: |\n"
		"| 1 a     |       | 1.260 | 0.804 |\n"
		"| 2 b     | 0.794 |       | 0.402 |\n"
		"| 3 best  | 1.243 | 2.489 |       |\n\n",
		"### q:1, clock fluid, real: time, n = 1\n\n",
		"### q:1, real: memory, n = 2 to 3\n\n",
	};
	struct arena *a = arena_new();
	struct row *rows = turned(a, rivals, COUNT(rivals));
	char *text;

	/*
	 * Two of the seven plans of best on clock model have an exchange. Intervals from 0.9
	 * to 1.2 times the time overlap in s4 (9 to 12 and 7.2 to 9.6) and s5.
	 */
	for (size_t i = 0; i < COUNT(rivals); i++)
		if (strcmp(rows[i].clock, "model") == 0) {
			rows[i].low_s = 0.9 * rows[i].time_s;
			rows[i].high_s = 1.2 * rows[i].time_s;
		}
	for (size_t i = 0; i < COUNT(rivals); i++)
		if (strcmp(rows[i].planner, "best") == 0 &&
		    strcmp(rows[i].clock, "model") == 0 &&
		    (strcmp(rows[i].scenario, "s1") == 0 ||
		     strcmp(rows[i].scenario, "s4") == 0))
			rows[i].steps = "slice {x}: ->0; exchange";
	text = made_report(a, rows, COUNT(rivals),
	                   (struct report_options){.baseline = "a"});
	for (size_t i = 0; i < COUNT(parts); i++)
		ck_assert_msg(strstr(text, parts[i]), "no '%s'", parts[i]);
	ck_assert_ptr_null(strstr(text, "## Time over"));
	arena_free(a);
}
END_TEST

START_TEST(csv)
{
	static const char *const parts[] = {
		"\r\nbest,q:1,model,best,fastest other,,7,1.6634",
		",3,1,3,,,,,,,,,2,losses above 1 %,,",
		"\r\nloss,q:1,model,best,a,,,,,,,,,,,,,,,,,,,,"
		"dearer by the prices it chose by,s4,,,,,,,,,,,10,8,,,,,,,,real,,,,,,,,"
		"\r\n",
		"\r\nloss,q:1,model,best,a,,,,,,,,,,,,,,,,,,,,"
		"dearer by the prices it chose by,s8,,,,,,,,,,,1,0,,,,,,,,real,,,,,,,,"
		"\r\n",
		"\r\nmatrix,q:1,model,best,b,,4,2.489",
	};
	struct arena *a = arena_new();
	char *text = made_report(
		a, turned(a, rivals, COUNT(rivals)), COUNT(rivals),
		(struct report_options){.baseline = "a", .format = REPORT_CSV});

	for (size_t i = 0; i < COUNT(parts); i++)
		ck_assert_msg(strstr(text, parts[i]), "no '%s'", parts[i]);
	arena_free(a);
}
END_TEST

/* Every cause, from the times of both plans on both clocks and the steps of best's. */
static const struct cause {
	const char *clock, *steps;
	double best_s, best_model_s, rival_s, rival_model_s; /* NaN: no such row */
	const char *words;
} causes[] = {
	{"model", "exchange", 2, 2, 1, 1, "dearer by the prices it chose by"},
	{"fluid", "exchange", 2, NAN, 1, 1, "no times of model"},
	{"fluid", "exchange", 2, 1, 1, NAN, "no times of model"},
	{"fluid", "exchange", 2, 0, 1, 1, "no times of model"},
	{"fluid", "exchange", 6, 5, 3, 3, "loses under model too"},
	{"fluid", "exchange", 3, 2.4, 2.6, 2.5,
         "exchange: 1.250 x model, the other's plan 1.040 x"},
	{"fluid", "slice {y}: ->0; permute", 3, 2.4, 2.5, 2.5,
         "permute: 1.250 x model, the other's plan 1.000 x"},
	{"fluid", "exchange; permute", 3, 2.4, 2.5, 2.5,
         "exchange and permute: 1.250 x model, the other's plan 1.000 x"},
	{"fluid", "all-gather {x}: 0->", 3, 2.4, 2.5, 2.5,
         "collectives: 1.250 x model, the other's plan 1.000 x"},
	{"fluid", "exchange", 3, 3, 2, 4, "the other's plan: 0.500 x model"},
};

static struct row timed(const char *clock, const char *steps, double time_s)
{
	struct row r = row_empty();

	r.clock = clock;
	r.steps = steps;
	r.time_s = time_s;
	r.status = OUTCOME_OK;
	return r;
}

START_TEST(cause)
{
	const struct cause *c = &causes[_i];
	struct row best = timed(c->clock, c->steps, c->best_s);
	struct row best_model = timed("model", c->steps, c->best_model_s);
	struct row rival = timed(c->clock, "", c->rival_s);
	struct row rival_model = timed("model", "", c->rival_model_s);
	struct arena *a = arena_new();

	ck_assert_str_eq(
		report_cause(a, &best, isnan(c->best_model_s) ? NULL : &best_model,
	                     &rival, isnan(c->rival_model_s) ? NULL : &rival_model),
		c->words);
	arena_free(a);
}
END_TEST

/* The matrix of memory is not repeated for a clock under which it is the same. */
START_TEST(memory_once)
{
	struct made made[4] = {rivals[1], rivals[0], rivals[1], rivals[0]};
	struct arena *a = arena_new();
	char *text, *first;

	made[2].clock = made[3].clock = "fluid";
	text = made_report(a, made_rows(a, made, 4), 4,
	                   (struct report_options){.baseline = "a"});
	first = strstr(text, "### q:1, real: memory, n = 1\n");
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_null(strstr(first + 1, "### q:1, real: memory"));
	ck_assert_ptr_nonnull(
		strstr(first, "### q:1, clock model, real: time, n = 1\n"));
	arena_free(a);
}
END_TEST

/* More losses than are shown in words: the largest are, and the CSV has all. */
START_TEST(many_losses)
{
	enum { N = 61 };
	struct arena *a = arena_new();
	struct made made[2 * N];
	struct row *rows;
	char *text;
	size_t shown = 0;

	for (int i = 0; i < N; i++) {
		made[2 * i] = rivals[0];
		made[2 * i + 1] = rivals[1];
		made[2 * i].scenario = made[2 * i + 1].scenario =
			arena_printf(a, "n%02d", i);
		made[2 * i].time_s = 3 + i;
	}
	rows = made_rows(a, made, 2 * N);
	text = made_report(a, rows, 2 * N, (struct report_options){.baseline = "a"});
	for (const char *at = text; (at = strstr(at, "| q:1     | model | n")); at++)
		shown++;
	ck_assert_uint_eq(shown, 50);
	ck_assert_ptr_nonnull(strstr(text, "| n60 "));
	ck_assert_ptr_null(strstr(text, "| n10 "));
	ck_assert_ptr_nonnull(strstr(text, "The 50 largest of each platform and clock; "
	                                   "--format csv has all 61.\n"));
	text = made_report(
		a, rows, 2 * N,
		(struct report_options){.baseline = "a", .format = REPORT_CSV});
	ck_assert_ptr_nonnull(
		strstr(text, ",n00,,,,,,,,,,,3,2,,,,,,,,real,,,,,,,,\r\n"));
	arena_free(a);
}
END_TEST

/* Ratios 2, 3, 5, 16 (and a row without time, one without bound). */
START_TEST(bounds)
{
	static const double time_s[] = {4, 9, 35, 16, 0, 7},
			    bound_s[] = {2, 3, 7, 1, 1, 0};
	static const double expected[REPORT_QUANTILES] = {2, 2.75, 4, 7.75, 14.35, 16};
	struct arena *a = arena_new();
	struct made made[COUNT(time_s)];
	struct report r;

	for (size_t i = 0; i < COUNT(time_s); i++) {
		made[i] = rivals[1];
		made[i].scenario = arena_printf(a, "n%zu", i);
		made[i].time_s = time_s[i];
		made[i].bound_s = bound_s[i];
	}
	made[4].bound_s = 0;
	r = gathered(a, made, COUNT(made));
	ck_assert_uint_eq(r.nbounds, 1);
	ck_assert_uint_eq(r.nmatrices, 0); /* one planner */
	ck_assert_uint_eq(r.bound[0].n, 4);
	ck_assert(near(r.bound[0].mean, pow(480, 0.25)));
	for (int q = 0; q < REPORT_QUANTILES; q++)
		ck_assert(near(r.bound[0].quantile[q], expected[q]));
	ck_assert_uint_eq(r.faults, 0);
	arena_free(a);
}
END_TEST

/*
 * a solves s1, s2, s4, s5, s7, s8 and s9 of the nine scenarios. Its bytes over the bytes
 * lacked: 3/3, 6/3, 8/2 (one is unknown, one zero): mean 2, quantile 0.95 at 1.9 of 2.
 */
START_TEST(bytes)
{
	static const int64_t received[] = {3, 6, 8, -1, 0}, lacked[] = {3, 3, 2, 1, 1};
	struct arena *a = arena_new();
	struct row *rows = made_rows(a, rivals, COUNT(rivals));
	struct report_options o = {.baseline = "a"};
	struct report r;
	size_t k = 0;

	for (size_t i = 0; i < COUNT(rivals); i++) {
		if (strcmp(rows[i].planner, "a") != 0 || rows[i].status != OUTCOME_OK ||
		    strcmp(rows[i].clock, "model") != 0 || k == COUNT(received))
			continue;
		rows[i].recv_bytes = received[k];
		rows[i].recv_bound_bytes = lacked[k++];
	}
	ck_assert_int_eq(report_gather(&r, a, rows, COUNT(rivals), &o, &error), OK);
	ck_assert_uint_eq(r.nbytes, 6);
	ck_assert_str_eq(r.bytes[3].planner, "a");
	ck_assert_str_eq(r.bytes[3].clock, "model");
	ck_assert(r.bytes[3].solved == 7 && r.bytes[3].all == 9 && r.bytes[3].n == 3);
	ck_assert(near(r.bytes[3].mean, 2) && near(r.bytes[3].high, 3.8));
	ck_assert(r.bytes[3].max == 4);
	ck_assert(r.bytes[4].solved == 4 && r.bytes[4].n == 0);
	ck_assert(r.bytes[5].solved == 9 && isnan(r.bytes[5].mean));
	ck_assert_ptr_nonnull(strstr(made_report(a, rows, COUNT(rivals), o),
	                             "## Received bytes over the bytes lacked\n\n"));
	ck_assert_ptr_nonnull(strstr(made_report(a, rows, COUNT(rivals), o),
	                             "| real | q:1     | model | a       |  77.8 % |   "
	                             "3 | 2.000 | 3.800 | 4.000 "
	                             "|\n"
	                             "| real | q:1     | model | b       |  44.4 % |   "
	                             "0 |     - |     - |     - "
	                             "|\n"
	                             "| real | q:1     | model | best    | 100.0 % |   "
	                             "0 |     - |     - |     - "
	                             "|\n\n"));
	arena_free(a);
}
END_TEST

/* Faster than the bound: by more than 1e-9, ok, and with a time. */
static const struct {
	double time_s, bound_s;
	enum outcome status;
	size_t faults;
} fault_table[] = {
	{3, 3, OUTCOME_OK, 0},
	{3, 3 * (1 + 5e-10), OUTCOME_OK, 0},
	{3, 3 * (1 + 2e-9), OUTCOME_OK, 1},
	{0, 1e-12, OUTCOME_OK, 1},
	{NAN, 3, OUTCOME_OK, 0},
	{2, 3, OUTCOME_FAILED, 0},
};

START_TEST(fault_rows)
{
	struct made made[2] = {rivals[0], rivals[1]};
	struct arena *a = arena_new();
	struct report_options o = {.baseline = "a"};
	char *text;

	made[0].time_s = fault_table[_i].time_s;
	made[0].bound_s = fault_table[_i].bound_s;
	made[0].status = fault_table[_i].status;
	ck_assert_uint_eq(gathered(a, made, 2).faults, fault_table[_i].faults);
	for (o.format = REPORT_MD; o.format <= REPORT_TEX; o.format++) {
		static const char *const warned[] = {
			"WARNING: 1 of the rows is faster than the lower bound, ",
			",1,faster than the bound,",
			"WARNING: 1 of the rows is faster than the lower bound, "};

		text = made_report(a, made_rows(a, made, 2), 2, o);
		ck_assert_int_eq(strstr(text, warned[o.format]) != NULL,
		                 fault_table[_i].faults == 1);
		if (fault_table[_i].faults == 1 && o.format != REPORT_CSV)
			ck_assert_ptr_nonnull(
				strstr(text, "s1 on q:1 by best, clock model."));
	}
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("report_rivals");
	TCase *tc = tcase_create("report_rivals");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, best);
	tcase_add_loop_test(tc, matrix_rows, 0, COUNT(cells));
	tcase_add_test(tc, words);
	tcase_add_test(tc, csv);
	tcase_add_test(tc, memory_once);
	tcase_add_test(tc, many_losses);
	tcase_add_loop_test(tc, cause, 0, COUNT(causes));
	tcase_add_test(tc, bounds);
	tcase_add_test(tc, bytes);
	tcase_add_loop_test(tc, fault_rows, 0, COUNT(fault_table));
	suite_add_tcase(suite, tc);
	return suite;
}
