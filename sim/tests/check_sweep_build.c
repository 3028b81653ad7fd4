/*
 * Two builds of the program: results of one are not taken for the other's. The other build
 * is a copy of the program with other digits in the text that tells builds apart.
 */
#include "runner.h"
#include "tests/tests.h"

#include "system/version.h"

#include <check.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char suite[] =
	"defaults: {array: \"bf16[48,210]\"}\n"
	"platforms: [dgx-a100:1]\n"
	"scenarios:\n"
	"  - {name: a, mesh: \"x=2,y=3\", from: \"P('x')\", to: \"P('y')\"}\n"
	"  - {name: b, mesh: \"x=7\", from: \"P(None, 'x')\", to: \"P()\"}\n";

static struct runner r;
static const char *this_program, *other_program;

static const char *other_version(void)
{
	char *text = arena_strdup(r.arena, version_text);
	char *digits = strstr(text, "(sources ");

	ck_assert_ptr_nonnull(digits);
	digits += strlen("(sources ");
	ck_assert_uint_eq(strspn(digits, "0123456789abcdef"), 8);
	for (int i = 0; i < 8; i++)
		digits[i] = digits[i] == '0' ? '1' : '0';
	return text;
}

static const char *make_other(void)
{
	const char *path = runner_path(&r, "other");
	size_t n = strlen(version_text), size;
	struct stat file;
	char *bytes, *at;
	int copies = 0;
	FILE *f;

	ck_assert_int_eq(stat(this_program, &file), 0);
	size = (size_t)file.st_size;
	bytes = arena_alloc(r.arena, size, 1);
	f = fopen(this_program, "rb");
	ck_assert_uint_eq(fread(bytes, 1, size, f), size);
	fclose(f);
	for (at = bytes;
	     (at = memmem(at, size - (size_t)(at - bytes), version_text, n)); copies++)
		memcpy(at, other_version(), n);
	ck_assert_int_ge(copies, 1);
	f = fopen(path, "wb");
	ck_assert_uint_eq(fwrite(bytes, 1, size, f), size);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
	return path;
}

static void start(void)
{
	runner_start(&r);
	runner_write(&r, "suite.yaml", suite);
	this_program = getenv("SHARDSIM");
	other_program = make_other();
}

static void end(void)
{
	runner_end(&r);
}

/* From here on `shardsim` is that program. */
static void be(const char *program)
{
	setenv("SHARDSIM", program, 1);
}

#define RUN(...) ((const char *const[]){"sweep", __VA_ARGS__, NULL})
#define PLANNERS "--planner", "gather,direct"

static const char *said_of(const char *by, const char *but_this)
{
	return arena_printf(r.arena,
	                    "shardsim: 4 rows were made by shardsim %s, but this is "
	                    "%s: they are out, to be measured again\n",
	                    by, but_this);
}

START_TEST(told_apart)
{
	runner_run(&r, (const char *const[]){"--version", NULL}, 0);
	ck_assert_str_eq(runner_read(&r, "stdout"),
	                 arena_printf(r.arena, "shardsim %s\n", version_text));
	be(other_program);
	runner_run(&r, (const char *const[]){"--version", NULL}, 0);
	ck_assert_str_eq(runner_read(&r, "stdout"),
	                 arena_printf(r.arena, "shardsim %s\n", other_version()));
}
END_TEST

/* By --resume or by the same command: all rows are measured again, once. */
START_TEST(resumed)
{
	const char *const *again = _i ? RUN("--resume", "rows")
	                              : RUN("suite.yaml", PLANNERS, "--out", "rows");

	runner_run(&r, RUN("suite.yaml", PLANNERS, "--out", "rows"), 0);
	ck_assert_str_eq(runner_read(&r, "stderr"), "4 rows in rows: 4 ok\n");
	be(other_program);
	runner_run(&r, again, 0);
	ck_assert_str_eq(runner_read(&r, "stderr"),
	                 arena_printf(r.arena, "%s4 rows in rows: 4 ok\n",
	                              said_of(version_text, other_version())));
	runner_run(&r, again, 0);
	ck_assert_str_eq(runner_read(&r, "stderr"),
	                 "4 rows in rows: 4 ok; nothing was missing\n");
}
END_TEST

/* A plan and its shards are one build's. */
START_TEST(in_parts)
{
	runner_run(&r, RUN("plan", "suite.yaml", PLANNERS, "--out", "p"), 0);
	runner_run(&r, RUN("run", "p", "--out", "s"), 0);
	runner_run(&r, RUN("merge", "p", "s", "--out", "rows"), 0);
	be(other_program);
	runner_run(&r, RUN("run", "p", "--out", "s"), 2);
	runner_said(&r, arena_printf(r.arena,
	                             "p:1:1: a plan of shardsim %s, but this is %s: "
	                             "plan anew\n",
	                             version_text, other_version()));
	runner_run(&r, RUN("plan", "suite.yaml", PLANNERS, "--out", "p"), 0);
	for (int i = 0; i < 2; i++) {
		runner_run(&r,
		           i ? RUN("run", "p", "--out", "s")
		             : RUN("merge", "p", "s", "--out", "rows"),
		           2);
		runner_said(&r, arena_printf(r.arena,
		                             "s:1:1: a shard of shardsim %s, but this "
		                             "is %s: measure it again\n",
		                             version_text, other_version()));
	}
	runner_run(&r, RUN("run", "p", "--out", "new"), 0);
	runner_run(&r, RUN("merge", "p", "new", "--out", "rows"), 0);
	runner_said(&r, said_of(version_text, other_version()));
	runner_said(&r, "4 rows in rows: 4 ok\n");
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("sweep_build");
	TCase *tc = tcase_create("sweep_build");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, start, end);
	tcase_add_test(tc, told_apart);
	tcase_add_loop_test(tc, resumed, 0, 2);
	tcase_add_test(tc, in_parts);
	suite_add_tcase(s, tc);
	return s;
}
