/* What can be saved from a damaged file. */
#include "store/file.h"
#include "store/pages.h"

enum {
	SETTING_COLUMNS = 3,
	STORED_COLUMNS = ROW_COLUMNS + 2 /* those of a row, its key and its checksum */
};

/* Add the row that a statement is at, if it is sound and not there; whether it was added. */
static bool take_row(struct store *to, sqlite3_stmt *from, struct error *e)
{
	const char *key;
	struct digest d;
	struct row r;

	return !store_take_row(&r, &key, from) && key && digest_parse(&d, key) &&
	       store_begin(to, e) == OK &&
	       store_insert(to->insert, &r, key) == SQLITE_OK;
}

static void take_setting(struct store *to, sqlite3_stmt *from, struct error *e)
{
	const char *name = (const char *)sqlite3_column_text(from, 0);
	const char *value = (const char *)sqlite3_column_text(from, 2);

	if (name && value)
		store_set(to, name, sqlite3_column_int(from, 1), value, e);
}

/* Settings and rows, as far as SQLite finds its way; how many rows. */
static int64_t take_tables(struct store *to, struct store *damaged, struct error *e)
{
	sqlite3_stmt *from = NULL;
	int64_t rows = 0;

	if (store_prepare(damaged, &from, "SELECT name, number, value FROM settings",
	                  NULL) == OK)
		while (e->code == OK && sqlite3_step(from) == SQLITE_ROW)
			take_setting(to, from, e);
	sqlite3_finalize(from);
	from = NULL;
	if (store_select(damaged, &from, "ORDER BY rowid", NULL) == OK)
		while (e->code == OK && sqlite3_step(from) == SQLITE_ROW)
			rows += take_row(to, from, e);
	sqlite3_finalize(from);
	return rows;
}

/* "SELECT ?, ?, ...": gives back as columns what is bound to it. */
static enum status prepare_echo(struct store *s, sqlite3_stmt **out, int columns,
                                struct error *e)
{
	struct text sql = {0};
	enum status status;

	text_printf(&sql, "SELECT ?");
	for (int c = 1; c < columns; c++)
		text_printf(&sql, ", ?");
	status = store_prepare(s, out, sql.s, e);
	text_free(&sql);
	return status;
}

/*
 * Settings that SQLite did not find: it has found those that hold, and pages may have
 * others from before them.
 */
static void scan_settings(struct store *to, const struct pages *pages, struct error *e)
{
	struct pages_place at = {0};
	sqlite3_stmt *echo = NULL;
	struct arena *a;

	if (prepare_echo(to, &echo, SETTING_COLUMNS, e) != OK)
		return;
	a = arena_new();
	while (e->code == OK && pages_next(&at, pages, SETTING_COLUMNS, echo)) {
		const char *name, *there = NULL;

		if (sqlite3_step(echo) == SQLITE_ROW &&
		    sqlite3_column_type(echo, 0) == SQLITE_TEXT &&
		    sqlite3_column_type(echo, 2) == SQLITE_TEXT) {
			name = (const char *)sqlite3_column_text(echo, 0);
			store_get(&there, to, a, name, sqlite3_column_int(echo, 1), e);
			if (!there)
				take_setting(to, echo, e);
		}
		sqlite3_reset(echo);
	}
	sqlite3_finalize(echo);
	pages_place_end(&at);
	arena_free(a);
}

/* Rows that SQLite did not find; how many. */
static int64_t scan_rows(struct store *to, const struct pages *pages, struct error *e)
{
	struct pages_place at = {0};
	sqlite3_stmt *echo = NULL;
	int64_t rows = 0;

	if (prepare_echo(to, &echo, STORED_COLUMNS, e) != OK)
		return 0;
	while (e->code == OK && pages_next(&at, pages, STORED_COLUMNS, echo)) {
		rows += sqlite3_step(echo) == SQLITE_ROW && take_row(to, echo, e);
		sqlite3_reset(echo);
	}
	sqlite3_finalize(echo);
	pages_place_end(&at);
	return rows;
}

enum status store_salvage(struct store *to, const char *path, int64_t *rows,
                          struct error *e)
{
	struct store damaged = {.dir = to->dir};
	struct pages pages;

	/* Before SQLite opens it, which may write the log into the file. */
	pages_read(&pages, path, STORE_PAGE);
	if (sqlite3_open_v2(path, &damaged.db, SQLITE_OPEN_READWRITE, NULL) ==
	    SQLITE_OK) {
		/* Only so does SQLite look into a file that is cut off. */
		sqlite3_exec(damaged.db, "PRAGMA writable_schema = ON", NULL, NULL,
		             NULL);
		*rows = take_tables(to, &damaged, e);
	}
	sqlite3_close(damaged.db);
	if (e->code == OK)
		scan_settings(to, &pages, e);
	if (e->code == OK)
		*rows += scan_rows(to, &pages, e);
	pages_free(&pages);
	return e->code == OK ? store_commit(to, e) : e->code;
}
