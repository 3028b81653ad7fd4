#include "store_made.h"

#include <check.h>
#include <sqlite3.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

char kept_dir[64];
struct error kept_error;

void kept_start(void)
{
	snprintf(kept_dir, sizeof(kept_dir), "%s/check_store-XXXXXX", P_tmpdir);
	ck_assert_ptr_nonnull(mkdtemp(kept_dir));
	kept_error = (struct error){0};
}

const char *kept_path(const char *name)
{
	static char path[160];

	snprintf(path, sizeof(path), "%s/%s", kept_dir, name);
	return path;
}

void kept_end(void)
{
	static const char *const names[] = {"sweep.db",
	                                    "sweep.db-wal",
	                                    "sweep.db-shm",
	                                    "sweep.db.lock",
	                                    "sweep.db.damaged",
	                                    "sweep.db.damaged-2",
	                                    "a/b/sweep.db",
	                                    "a/b",
	                                    "a",
	                                    "sweep.db.damaged-wal"};

	for (size_t i = 0; i < COUNT(names); i++)
		remove(kept_path(names[i]));
	ck_assert_int_eq(rmdir(kept_dir), 0);
}

bool kept_has(const char *name)
{
	return access(kept_path(name), F_OK) == 0;
}

void kept_write(const char *name, const char *bytes, size_t n)
{
	FILE *f = fopen(kept_path(name), "wb");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

struct row kept_key(const char *scenario, const char *platform, const char *planner,
                    const char *clock)
{
	struct row r = row_empty();

	r.scenario = scenario;
	r.platform = platform;
	r.planner = planner;
	r.clock = clock;
	return r;
}

struct row kept_full(void)
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
		.vocabulary = "portable",
		.model = "models/m.yaml",
		.parallel = "fsdp=8,tensor=2",
		.compute_s = 0.5,
		.exposed_s = 0.25,
		.bubble_s = NAN,
		.other_s = 0,
		.mfu = 0.4375,
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
		.base_scenario = "it's",
		.base_platform = "tpu-v4:4x4x4",
		.varied = "bytes=48KiB ici.latency=1.5us mesh=x=5,y=3",
		.machine = "TPU v4",
		.timeline = "[{\"op\":\"slice\",\"algorithm\":null}]",
		.launch = "xla",
	};
}

void kept_same(const struct row *a, const struct row *b)
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

struct store *kept_open(bool create)
{
	struct store *s;

	ck_assert_int_eq(store_open(&s, kept_dir, create, &kept_error), OK);
	ck_assert_ptr_nonnull(s);
	return s;
}

void kept_finish(struct store *s)
{
	ck_assert_int_eq(store_finish(s, &kept_error), OK);
	store_close(s);
}

void kept_refuse(bool create, enum status code, const char *part_of_text)
{
	struct store *s = (struct store *)&kept_error;

	kept_error = (struct error){0};
	ck_assert_int_eq(store_open(&s, kept_dir, create, &kept_error), code);
	ck_assert_ptr_null(s);
	ck_assert_str_eq(kept_error.at.file, kept_dir);
	ck_assert_ptr_nonnull(strstr(kept_error.text, part_of_text));
}

enum status kept_put(struct store *s, const struct row *r, struct error *e)
{
	struct digest key = digest_start();

	digest_text(&key, r->scenario);
	digest_text(&key, r->platform);
	digest_text(&key, r->planner);
	digest_text(&key, r->clock);
	return store_put(s, r, key, NULL, e);
}

void kept_sql(const char *sql)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(kept_path("sweep.db"), &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

size_t kept_rows(void)
{
	struct arena *a = arena_new();
	struct store *s = kept_open(false);
	struct row *rows;
	size_t n;

	ck_assert_int_eq(store_rows(s, a, &rows, &n, &kept_error), OK);
	store_close(s);
	arena_free(a);
	return n;
}

struct digest kept_digest(const char *text)
{
	struct digest d = digest_start();

	digest_text(&d, text);
	return d;
}

static enum status take_key(void *self, struct digest key, const struct row *r,
                            struct error *e)
{
	struct kept_keys *keys = self;

	(void)e;
	ck_assert_int_lt(keys->n, 4);
	keys->key[keys->n] = key;
	keys->status[keys->n++] = r->status;
	return OK;
}

struct kept_keys kept_keys(void)
{
	struct store *s = kept_open(false);
	struct kept_keys keys = {0};

	ck_assert_int_eq(store_keys(s, take_key, &keys, &kept_error), OK);
	store_close(s);
	return keys;
}
