#include "tests/tests.h"

#include "timings.h"
#include "tiny_family.h"
#include "validate/ways.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether ways of one job are in their order: a table counted by hand, and those we ship. */

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
	unsetenv("SHARDSIM_DATA");
}

static void teardown(void)
{
	arena_free(arena);
}

static struct ways_pairs sum_of(const struct ways *w)
{
	struct ways_pairs sum = {0};

	for (int64_t i = 0; i < w->n; i++)
		ways_add(&sum, &w->pairs[i]);
	return sum;
}

/*
 * Kendall's tau of the published timings of one job in several ways is 0.8 or more. What
 * reports of one way differ by is what the constant says, to a hundredth.
 */
START_TEST(published)
{
	static const char *const file[] = {
		"platforms/measured.csv", "platforms/measured-more.csv",
		"platforms/measured-xla.csv", "platforms/measured-late.csv"};
	struct validation *v = timings_run(arena, file, COUNT(file));
	struct ways_pairs sum;
	struct ways w;

	ways_find(&w, v, arena);
	sum = sum_of(&w);
	ck_assert_int_ge(sum.alike + sum.otherwise, 80);
	ck_assert_double_ge(ways_tau(&sum), 0.8);
	ck_assert_int_ge(w.twice, 50);
	ck_assert_double_eq_tol(w.noise, WAYS_NEAR, 0.01);
	validation_close(v);
}
END_TEST

/*
 * An all-reduce of four takes 13.6 us and little more up to 8 KiB, by one process 22.6 us, and in
 * a graph, of which 4 us are the launch, 6 us less; where nothing is forced it is a ring as well. So the
 * simulated order is graph, then process with or without a ring, then single.
 *
 * Of 64 B, p, s, g and r make six pairs: p < s, g < s and r < s are alike, p < g and r < g
 * otherwise, p and r the same run. Of 256 B, s is above p by 1.8 % in one report: alike; g is
 * above both by 3 % and by 1.2 % in another: near, and otherwise. Of 512 B both are within 1 %;
 * of 1,024 B one is in place. Of 8,192 B, s > p and s > g are alike, g is near p, and alike.
 * Of 128 B, x and y are tied: one process launches for 400 us, whatever the protocol.
 * Nobody tells who called u, so it is in no pair. Two reports of one way: 66 to 60 us of 2,048 B, 77 to 70 of 4,096, both 10 %.
 */
static const char csv[] =
	"set,system,nodes,devices,collective,bytes,time_us,busbw_GBps,in_place,source\n"
	"p,S,1,4,all-reduce,64,14,,False,a/b#L1\n"
	"s,S,1,4,all-reduce,64,20,,False,a/b#L9\n"
	"g,S,1,4,all-reduce,64,16,,False,c/d\n"
	"r,S,1,4,all-reduce,64,14.8,,False,log\n"
	"u,S,1,4,all-reduce,64,30,,False,a/b#L9\n"
	"x,S,1,4,all-reduce,128,420,,False,e/f#L1\n"
	"y,S,1,4,all-reduce,128,450,,False,e/f#L2\n"
	"p,S,1,4,all-reduce,256,50,,False,a/b#L2\n"
	"s,S,1,4,all-reduce,256,50.9,,False,a/b#L10\n"
	"g,S,1,4,all-reduce,256,51.5,,False,c/d\n"
	"p,S,1,4,all-reduce,512,50,,False,a/b#L3\n"
	"s,S,1,4,all-reduce,512,50.1,,False,a/b#L11\n"
	"p,S,1,4,all-reduce,1024,50,,False,a/b#L4\n"
	"s,S,1,4,all-reduce,1024,60,,True,a/b#L12\n"
	"p,S,1,4,all-reduce,2048,60,,False,a/b#L5\n"
	"q,S,1,4,all-reduce,2048,66,,False,log\n"
	"p,S,1,4,all-reduce,4096,70,,False,a/b#L6\n"
	"q,S,1,4,all-reduce,4096,77,,False,log\n"
	"p,S,1,4,all-reduce,8192,72,,False,a/b#L7\n"
	"s,S,1,4,all-reduce,8192,80,,False,a/b#L13\n"
	"g,S,1,4,all-reduce,8192,70.5,,False,c/d\n";
static const char yaml[] =
	"- {set: p, platform: \"tiny:1\"}\n"
	"- {set: q, platform: \"tiny:1\"}\n"
	"- {set: s, platform: \"tiny:1\", launch: single}\n"
	"- {set: g, platform: \"tiny:1\", launch: graph}\n"
	"- {set: r, platform: \"tiny:1\", algorithm: ring, source: \"by hand\"}\n"
	"- {set: u, platform: \"tiny:1\", launch: untold}\n"
	"- {set: x, platform: \"tiny:1\", launch: single, "
	"settings: {launch_each_s: 100us}, source: \"by hand\"}\n"
	"- {set: y, platform: \"tiny:1\", launch: single, protocol: ll128, "
	"settings: {launch_each_s: 100us}, source: \"by hand\"}\n";

static struct validation *run_by_hand(const char **dir)
{
	const char *file;

	*dir = tiny_start(arena);
	file = tiny_file(arena, *dir, "t.csv", csv);
	tiny_file(arena, *dir, "t.yaml", yaml);
	return timings_run(arena, &file, 1);
}

START_TEST(pairs_by_hand)
{
	/* one report first; then as their rows follow each other */
	static const struct ways_pairs wanted[] = {
		{"tiny:1", "all-reduce", "process", "single", true, 3, 0, 0, 0, 0, 0},
		{"tiny:1", "all-reduce", "single", "single, ll128", true, 0, 0, 0, 0, 0,
	         1},
		{"tiny:1", "all-reduce", "graph", "process", false, 0, 1, 0, 1, 1, 0},
		{"tiny:1", "all-reduce", "graph", "single", false, 2, 0, 0, 0, 1, 0},
		{"tiny:1", "all-reduce", "process", "process, ring", false, 0, 0, 1, 0,
	         0, 0},
		{"tiny:1", "all-reduce", "process, ring", "single", false, 1, 0, 0, 0,
	         0, 0},
		{"tiny:1", "all-reduce", "graph", "process, ring", false, 0, 1, 0, 0, 0,
	         0},
	};
	const char *dir;
	struct validation *v = run_by_hand(&dir);
	struct ways_pairs sum;
	struct ways w;

	ways_find(&w, v, arena);
	ck_assert_int_eq(w.n, COUNT(wanted));
	for (int i = 0; i < COUNT(wanted); i++) {
		const struct ways_pairs *p = &w.pairs[i];

		ck_assert_str_eq(p->platform, wanted[i].platform);
		ck_assert_str_eq(p->collective, wanted[i].collective);
		ck_assert_str_eq(p->first, wanted[i].first);
		ck_assert_str_eq(p->second, wanted[i].second);
		ck_assert_int_eq(p->one_report, wanted[i].one_report);
		ck_assert_int_eq(p->alike, wanted[i].alike);
		ck_assert_int_eq(p->otherwise, wanted[i].otherwise);
		ck_assert_int_eq(p->same_run, wanted[i].same_run);
		ck_assert_int_eq(p->near_alike, wanted[i].near_alike);
		ck_assert_int_eq(p->near_otherwise, wanted[i].near_otherwise);
		ck_assert_int_eq(p->tied, wanted[i].tied);
	}
	sum = sum_of(&w);
	ck_assert_double_eq_tol(ways_tau(&sum), (6 - 2) / 9.0, 1e-12);
	ck_assert_double_eq_tol(ways_tau_of_all(&sum), (7 - 6) / 13.0, 1e-12);
	ck_assert(isnan(ways_tau(&w.pairs[4])));
	ck_assert_double_eq(ways_tau_of_all(&w.pairs[4]), -1);
	ck_assert_double_eq(ways_tau(&w.pairs[1]), 0);
	ck_assert_int_eq(w.twice, 2);
	ck_assert_double_eq_tol(w.noise, log(1.1), 1e-12);
	validation_close(v);
	tiny_end(dir);
}
END_TEST

START_TEST(words_by_hand)
{
	static const char *const says[] = {
		"two reports of one way of one job differ by 10.0 % in the median of 2",
		"| process       | process, ring | two     |     1 |      "
		"        1 |    0 |        0 |          - |    - |  "
		"   - |                     -1.00 |",
		"|               |               | one     |     4 |      "
		"        0 |    0 |        4 |          3 |    1 |  "
		"0.75 |                      0.50 |",
		"|               |               | any     |    13 |      "
		"        1 |    3 |        9 |          6 |    1 |  "
		"0.44 |                      0.08 |",
	};
	const char *dir;
	struct validation *v = run_by_hand(&dir);
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);
	struct pen pen = pen_md(f, arena);

	ways_words(&pen, v);
	fclose(f);
	for (int i = 0; i < COUNT(says); i++)
		ck_assert_msg(strstr(out, says[i]) != NULL, "no '%s' in\n%s", says[i],
		              out);
	free(out);
	validation_close(v);
	tiny_end(dir);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("ways");
	TCase *t = tcase_create("ways");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, published);
	tcase_add_test(t, pairs_by_hand);
	tcase_add_test(t, words_by_hand);
	suite_add_tcase(s, t);
	return s;
}
