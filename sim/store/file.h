/* The file of a store, shared by store*.c and private to them. */
#ifndef SHARDSIM_SIM_STORE_FILE_H
#define SHARDSIM_SIM_STORE_FILE_H

#include "store/store.h"

#include <sqlite3.h>

struct store {
	sqlite3 *db;
	sqlite3_stmt *insert, *replace, *log, *unlog;
	char *folder; /* DIR, absolute when writing: the current folder may change */
	char *path;   /* DIR/sweep.db */
	char *lock;   /* DIR/sweep.db.lock */
	char *damage;
	int lock_fd; /* -1: not locked */
	const char *dir;
	int open_rows; /* of the transaction under way */
	bool create, finished;
};

struct where store_place(const struct store *s);

/* The E_IO of what SQLite said last. */
enum status store_error(const struct store *s, struct error *e, const char *doing);

enum status store_run(struct store *s, const char *sql, struct error *e);
enum status store_prepare(struct store *s, sqlite3_stmt **out, const char *sql,
                          struct error *e);

/* Begin a transaction, or go on with it; ended by store_commit(). */
enum status store_begin(struct store *s, struct error *e);

/* The columns of `rows` with commas between, with their types if asked for. */
void store_columns(struct text *t, bool types);

/* Get ready to add rows. */
enum status store_begin_rows(struct store *s, struct error *e);

/* Add a row by one of the store's statements: SQLite's code, whose message is there. */
int store_insert(sqlite3_stmt *statement, const struct row *r, const char *key);

/* SELECT of rows; and the one that a statement is at, with its key (NULL: none): NULL, or
 * what is wrong with it. Texts are the statement's. */
enum status store_select(struct store *s, sqlite3_stmt **out, const char *rest,
                         struct error *e);
const char *store_take_row(struct row *r, const char **key, sqlite3_stmt *from);

/*
 * Take over the settings and the rows that fit their checksum from the damaged file
 * `path` (its write-ahead log, if any, is `path`-wal), and how many rows. SQLite reads them
 * until it comes to the fault; what is behind that is looked for on every page by itself.
 */
enum status store_salvage(struct store *to, const char *path, int64_t *rows,
                          struct error *e);

/* Bytes of a page; a file whose head is lost does not tell. */
enum { STORE_PAGE = 4096 };

#endif
