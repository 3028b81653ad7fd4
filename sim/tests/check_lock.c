/* The lock of a sweep's folder: one writer at a time, and none that is dead. */
#include "store_made.h"
#include "system/lock.h"
#include "tests/tests.h"

#include "store/store.h"

#include <check.h>
#include <sqlite3.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[400];
static struct error error;

static void start(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%.300s/check_lock-XXXXXX", tmp ? tmp : P_tmpdir);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	error = (struct error){0};
}

static void end(void)
{
	unlink("sweep.db");
	unlink("sweep.db-wal");
	unlink("sweep.db-shm");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}

static bool exists(const char *name)
{
	return access(name, F_OK) == 0;
}

/* A process that has begun a sweep in this folder, and goes on until it is killed. */
static pid_t start_writer(void)
{
	pid_t parent = getpid(), child;
	int ready[2];
	char byte;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		struct store *s;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent && store_open(&s, ".", true, &error) == OK &&
		    write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

START_TEST(one_at_a_time)
{
	pid_t child = start_writer();
	struct store *s;
	char text[80];

	snprintf(text, sizeof(text), "process %d is writing a sweep there", (int)child);
	ck_assert_int_eq(store_open(&s, ".", true, &error), E_IO);
	ck_assert_ptr_null(s);
	ck_assert_str_eq(error.at.file, ".");
	ck_assert_str_eq(error.text, text);
	ck_assert(exists("sweep.db") && exists("sweep.db.lock"));
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	/* What it leaves is in nobody's way. */
	ck_assert(exists("sweep.db") && exists("sweep.db.lock"));
	error = (struct error){0};
	ck_assert_int_eq(store_open(&s, ".", true, &error), OK);
	ck_assert_int_eq(store_finish(s, &error), OK);
	store_close(s);
	ck_assert(exists("sweep.db"));
	ck_assert(!exists("sweep.db.lock"));
}
END_TEST

/* A reader does not stop the writer, who can then not tidy up: that does no harm. */
START_TEST(read_by_another_program)
{
	struct row r = row_empty();
	struct store *s;
	int64_t rows;
	sqlite3 *db;

	ck_assert_int_eq(store_open(&s, ".", true, &error), OK);
	ck_assert_int_eq(sqlite3_open("sweep.db", &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "BEGIN; SELECT name FROM sqlite_master", NULL,
	                              NULL, NULL),
	                 SQLITE_OK);
	ck_assert_int_eq(kept_put(s, &r, &error), OK);
	ck_assert_int_eq(store_finish(s, &error), OK);
	store_close(s);
	sqlite3_close(db);
	ck_assert_int_eq(store_open(&s, ".", true, &error), OK);
	ck_assert_int_eq(store_count(&rows, s, &error), OK);
	ck_assert_int_eq(rows, 1);
	store_close(s);
}
END_TEST

START_TEST(taken_and_given)
{
	struct where at = {.file = "there"};
	int fd;

	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(lock_take(&fd, "lock", at, &error), OK);
		ck_assert_int_ge(fd, 0);
		ck_assert(exists("lock"));
		lock_give(fd, "lock");
		ck_assert(!exists("lock"));
	}
	ck_assert_int_eq(lock_take(&fd, "none/sweep.db.lock", at, &error), E_IO);
	ck_assert_int_eq(fd, -1);
	ck_assert_str_eq(error.at.file, "there");
	ck_assert_str_eq(error.text,
	                 "cannot write sweep.db: No such file or directory");
	lock_give(fd, "none/sweep.db.lock");
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("lock");
	TCase *tc = tcase_create("lock");

	tcase_add_checked_fixture(tc, start, end);
	tcase_add_test(tc, one_at_a_time);
	tcase_add_test(tc, read_by_another_program);
	tcase_add_test(tc, taken_and_given);
	suite_add_tcase(s, tc);
	return s;
}
