/* The file of a store. Private to sim/store. */
#ifndef SHARDSIM_SIM_STORE_FILE_H
#define SHARDSIM_SIM_STORE_FILE_H

#include "store/store.h"

#include <sqlite3.h>

struct store {
	sqlite3 *db;
	sqlite3_stmt *replace, *log, *unlog;
	char *folder; /* DIR, absolute when writing: the current folder may change */
	char *path;   /* DIR/sweep.db */
	char *lock;   /* DIR/sweep.db.lock */
	char *damage; /* what store_damage() tells, or NULL */
	int lock_fd;  /* -1: not locked */
	const char *dir;
	bool create, finished, in_transaction, discarded;
	bool logs; /* there may be logs */
};

/* How to read a damaged file, whose path it takes; some builds of sqlite3 cannot recover. */
#define STORE_RECOVER                                                                  \
	"`sqlite3 %s .recover` (or .dump, where sqlite3 lacks that) prints what can "  \
	"be "                                                                          \
	"read of it"

/* --- sql.c -------------------------------------------------------------------------- */

/* The place that errors of this store name: its folder. */
struct where store_place(const struct store *s);

/*
 * Sets E_IO with what SQLite said last, E_WRITE where the disk of a store that is written
 * is full; `doing` says what failed ("cannot read it").
 */
enum status store_error(const struct store *s, struct error *e, const char *doing);

/* Runs statements that give no rows. */
enum status store_run(struct store *s, const char *sql, struct error *e);

/* Makes a statement of the text, which the caller has to finalize. */
enum status store_prepare(struct store *s, sqlite3_stmt **out, const char *sql,
                          struct error *e);

/* Runs a statement that gives a number. */
enum status store_number(int64_t *out, struct store *s, const char *sql,
                         struct error *e);

/*
 * Begins a transaction unless one is under way; store_commit() ends it. E_IO if the store
 * is open for reading.
 */
enum status store_begin(struct store *s, struct error *e);

/* It is an E_IO if the file has no longer its name: what is put into it would be lost. */
enum status store_there(struct store *s, struct error *e);

/* --- rows.c ------------------------------------------------------------------------- */

/* Prints the names of the columns of `rows` with commas between, or with their types. */
void store_columns(struct text *t, bool types);

/* Prepares the statements that put rows and their logs. */
enum status store_begin_rows(struct store *s, struct error *e);

#endif
