/* What intervals say of wins and of winners in a report, worked out by hand. */
#include "report/data.h"
#include "report_made.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define X "xla-2021"

/* A row of clock model; a time of NaN is a planner that does not apply. */
struct timed {
	const char *platform, *scenario, *planner;
	double time_s, low_s, high_s;
};

/*
 * On m:1 the fastest planner, or both of two, is certain in c1 (6 < 9) and in c4 (5 < 9, as
 * best-portable does not count beside best), and not in c2 (8.5 > 8); in c3 all tie. Of c5 there
 * is one planner, of c6 an interval is not known, and c7 takes no time. On n:1 c1 is certain.
 * Of o:1 no interval is known; c1 takes all equally long.
 */
static const struct timed made[] = {
	{"m:1", "c1", X, 10, 9, 12},
	{"m:1", "c1", "synth", 5, 4.5, 6},
	{"m:1", "c1", "best", 5, 4.5, 6},
	{"m:1", "c2", X, 10, 9, 12},
	{"m:1", "c2", "synth", 9, 8, 9.5},
	{"m:1", "c2", "best", 8, 7, 8.5},
	{"m:1", "c3", X, 7, 6, 8},
	{"m:1", "c3", "synth", 7, 6, 8},
	{"m:1", "c3", "best", 7, 6, 8},
	{"m:1", "c4", X, 10, 9, 12},
	{"m:1", "c4", "synth", NAN, NAN, NAN},
	{"m:1", "c4", "best-portable", 4.5, 3.5, 5.5},
	{"m:1", "c4", "best", 4, 3, 5},
	{"m:1", "c5", "best", 4, 3, 5},
	{"m:1", "c6", X, 10, NAN, NAN},
	{"m:1", "c6", "synth", 5, 4.5, 6},
	{"m:1", "c6", "best", 5, 4.5, 6},
	{"m:1", "c7", X, 0, 0, 0},
	{"m:1", "c7", "best", 0, 0, 0},
	{"n:1", "c1", X, 3, 2, 4},
	{"n:1", "c1", "synth", 1, 0.5, 1.5},
	{"o:1", "c1", X, 3, NAN, NAN},
	{"o:1", "c1", "synth", 3, NAN, NAN},
	{"o:1", "c2", X, 3, NAN, NAN},
	{"o:1", "c2", "synth", 1, NAN, NAN},
};

/* The first row of o:1. */
enum { UNKNOWN_FIRST = COUNT(made) - 4 };

static struct row *rows_of(struct arena *a)
{
	struct row *row = arena_alloc(a, COUNT(made), sizeof(*row));

	for (size_t i = 0; i < COUNT(made); i++) {
		row[i] = row_empty();
		row[i].platform = made[i].platform;
		row[i].scenario = made[i].scenario;
		row[i].planner = made[i].planner;
		row[i].family = "f";
		row[i].clock = "model";
		row[i].time_s = made[i].time_s;
		row[i].low_s = made[i].low_s;
		row[i].high_s = made[i].high_s;
		row[i].status =
			isnan(made[i].time_s) ? OUTCOME_NOT_APPLICABLE : OUTCOME_OK;
	}
	return row;
}

static struct report gather(struct arena *a)
{
	struct report_options o = {.baseline = X};
	struct error error = {0};
	struct report r;

	ck_assert_int_eq(report_gather(&r, a, rows_of(a), COUNT(made), &o, &error), OK);
	return r;
}

START_TEST(winners)
{
	static const struct report_winner wanted[] = {
		{KIND_REAL, "m:1", "model", 5, 1, 1, 2},
		{KIND_REAL, "n:1", "model", 1, 0, 0, 1},
		{KIND_REAL, "o:1", "model", 2, 1, 1, 0},
	};
	struct arena *a = arena_new();
	struct report r = gather(a);

	ck_assert_uint_eq(r.nwinners, COUNT(wanted));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		ck_assert_str_eq(r.winner[i].platform, wanted[i].platform);
		ck_assert_uint_eq(r.winner[i].n, wanted[i].n);
		ck_assert_uint_eq(r.winner[i].tied, wanted[i].tied);
		ck_assert_uint_eq(r.winner[i].unknown, wanted[i].unknown);
		ck_assert_uint_eq(r.winner[i].certain, wanted[i].certain);
	}
	arena_free(a);
}
END_TEST

/*
 * Against X synth wins c1, c2 and c6 and ties in c3; surely c1 alone, as 9.5 > 9 and c6 is not
 * known. best wins c1, c2, c4 and c6, surely the first three. Against the fastest other best
 * wins c2 and c4, surely c4.
 */
START_TEST(both_ways)
{
	static const struct {
		const char *planner;
		size_t wins, ties, losses, sure_wins, sure_ties, sure_losses;
	} wanted[] = {{"synth", 3, 1, 0, 1, 2, 0}, {"best", 4, 1, 0, 3, 1, 0}};
	struct arena *a = arena_new();
	struct report r = gather(a);
	size_t found = 0;

	for (size_t i = 0; i < r.nlines; i++)
		for (size_t k = 0; k < COUNT(wanted); k++) {
			const struct report_line *l = &r.line[i];

			if (l->family || strcmp(l->platform, "m:1") != 0 ||
			    strcmp(l->planner, wanted[k].planner) != 0)
				continue;
			ck_assert_uint_eq(l->wins, wanted[k].wins);
			ck_assert_uint_eq(l->ties, wanted[k].ties);
			ck_assert_uint_eq(l->losses, wanted[k].losses);
			ck_assert_uint_eq(l->sure.wins, wanted[k].sure_wins);
			ck_assert_uint_eq(l->sure.ties, wanted[k].sure_ties);
			ck_assert_uint_eq(l->sure.losses, wanted[k].sure_losses);
			found++;
		}
	ck_assert_uint_eq(found, COUNT(wanted));
	ck_assert_uint_eq(r.nbests, 1);
	ck_assert(r.best[0].n == 5 && r.best[0].wins == 2 && r.best[0].ties == 3);
	ck_assert(r.best[0].sure.wins == 1 && r.best[0].sure.ties == 4);
	arena_free(a);
}
END_TEST

START_TEST(words)
{
	struct arena *a = arena_new();
	struct report_options o = {.baseline = X};
	char *text = made_summary(a, rows_of(a), COUNT(made), o);

	ck_assert_msg(
		strstr(text,
	               "Two or more planners solve 8 cases (each real scenario on each "
	               "machine). In 3 it is\ncertain which is fastest: its interval "
	               "(80 %) ends before those of all slower ones\nbegin; in 2 all "
	               "take equally long; in 2 no interval is known.\n"),
		"%s", text);
	text = made_summary(a, rows_of(a) + UNKNOWN_FIRST, COUNT(made) - UNKNOWN_FIRST,
	                    o);
	ck_assert_msg(
		strstr(text,
	               "Two or more planners solve 2 real scenarios. No intervals "
	               "(80 %) are known of their\ntimes, so in none it is certain "
	               "which is fastest; in 1 all take equally long.\n"),
		"%s", text);
	text = made_report(a, rows_of(a), COUNT(made), o);
	ck_assert_msg(strstr(text, "| 3/1/0 | 1/2/0 |"), "%s", text);
	o.format = REPORT_CSV;
	text = made_report(a, rows_of(a), COUNT(made), o);
	ck_assert_msg(strstr(text, "\r\nwinner,m:1,model,,,,5,,,,,,,1,,"), "%s", text);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("report_sure");
	TCase *tc = tcase_create("report_sure");

	tcase_add_test(tc, winners);
	tcase_add_test(tc, both_ways);
	tcase_add_test(tc, words);
	suite_add_tcase(suite, tc);
	return suite;
}
