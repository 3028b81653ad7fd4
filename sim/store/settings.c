/* What is kept about a whole sweep, and rows that are no part of it any more. */
#include "store/file.h"

enum status store_set(struct store *s, const char *name, int number, const char *value,
                      struct error *e)
{
	sqlite3_stmt *statement = NULL;
	enum status status = store_begin(s, e);

	if (status != OK ||
	    store_prepare(s, &statement, "REPLACE INTO settings VALUES (?, ?, ?)", e) !=
	            OK)
		return e->code;
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_int(statement, 2, number);
	sqlite3_bind_text(statement, 3, value, -1, SQLITE_STATIC);
	if (sqlite3_step(statement) != SQLITE_DONE)
		status = store_error(s, e, "cannot write it");
	sqlite3_finalize(statement);
	return status;
}

enum status store_get(const char **out, struct store *s, struct arena *a,
                      const char *name, int number, struct error *e)
{
	sqlite3_stmt *statement = NULL;
	enum status status = store_prepare(
		s, &statement,
		"SELECT value FROM settings WHERE name = ? AND number = ?", e);
	int code;

	*out = NULL;
	if (status != OK)
		return status;
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_int(statement, 2, number);
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		*out = arena_strdup(a, (const char *)sqlite3_column_text(statement, 0));
	else if (code != SQLITE_DONE)
		status = store_error(s, e, "cannot read it");
	sqlite3_finalize(statement);
	return status;
}

static enum status delete_row(struct store *s, sqlite3_stmt *statement, int64_t id,
                              struct error *e)
{
	sqlite3_bind_int64(statement, 1, id);
	sqlite3_step(statement);
	return sqlite3_reset(statement) == SQLITE_OK
	               ? OK
	               : store_error(s, e, "cannot take a row out");
}

/* Deletes the rows whose keys are not in the set; `all` goes through all rows. */
static enum status delete_others(struct store *s, sqlite3_stmt *all,
                                 sqlite3_stmt *delete, const struct digests *keys,
                                 int64_t *gone, struct error *e)
{
	int code;

	while ((code = sqlite3_step(all)) == SQLITE_ROW) {
		const char *key = (const char *)sqlite3_column_text(all, 1);
		struct digest d;

		if (key && digest_parse(&d, key) && digests_has(keys, d))
			continue;
		if (delete_row(s, delete, sqlite3_column_int64(all, 0), e) != OK)
			return e->code;
		++*gone;
	}
	return code == SQLITE_DONE ? OK : store_error(s, e, "cannot read it");
}

enum status store_keep(struct store *s, const struct digests *keys, int64_t *gone,
                       struct error *e)
{
	sqlite3_stmt *all = NULL, *delete = NULL;
	enum status status = store_commit(s, e);

	*gone = 0;
	if (status == OK)
		status = store_prepare(s, &all, "SELECT rowid, \"key\" FROM rows", e);
	if (status == OK)
		status = store_prepare(s, &delete, "DELETE FROM rows WHERE rowid = ?",
		                       e);
	if (status == OK)
		status = store_run(s, "BEGIN", e);
	if (status == OK)
		status = delete_others(s, all, delete, keys, gone, e);
	sqlite3_finalize(all);
	sqlite3_finalize(delete);
	return status == OK ? store_run(s, "COMMIT", e) : status;
}
