/* What sbatch is told. */
#include "sweep/slurm.h"
#include "tests/tests.h"

#include <check.h>

#include <stdlib.h>
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

static const char *script_of(const struct slurm_job *job)
{
	static const int task[] = {1, 2, 3, 7};
	static struct text out;

	text_free(&out);
	slurm_script(&out, job, task, COUNT(task));
	return out.s;
}

START_TEST(script_says_all_of_the_job)
{
	static const char *extra[] = {"--account=abc", "-p", "long"};
	struct slurm_job job = {.program = "/opt/shardsim",
	                        .start = "/home/me",
	                        .folder = "/data/x",
	                        .plan = "/data/plan.jsonl",
	                        .nshards = 8,
	                        .cpus = 1};

	unsetenv("SHARDSIM_DATA");
	ck_assert_str_eq(script_of(&job),
	                 "#!/bin/sh\n"
	                 "#SBATCH --job-name=shardsim --array=1-3,7\n"
	                 "#SBATCH --ntasks=1 --cpus-per-task=1 --requeue\n"
	                 "#SBATCH --output=slurm-%A_%a.log --open-mode=append "
	                 "\"--chdir=/data/x\"\n"
	                 "cd /home/me && exec /opt/shardsim sweep run "
	                 "/data/plan.jsonl --shard \"$SLURM_ARRAY_TASK_ID/8\" --out "
	                 "/data/x/shard-\"$SLURM_ARRAY_TASK_ID\"-of-8.jsonl\n");

	setenv("SHARDSIM_DATA", "/my data", 1);
	job.jobs = "3";
	job.cpus = 3;
	job.timeout = "30s";
	job.memory = "2 GiB";
	job.progress = "5s";
	job.throttle = 5;
	job.extra = extra;
	job.nextra = COUNT(extra);
	ck_assert_str_eq(script_of(&job),
	                 "#!/bin/sh\n"
	                 "#SBATCH --job-name=shardsim --array=1-3,7%5\n"
	                 "#SBATCH --ntasks=1 --cpus-per-task=3 --requeue\n"
	                 "#SBATCH --output=slurm-%A_%a.log --open-mode=append "
	                 "\"--chdir=/data/x\"\n"
	                 "#SBATCH \"--account=abc\" \"-p\" \"long\"\n"
	                 "export SHARDSIM_DATA='/my data'\n"
	                 "cd /home/me && exec /opt/shardsim sweep run "
	                 "/data/plan.jsonl --shard \"$SLURM_ARRAY_TASK_ID/8\" --out "
	                 "/data/x/shard-\"$SLURM_ARRAY_TASK_ID\"-of-8.jsonl --jobs 3 "
	                 "--timeout 30s --worker-memory '2 GiB' --progress=5s\n");
}
END_TEST

/* sbatch wants a backslash before " and \ inside "", a shell '' round what is not plain. */
START_TEST(script_quotes_what_is_not_plain)
{
	struct slurm_job job = {.program = "shardsim",
	                        .start = "/a'b",
	                        .folder = "/x/a'b\"c\\d%e#",
	                        .plan = "/p q",
	                        .nshards = 8,
	                        .cpus = 1};
	const char *script = script_of(&job);

	ck_assert_ptr_nonnull(strstr(script, " \"--chdir=/x/a'b\\\"c\\\\d%e#\"\n"));
	ck_assert_ptr_nonnull(strstr(script, "\ncd '/a'\\''b' && exec shardsim "));
	ck_assert_ptr_nonnull(strstr(script, " sweep run '/p q' --shard "));
	ck_assert_ptr_nonnull(strstr(script, " --out '/x/a'\\''b\"c\\d%e#'/shard-\"$"));
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("slurm");
	TCase *c = tcase_create("texts");

	tcase_add_loop_test(c, array_is_written_as_ranges, 0, COUNT(arrays));
	tcase_add_test(c, script_says_all_of_the_job);
	tcase_add_test(c, script_quotes_what_is_not_plain);
	suite_add_tcase(s, c);
	return s;
}
