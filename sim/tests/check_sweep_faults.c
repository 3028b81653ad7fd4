/*
 * Sweeps that are killed, stopped, starved or led astray: what was finished is there, and
 * going on ends with exactly the rows of a sweep that nothing happened to.
 */
#include "runner.h"
#include "tests/tests.h"

#include "base/rng.h"

#include <check.h>
#include <sqlite3.h>

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* Replays of a few milliseconds; the last problem is too large for the first platform. */
static const char suite[] =
	"defaults: {array: \"bf16[48,210]\", family: t}\n"
	"platforms: [dgx-a100:1, \"tpu-v5e:4x8{launch_s=2us}\"]\n"
	"scenarios:\n"
	"  - {name: a, mesh: \"x=2,y=3\", from: \"P('x')\", to: \"P('y')\"}\n"
	"  - {name: b, mesh: \"x=7\", from: \"P(None, 'x')\", to: \"P()\",\n"
	"     bytes: [420, 4200]}\n"
	"  - {name: c, mesh: \"x=4,y=2\", from: \"P('x', 'y')\", to: \"P('y', 'x')\"}\n"
	"  - {name: d, mesh: \"x=5,y=3\", from: \"P('x')\", to: \"P(None, 'y')\"}\n";

static struct runner r;
static struct row *undisturbed;
static size_t nrows;

static void start(void)
{
	runner_start(&r);
	runner_write(&r, "suite.yaml", suite);
}

static void end(void)
{
	runner_end(&r);
}

#define SWEEP "sweep", "suite.yaml", "--clock", "model,simgrid", "--jobs", "3", "--out"

static const char *const into_rows[] = {SWEEP, "rows", NULL};
static const char *const resume_rows[] = {"sweep", "--resume", "rows", NULL};

/* The rows that all others must come to. */
static void make_undisturbed(void)
{
	static const char *const words[] = {SWEEP, "good", NULL};

	runner_run(&r, words, 0);
	undisturbed = runner_rows(&r, "good", &nrows);
	ck_assert_uint_gt(nrows, 100);
}

static void check_rows(bool part)
{
	size_t n;
	struct row *rows = runner_rows(&r, "rows", &n);

	runner_equal_rows(rows, n, undisturbed, nrows, part);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Four sweeps are killed five times each; no death loses a row that was there before. */
START_TEST(killed)
{
	struct rng *rng = rng_new((uint64_t)_i + 1);
	double took_s = now_s();
	size_t before = 0, n = 0;

	make_undisturbed();
	took_s = now_s() - took_s;
	for (int k = 0; k < 5; k++) {
		pid_t sweep = runner_program(&r, NULL, k % 2 ? resume_rows : into_rows);

		runner_pause_ms((int)(1000 * took_s * rng_uniform(rng) / 2));
		runner_kill(sweep);
		if (!runner_has(&r, "rows/sweep.db")) { /* killed before it was made */
			runner_run(&r, into_rows, 0);
			break;
		}
		if (k % 2 == 0) /* it may not know its command yet */
			runner_run(&r, into_rows, 0);
		runner_rows(&r, "rows", &n);
		ck_assert_uint_ge(n, before);
		before = n;
		check_rows(true);
	}
	runner_run(&r, into_rows, 0);
	check_rows(false);
	rng_free(rng);
}
END_TEST

/* --- disks --------------------------------------------------------------------------- */

static void limit_files(void)
{
	struct rlimit limit = {200000, 200000};

	setrlimit(RLIMIT_FSIZE, &limit);
}

/* A file that may not grow is an error of the disk, not a death. */
START_TEST(full_file)
{
	make_undisturbed();
	runner_exit(runner_program(&r, limit_files, into_rows), 1);
	runner_said(&r, "sweep.db");
	runner_said(&r, "shardsim: go on with: shardsim sweep --resume rows\n");
	check_rows(true);
	runner_run(&r, resume_rows, 0);
	check_rows(false);
}
END_TEST

/* May this process mount? Where not, full_file is the test of a full disk. */
static bool mount_small(const char *dir)
{
	int flags = CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER);

	return unshare(flags) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", dir, "tmpfs", 0, "size=320k") == 0;
}

START_TEST(full_disk)
{
	const char *dir = runner_path(&r, "rows");

	make_undisturbed();
	ck_assert_int_eq(mkdir(dir, 0777), 0);
	if (!mount_small(dir)) {
		runner_exit(runner_program(&r, limit_files, into_rows), 1);
	} else {
		runner_exit(runner_program(&r, NULL, into_rows), 1);
		ck_assert_int_eq(mount("none", dir, "tmpfs", MS_REMOUNT, "size=16m"), 0);
	}
	runner_said(&r, "sweep.db");
	runner_said(&r, "shardsim: go on with: shardsim sweep --resume rows\n");
	check_rows(true);
	runner_run(&r, resume_rows, 0);
	check_rows(false);
	umount(dir);
}
END_TEST

/* Let the modes of files count, also for the superuser. */
static void be_nobody_special(void)
{
	prctl(PR_CAPBSET_DROP, 1 /* CAP_DAC_OVERRIDE */, 0, 0, 0);
	prctl(PR_CAPBSET_DROP, 2 /* CAP_DAC_READ_SEARCH */, 0, 0, 0);
}

START_TEST(forbidden)
{
	static const char *const report[] = {"report", "--rows", "rows", NULL};
	const char *dir = runner_path(&r, "rows");

	ck_assert_int_eq(mkdir(dir, 0500), 0);
	runner_exit(runner_program(&r, be_nobody_special, into_rows), 2);
	runner_said(&r, "rows: cannot write sweep.db: Permission denied\n");
	chmod(dir, 0700);
	runner_run(&r, into_rows, 0);
	chmod(dir, 0500);
	runner_exit(runner_program(&r, be_nobody_special, into_rows), 2);
	runner_said(&r, "rows: cannot write sweep.db: Permission denied\n");
	/* Finished rows can be read from where nothing can be written. */
	runner_exit(runner_program(&r, be_nobody_special, report), 0);
	chmod(dir, 0000);
	runner_exit(runner_program(&r, be_nobody_special, report), 2);
	runner_said(&r, "rows: cannot read sweep.db: Permission denied\n");
	runner_exit(runner_program(&r, be_nobody_special, resume_rows), 2);
	runner_said(&r, "rows: cannot read sweep.db: Permission denied\n");
	chmod(dir, 0700);
	ck_assert(!runner_has(&r, "rows/sweep.db.lock"));
}
END_TEST

/* What stands in the way of a new folder is told, not that the folder is not there. */
START_TEST(read_only)
{
	static const char *const words[] = {"sweep", "suite.yaml", "--out", "up/a/b",
	                                    NULL};
	const char *dir = runner_path(&r, "up");
	int flags = CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER);

	ck_assert_int_eq(mkdir(dir, 0500), 0);
	runner_exit(runner_program(&r, be_nobody_special, words), 2);
	runner_said(&r, "up/a/b: cannot write sweep.db: Permission denied\n");
	if (unshare(flags) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", dir, "tmpfs", MS_RDONLY, "") != 0)
		return;
	runner_run(&r, words, 2);
	runner_said(&r, "up/a/b: cannot write sweep.db: Read-only file system\n");
	umount(dir);
}
END_TEST

static void spoil(const char *path, double from, size_t bytes)
{
	int fd = open(path, O_RDWR);
	struct stat size;
	char *noise = xmalloc(bytes, 1);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &size), 0);
	memset(noise, 0x5a, bytes);
	ck_assert_int_eq(pwrite(fd, noise, bytes, (off_t)(from * (double)size.st_size)),
	                 (ssize_t)bytes);
	free(noise);
	close(fd);
}

/*
 * In the middle of rows, at the start, cut off, all of it: the file is kept under another
 * name, and the command given again does everything in a new one.
 */
START_TEST(corrupt)
{
	const char *db = runner_path(&r, "rows/sweep.db");
	struct stat size;

	make_undisturbed();
	runner_run(&r, into_rows, 0);
	ck_assert_int_eq(stat(db, &size), 0);
	if (_i == 0)
		spoil(db, 0.5, 9000);
	else if (_i == 1)
		spoil(db, 0, 100);
	else if (_i == 2)
		ck_assert_int_eq(truncate(db, size.st_size * 2 / 3), 0);
	else
		spoil(db, 0, (size_t)size.st_size);
	runner_run(&r, resume_rows, 2);
	runner_said(&r, "shardsim: rows/sweep.db was damaged (");
	runner_said(&r, "): it is kept as sweep.db.damaged, and a new one begins "
	                "without its rows; `sqlite3 /");
	runner_said(&r,
	            "/rows/sweep.db.damaged .recover` (or .dump, where sqlite3 lacks "
	            "that) prints what can be read of it\n");
	runner_said(&r, "sweep.db does not tell its command: give the command again, "
	                "with --out");
	ck_assert(runner_has(&r, "rows/sweep.db.damaged"));
	ck_assert(!runner_has(&r, "rows/sweep.db"));
	runner_run(&r, into_rows, 0);
	check_rows(false);
}
END_TEST

/* Where the digest of the sweep's cases stands, behind its name. */
static char *find_plan(char *bytes, size_t size)
{
	char *at = bytes;

	while ((at = memmem(at, size - (size_t)(at - bytes), "plan", 4)) &&
	       strspn(at + 4, "0123456789abcdef") < 32)
		at++;
	return at;
}

/*
 * One byte of a row, or of what is known about the sweep: the disk may not notice. The row's
 * checksum does; and what is no digest is not taken for that of another sweep.
 */
START_TEST(flipped)
{
	const char *db = runner_path(&r, "rows/sweep.db");
	char *bytes, *hit;
	struct stat size;
	FILE *f;

	make_undisturbed();
	runner_run(&r, into_rows, 0);
	ck_assert_int_eq(stat(db, &size), 0);
	bytes = arena_alloc(r.arena, (size_t)size.st_size, 1);
	f = fopen(db, "r+b");
	ck_assert_uint_eq(fread(bytes, 1, (size_t)size.st_size, f),
	                  (size_t)size.st_size);
	hit = _i ? find_plan(bytes, (size_t)size.st_size)
	         : memmem(bytes, (size_t)size.st_size, "all-gather {", 12);
	ck_assert_ptr_nonnull(hit);
	ck_assert_int_eq(fseek(f, hit - bytes + 4 * _i, SEEK_SET), 0);
	ck_assert_int_eq(fputc('z', f), 'z');
	ck_assert_int_eq(fclose(f), 0);
	runner_run(&r, resume_rows, 0);
	runner_said(&r, _i ? "; nothing was missing\n"
	                   : arena_printf(r.arena, "; %d were there\n", (int)nrows - 1));
	check_rows(false);
}
END_TEST

/* Numbers that the sweep keeps about itself: each is refused, and mended by its command. */
static const char *const damaged_settings[][2] = {
	{"platforms", "-1"},         {"platforms", "99999999999"},
	{"platforms", "2147483647"}, {"platforms", "two"},
	{"platforms", ""},           {"cases", "-1"},
	{"cases", "9e99"},           {"cases", "99999999999999999999"},
};

START_TEST(settings)
{
	static const char *const status[] = {"sweep", "status", "rows", NULL};
	static const char *const report[] = {"report", "rows", "--rows", NULL};
	const char *sql = arena_printf(
		r.arena, "UPDATE settings SET value = '%s' WHERE name = '%s'",
		damaged_settings[_i][1], damaged_settings[_i][0]);
	sqlite3 *db;

	runner_run(&r, into_rows, 0);
	ck_assert_int_eq(sqlite3_open(runner_path(&r, "rows/sweep.db"), &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	runner_run(&r, status, 2);
	runner_said(&r, "rows: sweep.db is damaged: its setting '");
	runner_run(&r, report, 2);
	runner_said(&r, "rows: sweep.db is damaged: its setting '");
	runner_run(&r, into_rows, 0);
	runner_said(&r, "; nothing was missing\n");
	runner_run(&r, status, 0);
}
END_TEST

/* --- people and limits --------------------------------------------------------------- */

/* 2048 devices, so that replays can be caught. */
static const char long_suite[] =
	"defaults: {array: \"u8[2048,512]\", mesh: \"x=64,y=32\",\n"
	"           from: \"P(('x', 'y'))\", to: \"P(('y', 'x'))\"}\n"
	"platforms: [tpu-v4:8x16x16]\n"
	"scenarios: [{name: a}, {name: b}, {name: c}]\n";

#define LONG                                                                           \
	"sweep", "long.yaml", "--clock", "model,simgrid", "--planner",                 \
		"synth-rewrite,xla-2021", "--out", "rows"

static const char *const long_words[] = {LONG, NULL};

/* The rows of the long suite by outcome. */
static void check_long(int ok, int failed, const char *message)
{
	size_t n;
	struct row *rows = runner_rows(&r, "rows", &n);

	for (size_t i = 0; i < n; i++) {
		bool bad = rows[i].status == OUTCOME_FAILED;

		ck_assert(bad || rows[i].status == OUTCOME_OK);
		ck_assert_msg(!bad || strstr(rows[i].message, message), "%s",
		              rows[i].message);
		ok -= !bad;
		failed -= bad;
	}
	ck_assert_int_eq(ok, 0);
	ck_assert_int_eq(failed, 0);
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

START_TEST(stopped)
{
	pid_t sweep, worker, replay;
	size_t n;

	runner_write(&r, "long.yaml", long_suite);
	sweep = runner_program(&r, NULL, long_words);
	runner_stop_replay(sweep, &worker, &replay);
	/* To the whole group, as a terminal does it. */
	ck_assert_int_eq(kill(-sweep, signals[_i]), 0);
	runner_exit(sweep, 1);
	runner_said(&r, arena_printf(r.arena, "shardsim: stopped by signal %d (%s), ",
	                             signals[_i], strsignal(signals[_i])));
	runner_said(&r, " of 12 rows are done\n"
	                "shardsim: go on with: shardsim sweep --resume rows\n");
	runner_rows(&r, "rows", &n);
	ck_assert_uint_lt(n, 12);
	check_long((int)n, 0, "");
	runner_run(&r, resume_rows, 0);
	check_long(12, 0, "");
}
END_TEST

/* A replay that stands still is given up, and done when it is asked for again. */
START_TEST(too_slow)
{
	static const char *const words[] = {LONG,     "--timeout", "3s",
	                                    "--jobs", "2",         NULL};
	pid_t sweep, worker, replay;

	runner_write(&r, "long.yaml", long_suite);
	sweep = runner_program(&r, NULL, words);
	runner_stop_replay(sweep, &worker, &replay);
	runner_exit(sweep, 1);
	check_long(11, 1, "took longer than 3 s (--timeout)");
	runner_said(&r, "12 rows in rows: 11 ok, 1 failed\n");
	runner_run(&r, resume_rows, 0);
	runner_said(&r, "12 rows in rows: 12 ok; 11 were there\n");
	check_long(12, 0, "");
}
END_TEST

/*
 * 18,432 devices in SimGrid, which two groups on one link need, take some 200 MiB, 8
 * hardly more than the program: half way between them is the limit. Under a sanitizer all
 * is larger.
 */
#ifdef __SANITIZE_ADDRESS__
#define LIMIT "250MiB"
#else
#define LIMIT "120MiB"
#endif

START_TEST(too_large)
{
	static const char *const words[] = {"sweep",
	                                    "suite.yaml",
	                                    "--platform",
	                                    "tpu-7x:16x24x24,dgx-a100:1",
	                                    "--out",
	                                    "rows",
	                                    "--clock",
	                                    "simgrid",
	                                    "--jobs",
	                                    "1",
	                                    "--planner",
	                                    "gather",
	                                    "--worker-memory",
	                                    LIMIT,
	                                    NULL};
	size_t n;
	struct row *rows;

	runner_write(&r, "suite.yaml",
	             "scenarios: [{name: a, array: \"u8[6]\", mesh: \"x=2,y=2\", "
	             "from: \"P('x')\", to: \"P()\"}]\n");
	runner_run(&r, words, 1);
	rows = runner_rows(&r, "rows", &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(rows[0].status, OUTCOME_OK);
	ck_assert_str_eq(rows[0].platform, "dgx-a100:1");
	ck_assert_int_eq(rows[1].status, OUTCOME_FAILED);
	ck_assert_msg(strstr(rows[1].message, "(--worker-memory)") != NULL, "%s",
	              rows[1].message);
}
END_TEST

START_TEST(two_at_once)
{
	pid_t first, worker, replay;
	const char *text;

	runner_write(&r, "long.yaml", long_suite);
	first = runner_program(&r, NULL, long_words);
	runner_stop_replay(first, &worker, &replay);
	text = arena_printf(r.arena, "rows: process %d is writing a sweep there\n",
	                    (int)first);
	runner_run(&r, resume_rows, 2);
	runner_said(&r, text);
	runner_run(&r, long_words, 2);
	runner_said(&r, text);
	kill(replay, SIGCONT);
	runner_exit(first, 0);
	check_long(12, 0, "");
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("sweep_faults");
	TCase *tc = tcase_create("sweep_faults");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, start, end);
	tcase_add_loop_test(tc, killed, 0, 4);
	tcase_add_test(tc, full_file);
	tcase_add_test(tc, full_disk);
	tcase_add_test(tc, forbidden);
	tcase_add_loop_test(tc, corrupt, 0, 4);
	tcase_add_loop_test(tc, flipped, 0, 2);
	tcase_add_loop_test(tc, settings, 0, COUNT(damaged_settings));
	tcase_add_test(tc, read_only);
	tcase_add_loop_test(tc, stopped, 0, COUNT(signals));
	tcase_add_test(tc, too_slow);
	tcase_add_test(tc, too_large);
	tcase_add_test(tc, two_at_once);
	suite_add_tcase(s, tc);
	return s;
}
