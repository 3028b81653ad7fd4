#include "store.h"

#include "file.h"
#include "lock.h"

#include <sqlite3.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH = 1000, APPLICATION = 0x73687369 /* "shsi" */, VERSION = 3 };

struct store {
	sqlite3 *db;
	sqlite3_stmt *insert;
	char *path, *part; /* DIR/sweep.db and, of a new one, DIR/sweep.db.part */
	char *lock;        /* of a new one, DIR/sweep.db.lock */
	int lock_fd;       /* -1: not locked */
	const char *dir;
	int open_rows; /* of the transaction under way */
	bool create, finished;
};

static struct where place(const struct store *s)
{
	return (struct where){.file = s->dir};
}

static enum status db_error(const struct store *s, struct error *e, const char *doing)
{
	return error_set(e, E_IO, place(s), "sweep.db: %s: %s", doing,
	                 s->db ? sqlite3_errmsg(s->db) : "no memory");
}

static enum status run(struct store *s, const char *sql, struct error *e)
{
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return db_error(s, e, "cannot write it");
	return OK;
}

static void append_columns(struct text *t, bool types)
{
	static const char *const type[] = {
		[ROW_TEXT] = " TEXT NOT NULL",   [ROW_REAL] = " REAL",
		[ROW_BYTES] = " INTEGER",        [ROW_FLAG] = " INTEGER NOT NULL",
		[ROW_STATUS] = " TEXT NOT NULL",
	};

	for (int c = 0; c < ROW_COLUMNS; c++)
		text_printf(t, "%s\"%s\"%s", c ? ", " : "", row_columns[c].name,
		            types ? type[row_columns[c].kind] : "");
}

static enum status make_table(struct store *s, struct error *e)
{
	struct text sql = {0};
	enum status status;

	text_printf(&sql,
	            "BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d; ",
	            APPLICATION, VERSION);
	text_printf(&sql, "CREATE TABLE rows (");
	append_columns(&sql, true);
	text_printf(&sql,
	            ", PRIMARY KEY (scenario, platform, planner, clock)); COMMIT");
	status = run(s, sql.s, e);
	text_free(&sql);
	return status;
}

static enum status prepare(struct store *s, sqlite3_stmt **out, const char *sql,
                           struct error *e)
{
	if (sqlite3_prepare_v2(s->db, sql, -1, out, NULL) != SQLITE_OK)
		return db_error(s, e, "cannot use it");
	return OK;
}

/* mkdir -p; what stands in the way is found out when the file is opened. */
static void make_directory(const char *dir)
{
	size_t n = strlen(dir);
	char *path = xmalloc(n + 1, 1);

	memcpy(path, dir, n + 1);
	for (size_t i = 1; i < n; i++) {
		if (path[i] != '/')
			continue;
		path[i] = '\0';
		mkdir(path, 0777);
		path[i] = '/';
	}
	mkdir(path, 0777);
	free(path);
}

/* A sweep that was killed leaves its part and, in a transaction, SQLite's journal. */
static enum status remove_part(const struct store *s, struct error *e)
{
	struct text journal = {0};
	int failed;

	text_printf(&journal, "%s-journal", s->part);
	failed = (unlink(s->part) != 0 && errno != ENOENT) ||
	         (unlink(journal.s) != 0 && errno != ENOENT);
	text_free(&journal);
	if (failed)
		return error_set(e, E_IO, place(s), "cannot write sweep.db: %s",
		                 strerror(errno));
	return OK;
}

static enum status start_new(struct store *s, struct error *e)
{
	struct text sql = {0};
	enum status status;

	make_directory(s->dir);
	status = lock_take(&s->lock_fd, s->lock, place(s), e);
	if (status != OK)
		return status;
	status = remove_part(s, e);
	if (status != OK)
		return status;
	if (sqlite3_open_v2(s->part, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
	                    NULL) != SQLITE_OK)
		return db_error(s, e, "cannot write it");
	status = make_table(s, e);
	if (status != OK)
		return status;
	text_printf(&sql, "INSERT INTO rows (");
	append_columns(&sql, false);
	text_printf(&sql, ") VALUES (");
	for (int c = 0; c < ROW_COLUMNS; c++)
		text_printf(&sql, c ? ", ?" : "?");
	text_printf(&sql, ")");
	status = prepare(s, &s->insert, sql.s, e);
	text_free(&sql);
	return status;
}

static enum status pragma(struct store *s, const char *sql, int *out, struct error *e)
{
	sqlite3_stmt *statement = NULL;
	enum status status = prepare(s, &statement, sql, e);

	if (status == OK && sqlite3_step(statement) != SQLITE_ROW)
		status = db_error(s, e, "cannot read it");
	if (status == OK)
		*out = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	return status;
}

static enum status open_old(struct store *s, struct error *e)
{
	int application = 0, version = 0;
	enum status status;
	struct stat found;

	/* SQLite says only "unable to open"; the system knows why. */
	if (access(s->path, R_OK) != 0)
		return error_set(e, E_IO, place(s), "cannot read sweep.db: %s",
		                 strerror(errno));
	if (stat(s->path, &found) == 0 && !S_ISREG(found.st_mode))
		return error_set(e, E_IO, place(s),
		                 "cannot read sweep.db: it is not a file");
	if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		return db_error(s, e, "cannot read it");
	status = pragma(s, "PRAGMA application_id", &application, e);
	if (status == OK)
		status = pragma(s, "PRAGMA user_version", &version, e);
	if (status != OK)
		return status;
	if (application != APPLICATION || version != VERSION)
		return error_set(e, E_IO, place(s),
		                 "sweep.db is not a sweep of this version (%d)",
		                 VERSION);
	return OK;
}

enum status store_open(struct store **out, const char *dir, bool create, struct error *e)
{
	struct store *s = xmalloc(1, sizeof(*s));
	struct text path = {0}, part = {0}, lock = {0};
	enum status status;

	*s = (struct store){.dir = dir, .create = create, .lock_fd = -1};
	text_printf(&path, "%s/sweep.db", dir);
	text_printf(&part, "%s.part", path.s);
	text_printf(&lock, "%s.lock", path.s);
	s->path = path.s;
	s->part = part.s;
	s->lock = lock.s;
	status = create ? start_new(s, e) : open_old(s, e);
	if (status != OK) {
		store_close(s);
		s = NULL;
	}
	*out = s;
	return status;
}

static void bind(sqlite3_stmt *to, int index, const struct row_column *c,
                 const struct row *r)
{
	const void *field = (const char *)r + c->offset;
	const char *text;

	switch (c->kind) {
	case ROW_TEXT:
		text = *(const char *const *)field;
		sqlite3_bind_text(to, index, text ? text : "", -1, SQLITE_STATIC);
		break;
	case ROW_STATUS:
		text = outcome_name(*(const enum outcome *)field);
		sqlite3_bind_text(to, index, text, -1, SQLITE_STATIC);
		break;
	case ROW_REAL: /* SQLite turns NaN into NULL */
		sqlite3_bind_double(to, index, *(const double *)field);
		break;
	case ROW_BYTES:
		if (*(const int64_t *)field < 0)
			sqlite3_bind_null(to, index);
		else
			sqlite3_bind_int64(to, index, *(const int64_t *)field);
		break;
	case ROW_FLAG:
		sqlite3_bind_int(to, index, *(const bool *)field);
		break;
	}
}

static enum status commit(struct store *s, struct error *e)
{
	if (s->open_rows == 0)
		return OK;
	s->open_rows = 0;
	return run(s, "COMMIT", e);
}

enum status store_add(struct store *s, const struct row *r, struct error *e)
{
	enum status status = OK;
	int code;

	if (!s->create || s->finished)
		return error_set(e, E_IO, place(s), "sweep.db is open for reading");
	if (s->open_rows == 0)
		status = run(s, "BEGIN", e);
	if (status != OK)
		return status;
	s->open_rows++;
	for (int c = 0; c < ROW_COLUMNS; c++)
		bind(s->insert, c + 1, &row_columns[c], r);
	sqlite3_step(s->insert);
	code = sqlite3_reset(s->insert);
	if (code == SQLITE_CONSTRAINT)
		status = error_set(e, E_TYPE, place(s),
		                   "scenario '%s' on %s by %s (%s) comes twice",
		                   r->scenario, r->platform, r->planner, r->clock);
	else if (code != SQLITE_OK)
		status = db_error(s, e, "cannot add a row");
	if (status == OK && s->open_rows >= BATCH)
		status = commit(s, e);
	return status;
}

enum status store_finish(struct store *s, struct error *e)
{
	enum status status;

	if (!s->create || s->finished)
		return OK;
	status = commit(s, e);
	if (status != OK)
		return status;
	if (!file_replace(s->part, s->path)) /* an open file may move */
		return error_set(e, E_IO, place(s), "cannot name sweep.db: %s",
		                 strerror(errno));
	s->finished = true;
	return OK;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	sqlite3_finalize(s->insert);
	sqlite3_close(s->db);
	if (s->lock_fd >= 0 && !s->finished)
		remove_part(s, NULL);
	lock_give(s->lock_fd, s->lock);
	free(s->path);
	free(s->part);
	free(s->lock);
	free(s);
}

static bool unbind(struct row *r, const struct row_column *c, sqlite3_stmt *from,
                   int index)
{
	void *field = (char *)r + c->offset;
	const char *text = (const char *)sqlite3_column_text(from, index);
	bool known = sqlite3_column_type(from, index) != SQLITE_NULL;

	switch (c->kind) {
	case ROW_TEXT:
		*(const char **)field = text ? text : "";
		break;
	case ROW_STATUS:
		return text && outcome_parse(field, text);
	case ROW_REAL:
		*(double *)field = known ? sqlite3_column_double(from, index) : NAN;
		break;
	case ROW_BYTES:
		*(int64_t *)field = known ? sqlite3_column_int64(from, index) : -1;
		break;
	case ROW_FLAG:
		*(bool *)field = sqlite3_column_int(from, index) != 0;
		break;
	}
	return true;
}

static enum status read_rows(struct store *s, sqlite3_stmt *from, store_each_fn *each,
                             void *self, struct error *e)
{
	int code;

	while ((code = sqlite3_step(from)) == SQLITE_ROW) {
		struct row r = row_empty();
		enum status status;

		for (int c = 0; c < ROW_COLUMNS; c++)
			if (!unbind(&r, &row_columns[c], from, c))
				return error_set(
					e, E_IO, place(s),
					"sweep.db: scenario '%s' has no known %s",
					r.scenario, row_columns[c].name);
		status = each(self, &r, e);
		if (status != OK)
			return status;
	}
	return code == SQLITE_DONE ? OK : db_error(s, e, "cannot read it");
}

enum status store_each(struct store *s, store_each_fn *each, void *self, struct error *e)
{
	sqlite3_stmt *statement = NULL;
	struct text sql = {0};
	enum status status = commit(s, e);

	if (status != OK)
		return status;
	text_printf(&sql, "SELECT ");
	append_columns(&sql, false);
	text_printf(&sql, " FROM rows ORDER BY scenario, platform, planner, clock");
	status = prepare(s, &statement, sql.s, e);
	text_free(&sql);
	if (status == OK)
		status = read_rows(s, statement, each, self, e);
	sqlite3_finalize(statement);
	return status;
}

struct reading {
	struct arena *arena;
	struct row *rows;
	size_t n, capacity;
};

static enum status keep_row(void *self, const struct row *r, struct error *e)
{
	struct reading *reading = self;
	struct row *kept;

	(void)e;
	if (reading->n == reading->capacity) {
		reading->capacity = reading->capacity ? 2 * reading->capacity : 256;
		reading->rows = xrealloc(reading->rows, reading->capacity,
		                         sizeof(*reading->rows));
	}
	kept = &reading->rows[reading->n++];
	*kept = *r;
	for (int c = 0; c < ROW_COLUMNS; c++) {
		if (row_columns[c].kind == ROW_TEXT) {
			char **text = (char **)((char *)kept + row_columns[c].offset);

			*text = arena_strdup(reading->arena, *text);
		}
	}
	return OK;
}

enum status store_rows(struct store *s, struct arena *a, struct row **out, size_t *n,
                       struct error *e)
{
	struct reading reading = {.arena = a};
	enum status status = store_each(s, keep_row, &reading, e);

	*out = NULL;
	*n = 0;
	if (status == OK) {
		*out = arena_dup(a, reading.rows, reading.n, sizeof(*reading.rows));
		*n = reading.n;
	}
	free(reading.rows);
	return status;
}
