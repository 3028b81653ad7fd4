/*
 * The sweep as its users see it: the program itself is run, and its processes are killed.
 */
#include "sweep/sweep.h"
#include "tests/tests.h"

#include "edit.h"
#include "runner.h"

#include <check.h>

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/*
 * Four times the same problem: 2048 devices, a permute, so replays take long enough to be
 * caught, and rows that differ in the scenario alone must have equal times.
 */
static const char long_suite[] =
	"defaults: {array: \"u8[2048,512]\", mesh: \"x=64,y=32\",\n"
	"           from: \"P(('x', 'y'))\", to: \"P(('y', 'x'))\"}\n"
	"scenarios: [{name: a}, {name: b}, {name: c}, {name: d}]\n";
enum { LONG_ROWS = 4 * 2 * 2 }; /* scenarios, planners, clocks */

static struct runner r;

static void start(void)
{
	runner_start(&r);
}

static void end(void)
{
	runner_end(&r);
}

/* The sweep of a suite into DIR/rows. */
static pid_t sweep_start(const char *yaml, const char *platforms, const char *njobs)
{
	const char *const words[] = {
		"sweep",   "suite.yaml",    "--platform",
		platforms, "--planner",     "synth-rewrite,xla-2021",
		"--clock", "model,simgrid", "--jobs",
		njobs,     "--out",         "rows",
		NULL};

	runner_write(&r, "suite.yaml", yaml);
	return runner_program(&r, NULL, words);
}

static pid_t start_long(const char *njobs)
{
	return sweep_start(long_suite, "tpu-v4:8x16x16", njobs);
}

/* All rows of the long suite, `failed` of them failed with that message, the rest ok. */
static void check_long_rows(int failed, const char *message)
{
	double time_s[2][2] = {{NAN, NAN}, {NAN, NAN}};
	size_t n;
	struct row *row = runner_rows(&r, "rows", &n);

	ck_assert_uint_eq(n, LONG_ROWS);
	for (size_t i = 0; i < n; i++) {
		double *t = &time_s[strcmp(row[i].planner, "xla-2021") == 0]
		                   [strcmp(row[i].clock, "simgrid") == 0];

		ck_assert_int_eq(row[i].scenario[0], "abcd"[i / 4]);
		if (row[i].status == OUTCOME_FAILED) {
			failed--;
			ck_assert_msg(strstr(row[i].message, message) != NULL, "%s",
			              row[i].message);
			ck_assert(isnan(row[i].time_s));
			continue;
		}
		ck_assert_int_eq(row[i].status, OUTCOME_OK);
		if (isnan(*t))
			*t = row[i].time_s;
		ck_assert(row[i].time_s == *t);
	}
	ck_assert_int_eq(failed, 0);
}

static const char *const jobs[] = {"1", "3"};

START_TEST(nobody_killed)
{
	pid_t sweep = start_long("3");

	runner_exit(sweep, 0);
	check_long_rows(0, "");
	ck_assert_str_eq(runner_read(&r, "stderr"),
	                 arena_printf(r.arena, "%d rows in rows: %d ok\n", LONG_ROWS,
	                              LONG_ROWS));
	ck_assert(!runner_has(&r, "rows/sweep.db-wal"));
	ck_assert(!runner_has(&r, "rows/sweep.db.lock"));
}
END_TEST

START_TEST(worker_killed)
{
	pid_t sweep = start_long(jobs[_i]);
	pid_t worker, replay;

	runner_stop_replay(sweep, &worker, &replay);
	ck_assert_int_eq(kill(worker, SIGKILL), 0);
	kill(replay, SIGCONT);
	runner_exit(sweep, 1);
	check_long_rows(1, "the worker died of signal 9 (Killed)");
	runner_said(&r, "15 ok, 1 failed");
}
END_TEST

START_TEST(replay_killed)
{
	pid_t sweep = start_long(jobs[_i]);
	pid_t worker, replay;

	runner_stop_replay(sweep, &worker, &replay);
	ck_assert_int_eq(kill(replay, SIGKILL), 0);
	runner_exit(sweep, 1);
	check_long_rows(1, "the replay died of signal 9 (Killed)");
	runner_said(&r, "15 ok, 1 failed");
}
END_TEST

/*
 * Three workers that die as they start: where no row was done between them the platform is
 * given up. Either way every row is there once, done or failed. (No more than three: a
 * sanitizer's helper at the end of the program would look like a worker.)
 */
START_TEST(workers_killed)
{
	pid_t sweep = start_long(jobs[_i]), last = 0;
	int failed = 0;
	size_t n;
	struct row *row;

	for (int killed = 0; killed < 3;) {
		pid_t worker = runner_child(sweep);
		int status;

		ck_assert_msg(waitpid(sweep, &status, WNOHANG) == 0,
		              "the sweep ended before three workers were seen");
		if (!worker || worker == last || kill(worker, SIGKILL) != 0)
			continue;
		last = worker;
		killed++;
	}
	runner_exit(sweep, 1);
	row = runner_rows(&r, "rows", &n);
	ck_assert_uint_eq(n, LONG_ROWS);
	for (size_t i = 0; i < n; i++) {
		ck_assert(row[i].status == OUTCOME_OK ||
		          row[i].status == OUTCOME_FAILED);
		failed += row[i].status == OUTCOME_FAILED;
	}
	ck_assert(failed >= 3 || _i == 1);
}
END_TEST

/* What was committed is there after a death; the same command goes on from there. */
START_TEST(sweep_killed)
{
	pid_t sweep = start_long("3"), worker, replay;
	int status;

	runner_stop_replay(sweep, &worker, &replay);
	ck_assert_int_eq(kill(sweep, SIGKILL), 0);
	ck_assert_int_eq(waitpid(sweep, &status, 0), sweep);
	kill(replay, SIGCONT);
	runner_exit(start_long("1"), 0);
	check_long_rows(0, "");
}
END_TEST

/* SimGrid refuses the file when the worker loads it; the other platform is not touched. */
START_TEST(platform_refused)
{
	const char *path = edit_platform(r.arena, "dgx-a100:1", "routing=\"Full\"",
	                                 "routing=\"Fool\"");
	const char *platforms = arena_printf(r.arena, "%s,dgx-h100:1", path);
	pid_t sweep =
		sweep_start("scenarios: [{name: s, array: \"u8[6]\", mesh: \"x=3\", "
	                    "from: \"P('x')\", to: \"P(None)\"},\n"
	                    "            {name: t, array: \"u8[9]\", mesh: \"x=3\", "
	                    "from: \"P(None)\", to: \"P('x')\"}]\n",
	                    platforms, jobs[_i]);
	size_t n;
	struct row *row;

	runner_exit(sweep, 1);
	unlink(path);
	runner_said(&r, "8 ok, 8 failed");
	row = runner_rows(&r, "rows", &n);
	ck_assert_uint_eq(n, 16);
	for (size_t i = 0; i < n; i++) {
		bool good = strcmp(row[i].platform, "dgx-h100:1") == 0;

		ck_assert_int_eq(row[i].status, good ? OUTCOME_OK : OUTCOME_FAILED);
		ck_assert_msg(
			good || strstr(row[i].message, "SimGrid refuses the file"),
			"%s", row[i].message);
	}
}
END_TEST

/* Too many devices, or a device that the platform has not: an answer, not a failure. */
START_TEST(too_large)
{
	pid_t sweep = sweep_start(
		"defaults: {array: \"u8[18]\", from: \"P('x')\", to: \"P(None)\"}\n"
		"scenarios:\n"
		"  - {name: s, mesh: \"x=9\"}\n"
		"  - {name: t, mesh: \"x=3\", devices: \"1,7,8\"}\n"
		"  - {name: u, mesh: \"x=3\", devices: \"7,0,5\"}\n",
		"dgx-a100:1", jobs[_i]);
	size_t n;
	struct row *row;

	runner_exit(sweep, 0);
	runner_said(&r, "12 rows in ");
	runner_said(&r, ": 4 ok, 8 not-applicable\n");
	row = runner_rows(&r, "rows", &n);
	ck_assert_uint_eq(n, 12);
	ck_assert_str_eq(row[0].message, "needs 9 devices, the platform has 8");
	ck_assert_ptr_nonnull(strstr(row[4].message, "device 8 is out of range"));
	ck_assert_int_eq(row[8].status, OUTCOME_OK);
}
END_TEST

/* --- rows in a pipe ------------------------------------------------------------------ */

START_TEST(packed_rows)
{
	struct row in = row_empty(), out;
	struct text bytes = {0};

	in.scenario = "s,\n'1'";
	in.steps = "all-gather {x}: 0->";
	in.status = OUTCOME_OVER_MEMORY;
	in.time_s = 1.0 / 3;
	in.recv_bytes = INT64_C(7) << 40;
	in.full_remat = true;
	row_pack(&bytes, &in);
	ck_assert(row_unpack(&out, bytes.s, bytes.length));
	ck_assert_str_eq(out.scenario, in.scenario);
	ck_assert_str_eq(out.family, "");
	ck_assert_str_eq(out.steps, in.steps);
	ck_assert_int_eq(out.status, in.status);
	ck_assert(out.time_s == in.time_s && isnan(out.launch_s));
	ck_assert_int_eq(out.recv_bytes, in.recv_bytes);
	ck_assert_int_eq(out.send_bytes, -1);
	ck_assert(out.full_remat);
	for (size_t n = 0; n < bytes.length; n++)
		ck_assert(!row_unpack(&out, bytes.s, n));
	text_append(&bytes, "", 1);
	ck_assert(!row_unpack(&out, bytes.s, bytes.length));
	text_free(&bytes);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("sweep");
	TCase *tc = tcase_create("sweep");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, start, end);
	tcase_add_test(tc, nobody_killed);
	tcase_add_loop_test(tc, worker_killed, 0, COUNT(jobs));
	tcase_add_loop_test(tc, replay_killed, 0, COUNT(jobs));
	tcase_add_loop_test(tc, workers_killed, 0, COUNT(jobs));
	tcase_add_test(tc, sweep_killed);
	tcase_add_loop_test(tc, platform_refused, 0, COUNT(jobs));
	tcase_add_loop_test(tc, too_large, 0, COUNT(jobs));
	tcase_add_test(tc, packed_rows);
	suite_add_tcase(s, tc);
	return s;
}
