/*
 * The sweep as its users see it: the program itself is run, and its processes are killed.
 * $SHARDSIM is the program.
 */
#include "sweep.h"

#include "edit.h"

#include <check.h>

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
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

static struct arena *arena;
static char *dir;

static void start(void)
{
	const char *tmp = getenv("TMPDIR");

	arena = arena_new();
	dir = arena_printf(arena, "%s/check_sweep-XXXXXX", tmp ? tmp : P_tmpdir);
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static const char *in_dir(const char *name)
{
	return arena_printf(arena, "%s/%s", dir, name);
}

static void end(void)
{
	static const char *const names[] = {"sweep.db",      "sweep.db.part",
	                                    "sweep.db.lock", "sweep.db.part-journal",
	                                    "stderr",        "suite.yaml"};

	for (int i = 0; i < COUNT(names); i++)
		unlink(in_dir(names[i]));
	ck_assert_int_eq(rmdir(dir), 0);
	arena_free(arena);
}

/* --- processes ----------------------------------------------------------------------- */

struct process {
	pid_t pid, parent, group;
	char state;
};

/* All processes that can be seen; the arena's. */
static struct process *processes(struct arena *a, int *n)
{
	DIR *proc = opendir("/proc");
	struct process *all = NULL;
	struct text list = {0};

	ck_assert_ptr_nonnull(proc);
	for (struct dirent *d; (d = readdir(proc));) {
		struct process p = {.pid = atoi(d->d_name)};
		char path[64], stat[512];
		size_t length = 0;
		FILE *f;

		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)p.pid);
		f = fopen(path, "r");
		if (f)
			length = fread(stat, 1, sizeof(stat) - 1, f);
		if (f)
			fclose(f);
		stat[length] = '\0';
		/* The name in parentheses may hold any byte. */
		if (strrchr(stat, ')') && sscanf(strrchr(stat, ')') + 1, " %c %d %d",
		                                 &p.state, &p.parent, &p.group) == 3)
			text_append(&list, (const char *)&p, sizeof(p));
	}
	closedir(proc);
	*n = (int)(list.length / sizeof(*all));
	all = arena_alloc(a, (size_t)*n + 1, sizeof(*all));
	if (*n)
		memcpy(all, list.s, list.length);
	text_free(&list);
	return all;
}

/* A living child of the process; 0 if it has none. */
static pid_t child_of(pid_t parent)
{
	struct arena *a = arena_new();
	pid_t found = 0;
	int n;
	struct process *p = processes(a, &n);

	for (int i = 0; i < n && !found; i++)
		if (p[i].parent == parent && p[i].state != 'Z')
			found = p[i].pid;
	arena_free(a);
	return found;
}

static bool is_stopped(pid_t pid, pid_t parent)
{
	struct arena *a = arena_new();
	bool stopped = false;
	int n;
	struct process *p = processes(a, &n);

	for (int i = 0; i < n; i++)
		if (p[i].pid == pid && p[i].parent == parent)
			stopped = p[i].state == 'T';
	arena_free(a);
	return stopped;
}

static int alive_in_group(pid_t group)
{
	struct arena *a = arena_new();
	int n, alive = 0;
	struct process *p = processes(a, &n);

	for (int i = 0; i < n; i++)
		alive += p[i].group == group && p[i].state != 'Z';
	arena_free(a);
	return alive;
}

static void pause_ms(int ms)
{
	nanosleep(&(struct timespec){0, ms * 1000000L}, NULL);
}

/* Processes that are dying may take a moment. */
static void check_nobody_left(pid_t group)
{
	for (int i = 0; i < 1000 && alive_in_group(group); i++)
		pause_ms(10);
	ck_assert_int_eq(alive_in_group(group), 0);
}

/* The sweep into `dir`, leader of a process group of its own, which dies with us. */
static pid_t sweep_start(const char *yaml, const char *platforms, const char *njobs)
{
	const char *suite = in_dir("suite.yaml"), *messages = in_dir("stderr");
	const char *program = getenv("SHARDSIM");
	FILE *f = fopen(suite, "w");
	pid_t pid;

	ck_assert_ptr_nonnull(program);
	ck_assert_ptr_nonnull(f);
	ck_assert(fputs(yaml, f) >= 0 && fclose(f) == 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		if (freopen(messages, "w", stderr))
			execl(program, "shardsim", "sweep", suite, "--platform",
			      platforms, "--planner", "synth-rewrite,xla-2021",
			      "--clock", "model,fluid", "--jobs", njobs, "--out", dir,
			      (char *)NULL);
		_exit(127);
	}
	setpgid(pid, pid);
	return pid;
}

static pid_t start_long(const char *njobs)
{
	return sweep_start(long_suite, "tpu-v4:8x16x16", njobs);
}

static void check_exit(pid_t sweep, int wanted)
{
	int status;

	ck_assert_int_eq(waitpid(sweep, &status, 0), sweep);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == wanted);
	check_nobody_left(sweep);
}

/*
 * A replay, stopped, and the worker that waits for it. Who kills the worker must let the
 * replay go on: it may not have asked yet to die with its parent.
 */
static void stop_replay(pid_t sweep, pid_t *worker, pid_t *replay)
{
	for (;;) {
		int status;

		*worker = child_of(sweep);
		*replay = *worker ? child_of(*worker) : 0;
		ck_assert_msg(waitpid(sweep, &status, WNOHANG) == 0,
		              "the sweep ended before a replay was seen");
		if (!*replay || kill(*replay, SIGSTOP) != 0)
			continue;
		/* It may have ended, or its death may be on the way. */
		for (int i = 0; i < 100 && kill(*replay, 0) == 0; i++) {
			if (is_stopped(*replay, *worker))
				return;
			pause_ms(1);
		}
	}
}

static const char *messages(void)
{
	FILE *f = fopen(in_dir("stderr"), "r");
	char *text = arena_alloc(arena, 4096, 1);

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_gt(fread(text, 1, 4095, f), 0);
	fclose(f);
	return text;
}

static void check_message(const char *wanted)
{
	const char *text = messages();

	ck_assert_msg(strstr(text, wanted) != NULL, "'%s' is not in '%s'", wanted, text);
}

/* --- rows ---------------------------------------------------------------------------- */

static struct row *read_rows(size_t *n)
{
	struct error e = {0};
	struct store *store;
	struct row *rows;

	ck_assert_msg(store_open(&store, dir, false, &e) == OK, "%s", e.text);
	ck_assert_int_eq(store_rows(store, arena, &rows, n, &e), OK);
	store_close(store);
	return rows;
}

/* All rows of the long suite, `failed` of them failed with that message, the rest ok. */
static void check_long_rows(int failed, const char *message)
{
	double time_s[2][2] = {{NAN, NAN}, {NAN, NAN}};
	size_t n;
	struct row *row = read_rows(&n);

	ck_assert_uint_eq(n, LONG_ROWS);
	for (size_t i = 0; i < n; i++) {
		double *t = &time_s[strcmp(row[i].planner, "xla-2021") == 0]
		                   [strcmp(row[i].clock, "fluid") == 0];

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

	check_exit(sweep, 0);
	check_long_rows(0, "");
	ck_assert_str_eq(messages(), arena_printf(arena, "%d rows in %s: %d ok\n",
	                                          LONG_ROWS, dir, LONG_ROWS));
	ck_assert_int_ne(access(in_dir("sweep.db.part"), F_OK), 0);
}
END_TEST

START_TEST(worker_killed)
{
	pid_t sweep = start_long(jobs[_i]);
	pid_t worker, replay;

	stop_replay(sweep, &worker, &replay);
	ck_assert_int_eq(kill(worker, SIGKILL), 0);
	kill(replay, SIGCONT);
	check_exit(sweep, 1);
	check_long_rows(1, "the worker died of signal 9 (Killed)");
	check_message("15 ok, 1 failed");
}
END_TEST

START_TEST(replay_killed)
{
	pid_t sweep = start_long(jobs[_i]);
	pid_t worker, replay;

	stop_replay(sweep, &worker, &replay);
	ck_assert_int_eq(kill(replay, SIGKILL), 0);
	check_exit(sweep, 1);
	check_long_rows(1, "the replay died of signal 9 (Killed)");
	check_message("15 ok, 1 failed");
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
		pid_t worker = child_of(sweep);
		int status;

		ck_assert_msg(waitpid(sweep, &status, WNOHANG) == 0,
		              "the sweep ended before three workers were seen");
		if (!worker || worker == last || kill(worker, SIGKILL) != 0)
			continue;
		last = worker;
		killed++;
	}
	check_exit(sweep, 1);
	row = read_rows(&n);
	ck_assert_uint_eq(n, LONG_ROWS);
	for (size_t i = 0; i < n; i++) {
		ck_assert(row[i].status == OUTCOME_OK ||
		          row[i].status == OUTCOME_FAILED);
		failed += row[i].status == OUTCOME_FAILED;
	}
	ck_assert(failed >= 3 || _i == 1);
}
END_TEST

/* The last finished sweep stays until a new one is whole. */
START_TEST(sweep_killed)
{
	static const char small[] =
		"scenarios: [{name: s, array: \"u8[6]\", mesh: \"x=3\", "
		"from: \"P('x')\", to: \"P(None)\"}]\n";
	pid_t sweep = sweep_start(small, "dgx-a100:1", "1"), worker, replay;
	int status;
	size_t n;

	check_exit(sweep, 0);
	sweep = start_long("3");
	stop_replay(sweep, &worker, &replay);
	ck_assert_int_eq(kill(sweep, SIGKILL), 0);
	ck_assert_int_eq(waitpid(sweep, &status, 0), sweep);
	kill(replay, SIGCONT);
	check_nobody_left(sweep);
	ck_assert_int_eq(access(in_dir("sweep.db.part"), F_OK), 0);
	ck_assert_str_eq(read_rows(&n)->scenario, "s");
	ck_assert_uint_eq(n, 4);
	/* What it left is in nobody's way. */
	check_exit(start_long("3"), 0);
	check_long_rows(0, "");
}
END_TEST

/* SimGrid refuses the file when the worker loads it; the other platform is not touched. */
START_TEST(platform_refused)
{
	const char *path = edit_platform(arena, "dgx-a100:1", "routing=\"Full\"",
	                                 "routing=\"Fool\"");
	const char *platforms = arena_printf(arena, "%s,dgx-h100:1", path);
	pid_t sweep =
		sweep_start("scenarios: [{name: s, array: \"u8[6]\", mesh: \"x=3\", "
	                    "from: \"P('x')\", to: \"P(None)\"},\n"
	                    "            {name: t, array: \"u8[9]\", mesh: \"x=3\", "
	                    "from: \"P(None)\", to: \"P('x')\"}]\n",
	                    platforms, jobs[_i]);
	size_t n;
	struct row *row;

	check_exit(sweep, 1);
	unlink(path);
	check_message("8 ok, 8 failed");
	row = read_rows(&n);
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

	check_exit(sweep, 0);
	check_message("12 rows in ");
	check_message(": 4 ok, 8 not-applicable\n");
	row = read_rows(&n);
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
	uint32_t length;

	in.scenario = "s,\n'1'";
	in.steps = "all-gather {x}: 0->";
	in.status = OUTCOME_OVER_MEMORY;
	in.time_s = 1.0 / 3;
	in.recv_bytes = INT64_C(7) << 40;
	in.full_remat = true;
	row_pack(&bytes, &in);
	memcpy(&length, bytes.s, sizeof(length));
	ck_assert_uint_eq(bytes.length, sizeof(length) + length);
	ck_assert(row_unpack(&out, bytes.s + sizeof(length), length, arena));
	ck_assert_str_eq(out.scenario, in.scenario);
	ck_assert_str_eq(out.family, "");
	ck_assert_str_eq(out.steps, in.steps);
	ck_assert_int_eq(out.status, in.status);
	ck_assert(out.time_s == in.time_s && isnan(out.launch_s));
	ck_assert_int_eq(out.recv_bytes, in.recv_bytes);
	ck_assert_int_eq(out.send_bytes, -1);
	ck_assert(out.full_remat);
	for (uint32_t n = 0; n < length; n++)
		ck_assert(!row_unpack(&out, bytes.s + sizeof(length), n, arena));
	text_append(&bytes, "", 1);
	ck_assert(!row_unpack(&out, bytes.s + sizeof(length), length + 1, arena));
	text_free(&bytes);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sweep");
	TCase *tc = tcase_create("sweep");
	SRunner *runner;
	int failed;

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
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
