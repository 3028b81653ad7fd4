#include "place/study.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Files of placements: what they say of systems, and what is wrong with them. */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct arena *arena;
static struct error error;

static void setup(void)
{
	arena = arena_new();
	error = (struct error){0};
}

static void teardown(void)
{
	arena_free(arena);
}

static enum status read_study(struct study *study, const char *text)
{
	char path[] = "/tmp/check_place.XXXXXX";
	const char *paths[] = {arena_strdup(arena, path)};
	int fd = mkstemp((char *)paths[0]);
	enum status status;
	FILE *f;

	ck_assert_int_ge(fd, 0);
	f = fdopen(fd, "w");
	fputs(text, f);
	fclose(f);
	status = study_read(study, arena, paths, 1, &error);
	unlink(paths[0]);
	return status;
}

/*
 * Two nodes of 16: summing over the nodes takes 16 rings of 2 x 1/2 x 2 GiB on a NIC of 8
 * GiB/s, 4 s; over pairs in a node 2 GiB at 270 GiB/s. Neither has a faster program. The
 * other reduction is over 16: in a node, or eight of each.
 */
START_TEST(sums_of_a_study)
{
	struct study study;
	struct study_sums sums;

	ck_assert_msg(read_study(&study,
	                         "placements:\n- {family: p2-x, platform: "
	                         "'p2-a100:2', hierarchy: '2,16', axes: '2,16', "
	                         "reduce: ['0', '1']}\n") == OK,
	              "%s", error.text);
	ck_assert_int_eq(study.n, 2);
	ck_assert_msg(study_run(&study, arena, &error) == OK, "%s", error.text);
	sums = study_sums_of(&study, "p2-");
	ck_assert_int_eq(sums.cases, 2);
	ck_assert_int_eq(sums.matrices, 4);
	ck_assert_int_eq(sums.programs[0], 6);
	ck_assert_int_eq(sums.programs[1], 50);
	ck_assert_double_eq_tol(sums.spread[0], 4 / (2.0 / 270), 1e-6);
	ck_assert_ptr_eq(sums.widest, &study.of[0]);
	ck_assert_int_eq(sums.inside, 2);
	ck_assert_int_eq(sums.inside_single, 2);
	/* Rings of 16 over both nodes; scattered in the nodes first. */
	ck_assert_int_eq(sums.improved, 1);
	ck_assert_int_eq(sums.scattered, 1);
	ck_assert_int_eq(sums.several, 0);
	ck_assert_int_eq(study_sums_of(&study, "dgx").cases, 0);
}
END_TEST

/*
 * An 8x8 slice of a torus that wraps at 16 only has the chips and cables of a machine of
 * 8x8, so every placement takes as long on both; {n} asks for the second.
 */
START_TEST(studies_on_slices)
{
	struct study study;

	ck_assert_msg(read_study(&study,
	                         "placements:\n"
	                         "- {family: a, platform: 'tpu-v5e:{n}', hierarchy: "
	                         "'4,16', axes: '8,8', reduce: '1'}\n"
	                         "- {family: a, platform: 'tpu-v5e:8x8', hierarchy: "
	                         "'4,16', axes: '8,8', reduce: '1'}\n"
	                         "- {family: a, platform: 'tpu-v5e:16x16', hierarchy: "
	                         "'4,16', axes: '8,8', reduce: '1'}\n"
	                         "- {family: a, platform: 'tpu-v5e:{n}', hierarchy: "
	                         "'8', axes: '8', reduce: '0'}\n") == OK,
	              "%s", error.text);
	ck_assert_msg(study_run(&study, arena, &error) == OK, "%s", error.text);
	ck_assert_int_eq(study.n, 4);
	for (int i = 0; i < 2; i++) {
		ck_assert_ptr_null(study.of[i].c.hierarchy.on);
		ck_assert_int_eq(study.of[i].n, study.of[2].n);
		for (int64_t k = 0; k < study.of[2].n; k++) {
			ck_assert_double_eq(study.of[i].placed[k].best_s,
			                    study.of[2].placed[k].best_s);
			ck_assert_int_eq(study.of[i].placed[k].number,
			                 study.of[2].placed[k].number);
		}
	}
	for (int32_t d = 0; d < 64; d++)
		ck_assert_int_eq(study.of[2].c.hierarchy.on[d], d / 8 * 16 + d % 8);
	ck_assert_ptr_null(study.of[3].c.hierarchy.on);
}
END_TEST

static const struct {
	const char *text, *why;
	unsigned line;
} bad_studies[] = {
	{"", "expected a map", 1},
	{"placements: []\n", "no placements", 0},
	{"placements: {}\n", "expected a list", 1},
	{"scenarios: []\n", "", 1},
	{"placements:\n- 7\n", "expected a map of fields", 2},
	{"placements:\n- {family: a}\n", "'platform' is missing", 2},
	{"placements:\n- {family: a, platform: 'p2-a100:1', hierarchy: '16', axes: "
         "[[]], "
         "reduce: '0'}\n",
         "expected a text", 2},
	{"placements:\n- {family: a, platform: 'p2-a100:1', hierarchy: '16', axes: "
         "'16', "
         "reduce: '1'}\n",
         "", 2},
	{"placements:\n- {family: a, platform: 'p2-a100:1', hierarchy: '16', axes: "
         "'16', "
         "reduce: '0', bytes: 0}\n",
         "no data", 2},
	{"placements:\n- {family: a, platform: 'p2-a100:1', hierarchy: '16', axes: "
         "'16', "
         "reduce: '0', colour: red}\n",
         "unknown key 'colour'", 2},
};

START_TEST(studies_with_faults)
{
	struct study study;

	ck_assert_int_ne(read_study(&study, bad_studies[_i].text), OK);
	ck_assert_msg(strstr(error.text, bad_studies[_i].why), "%s", error.text);
	ck_assert_uint_eq(error.at.line, bad_studies[_i].line);
}
END_TEST

static const struct {
	const char *platform, *hierarchy, *axes, *why;
} bad_runs[] = {
	{"p2-a100:1", "2,16", "32", "32 devices do not fit on the 16"},
	{"p2-a100:1", "16", "8", ""},
	{"p2-b100:1", "16", "16", "unknown family"},
	{"p2-a100:2{nic.bandwidth}", "2,16", "32", ""},
};

START_TEST(studies_that_do_not_run)
{
	struct study study;
	const char *text = arena_printf(arena,
	                                "placements:\n- {family: a, platform: '%s', "
	                                "hierarchy: '%s', axes: '%s', "
	                                "reduce: '0'}\n",
	                                bad_runs[_i].platform, bad_runs[_i].hierarchy,
	                                bad_runs[_i].axes);

	ck_assert_msg(read_study(&study, text) == OK, "%s", error.text);
	ck_assert_int_ne(study_run(&study, arena, &error), OK);
	ck_assert_msg(strstr(error.text, bad_runs[_i].why), "%s", error.text);
	ck_assert_uint_eq(error.at.line, 2);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("place_study");
	TCase *t = tcase_create("place_study");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, sums_of_a_study);
	tcase_add_test(t, studies_on_slices);
	tcase_add_loop_test(t, studies_with_faults, 0, COUNT(bad_studies));
	tcase_add_loop_test(t, studies_that_do_not_run, 0, COUNT(bad_runs));
	suite_add_tcase(s, t);
	return s;
}
