/*
 * SimGrid aborts, workers abort, run out of memory or of time: one row each, with what they said,
 * and all others are what they would have been.
 */
#include "runner.h"
#include "tests/tests.h"

#include <check.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const char suite[] =
	"defaults: {array: \"u8[48,240]\", family: t}\n"
	"scenarios:\n"
	"  - {name: a, mesh: \"x=4,y=4\", from: \"P(('x', 'y'))\", to: \"P(('y', "
	"'x'))\"}\n"
	"  - {name: b, mesh: \"x=16\", from: \"P('x')\", to: \"P(None, 'x')\"}\n";

static struct runner r;

static void start(void)
{
	runner_start(&r);
	runner_write(&r, "suite.yaml", suite);
}

static void end(void)
{
	runner_end(&r);
}

/* ./bad.xml: the platform with one text in place of another. */
static void write_platform(const char *spec, const char *from, const char *to)
{
	const char *xml, *at;

	runner_run(&r, (const char *const[]){"platform", spec, NULL}, 0);
	xml = runner_read(&r, "stdout");
	at = strstr(xml, from);
	ck_assert_ptr_nonnull(at);
	runner_write(&r, "bad.xml",
	             arena_printf(r.arena, "%.*s%s%s", (int)(at - xml), xml, to,
	                          at + strlen(from)));
}

#define SWEEP                                                                          \
	"sweep", "suite.yaml", "--clock", "model,simgrid", "--planner",                \
		"gather,direct,synth", "--jobs", "2", "--out"

/* There are `n` rows, so many of them failed, all with that text and perhaps more. */
static void check_failed(size_t n, int failed, const char *text)
{
	size_t rows;
	struct row *row = runner_rows(&r, "rows", &rows);

	ck_assert_uint_eq(rows, n);
	for (size_t i = 0; i < n; i++) {
		if (row[i].status != OUTCOME_FAILED) {
			ck_assert_int_eq(row[i].status, OUTCOME_OK);
			continue;
		}
		failed--;
		ck_assert_msg(strncmp(row[i].message, text, strlen(text)) == 0, "%s",
		              row[i].message);
	}
	ck_assert_int_eq(failed, 0);
}

/* The file asks SimGrid to stop itself as soon as time passes: no plan can be replayed. */
START_TEST(replay_aborts)
{
	static const char text[] =
		"simgrid: the replay died of signal 5 (Trace/breakpoint trap)";
	size_t n, m, k = 0;
	struct row *row, *sound;

	write_platform("tpu-v5e:4x4", "<zone",
	               "<config id=\"stop\"><prop id=\"debug/breakpoint\" "
	               "value=\"1e-9\"/></config><zone");
	runner_run(&r,
	           (const char *const[]){SWEEP, "rows", "--platform",
	                                 "./bad.xml,tpu-v5e:4x4", NULL},
	           1);
	runner_said(&r, "24 rows in rows: 18 ok, 6 failed\n");
	check_failed(24, 6, text);
	/* Asked again it does not get better, and the others are not done again. */
	runner_run(&r, (const char *const[]){"sweep", "--resume", "rows", NULL}, 1);
	runner_said(&r, "24 rows in rows: 18 ok, 6 failed; 18 were there\n");
	check_failed(24, 6, text);
	runner_run(&r,
	           (const char *const[]){SWEEP, "sound", "--platform", "tpu-v5e:4x4",
	                                 NULL},
	           0);
	row = runner_rows(&r, "rows", &n);
	sound = runner_rows(&r, "sound", &m);
	for (size_t i = 0; i < n; i++)
		if (strcmp(row[i].platform, "tpu-v5e:4x4") == 0)
			row[k++] = row[i];
	runner_equal_rows(row, k, sound, m, false);
}
END_TEST

/* SimGrid aborts when it loads the file: all rows there, none elsewhere. */
START_TEST(load_aborts)
{
	write_platform("dgx-a100:1", "routing=\"Full\"", "routing=\"Fool\"");
	runner_run(&r,
	           (const char *const[]){SWEEP, "rows", "--platform",
	                                 "./bad.xml,tpu-v5e:4x4", NULL},
	           1);
	runner_said(&r, "24 rows in rows: 12 ok, 12 failed\n");
	check_failed(24, 12, "SimGrid refuses the file: Not a valid model!");
}
END_TEST

/* --- workers ------------------------------------------------------------------------- */

/* 2048 devices, so that replays can be caught. */
static const char long_suite[] =
	"scenarios: [{name: a, array: \"u8[2048,512]\", mesh: \"x=64,y=32\",\n"
	"             from: \"P(('x', 'y'))\", to: \"P(('y', 'x'))\"}]\n";

START_TEST(worker_aborts)
{
	pid_t sweep, worker, replay;

	runner_write(&r, "suite.yaml", long_suite);
	sweep = runner_program(&r, NULL,
	                       (const char *const[]){SWEEP, "rows", "--platform",
	                                             "tpu-v4:8x16x16", NULL});
	runner_stop_replay(sweep, &worker, &replay);
	ck_assert_int_eq(kill(worker, SIGABRT), 0);
	kill(replay, SIGCONT);
	runner_exit(sweep, 1);
	runner_said(&r, "6 rows in rows: 5 ok, 1 failed\n");
	check_failed(6, 1, "the worker died of signal 6 (Aborted)");
	runner_run(&r, (const char *const[]){"sweep", "--resume", "rows", NULL}, 0);
	runner_said(&r, "6 rows in rows: 6 ok; 5 were there\n");
	check_failed(6, 0, "");
}
END_TEST

/*
 * No exchange between 2,048 devices is simulated within a millisecond; but where the machine
 * is busy its row may be there before the sweep wakes up to kill it.
 */
START_TEST(short_timeout)
{
	size_t n, late = 0;
	struct row *row;

	runner_write(&r, "suite.yaml", long_suite);
	runner_run(&r,
	           (const char *const[]){"sweep", "suite.yaml", "--platform",
	                                 "tpu-v4:8x16x16,tpu-v4:16x16x16", "--clock",
	                                 "simgrid", "--planner",
	                                 "direct,synth,xla,digit", "--jobs", "2",
	                                 "--timeout", "1ms", "--out", "rows", NULL},
	           1);
	row = runner_rows(&r, "rows", &n);
	ck_assert_uint_eq(n, 8);
	for (size_t i = 0; i < n; i++)
		late += row[i].status == OUTCOME_FAILED &&
		        strcmp(row[i].message,
		               "took longer than 0.001 s (--timeout)") == 0;
	ck_assert_uint_gt(late, 4);
}
END_TEST

/* A sanitizer takes terabytes of addresses. */
#ifdef __SANITIZE_ADDRESS__
#define LIMITABLE 0
#else
#define LIMITABLE 1
#endif

/*
 * 16,384 devices in SimGrid take more than the 140 MB that any process gets; all else takes
 * two thirds of that at most. SimGrid aborts while it loads the platform in the worker,
 * which lives on and says so.
 */
static void limit_memory(void)
{
	struct rlimit limit = {140000000, 140000000};

	setrlimit(RLIMIT_AS, &limit);
}

START_TEST(out_of_memory)
{
	pid_t sweep;

	runner_write(&r, "suite.yaml",
	             arena_printf(r.arena,
	                          "%splatforms: [{base: dgx-h100:2048, set: {nics: "
	                          "[1]}}, tpu-v5e:4x4]\n",
	                          suite));
	sweep = runner_program(&r, limit_memory,
	                       (const char *const[]){"sweep", "suite.yaml", "--clock",
	                                             "simgrid", "--planner", "direct",
	                                             "--jobs", "1", "--out", "rows",
	                                             NULL});
	runner_exit(sweep, 1);
	runner_said(&r, "4 rows in rows: 2 ok, 2 failed\n");
	check_failed(4, 2, "simgrid: SimGrid gave up while it loaded the platform");
}
END_TEST

/*
 * The sweep is stopped until its worker has sent the row of one clock and died at the
 * next: the death is that of the second row, however late both are read.
 */
START_TEST(late_reader)
{
	pid_t sweep, worker = 0;

	runner_write(&r, "suite.yaml", long_suite);
	sweep = runner_program(&r, NULL,
	                       (const char *const[]){"sweep", "suite.yaml",
	                                             "--platform", "tpu-v4:8x16x16",
	                                             "--clock", "model,simgrid",
	                                             "--planner", "direct", "--jobs",
	                                             "1", "--out", "rows", NULL});
	for (int i = 0; i < 3000 && !worker; i++) {
		runner_pause_ms(1);
		worker = runner_child(sweep);
	}
	runner_pause_ms(20); /* for the first order */
	kill(sweep, SIGSTOP);
	for (int i = 0; i < 3000 && !runner_child(worker); i++)
		runner_pause_ms(10);
	ck_assert_int_eq(kill(worker, SIGABRT), 0);
	kill(sweep, SIGCONT);
	runner_exit(sweep, 1);
	runner_said(&r, "2 rows in rows: 1 ok, 1 failed\n");
	check_failed(2, 1, "the worker died of signal 6 (Aborted)");
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("sweep_deaths");
	TCase *tc = tcase_create("sweep_deaths");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, start, end);
	tcase_add_test(tc, replay_aborts);
	tcase_add_test(tc, load_aborts);
	tcase_add_test(tc, worker_aborts);
	tcase_add_test(tc, short_timeout);
	tcase_add_loop_test(tc, out_of_memory, 0, LIMITABLE);
	tcase_add_test(tc, late_reader);
	suite_add_tcase(s, tc);
	return s;
}
