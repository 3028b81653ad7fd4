/* The rows of a store: added, replaced, read. */
#include "store/file.h"

#include "base/list.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void store_columns(struct text *t, bool types)
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

enum status store_begin_rows(struct store *s, struct error *e)
{
	struct text sql = {0};
	enum status status;
	int64_t logs = 0;

	text_printf(&sql, "REPLACE INTO rows (");
	store_columns(&sql, false);
	text_printf(&sql, ", \"key\", \"sum\") VALUES (");
	for (int c = 0; c < ROW_COLUMNS + 2; c++)
		text_printf(&sql, c ? ", ?" : "?");
	text_printf(&sql, ")");
	status = store_prepare(s, &s->replace, sql.s, e);
	text_free(&sql);
	if (status != OK ||
	    store_number(&logs, s, "SELECT count(*) FROM logs", e) != OK ||
	    store_prepare(s, &s->log, "REPLACE INTO logs VALUES (?, ?, ?, ?, ?, ?)",
	                  e) != OK)
		return e->code;
	s->logs = logs > 0;
	return store_prepare(s, &s->unlog,
	                     "DELETE FROM logs WHERE scenario = ? AND platform = ? "
	                     "AND machine = ? AND planner = ? AND clock = ?",
	                     e);
}

/*
 * The checksum of a row as the file gives it back: there every NaN is NULL, and zero has
 * no sign.
 */
static int64_t checksum(const struct row *r, const char *key)
{
	struct digest d = digest_start();

	for (int c = 0; c < ROW_COLUMNS; c++) {
		const void *field = (const char *)r + row_columns[c].offset;
		double real;
		int64_t number;

		switch (row_columns[c].kind) {
		case ROW_TEXT:
			digest_text(&d, *(const char *const *)field);
			break;
		case ROW_STATUS:
			digest_text(&d, outcome_name(*(const enum outcome *)field));
			break;
		case ROW_REAL:
			real = *(const double *)field;
			real = isnan(real) ? -1 : real + 0.0;
			digest_bytes(&d, &real, sizeof(real));
			break;
		case ROW_BYTES:
			number = *(const int64_t *)field;
			number = number < 0 ? -1 : number;
			digest_bytes(&d, &number, sizeof(number));
			break;
		case ROW_FLAG:
			digest_bytes(&d, *(const bool *)field ? "1" : "0", 1);
			break;
		}
	}
	digest_text(&d, key);
	return (int64_t)((d.high ^ d.low) >> 1);
}

static void bind_field(sqlite3_stmt *to, int index, const struct row_column *c,
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

/* Adds or replaces a row; returns SQLite's code, whose message is there. */
static int put_row(struct store *s, const struct row *r, const char *key, int64_t sum)
{
	for (int c = 0; c < ROW_COLUMNS; c++)
		bind_field(s->replace, c + 1, &row_columns[c], r);
	sqlite3_bind_text(s->replace, ROW_COLUMNS + 1, key, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s->replace, ROW_COLUMNS + 2, sum);
	sqlite3_step(s->replace);
	return sqlite3_reset(s->replace);
}

/* Keeps the log of the row, or removes an older one if `log` is NULL. */
static int put_log(struct store *s, const struct row *r, const char *log)
{
	const char *const key[] = {r->scenario, r->platform, r->machine, r->planner,
	                           r->clock};
	sqlite3_stmt *statement = log ? s->log : s->unlog;

	if (!log && !s->logs)
		return SQLITE_OK;
	s->logs = true;
	for (int i = 0; i < 5; i++)
		sqlite3_bind_text(statement, i + 1, key[i] ? key[i] : "", -1,
		                  SQLITE_STATIC);
	if (log)
		sqlite3_bind_text(statement, 6, log, -1, SQLITE_STATIC);
	sqlite3_step(statement);
	return sqlite3_reset(statement);
}

int64_t row_sum(const struct row *r, struct digest key)
{
	char text[DIGEST_TEXT];

	digest_print(text, key);
	return checksum(r, text);
}

enum status store_put(struct store *s, const struct row *r, struct digest key,
                      const char *log, struct error *e)
{
	return store_put_summed(s, r, key, row_sum(r, key), log, e);
}

enum status store_put_summed(struct store *s, const struct row *r, struct digest key,
                             int64_t sum, const char *log, struct error *e)
{
	char text[DIGEST_TEXT];

	if (store_begin(s, e) != OK)
		return e->code;
	digest_print(text, key);
	if (put_row(s, r, text, sum) != SQLITE_OK || put_log(s, r, log) != SQLITE_OK)
		return store_error(s, e, "cannot add a row");
	return OK;
}

/* --- reading ------------------------------------------------------------------------ */

/* Reads a field of a row; false if it is a status that there is not. */
static bool take_field(struct row *r, const struct row_column *c, sqlite3_stmt *from,
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

/*
 * Reads the row that the statement of prepare_select() is at, and its key (NULL: none);
 * texts live until the statement moves on. Returns what is wrong with the row, or NULL.
 */
static const char *take_row(struct row *r, const char **key, sqlite3_stmt *from)
{
	*r = row_empty();
	for (int c = 0; c < ROW_COLUMNS; c++)
		if (!take_field(r, &row_columns[c], from, c))
			return "has no known status";
	*key = (const char *)sqlite3_column_text(from, ROW_COLUMNS);
	return sqlite3_column_int64(from, ROW_COLUMNS + 1) == checksum(r, *key)
	               ? NULL
	               : "does not fit its checksum";
}

/* Makes a SELECT of rows with their keys and checksums; `rest` stands behind FROM. */
static enum status prepare_select(struct store *s, sqlite3_stmt **out, const char *rest,
                                  struct error *e)
{
	struct text sql = {0};
	enum status status;

	text_printf(&sql, "SELECT ");
	store_columns(&sql, false);
	text_printf(&sql, ", \"key\", \"sum\" FROM rows %s", rest);
	status = store_prepare(s, out, sql.s, e);
	text_free(&sql);
	return status;
}

static enum status read_rows(struct store *s, sqlite3_stmt *from, store_each_fn *each,
                             void *self, struct error *e)
{
	int code;

	while ((code = sqlite3_step(from)) == SQLITE_ROW) {
		const char *key, *fault;
		struct row r;
		enum status status;

		fault = take_row(&r, &key, from);
		if (fault)
			return error_set(e, E_IO, store_place(s),
			                 "sweep.db: scenario '%s' %s; `shardsim sweep "
			                 "--resume` measures it again",
			                 r.scenario, fault);
		status = each(self, &r, e);
		if (status != OK)
			return status;
	}
	return code == SQLITE_DONE ? OK : store_error(s, e, "cannot read it");
}

enum status store_each(struct store *s, store_each_fn *each, void *self, struct error *e)
{
	sqlite3_stmt *statement = NULL;
	enum status status = store_commit(s, e);

	if (status == OK)
		status = prepare_select(
			s, &statement,
			"ORDER BY scenario, platform, machine, planner, clock", e);
	if (status == OK)
		status = read_rows(s, statement, each, self, e);
	sqlite3_finalize(statement);
	return status;
}

enum status store_count(int64_t *out, struct store *s, struct error *e)
{
	return store_number(out, s, "SELECT count(*) FROM rows", e);
}

enum status store_keys(struct store *s, store_key_fn *each, void *self, struct error *e)
{
	sqlite3_stmt *statement = NULL;
	enum status status = prepare_select(s, &statement, "", e);
	int code = SQLITE_ROW;

	while (status == OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *key;
		struct digest d;
		struct row r;

		if (!take_row(&r, &key, statement) && key && digest_parse(&d, key))
			status = each(self, d, &r, e);
	}
	if (status == OK && code != SQLITE_DONE)
		status = store_error(s, e, "cannot read it");
	sqlite3_finalize(statement);
	return status;
}

struct reading {
	struct arena *arena;
	LIST(struct row) rows;
};

static enum status keep_row(void *self, const struct row *r, struct error *e)
{
	struct reading *reading = self;
	struct row *kept = list_add(&reading->rows, NULL);

	(void)e;
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
		*n = (size_t)reading.rows.n;
		*out = arena_dup(a, reading.rows.at, *n, sizeof(**out));
	}
	free(reading.rows.at);
	return status;
}
