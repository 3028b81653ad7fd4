/* Files that are no sweep, or are one no more. */
#include "store_made.h"
#include "tests/tests.h"

#include <check.h>
#include <sqlite3.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whoever only reads says so; what is no sweep is never written over. */
START_TEST(not_a_sweep)
{
	static const char garbage[] = "\x7f"
				      "ELF, or anything that is no database";

	kept_write("sweep.db", garbage, sizeof(garbage));
	kept_refuse(false, E_IO,
	            "sweep.db: cannot read it: file is not a database; `sqlite3 ");
	ck_assert_ptr_nonnull(strstr(kept_error.text, "/sweep.db .recover` (or .dump"));
	kept_write("sweep.db", "", 0);
	kept_refuse(false, E_IO, "not a sweep of this version");
	kept_sql("CREATE TABLE rows (scenario TEXT)");
	kept_refuse(false, E_IO, "not a sweep of this version");
	kept_refuse(true, E_IO, "not a sweep of this version");
	unlink(kept_path("sweep.db"));
	kept_error = (struct error){0};
	kept_finish(kept_open(true));
	kept_sql("PRAGMA user_version = 3");
	kept_refuse(false, E_IO, "not a sweep of this version");
	kept_refuse(true, E_IO, "not a sweep of this version");
	ck_assert(!kept_has("sweep.db.damaged"));
}
END_TEST

/* A file that is empty, as a death may leave it, is as good as none. */
START_TEST(empty_file)
{
	struct row r = row_empty();
	struct store *s;

	kept_write("sweep.db", "", 0);
	s = kept_open(true);
	ck_assert_ptr_null(store_damage(s));
	ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	kept_finish(s);
	ck_assert_uint_eq(kept_rows(), 1);
}
END_TEST

START_TEST(in_the_way)
{
	ck_assert_int_eq(mkdir(kept_path("sweep.db"), 0777), 0);
	kept_refuse(false, E_IO, "cannot read sweep.db: it is not a file");
	kept_refuse(true, E_IO, "cannot write sweep.db: it is not a file");
	ck_assert(!kept_has("sweep.db.lock"));
}
END_TEST

/* Cut off in the middle of a page. */
START_TEST(truncated)
{
	struct arena *a = arena_new();
	struct row r = kept_full(), *rows;
	struct store *s = kept_open(true);
	size_t n;

	ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	kept_finish(s);
	ck_assert_int_eq(truncate(kept_path("sweep.db"), 4099), 0);
	if (store_open(&s, kept_dir, false, &kept_error) == OK) {
		ck_assert_int_eq(store_rows(s, a, &rows, &n, &kept_error), E_IO);
		store_close(s);
	}
	ck_assert_int_eq(kept_error.code, E_IO);
	ck_assert_ptr_nonnull(strstr(kept_error.text, "malformed"));
	arena_free(a);
}
END_TEST

/* Enough rows for a tree of three levels. */
enum { ROWS = 2400, PAGE = 16384, HEAD = 100 };

static void put_many(struct store *s)
{
	char name[24];

	for (int i = 0; i < ROWS; i++) {
		struct row r = kept_full();

		snprintf(name, sizeof(name), "s%d", i);
		r.scenario = name;
		ck_assert_int_eq(store_put(s, &r, kept_digest(name), NULL, &kept_error),
		                 OK);
	}
	ck_assert_int_eq(store_set(s, "plan", 0, "this", &kept_error), OK);
	ck_assert_int_eq(store_commit(s, &kept_error), OK);
}

static void spoil(const char *name, long from, size_t bytes)
{
	FILE *f = fopen(kept_path(name), "r+b");

	ck_assert_int_eq(fseek(f, from, SEEK_SET), 0);
	for (size_t i = 0; i < bytes; i++)
		fputc(0xa5, f);
	ck_assert_int_eq(fclose(f), 0);
}

/* The bytes of a file, malloc's. */
static char *slurp(const char *name, size_t *n)
{
	FILE *f = fopen(kept_path(name), "rb");
	struct stat size;
	char *bytes;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fstat(fileno(f), &size), 0);
	*n = (size_t)size.st_size;
	bytes = malloc(*n + 1);
	ck_assert_uint_eq(fread(bytes, 1, *n, f), *n);
	fclose(f);
	return bytes;
}

/*
 * The file is damaged: whoever opens it for writing is told where it is kept, byte by
 * byte as it was, and works on a new one, which has nothing of it and is sound. In the head
 * of a file SQLite counts that it was opened.
 */
static void check_set_aside(const char *kept)
{
	char said[300], *before, *after;
	struct arena *a = arena_new();
	struct row r = kept_full();
	size_t nbefore, nafter;
	struct store *s;
	const char *plan;

	before = slurp("sweep.db", &nbefore);
	s = kept_open(true);
	ck_assert_ptr_nonnull(store_damage(s));
	ck_assert_ptr_nonnull(strstr(store_damage(s), "/sweep.db was damaged ("));
	snprintf(said, sizeof(said), "): it is kept as %s, and a new one begins", kept);
	ck_assert_ptr_nonnull(strstr(store_damage(s), said));
	snprintf(said, sizeof(said), "`sqlite3 %s/%s .recover` ", kept_dir, kept);
	ck_assert_ptr_nonnull(strstr(store_damage(s), said));
	after = slurp(kept, &nafter);
	ck_assert_uint_eq(nafter, nbefore);
	if (nbefore > HEAD)
		ck_assert_mem_eq(after + HEAD, before + HEAD, nbefore - HEAD);
	ck_assert_int_eq(store_get(&plan, s, a, "plan", 0, &kept_error), OK);
	ck_assert_ptr_null(plan);
	ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	kept_finish(s);
	ck_assert_uint_eq(kept_rows(), 1);
	s = kept_open(true);
	ck_assert_ptr_null(store_damage(s));
	kept_finish(s);
	free(before);
	free(after);
	arena_free(a);
}

/* Pages of the file from a part of it on: its head, the root of its rows, rows, all. */
static const struct {
	double from;
	size_t bytes;
} spoilt[] = {
	{0, 16},         {0, 100},     {0, PAGE},         {0, 2 * PAGE},
	{0.5, 5 * PAGE}, {0.25, PAGE}, {0.75, 20 * PAGE},
};

START_TEST(damaged)
{
	struct store *s = kept_open(true);
	struct stat size;

	put_many(s);
	kept_finish(s);
	ck_assert_int_eq(stat(kept_path("sweep.db"), &size), 0);
	spoil("sweep.db", (long)(spoilt[_i].from * (double)(size.st_size / PAGE)) * PAGE,
	      spoilt[_i].bytes);
	check_set_aside("sweep.db.damaged");
}
END_TEST

/* Cut off in its head, behind its first page, in the middle of a page and between two. */
static const long cut[] = {50, 300, PAGE, PAGE + 3, 20 * PAGE, 20 * PAGE + 999};

START_TEST(damaged_by_cutting)
{
	struct store *s = kept_open(true);

	put_many(s);
	kept_finish(s);
	ck_assert_int_eq(truncate(kept_path("sweep.db"), cut[_i]), 0);
	check_set_aside("sweep.db.damaged");
}
END_TEST

/* Rows that are still in the log beside the file are kept with it. */
START_TEST(damaged_with_log)
{
	pid_t pid = fork();
	size_t nbefore, nafter;
	char *before, *after;
	int status;

	if (pid == 0) { /* it dies before it has put all into one file */
		put_many(kept_open(true));
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ck_assert(kept_has("sweep.db-wal"));
	spoil("sweep.db", 0, 100);
	spoil("sweep.db-wal", 0, 32);
	before = slurp("sweep.db-wal", &nbefore);
	check_set_aside("sweep.db.damaged");
	after = slurp("sweep.db.damaged-wal", &nafter);
	ck_assert_uint_eq(nafter, nbefore);
	ck_assert_mem_eq(after, before, nbefore);
	free(before);
	free(after);
}
END_TEST

/*
 * The index of rows is the third page; that of an empty file is sound by itself, but lacks
 * what the rows' pages have: SQLite would read the rows, and refuse to replace them.
 */
START_TEST(damaged_index)
{
	struct row r = kept_key("s", "p", "synth", "model");
	struct store *s;
	char *bytes;
	size_t n;
	FILE *f;

	kept_finish(kept_open(true));
	bytes = slurp("sweep.db", &n);
	s = kept_open(true);
	ck_assert_int_eq(store_put(s, &r, kept_digest("s"), NULL, &kept_error), OK);
	kept_finish(s);
	f = fopen(kept_path("sweep.db"), "r+b");
	ck_assert_int_eq(fseek(f, 2 * PAGE, SEEK_SET), 0);
	ck_assert_uint_eq(fwrite(bytes + 2 * PAGE, 1, PAGE, f), PAGE);
	fclose(f);
	free(bytes);
	check_set_aside("sweep.db.damaged");
}
END_TEST

/* What was set aside before is left alone. */
START_TEST(damaged_twice)
{
	size_t n;
	char *bytes;

	kept_write("sweep.db.damaged", "older", 5);
	kept_write("sweep.db", "no database, but some other text", 32);
	check_set_aside("sweep.db.damaged-2");
	bytes = slurp("sweep.db.damaged", &n);
	ck_assert_uint_eq(n, 5);
	ck_assert_mem_eq(bytes, "older", 5);
	free(bytes);
}
END_TEST

/* Its file is removed, or its folder is renamed, while rows are put into it. */
START_TEST(gone_meanwhile)
{
	static const char said[] =
		"sweep.db was removed or renamed while rows were put into it";
	struct row r = row_empty();
	struct store *s = kept_open(true);

	put_many(s);
	ck_assert_int_eq(unlink(kept_path("sweep.db")), 0);
	ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	ck_assert_int_eq(
		_i ? store_finish(s, &kept_error) : store_commit(s, &kept_error), E_IO);
	ck_assert_str_eq(kept_error.text, said);
	store_close(s);
}
END_TEST

/* Cut while a row is put into it: the others are still in this process's memory. */
START_TEST(cut_meanwhile)
{
	struct row r = row_empty();
	struct store *s = kept_open(true);

	put_many(s);
	kept_finish(s);
	s = kept_open(true);
	ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	ck_assert_int_eq(truncate(kept_path("sweep.db"), cut[_i]), 0);
	ck_assert_int_eq(store_finish(s, &kept_error), E_IO);
	ck_assert_msg(strncmp(kept_error.text, "sweep.db", 8) == 0, "%s",
	              kept_error.text);
	store_close(s);
}
END_TEST

/* A database of ours in which somebody meddled. */
START_TEST(meddled)
{
	struct arena *a = arena_new();
	struct row r = kept_key("s", "p", "synth", "model"), *rows;
	struct store *s = kept_open(true);
	size_t n = 7;

	ck_assert_int_eq(store_put(s, &r, kept_digest("s"), NULL, &kept_error), OK);
	kept_finish(s);
	ck_assert_int_eq(kept_keys().n, 1);
	kept_sql("UPDATE rows SET time_s = 1");
	ck_assert_int_eq(kept_keys().n, 0);
	s = kept_open(false);
	ck_assert_int_eq(store_rows(s, a, &rows, &n, &kept_error), E_IO);
	ck_assert_str_eq(kept_error.text,
	                 "sweep.db: scenario 's' does not fit its checksum; "
	                 "`shardsim sweep --resume` measures it again");
	store_close(s);
	kept_error = (struct error){0};
	kept_sql("UPDATE rows SET status = 'fine'");
	s = kept_open(false);
	ck_assert_int_eq(store_rows(s, a, &rows, &n, &kept_error), E_IO);
	ck_assert_str_eq(kept_error.text,
	                 "sweep.db: scenario 's' has no known status; "
	                 "`shardsim sweep --resume` measures it again");
	ck_assert(!rows && n == 0);
	store_close(s);
	kept_sql("DROP TABLE rows");
	kept_error = (struct error){0};
	s = kept_open(false);
	ck_assert_int_eq(store_rows(s, a, &rows, &n, &kept_error), E_IO);
	ck_assert_ptr_nonnull(strstr(kept_error.text, "no such table"));
	store_close(s);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("store_damage");
	TCase *tc = tcase_create("store_damage");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, kept_start, kept_end);
	tcase_add_test(tc, empty_file);
	tcase_add_loop_test(tc, damaged, 0, sizeof(spoilt) / sizeof(*spoilt));
	tcase_add_loop_test(tc, damaged_by_cutting, 0, sizeof(cut) / sizeof(*cut));
	tcase_add_loop_test(tc, gone_meanwhile, 0, 2);
	tcase_add_loop_test(tc, cut_meanwhile, 0, sizeof(cut) / sizeof(*cut));
	tcase_add_test(tc, damaged_with_log);
	tcase_add_test(tc, damaged_index);
	tcase_add_test(tc, damaged_twice);
	tcase_add_test(tc, not_a_sweep);
	tcase_add_test(tc, in_the_way);
	tcase_add_test(tc, truncated);
	tcase_add_test(tc, meddled);
	suite_add_tcase(suite, tc);
	return suite;
}
