#include "store_made.h"
#include "tests/tests.h"

#include <check.h>
#include <sqlite3.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(outcomes)
{
	static const char *const names[] = {"ok", "not-applicable", "over-memory",
	                                    "wrong", "failed"};
	enum outcome o;

	for (int i = 0; i < OUTCOMES; i++) {
		ck_assert_str_eq(outcome_name((enum outcome)i), names[i]);
		ck_assert(outcome_parse(&o, names[i]));
		ck_assert_int_eq(o, i);
	}
	ck_assert(!outcome_parse(&o, "okay"));
	ck_assert(!outcome_parse(&o, ""));
}
END_TEST

START_TEST(round_trip)
{
	struct row full = kept_full(), empty = row_empty(), nothing = row_empty(), *rows;
	struct arena *a = arena_new();
	struct store *s = kept_open(true);
	size_t n;

	nothing.scenario = "no texts";
	nothing.family = nothing.message = nothing.source = NULL;
	ck_assert_int_eq(kept_put(s, &full, &kept_error), OK);
	ck_assert_int_eq(kept_put(s, &empty, &kept_error), OK);
	ck_assert_int_eq(kept_put(s, &nothing, &kept_error), OK);
	kept_finish(s);
	s = kept_open(false);
	ck_assert_int_eq(store_rows(s, a, &rows, &n, &kept_error), OK);
	ck_assert_uint_eq(n, 3);
	kept_same(&rows[0], &empty);
	kept_same(&rows[1], &full);
	nothing.family = nothing.message = nothing.source = "";
	kept_same(&rows[2], &nothing);
	ck_assert_int_eq(store_finish(s, &kept_error), OK);
	ck_assert_int_eq(kept_put(s, &full, &kept_error), E_IO);
	store_close(s);
	arena_free(a);
}
END_TEST

/* By scenario, platform, planner, clock in byte order, however they were added. */
START_TEST(order)
{
	static const char *const keys[][4] = {
		{"B", "p", "q", "model"}, {"a", "p", "q", "fluid"},
		{"a", "p", "q", "model"}, {"a", "p", "r", "fluid"},
		{"a", "p2", "a", "flow"}, {"b", "", "", ""},
	};
	static const int added[] = {4, 2, 5, 0, 3, 1};
	struct arena *a = arena_new();
	struct store *s = kept_open(true);
	struct row *rows;
	size_t n;

	for (size_t i = 0; i < COUNT(added); i++) {
		const char *const *k = keys[added[i]];
		struct row r = kept_key(k[0], k[1], k[2], k[3]);

		ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	}
	ck_assert_int_eq(store_rows(s, a, &rows, &n, &kept_error),
	                 OK); /* before its end */
	ck_assert_uint_eq(n, COUNT(keys));
	for (size_t i = 0; i < n; i++) {
		struct row r = kept_key(keys[i][0], keys[i][1], keys[i][2], keys[i][3]);

		kept_same(&rows[i], &r);
	}
	kept_finish(s);
	arena_free(a);
}
END_TEST

/* A second row of one key takes the place of the first; others stay. */
START_TEST(twice)
{
	struct store *s = kept_open(true);
	struct row r = kept_key("s", "p", "synth", "model"), *rows;
	struct arena *a = arena_new();
	size_t n;

	ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	r.family = "later";
	ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	r.clock = "fluid";
	ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	kept_finish(s);
	s = kept_open(false);
	ck_assert_int_eq(store_rows(s, a, &rows, &n, &kept_error), OK);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(rows[1].clock, "model");
	ck_assert_str_eq(rows[1].family, "later");
	store_close(s);
	arena_free(a);
}
END_TEST

static enum status count_to(void *self, const struct row *r, struct error *e)
{
	int *left = self;

	ck_assert_str_eq(r->family, "moe");
	return --*left ? OK : error_set(e, E_INFEASIBLE, (struct where){0}, "enough");
}

/* Many rows, and a reader that stops. */
START_TEST(many)
{
	struct store *s = kept_open(true);
	char name[24];
	int left = 2502;

	for (int i = 0; i < 2501; i++) {
		struct row r = kept_full();

		snprintf(name, sizeof(name), "s%d", i * 37 % 2501);
		r.scenario = name;
		ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	}
	kept_finish(s);
	s = kept_open(false);
	ck_assert_int_eq(store_each(s, count_to, &left, &kept_error), OK);
	ck_assert_int_eq(left, 1);
	left = 7;
	ck_assert_int_eq(store_each(s, count_to, &left, &kept_error), E_INFEASIBLE);
	ck_assert_int_eq(left, 0);
	ck_assert_str_eq(kept_error.text, "enough");
	store_close(s);
}
END_TEST

/* What was committed is there, whatever becomes of the one who wrote it. */
START_TEST(unfinished)
{
	struct row r = row_empty();
	struct store *s = kept_open(true);

	ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	ck_assert_uint_eq(kept_rows(), 0);
	ck_assert_int_eq(store_commit(s, &kept_error), OK);
	ck_assert_uint_eq(kept_rows(), 1);
	r.scenario = "lost";
	ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	store_close(s);
	ck_assert_uint_eq(kept_rows(), 1);

	s = kept_open(true);
	r.scenario = "second";
	ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	kept_finish(s);
	ck_assert_uint_eq(kept_rows(), 2);
	ck_assert(!kept_has("sweep.db-wal") && !kept_has("sweep.db-shm"));
	ck_assert(!kept_has("sweep.db.lock"));
	store_close(NULL);
}
END_TEST

static int64_t count(const char *sql)
{
	sqlite3_stmt *statement;
	sqlite3 *db;
	int64_t n;

	ck_assert_int_eq(sqlite3_open(kept_path("sweep.db"), &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	n = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return n;
}

/* A row takes the place of the one of its case; a log goes when it has none any more. */
START_TEST(put)
{
	struct row r = kept_key("s", "p", "synth", "model"), full = kept_full();
	struct store *s = kept_open(true);
	struct kept_keys keys;

	r.status = OUTCOME_FAILED;
	ck_assert_int_eq(
		store_put(s, &r, kept_digest("1"), "it said\nthis", &kept_error), OK);
	ck_assert_int_eq(store_put(s, &full, kept_digest("2"), NULL, &kept_error), OK);
	kept_finish(s);
	ck_assert_int_eq(count("SELECT count(*) FROM logs WHERE scenario = 's' AND "
	                       "log = 'it said' || char(10) || 'this'"),
	                 1);
	s = kept_open(true);
	r.status = OUTCOME_OK;
	ck_assert_int_eq(store_put(s, &r, kept_digest("1"), NULL, &kept_error), OK);
	kept_finish(s);
	ck_assert_int_eq(count("SELECT count(*) FROM logs"), 0);
	keys = kept_keys();
	ck_assert_int_eq(keys.n, 2);
	for (int i = 0; i < 2; i++) {
		bool first = digest_equal(keys.key[i], kept_digest("1"));

		ck_assert(first || digest_equal(keys.key[i], kept_digest("2")));
		ck_assert_int_eq(keys.status[i],
		                 first ? OUTCOME_OK : OUTCOME_OVER_MEMORY);
	}
}
END_TEST

START_TEST(keep)
{
	static const char *const names[] = {"a", "b", "c"};
	struct digests wanted = {0};
	struct store *s = kept_open(true);
	int64_t gone;

	for (int i = 0; i < 3; i++) {
		struct row r = kept_key(names[i], "p", "synth", "model");

		ck_assert_int_eq(
			store_put(s, &r, kept_digest(names[i]), NULL, &kept_error), OK);
	}
	digests_add(&wanted, kept_digest("b"));
	digests_add(&wanted, kept_digest("d"));
	ck_assert_int_eq(store_keep(s, &wanted, &gone, &kept_error), OK);
	ck_assert_int_eq(gone, 2);
	digests_free(&wanted);
	kept_finish(s);
	ck_assert_int_eq(count("SELECT count(*) FROM rows WHERE scenario = 'b'"), 1);
	ck_assert_int_eq(count("SELECT count(*) FROM rows"), 1);
}
END_TEST

START_TEST(settings)
{
	struct arena *a = arena_new();
	struct store *s = kept_open(true);
	const char *value;

	ck_assert_int_eq(store_set(s, "suite", 0, "first", &kept_error), OK);
	ck_assert_int_eq(store_set(s, "suite", 1, "a 'second'", &kept_error), OK);
	ck_assert_int_eq(store_set(s, "suite", 0, "better", &kept_error), OK);
	kept_finish(s);
	s = kept_open(false);
	ck_assert_int_eq(store_get(&value, s, a, "suite", 0, &kept_error), OK);
	ck_assert_str_eq(value, "better");
	ck_assert_int_eq(store_get(&value, s, a, "suite", 1, &kept_error), OK);
	ck_assert_str_eq(value, "a 'second'");
	ck_assert_int_eq(store_get(&value, s, a, "suite", 2, &kept_error), OK);
	ck_assert_ptr_null(value);
	store_close(s);
	arena_free(a);
}
END_TEST

START_TEST(new_directories)
{
	struct store *s;
	char path[160];

	snprintf(path, sizeof(path), "%s", kept_path("a/b"));
	ck_assert_int_eq(store_open(&s, path, true, &kept_error), OK);
	kept_finish(s);
	ck_assert(kept_has("a/b/sweep.db"));
}
END_TEST

/* The directory is a file, or cannot be made. */
START_TEST(no_directory)
{
	static const char *const paths[] = {"a", "a/b"};
	struct store *s;
	char path[160];

	kept_write("a", "", 0);
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s", kept_path(paths[i / 2]));
		kept_error = (struct error){0};
		ck_assert_int_eq(store_open(&s, path, i % 2, &kept_error), E_IO);
		ck_assert_ptr_null(s);
		ck_assert_str_eq(kept_error.at.file, path);
	}
}
END_TEST

/* Stores what sweep.db begins with: SQLite's versions of writing and reading, 2 with a log. */
static void versions(unsigned char *out)
{
	FILE *file = fopen(kept_path("sweep.db"), "rb");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fseek(file, 18, SEEK_SET), 0);
	ck_assert_uint_eq(fread(out, 1, 2, file), 2);
	fclose(file);
}

/* A sweep that is refused or interrupted leaves a file that needs no log. */
START_TEST(closed_unfinished)
{
	unsigned char version[2];
	struct row r = kept_key("s", "p", "synth", "model");

	for (int committed = 0; committed < 2; committed++) {
		struct store *s = kept_open(true);

		ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
		if (committed)
			ck_assert_int_eq(store_commit(s, &kept_error), OK);
		store_close(s);
		versions(version);
		ck_assert_uint_eq(version[0], 1);
		ck_assert_uint_eq(version[1], 1);
		ck_assert(!kept_has("sweep.db-wal"));
		ck_assert_uint_eq(kept_rows(), (size_t)committed);
	}
}
END_TEST

/* Gives up writing anywhere in the folder. */
static void become_reader(void)
{
	ck_assert_int_eq(chmod(kept_path("sweep.db"), 0444), 0);
	ck_assert_int_eq(chmod(kept_dir, 0555), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(seteuid(65534), 0);
}

static void become_writer(void)
{
	ck_assert_int_eq(seteuid(getuid()), 0);
	ck_assert_int_eq(chmod(kept_dir, 0755), 0);
}

/* A copy of a file that a killed sweep left, in a folder that cannot be written. */
START_TEST(read_only)
{
	struct row r = kept_key("s", "p", "synth", "model");
	struct store *s = kept_open(true);

	ck_assert_int_eq(kept_put(s, &r, &kept_error), OK);
	kept_finish(s);
	kept_sql("PRAGMA journal_mode = WAL");
	become_reader();
	ck_assert_uint_eq(kept_rows(), 1);
	become_writer();
	kept_write("sweep.db-wal", "rows", 4);
	become_reader();
	kept_refuse(false, E_IO, "a sweep that did not end left rows in sweep.db-wal");
	become_writer();
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("store");
	TCase *tc = tcase_create("store");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, kept_start, kept_end);
	tcase_add_test(tc, outcomes);
	tcase_add_test(tc, round_trip);
	tcase_add_test(tc, order);
	tcase_add_test(tc, twice);
	tcase_add_test(tc, many);
	tcase_add_test(tc, closed_unfinished);
	tcase_add_test(tc, read_only);
	tcase_add_test(tc, unfinished);
	tcase_add_test(tc, put);
	tcase_add_test(tc, keep);
	tcase_add_test(tc, settings);
	tcase_add_test(tc, new_directories);
	tcase_add_test(tc, no_directory);
	suite_add_tcase(suite, tc);
	return suite;
}
