#include "store.h"

#include <check.h>
#include <sqlite3.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static char dir[64];
static struct error error;

static void make_dir(void)
{
	snprintf(dir, sizeof(dir), "%s/check_store-XXXXXX", P_tmpdir);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	error = (struct error){0};
}

static const char *in_dir(const char *name)
{
	static char path[160];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void remove_dir(void)
{
	static const char *const names[] = {
		"sweep.db",     "sweep.db.part", "sweep.db.part-journal",
		"a/b/sweep.db", "a/b",           "a",
		"sweep.db.lock"};

	for (size_t i = 0; i < COUNT(names); i++)
		remove(in_dir(names[i]));
	ck_assert_int_eq(rmdir(dir), 0);
}

static bool exists(const char *name)
{
	return access(in_dir(name), F_OK) == 0;
}

static void write_file(const char *name, const char *bytes, size_t n)
{
	FILE *f = fopen(in_dir(name), "wb");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

static struct row keyed(const char *scenario, const char *platform, const char *planner,
                        const char *clock)
{
	struct row r = row_empty();

	r.scenario = scenario;
	r.platform = platform;
	r.planner = planner;
	r.clock = clock;
	return r;
}

static struct row full_row(void)
{
	return (struct row){
		.scenario = "it's \"odd\", \xc3\xa9",
		.family = "moe",
		.array = "bf16[8190,7]",
		.mesh = "x=5,y=3",
		.from = "P('x', None)",
		.to = "P(None, ('y', 'x'))",
		.to_mesh = "y=3,x=5",
		.num_devices = "15",
		.from_devices = "0-14",
		.to_devices = "1-7,15-22",
		.memory_limit = "48KiB",
		.platform = "tpu-v4:4x4x4",
		.planner = "synth",
		.clock = "fluid",
		.status = OUTCOME_OVER_MEMORY,
		.message = "needs 49153 bytes",
		.time_s = 0.1,
		.launch_s = 3e-6,
		.local_s = 1.0 / 3,
		.recv_bytes = 49153,
		.send_bytes = 0,
		.peak_array_bytes = INT64_MAX,
		.peak_live_bytes = 7,
		.steps = "all-to-all x 0->1",
		.full_remat = true,
		.bound_s = 5e-324,
		.recv_bound_bytes = 49151,
		.planning_s = 0,
		.devices = 15,
		.source = "made up",
	};
}

static void same_row(const struct row *a, const struct row *b)
{
	for (int c = 0; c < ROW_COLUMNS; c++) {
		const void *x = (const char *)a + row_columns[c].offset;
		const void *y = (const char *)b + row_columns[c].offset;
		double p, q;

		switch (row_columns[c].kind) {
		case ROW_TEXT:
			ck_assert_str_eq(*(const char *const *)x,
			                 *(const char *const *)y);
			break;
		case ROW_REAL:
			p = *(const double *)x;
			q = *(const double *)y;
			ck_assert(p == q || (isnan(p) && isnan(q)));
			break;
		case ROW_BYTES:
			ck_assert_int_eq(*(const int64_t *)x, *(const int64_t *)y);
			break;
		case ROW_FLAG:
			ck_assert_int_eq(*(const bool *)x, *(const bool *)y);
			break;
		case ROW_STATUS:
			ck_assert_int_eq(*(const enum outcome *)x,
			                 *(const enum outcome *)y);
			break;
		}
	}
}

static struct store *opened(bool create)
{
	struct store *s;

	ck_assert_int_eq(store_open(&s, dir, create, &error), OK);
	ck_assert_ptr_nonnull(s);
	return s;
}

static void finished(struct store *s)
{
	ck_assert_int_eq(store_finish(s, &error), OK);
	store_close(s);
}

static void refused(bool create, enum status code, const char *part_of_text)
{
	struct store *s = (struct store *)&error;

	error = (struct error){0};
	ck_assert_int_eq(store_open(&s, dir, create, &error), code);
	ck_assert_ptr_null(s);
	ck_assert_str_eq(error.at.file, dir);
	ck_assert_ptr_nonnull(strstr(error.text, part_of_text));
}

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
	struct row full = full_row(), empty = row_empty(), nothing = row_empty(), *rows;
	struct arena *a = arena_new();
	struct store *s = opened(true);
	size_t n;

	nothing.scenario = "no texts";
	nothing.family = nothing.message = nothing.source = NULL;
	ck_assert_int_eq(store_add(s, &full, &error), OK);
	ck_assert_int_eq(store_add(s, &empty, &error), OK);
	ck_assert_int_eq(store_add(s, &nothing, &error), OK);
	finished(s);
	s = opened(false);
	ck_assert_int_eq(store_rows(s, a, &rows, &n, &error), OK);
	ck_assert_uint_eq(n, 3);
	same_row(&rows[0], &empty);
	same_row(&rows[1], &full);
	nothing.family = nothing.message = nothing.source = "";
	same_row(&rows[2], &nothing);
	ck_assert_int_eq(store_finish(s, &error), OK);
	ck_assert_int_eq(store_add(s, &full, &error), E_IO);
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
	struct store *s = opened(true);
	struct row *rows;
	size_t n;

	for (size_t i = 0; i < COUNT(added); i++) {
		const char *const *k = keys[added[i]];
		struct row r = keyed(k[0], k[1], k[2], k[3]);

		ck_assert_int_eq(store_add(s, &r, &error), OK);
	}
	ck_assert_int_eq(store_rows(s, a, &rows, &n, &error), OK); /* before its end */
	ck_assert_uint_eq(n, COUNT(keys));
	for (size_t i = 0; i < n; i++) {
		struct row r = keyed(keys[i][0], keys[i][1], keys[i][2], keys[i][3]);

		same_row(&rows[i], &r);
	}
	finished(s);
	arena_free(a);
}
END_TEST

/* A second row of one key is refused; the others of its transaction stay. */
START_TEST(twice)
{
	struct store *s = opened(true);
	struct row r = keyed("s", "p", "synth", "model"), *rows;
	struct arena *a = arena_new();
	size_t n;

	ck_assert_int_eq(store_add(s, &r, &error), OK);
	ck_assert_int_eq(store_add(s, &r, &error), E_TYPE);
	ck_assert_str_eq(error.text, "scenario 's' on p by synth (model) comes twice");
	error = (struct error){0};
	r.clock = "fluid";
	ck_assert_int_eq(store_add(s, &r, &error), OK);
	finished(s);
	s = opened(false);
	ck_assert_int_eq(store_rows(s, a, &rows, &n, &error), OK);
	ck_assert_uint_eq(n, 2);
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

/* Several transactions, and a reader that stops. */
START_TEST(many)
{
	struct store *s = opened(true);
	char name[24];
	int left = 2502;

	for (int i = 0; i < 2501; i++) {
		struct row r = full_row();

		snprintf(name, sizeof(name), "s%d", i * 37 % 2501);
		r.scenario = name;
		ck_assert_int_eq(store_add(s, &r, &error), OK);
	}
	finished(s);
	s = opened(false);
	ck_assert_int_eq(store_each(s, count_to, &left, &error), OK);
	ck_assert_int_eq(left, 1);
	left = 7;
	ck_assert_int_eq(store_each(s, count_to, &left, &error), E_INFEASIBLE);
	ck_assert_int_eq(left, 0);
	ck_assert_str_eq(error.text, "enough");
	store_close(s);
}
END_TEST

static size_t stored_rows(void)
{
	struct arena *a = arena_new();
	struct store *s = opened(false);
	struct row *rows;
	size_t n;

	ck_assert_int_eq(store_rows(s, a, &rows, &n, &error), OK);
	store_close(s);
	arena_free(a);
	return n;
}

/* A sweep has its name only when it is whole, and takes an older one's place then. */
START_TEST(unfinished)
{
	struct row r = row_empty();
	struct store *s = opened(true);

	ck_assert_int_eq(store_add(s, &r, &error), OK);
	ck_assert(!exists("sweep.db") && exists("sweep.db.part"));
	store_close(s);
	ck_assert(!exists("sweep.db") && !exists("sweep.db.part"));
	refused(false, E_IO, "No such file");
	error = (struct error){0};

	finished(opened(true));
	ck_assert_uint_eq(stored_rows(), 0);
	s = opened(true);
	ck_assert_int_eq(store_add(s, &r, &error), OK);
	ck_assert_uint_eq(stored_rows(), 0);
	finished(s);
	ck_assert_uint_eq(stored_rows(), 1);
	ck_assert(!exists("sweep.db.part"));
	store_close(NULL);
}
END_TEST

/* What a killed sweep left behind does not get into the next one. */
START_TEST(leftovers)
{
	write_file("sweep.db.part", "half a page", 11);
	write_file("sweep.db.part-journal", "half a journal", 14);
	finished(opened(true));
	ck_assert_uint_eq(stored_rows(), 0);
	ck_assert(!exists("sweep.db.part-journal"));
}
END_TEST

START_TEST(new_directories)
{
	struct store *s;
	char path[160];

	snprintf(path, sizeof(path), "%s", in_dir("a/b"));
	ck_assert_int_eq(store_open(&s, path, true, &error), OK);
	finished(s);
	ck_assert(exists("a/b/sweep.db"));
}
END_TEST

static void make_db(const char *sql)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(in_dir("sweep.db"), &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

START_TEST(not_a_sweep)
{
	static const char garbage[] = "\x7f"
				      "ELF, or anything that is no database";

	write_file("sweep.db", garbage, sizeof(garbage));
	refused(false, E_IO, "file is not a database");
	write_file("sweep.db", "", 0);
	refused(false, E_IO, "not a sweep of this version");
	make_db("CREATE TABLE rows (scenario TEXT)");
	refused(false, E_IO, "not a sweep of this version");
	unlink(in_dir("sweep.db"));
	finished(opened(true));
	make_db("PRAGMA user_version = 99");
	refused(false, E_IO, "not a sweep of this version");
}
END_TEST

START_TEST(in_the_way)
{
	struct store *s;

	ck_assert_int_eq(mkdir(in_dir("sweep.db"), 0777), 0);
	refused(false, E_IO, "cannot read sweep.db: it is not a file");
	error = (struct error){0};
	s = opened(true);
	ck_assert_int_eq(store_finish(s, &error), E_IO);
	ck_assert_ptr_nonnull(strstr(error.text, "cannot name sweep.db"));
	store_close(s);
	ck_assert(!exists("sweep.db.part"));
	ck_assert_int_eq(mkdir(in_dir("sweep.db.part"), 0777), 0);
	refused(true, E_IO, "cannot write sweep.db");
}
END_TEST

/* The directory is a file, or cannot be made. */
START_TEST(no_directory)
{
	static const char *const paths[] = {"a", "a/b"};
	struct store *s;
	char path[160];

	write_file("a", "", 0);
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s", in_dir(paths[i / 2]));
		error = (struct error){0};
		ck_assert_int_eq(store_open(&s, path, i % 2, &error), E_IO);
		ck_assert_ptr_null(s);
		ck_assert_str_eq(error.at.file, path);
	}
}
END_TEST

/* Cut off in the middle of a page. */
START_TEST(truncated)
{
	struct arena *a = arena_new();
	struct row r = full_row(), *rows;
	struct store *s = opened(true);
	size_t n;

	ck_assert_int_eq(store_add(s, &r, &error), OK);
	finished(s);
	ck_assert_int_eq(truncate(in_dir("sweep.db"), 4099), 0);
	if (store_open(&s, dir, false, &error) == OK) {
		ck_assert_int_eq(store_rows(s, a, &rows, &n, &error), E_IO);
		store_close(s);
	}
	ck_assert_int_eq(error.code, E_IO);
	ck_assert_ptr_nonnull(strstr(error.text, "malformed"));
	arena_free(a);
}
END_TEST

/* A database of ours in which somebody meddled. */
START_TEST(meddled)
{
	struct arena *a = arena_new();
	struct row r = keyed("s", "p", "synth", "model"), *rows;
	struct store *s = opened(true);
	size_t n = 7;

	ck_assert_int_eq(store_add(s, &r, &error), OK);
	finished(s);
	make_db("UPDATE rows SET status = 'fine'");
	s = opened(false);
	ck_assert_int_eq(store_rows(s, a, &rows, &n, &error), E_IO);
	ck_assert_str_eq(error.text, "sweep.db: scenario 's' has no known status");
	ck_assert(!rows && n == 0);
	store_close(s);
	make_db("DROP TABLE rows");
	error = (struct error){0};
	s = opened(false);
	ck_assert_int_eq(store_rows(s, a, &rows, &n, &error), E_IO);
	ck_assert_ptr_nonnull(strstr(error.text, "no such table"));
	store_close(s);
	arena_free(a);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("store");
	TCase *tc = tcase_create("store");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_dir, remove_dir);
	tcase_add_test(tc, outcomes);
	tcase_add_test(tc, round_trip);
	tcase_add_test(tc, order);
	tcase_add_test(tc, twice);
	tcase_add_test(tc, many);
	tcase_add_test(tc, unfinished);
	tcase_add_test(tc, leftovers);
	tcase_add_test(tc, new_directories);
	tcase_add_test(tc, not_a_sweep);
	tcase_add_test(tc, in_the_way);
	tcase_add_test(tc, no_directory);
	tcase_add_test(tc, truncated);
	tcase_add_test(tc, meddled);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
