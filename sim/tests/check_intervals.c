#include "fit/intervals.h"
#include "tests/tests.h"

#include "collective/nccl.h"
#include "collective/nccl_data.h"
#include "measure/likely.h"
#include "platform/platform.h"
#include "tiny_family.h"
#include "validate/report.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define HEADER "set,system,nodes,devices,collective,bytes,time_us,busbw_GBps\n"
#define TABLE "family,collective,from_bytes,nodes,pairs,low,high\n"

static struct arena *arena;
static const char *dir;

static void setup(void)
{
	arena = arena_new();
	dir = tiny_start(arena);
}

static void teardown(void)
{
	tiny_end(dir);
	arena_free(arena);
}

static struct validation *open_mapped(const char *csv, const char *yaml)
{
	struct measured_table *rows = arena_alloc(arena, 1, sizeof(*rows));
	struct mapping *mapping = arena_alloc(arena, 1, sizeof(*mapping));
	struct validation *v = NULL;
	struct error e = {0};

	ck_assert_int_eq(
		measured_read(rows, arena, tiny_file(arena, dir, "m.csv", csv), &e), OK);
	ck_assert_int_eq(
		mapping_read(mapping, arena, tiny_file(arena, dir, "m.yaml", yaml), &e),
		OK);
	ck_assert_msg(validation_open(&v, arena, rows, mapping, &e) == OK, "%s", e.text);
	return v;
}

static struct validation *open_csv(const char *csv)
{
	return open_mapped(csv, "- {set: '*', platform: \"tiny:{nodes}\"}\n");
}

/* Adds to the family what its sends over a network cost, which another's do. */
static void borrow_sends(void)
{
	FILE *f = fopen(arena_printf(arena, "%s/families.yaml", dir), "a");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(
		fputs("    net_send_s: {value: 3us, source: \"as other\"}\n", f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

/*
 * Four pairs of a set and a collective, e = -0.2, 0.1 (two rows of equal weight 1/2), 0.3
 * and, of another family, -0.4. Of all the quantiles are -0.4 and 0.3, and tau is
 * sqrt((0.2^2 + 0.1^2 + 0.3^2 + 0.4^2) / 4) = 0.27386. The three pairs of `tiny` have -0.2
 * and 0.3, so low is 3/8 x 0.2 + 5/8 x 0.4 = 0.325; its two of all-reduce 2/7 x 0.2 + 5/7 x
 * 0.325 and 2/7 x 0.1 + 5/7 x 0.3. Its tau is sqrt((0.14 + 5 x 0.075) / 8) = 0.25372, that of
 * `other` sqrt((0.16 + 5 x 0.075) / 6) = 0.29861, and of `*` sqrt(2) x 0.27386.
 *
 * Sets left out: others make half-widths for a of 0.42605 below, for b and c of 0.45393 and
 * hypot(0.1, 1.28 x sqrt((0.05 + 5 x 0.07) / 7)) = 0.32191 above, for d of hypot(0.2, 1.28 x
 * sqrt(2 x 0.14 / 3)) = 0.43922 below, so they are off by 0.46943, 0.2203, 0.93195 and
 * 0.9107 of these: 0.93195 holds four of five. Each half-width is that much of the square root
 * of h^2 + (1.28 tau)^2. The factors of three sets are 0.98821, 0.79526, 1.14557 and 1.32894,
 * which hold the fourth each time.
 */
START_TEST(table_by_hand)
{
	static const char wanted[] = TABLE "*,*,0,one,4,0.5523,1.7160\n"
					   "other,*,0,one,1,0.5971,1.5306\n"
					   "other,all-reduce,0,one,1,0.5971,1.5003\n"
					   "tiny,*,0,one,3,0.6517,1.5099\n"
					   "tiny,all-gather,0,one,1,0.6743,1.5099\n"
					   "tiny,all-reduce,0,one,2,0.6668,1.4593\n";
	struct validation *v = open_csv(HEADER "a,S,1,4,all-reduce,64,20,\n"
	                                       "b,S,1,4,all-reduce,64,20,\n"
	                                       "b,S,1,4,all-reduce,128,20,\n"
	                                       "c,S,1,4,all-gather,64,20,\n"
	                                       "d,S,1,4,all-reduce,64,20,\n"
	                                       "a,S,2,8,all-reduce,2000000,20,\n");
	int64_t n;
	const struct prediction *p = validation_rows(v, &n);
	struct fit_residual tiny[] = {
		{&p[0], -0.2}, {&p[1], 0.1}, {&p[2], 0.1}, {&p[3], 0.3}};
	struct fit_residual other[] = {{&p[4], -0.4}};
	struct family_fit fit[] = {
		{.family = "tiny", .residual = tiny, .nresiduals = 4},
		{.family = "other", .residual = other, .nresiduals = 1},
	};
	struct text out = {0};
	const char *first;

	intervals_print(&out, v, fit, 2, NULL, "a command");
	ck_assert(strstr(out.s, "Written by `a command`.\n") != NULL);
	ck_assert(strstr(out.s,
	                 "# Of 4 pairs of a set and a collective below 1 MiB they "
	                 "hold 100.0 %, without its cluster.\n") != NULL);
	first = strstr(out.s, TABLE);
	ck_assert_ptr_nonnull(first);
	ck_assert_msg(!strcmp(first, wanted), "%s", first);
	/*
	 * Over several nodes e = 0.5 alone: low hypot(0, 1.28 x 0.5), with sqrt(2) times that in
	 * `*` and in sends, whose cost is another family's.
	 */
	borrow_sends();
	tiny[0] = (struct fit_residual){&p[5], 0.5};
	text_free(&out);
	intervals_print(&out, v, fit, 1, NULL, "a command");
	ck_assert_msg(strstr(out.s,
	                     "\n*,*,1048576,several,1,0.4045,2.8124\n"
	                     "tiny,*,1048576,several,1,0.5273,2.2528\n"
	                     "tiny,all-to-all,1048576,several,0,0.4045,2.8124\n"
	                     "tiny,permute,1048576,several,0,0.4045,2.8124\n") != NULL,
	              "%s", out.s);
	text_free(&out);
	validation_close(v);
}
END_TEST

/*
 * a and b are one cluster, 0.3 and 0.2, and c another, -0.1. The quantiles of the three pairs are
 * -0.1 and 0.3, and tau is sqrt((0.3^2 + 0.2^2 + 0.1^2) / 3) = 0.21602, of `*` sqrt(2) times that.
 * c alone makes half-widths above of 1.28 x 0.1 for a and b, and these for c of 1.28 x
 * sqrt((0.3^2 + 0.2^2) / 2) below, so they are off by 2.34375, 1.5625 and 0.30643 of these. The two
 * clusters weigh the same: 0.30643 holds half, 1.5625 three of four and 2.34375 all, so that is
 * the factor.
 */
START_TEST(clusters_by_hand)
{
	static const char wanted[] = TABLE "*,*,0,one,3,0.3883,3.1745\n"
					   "tiny,*,0,one,3,0.5020,2.6019\n"
					   "tiny,all-reduce,0,one,3,0.5020,2.6019\n";
	struct validation *v =
		open_mapped(HEADER "a,S,1,4,all-reduce,64,20,\n"
	                           "b,S,1,4,all-reduce,64,20,\n"
	                           "c,S,1,4,all-reduce,64,20,\n",
	                    "- {set: a, cluster: k, platform: \"tiny:{nodes}\"}\n"
	                    "- {set: b, cluster: k, platform: \"tiny:{nodes}\"}\n"
	                    "- {set: c, platform: \"tiny:{nodes}\"}\n");
	int64_t n;
	const struct prediction *p = validation_rows(v, &n);
	struct fit_residual tiny[] = {{&p[0], 0.3}, {&p[1], 0.2}, {&p[2], -0.1}};
	struct family_fit fit = {.family = "tiny", .residual = tiny, .nresiduals = 3};
	struct text out = {0};
	const char *first;

	intervals_print(&out, v, &fit, 1, NULL, "a command");
	first = strstr(out.s, TABLE);
	ck_assert_ptr_nonnull(first);
	ck_assert_msg(!strcmp(first, wanted), "%s", first);
	text_free(&out);
	validation_close(v);
}
END_TEST

/*
 * A row that was measured as exp(e) s, and foretold as one second by what `from` says: as
 * shipped (held out), or by the constants of a fit.
 */
static struct measured_step step_row(const char *family, const char *set, double e,
                                     int from)
{
	struct measured_step s = {
		.family = family,
		.set = set,
		.name = "m",
		.measured_s = exp(e),
		.time_s = 3,
		.without_s = {NAN, NAN, 3},
	};

	s.held_out = from == STEP_HELD;
	if (s.held_out)
		s.time_s = 1;
	else
		s.without_s[from] = 1;
	return s;
}

/*
 * e = -0.2 and 0.1 of two sets of `one` and twice 0.5 of one model of a set of `two`; a row of
 * b that nothing else foretells does not count, and d alone has experts, 0.2.
 *
 * Of the three pairs the quantiles are -0.2 and 0.5, and tau is sqrt((0.04 + 0.01 + 0.25) /
 * 3) = 0.31623: `*` has hypot(0.2, 1.28 x sqrt(2) x 0.31623) = 0.60637 below and 0.76005
 * above. `one` has -0.2 and 0.1, drawn by 2/7 to 0.2 and 2/7 x 0.1 + 5/7 x 0.5 = 0.38571, and
 * a tau of sqrt((0.05 + 5 x 0.1) / 7) = 0.28031: 0.41077 and 0.52679. `two` has 0 and 0.5,
 * drawn by 1/6 to 5/6 x 0.2 and 0.5, and sqrt((0.25 + 0.5) / 6) = 0.35355: 0.48226, 0.67439.
 *
 * The others make for a 1.28 x sqrt((0.01 + 5 x 0.13) / 6) below, for b hypot(5/6 x 0.5, 1.28 x
 * sqrt((0.04 + 5 x 0.145) / 6)) above and for c hypot(0.1, 1.28 x sqrt(2 x 0.025)), of which
 * they are off by 0.47111, 0.16169 and 1.64917: four of five are held by 1.64917 times the
 * widths. Of two sets the factors are 2.41775, 1.38107 and 1.5625, which does not hold c.
 *
 * With experts one set is left: hypot(0, 1.28 x sqrt(2) x 0.2) and hypot(0.2, that) in `*`.
 */
START_TEST(steps_by_hand)
{
	static const char wanted[] = TABLE "*,step,0,any,3,0.3679,3.5024\n"
					   "one,step,0,any,2,0.5079,2.3840\n"
					   "two,step,0,any,1,0.4514,3.0410\n"
					   "*,step-experts,0,any,1,0.6963,1.5123\n"
					   "two,step-experts,0,any,1,0.7741,1.3838\n";
	struct measured_step row[] = {
		step_row("one", "a", -0.2, HELD_SET),
		step_row("one", "b", 0.1, STEP_HELD),
		step_row("two", "c", 0.5, HELD_MODEL),
		step_row("two", "c", 0.5, HELD_MODEL),
		step_row("two", "d", 0.2, HELD_MODEL),
		step_row("one", "b", 3, HELD_SCALE),
	};
	const struct step_table t = {.n = COUNT(row), .row = row};
	struct text out = {0};
	const char *first;

	row[0].without_s[HELD_MODEL] = 2;
	row[4].experts = true;
	intervals_print(&out, NULL, NULL, 0, &t, "a command");
	ck_assert_msg(
		strstr(out.s,
	               "\n# Of 3 pairs of a set and a model of training steps they "
	               "hold "
	               "66.7 %, without its cluster.\n"
	               "# Of 1 pairs of a set and a model to which nothing is fitted "
	               "they hold 100.0 %, without its cluster.\n") != NULL,
		"%s", out.s);
	first = strstr(out.s, TABLE);
	ck_assert_ptr_nonnull(first);
	ck_assert_msg(!strcmp(first, wanted), "%s", first);
	text_free(&out);
}
END_TEST

static struct likely_table read_table(const char *text)
{
	struct likely_table t;
	struct error e = {0};

	tiny_file(arena, dir, "intervals.csv", text);
	ck_assert_msg(likely_read(&t, arena, &e) == OK, "%s", e.text);
	return t;
}

static const char some[] = TABLE "*,*,0,one,4,0.5,2\n"
				 "*,*,1000,one,4,0.6,1.9\n"
				 "tiny,*,0,one,3,0.7,1.8\n"
				 "tiny,all-reduce,0,one,3,0.8,1.7\n"
				 "tinyer,*,0,one,3,0.1,9\n"
				 "*,*,0,several,4,0.3,3\n";

/* The size counts before the family, and that before the collective. */
START_TEST(the_nearest_row_counts)
{
	static const struct {
		const char *platform, *collective;
		int64_t bytes;
		bool several;
		double low;
	} row[] = {
		{"tiny:2", "all-reduce", 10, false, 0.8},
		{"tiny:2", "permute", 10, false, 0.7},
		{"tiny:2", "permute", 1000, false, 0.6},
		{"tiny:2", "permute", 10, true, 0.3},
		{"cluster:2{gpus=2}", "permute", 10, false, NAN},
	};
	struct likely_table t = read_table(some);

	ck_assert_int_eq(t.n, 6);
	for (int i = 0; i < COUNT(row); i++) {
		struct machine *m;
		struct error e = {0};
		struct likely l;

		if (!strncmp(row[i].platform, "cluster", 7))
			unsetenv("SHARDSIM_DATA");
		ck_assert_msg(
			platform_machine(&m, arena, row[i].platform, NULL, 0, &e) == OK,
			"%s", e.text);
		l = likely_find(&t, m, row[i].collective, row[i].bytes, row[i].several);
		ck_assert_msg(isnan(row[i].low) ? isnan(l.low) : l.low == row[i].low,
		              "row %d: %g", i, l.low);
	}
}
END_TEST

/* Steps have the row of their family, else that of all, whatever collectives have. */
START_TEST(rows_of_steps)
{
	static const char table[] = TABLE "*,*,0,one,4,0.5,2\n"
					  "tiny,*,0,one,3,0.7,1.8\n"
					  "*,step,0,any,3,0.8,1.2\n"
					  "tiny,step,0,any,3,0.9,1.1\n"
					  "tinyer,step-experts,0,any,3,0.2,5\n"
					  "*,step-experts,0,any,3,0.6,1.4\n";
	struct likely_table t = read_table(table);
	struct error e = {0};
	struct machine *m;

	ck_assert_int_eq(platform_machine(&m, arena, "tiny:2", NULL, 0, &e), OK);
	ck_assert_double_eq(likely_step(&t, m, false).low, 0.9);
	ck_assert_double_eq(likely_step(&t, m, true).high, 1.4);
	t.n = 2;
	ck_assert_double_nan(likely_step(&t, m, false).low);
	t = read_table(table);
	unsetenv("SHARDSIM_DATA");
	ck_assert_int_eq(platform_machine(&m, arena, "cluster:2{gpus=2}", NULL, 0, &e),
	                 OK);
	ck_assert_double_nan(likely_step(&t, m, false).low);
}
END_TEST

/* A caller that was timed on other families alone has the widest of theirs and the family's. */
START_TEST(borrowed_callers)
{
	static const struct {
		const char *collective;
		enum launch_mode caller;
		double low, high;
	} row[] = {
		{"all-reduce", LAUNCH_PROCESS, 0.8, 1.7},
		{"all-reduce", LAUNCH_XLA, 0.5, 2},
		{"permute", LAUNCH_MPI, 0.5, 2},
		{"permute", LAUNCH_SINGLE, 0.7, 1.8},
	};
	struct likely_table t = read_table(some);
	struct error e = {0};
	struct machine *m;

	ck_assert_int_eq(platform_machine(&m, arena, "tiny:2", NULL, 0, &e), OK);
	for (int i = 0; i < COUNT(row); i++) {
		struct likely l;

		m->launch = row[i].caller;
		l = likely_find(&t, m, row[i].collective, 10, false);
		ck_assert_double_eq(l.low, row[i].low);
		ck_assert_double_eq(l.high, row[i].high);
	}
}
END_TEST

/* The families on which a caller was timed are those of the tables that ship. */
START_TEST(callers_as_tables_say)
{
	static const char *const tables[] = {"measured", "measured-more",
	                                     "measured-xla", "measured-late"};
	bool timed[LAUNCH_MODES][8] = {0};

	for (int i = 0; i < COUNT(tables); i++) {
		struct mapping all;
		struct error e = {0};

		ck_assert_msg(
			mapping_read(&all, arena,
		                     arena_printf(arena, "platforms/%s.yaml", tables[i]),
		                     &e) == OK,
			"%s", e.text);
		for (int k = 0; k < all.n; k++) {
			const struct mapping_entry *entry = &all.entry[k];
			int launch = 0, f = 0;

			if (!entry->launch || !entry->platform)
				continue;
			while (strcmp(nccl_callers[launch].name, entry->launch) != 0)
				launch++;
			if (!nccl_callers[launch].timed)
				continue;
			while (nccl_callers[launch].timed[f] &&
			       strncmp(nccl_callers[launch].timed[f], entry->platform,
			               strcspn(entry->platform, ":")) != 0)
				f++;
			ck_assert_msg(nccl_callers[launch].timed[f] != NULL, "%s by %s",
			              entry->platform, entry->launch);
			timed[launch][f] = true;
		}
	}
	for (int l = 0; l < LAUNCH_MODES; l++)
		for (int f = 0; nccl_callers[l].timed && nccl_callers[l].timed[f]; f++)
			ck_assert_msg(timed[l][f], "%s by %s", nccl_callers[l].timed[f],
			              nccl_callers[l].name);
}
END_TEST

START_TEST(several_nodes)
{
	struct machine *m;
	struct error e = {0};

	ck_assert_int_eq(platform_machine(&m, arena, "tiny:2", NULL, 0, &e), OK);
	ck_assert(!likely_several(m, (int32_t[]){0, 3, 1}, 3));
	ck_assert(likely_several(m, (int32_t[]){1, 3, 4}, 3));
	ck_assert(!likely_several(m, (int32_t[]){4}, 1));
}
END_TEST

static const struct {
	const char *text;
	unsigned line;
	const char *says;
} faults[] = {
	{TABLE "*,*,0,one,4,x,2\n", 2, "low 'x', expected a number of 0 or more"},
	{TABLE "*,*,0,two,4,1,2\n", 2, "nodes 'two', expected one, several or any"},
	{TABLE "*,*,-1,one,4,1,2\n", 2, "from_bytes '-1'"},
	{"family,collective\n*,*\n", 1, "from_bytes"},
};

START_TEST(errors)
{
	struct likely_table t;
	struct error e = {0};

	tiny_file(arena, dir, "intervals.csv", faults[_i].text);
	ck_assert_int_ne(likely_read(&t, arena, &e), OK);
	ck_assert_msg(e.at.line == faults[_i].line && strstr(e.text, faults[_i].says),
	              "line %u: %s", e.at.line, e.text);
}
END_TEST

/* Without the table nothing is known. */
START_TEST(no_table)
{
	struct likely_table t;
	struct error e = {0};

	ck_assert_int_eq(likely_read(&t, arena, &e), OK);
	ck_assert_int_eq(t.n, 0);
}
END_TEST

/*
 * 13.60192 us by hand; of the intervals 0.8 to 1.7 one of two sets' timings is inside, of
 * the first set a half.
 */
START_TEST(timings_in_their_intervals)
{
	static const char csv[] = HEADER "a,S,1,4,all-reduce,64,11,\n"
					 "a,S,1,4,all-reduce,64,10,\n"
					 "b,S,1,4,all-reduce,64,23,\n";
	struct validation *v;
	const struct prediction *p;
	struct pen pen;
	char *out = NULL;
	size_t size;
	int64_t n;
	FILE *f = open_memstream(&out, &size);

	read_table(some);
	v = open_csv(csv);
	validation_run(v);
	p = validation_rows(v, &n);
	ck_assert_double_eq_tol(p[0].likely_s.low, 0.8 * 13.60192e-6, 1e-12);
	ck_assert_double_eq_tol(p[0].likely_s.high, 1.7 * 13.60192e-6, 1e-12);
	pen = pen_md(f, arena);
	validate_words(&pen, v);
	fclose(f);
	ck_assert_msg(
		strstr(out, "| below 1 MiB |   3 |            67 % |    2 |         75 "
	                    "% |      1.458 |") != NULL,
		"%s", out);
	free(out);
	validation_close(v);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("intervals");
	TCase *t = tcase_create("intervals");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, table_by_hand);
	tcase_add_test(t, clusters_by_hand);
	tcase_add_test(t, steps_by_hand);
	tcase_add_test(t, the_nearest_row_counts);
	tcase_add_test(t, rows_of_steps);
	tcase_add_test(t, borrowed_callers);
	tcase_add_test(t, callers_as_tables_say);
	tcase_add_test(t, several_nodes);
	tcase_add_loop_test(t, errors, 0, COUNT(faults));
	tcase_add_test(t, no_table);
	tcase_add_test(t, timings_in_their_intervals);
	suite_add_tcase(s, t);
	return s;
}
