/* What sbatch is told and what squeue tells. */
#include "sweep/slurm.h"
#include "tests/tests.h"

#include <check.h>

#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const struct {
	int n, task[8], throttle;
	const char *text;
} arrays[] = {
	{1, {0}, 0, "0"},
	{1, {7}, 3, "7%3"},
	{2, {0, 1}, 0, "0-1"},
	{2, {3, 5}, 0, "3,5"},
	{5, {0, 1, 2, 3, 4}, 2, "0-4%2"},
	{7, {0, 1, 3, 5, 6, 7, 63}, 0, "0-1,3,5-7,63"},
	{3, {9, 11, 12}, 48, "9,11-12%48"},
};

START_TEST(array_is_written_as_ranges)
{
	struct text out = {0};

	slurm_array(&out, arrays[_i].task, arrays[_i].n, arrays[_i].throttle);
	ck_assert_str_eq(out.s, arrays[_i].text);
	text_free(&out);
}
END_TEST

static const struct {
	const char *option;
	enum status code;
} extras[] = {
	{"--account=abc", OK},
	{"--exclusive", OK},
	{"--mem=4G", OK},
	{"--comment=a b", OK},
	{"--no-requeue", OK},
	{"--arrays=1", OK}, /* sbatch refuses it itself */
	{"--waiting", OK},
	{"-A", E_SYNTAX},
	{"", E_SYNTAX},
	{"--", E_SYNTAX},
	{"account=abc", E_SYNTAX},
	{"--=3", E_SYNTAX},
	{"--comment=a\nb", E_SYNTAX},
	{"--comment=\x7f", E_SYNTAX},
	{"--array=3", E_TYPE},
	{"--arr=3", E_TYPE},
	{"--job-name=x", E_TYPE},
	{"--job=x", E_TYPE},
	{"--wait", E_TYPE},
	{"--test-only", E_TYPE},
	{"--chdir=/", E_TYPE},
	{"--clusters=all", E_TYPE},
};

START_TEST(extra_option_is_checked)
{
	struct error e = {0};

	ck_assert_int_eq(slurm_check_extra(extras[_i].option, &e), extras[_i].code);
	ck_assert_int_eq(e.code, extras[_i].code);
	if (e.code != OK)
		ck_assert_str_eq(e.at.file, "--sbatch");
}
END_TEST

static bool has(const char *const *options, const char *wanted)
{
	for (; *options; options++)
		if (strcmp(*options, wanted) == 0)
			return true;
	return false;
}

START_TEST(options_say_all_of_the_job)
{
	static const char *const extra[] = {"--account=abc", "--mem=4G"};
	struct slurm_job job = {.name = "name",
	                        .folder = "/home/me",
	                        .log_folder = "/data/100%/x",
	                        .partition = "long",
	                        .time = "2:00:00",
	                        .cpus = 3,
	                        .throttle = 5,
	                        .extra = extra,
	                        .nextra = 2};
	static const int task[] = {1, 2, 3, 7};
	static const char *const wanted[] = {
		"--job-name=name",  "--array=1-3,7%5",
		"--ntasks=1",       "--cpus-per-task=3",
		"--requeue",        "--open-mode=append",
		"--chdir=/home/me", "--output=/data/100%%/x/slurm-%A_%a.log",
		"--partition=long", "--time=2:00:00",
		"--account=abc",    "--mem=4G",
	};
	struct arena *a = arena_new();
	const char *const *options = slurm_options(&job, task, COUNT(task), a);

	for (int i = 0; i < COUNT(wanted); i++)
		ck_assert_msg(has(options, wanted[i]), "no %s", wanted[i]);
	ck_assert_ptr_null(options[COUNT(wanted)]);

	job.partition = job.time = NULL;
	job.nextra = 0;
	options = slurm_options(&job, task, 1, a);
	for (; *options; options++)
		ck_assert(strncmp(*options, "--partition", 11) != 0 &&
		          strncmp(*options, "--time", 6) != 0);
	arena_free(a);
}
END_TEST

START_TEST(script_quotes_what_is_not_plain)
{
	static const char *const options[] = {"--time=2:00:00", "--comment=a b",
	                                      "--output=/x/a'b\"c\\d%e#.log", NULL};
	struct text out = {0};

	slurm_script(&out, options, "exec true");
	ck_assert_str_eq(out.s, "#!/bin/sh\n"
	                        "#SBATCH --time=2:00:00\n"
	                        "#SBATCH \"--comment=a b\"\n"
	                        "#SBATCH \"--output=/x/a'b\\\"c\\\\d%e#.log\"\n"
	                        "exec true\n");
	text_free(&out);
}
END_TEST

/* States by shard: g(one), w(aiting), r(unning). */
static const struct {
	const char *text, *states, *reason;
} queues[] = {
	{"", "ggggg", ""},
	{"0 RUNNING None\n", "rgggg", ""},
	{"3 PENDING Resources\n1 COMPLETING None\n", "grgwg", "Resources"},
	{"2 PENDING None\n4 PENDING (Dependency)\n", "ggwgw", "(Dependency)"},
	{"0 REQUEUE_HOLD launch failed requeued held\n1 PENDING Priority\n", "wwggg",
         "launch failed requeued held"},
	{"0 CONFIGURING None\n1 SUSPENDED None\n2 SPECIAL_EXIT x", "rrwgg", "x"},
	/* Not ours, or no task at all. */
	{"5 RUNNING None\n-1 RUNNING None\nN/A RUNNING None\n\n \n3\n", "ggggg", ""},
	{"squeue: error: Unable to contact slurm controller\n4 RUNNING None\n", "ggggr",
         ""},
	{"99999999999999999999 RUNNING None\n1 ", "grggg", ""},
};

START_TEST(queue_is_read)
{
	enum slurm_state state[5] = {SLURM_RUNNING, SLURM_RUNNING, SLURM_WAITING};
	struct slurm_queue q = {.state = state, .n = 5, .reason = "old"};
	char states[6] = "";

	slurm_read_queue(&q, queues[_i].text);
	for (int i = 0; i < 5; i++)
		states[i] = "gwr"[state[i]];
	ck_assert_str_eq(states, queues[_i].states);
	ck_assert_str_eq(q.reason, queues[_i].reason);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("slurm");
	TCase *c = tcase_create("texts");

	tcase_add_loop_test(c, array_is_written_as_ranges, 0, COUNT(arrays));
	tcase_add_loop_test(c, extra_option_is_checked, 0, COUNT(extras));
	tcase_add_test(c, options_say_all_of_the_job);
	tcase_add_test(c, script_quotes_what_is_not_plain);
	tcase_add_loop_test(c, queue_is_read, 0, COUNT(queues));
	suite_add_tcase(s, c);
	return s;
}
