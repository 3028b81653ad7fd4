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
	            "file is not a database; `shardsim sweep --resume` saves");
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
	ck_assert_int_eq(store_add(s, &r, &kept_error), OK);
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

	ck_assert_int_eq(store_add(s, &r, &kept_error), OK);
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

/* Enough for a tree of three levels. */
enum { SAVED = 600, PAGE = 4096 };

static void put_many(struct store *s)
{
	char name[24];

	for (int i = 0; i < SAVED; i++) {
		struct row r = kept_full();
		char *timeline = NULL;

		snprintf(name, sizeof(name), "s%d", i);
		r.scenario = name;
		if (i % 50 == 0) { /* over several pages */
			timeline = malloc(3 * PAGE);
			memset(timeline, 'a' + i / 50, 3 * PAGE - 1);
			timeline[3 * PAGE - 1] = '\0';
			r.timeline = timeline;
		}
		ck_assert_int_eq(store_put(s, &r, kept_digest(name), NULL, &kept_error),
		                 OK);
		free(timeline);
	}
	ck_assert_int_eq(store_set(s, "plan", 0, "this", &kept_error), OK);
	ck_assert_int_eq(store_commit(s, &kept_error), OK);
}

/* The rows are what they were; how many there are. */
static size_t check_saved(void)
{
	struct arena *a = arena_new();
	struct store *s = kept_open(false);
	const char *plan;
	struct row *rows;
	size_t n;

	ck_assert_int_eq(store_get(&plan, s, a, "plan", 0, &kept_error), OK);
	ck_assert_str_eq(plan, "this");
	ck_assert_int_eq(store_rows(s, a, &rows, &n, &kept_error), OK);
	for (size_t i = 0; i < n; i++) {
		struct row r = kept_full();

		r.scenario = rows[i].scenario;
		if (atoi(r.scenario + 1) % 50 == 0) {
			ck_assert_uint_eq(strlen(rows[i].timeline), 3 * PAGE - 1);
			r.timeline = rows[i].timeline;
		}
		kept_same(&rows[i], &r);
	}
	store_close(s);
	arena_free(a);
	return n;
}

/* Open it for writing: it is damaged, kept, and so many rows are told to be saved. */
static void recover(size_t *told)
{
	struct store *s = kept_open(true);
	const char *said = store_damage(s);

	ck_assert_ptr_nonnull(said);
	said = strstr(said, "It is kept as sweep.db.damaged; ");
	ck_assert_ptr_nonnull(said);
	ck_assert_int_eq(
		sscanf(said, "It is kept as sweep.db.damaged; %zu sound rows", told), 1);
	kept_finish(s);
	ck_assert(kept_has("sweep.db.damaged"));
	s = kept_open(true);
	ck_assert_ptr_null(store_damage(s));
	kept_finish(s);
}

static void spoil(const char *name, long from, size_t bytes)
{
	FILE *f = fopen(kept_path(name), "r+b");

	ck_assert_int_eq(fseek(f, from, SEEK_SET), 0);
	for (size_t i = 0; i < bytes; i++)
		fputc(0xa5, f);
	ck_assert_int_eq(fclose(f), 0);
}

/* A page has no more rows than their texts alone leave room for. */
static size_t rows_on_page(void)
{
	struct row r = kept_full();
	size_t bytes = 0;

	for (int c = 0; c < ROW_COLUMNS; c++)
		if (row_columns[c].kind == ROW_TEXT)
			bytes += strlen(*(char **)((char *)&r + row_columns[c].offset));
	return PAGE / bytes;
}

/*
 * Only rows on pages that were hit may be lost, or that go on there: neither the head of
 * the file nor the root of the tree of rows, its second page, has any.
 */
static const struct {
	double from; /* of the file's pages */
	size_t bytes, pages;
} spoilt[] = {
	{0, 100, 0},        {0, PAGE, 0},    {0, 2 * PAGE, 0},
	{0.5, 5 * PAGE, 5}, {0.25, PAGE, 1}, {0.75, 20 * PAGE, 20},
};

START_TEST(damaged)
{
	struct store *s = kept_open(true);
	struct stat size;
	size_t told, n;

	put_many(s);
	kept_finish(s);
	ck_assert_int_eq(stat(kept_path("sweep.db"), &size), 0);
	spoil("sweep.db", (long)(spoilt[_i].from * (double)(size.st_size / PAGE)) * PAGE,
	      spoilt[_i].bytes);
	recover(&told);
	n = check_saved();
	ck_assert_uint_eq(n, told);
	ck_assert_uint_le(n, SAVED);
	ck_assert_uint_ge(n + rows_on_page() * spoilt[_i].pages, SAVED);
}
END_TEST

/* Rows that are still in the log beside the file; the heads of both are lost. */
START_TEST(damaged_with_log)
{
	size_t told;
	pid_t pid = fork();
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
	recover(&told);
	ck_assert_uint_eq(check_saved(), SAVED);
	ck_assert_uint_eq(told, SAVED);
}
END_TEST

/*
 * The index of rows is the third page; that of an empty file is sound by itself, but lacks
 * what the rows' pages have: SQLite would read the rows, and refuse to replace them.
 */
START_TEST(damaged_index)
{
	struct row r = kept_key("s", "p", "synth", "model");
	char page[PAGE];
	size_t told;
	FILE *f;

	kept_finish(kept_open(true));
	f = fopen(kept_path("sweep.db"), "r+b");
	ck_assert_int_eq(fseek(f, 2 * PAGE, SEEK_SET), 0);
	ck_assert_uint_eq(fread(page, 1, PAGE, f), PAGE);
	fclose(f);
	for (int i = 0; i < 2; i++) {
		struct store *s = kept_open(true);

		ck_assert_int_eq(store_put(s, &r, kept_digest("s"), NULL, &kept_error),
		                 OK);
		kept_finish(s);
		if (i)
			break;
		f = fopen(kept_path("sweep.db"), "r+b");
		ck_assert_int_eq(fseek(f, 2 * PAGE, SEEK_SET), 0);
		ck_assert_uint_eq(fwrite(page, 1, PAGE, f), PAGE);
		fclose(f);
		recover(&told);
		ck_assert_uint_eq(told, 1);
	}
	ck_assert_uint_eq(kept_rows(), 1);
}
END_TEST

/* Nothing can be saved; a name that is taken is left alone. */
START_TEST(all_damaged)
{
	struct store *s;
	char text[20];
	FILE *f;

	kept_write("sweep.db.damaged", "older", 5);
	kept_write("sweep.db", "no database, but some other text", 32);
	s = kept_open(true);
	ck_assert_ptr_nonnull(
		strstr(store_damage(s), "sweep.db.damaged-2; 0 sound rows"));
	kept_finish(s);
	ck_assert_uint_eq(kept_rows(), 0);
	f = fopen(kept_path("sweep.db.damaged-2"), "r");
	ck_assert_ptr_nonnull(fgets(text, 12, f));
	fclose(f);
	ck_assert_str_eq(text, "no database");
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
	tcase_add_test(tc, damaged_with_log);
	tcase_add_test(tc, damaged_index);
	tcase_add_test(tc, all_damaged);
	tcase_add_test(tc, not_a_sweep);
	tcase_add_test(tc, in_the_way);
	tcase_add_test(tc, truncated);
	tcase_add_test(tc, meddled);
	suite_add_tcase(suite, tc);
	return suite;
}
