/* Statements and transactions on the file of a store. */
#include "store/file.h"

struct where store_place(const struct store *s)
{
	return (struct where){.file = s->dir};
}

enum status store_error(const struct store *s, struct error *e, const char *doing)
{
	int code = s->db ? sqlite3_errcode(s->db) & 0xff : SQLITE_NOMEM;
	bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
	bool full = s->create && (code == SQLITE_FULL || code == SQLITE_IOERR);
	const char *what = s->db ? sqlite3_errmsg(s->db) : "no memory";

	if (damaged && !s->create)
		return error_set(e, E_IO, store_place(s),
		                 "sweep.db: %s: %s; " STORE_RECOVER, doing, what,
		                 s->path);
	return error_set(e, full ? E_WRITE : E_IO, store_place(s), "sweep.db: %s: %s",
	                 doing, what);
}

enum status store_run(struct store *s, const char *sql, struct error *e)
{
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return store_error(s, e, "cannot write it");
	return OK;
}

enum status store_prepare(struct store *s, sqlite3_stmt **out, const char *sql,
                          struct error *e)
{
	if (sqlite3_prepare_v2(s->db, sql, -1, out, NULL) != SQLITE_OK)
		return store_error(s, e, "cannot use it");
	return OK;
}

enum status store_number(int64_t *out, struct store *s, const char *sql, struct error *e)
{
	sqlite3_stmt *statement = NULL;
	enum status status = store_prepare(s, &statement, sql, e);

	if (status == OK && sqlite3_step(statement) != SQLITE_ROW)
		status = store_error(s, e, "cannot read it");
	if (status == OK)
		*out = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return status;
}

enum status store_begin(struct store *s, struct error *e)
{
	if (!s->create || s->finished)
		return error_set(e, E_IO, store_place(s),
		                 "sweep.db is open for reading");
	if (!s->in_transaction && store_run(s, "BEGIN", e) != OK)
		return e->code;
	s->in_transaction = true;
	return OK;
}

enum status store_commit(struct store *s, struct error *e)
{
	if (!s->in_transaction)
		return OK;
	s->in_transaction = false;
	return store_run(s, "COMMIT", e) == OK ? store_there(s, e) : e->code;
}

enum status store_there(struct store *s, struct error *e)
{
	int moved = 0;

	sqlite3_file_control(s->db, NULL, SQLITE_FCNTL_HAS_MOVED, &moved);
	if (!moved)
		return OK;
	return error_set(e, E_IO, store_place(s),
	                 "sweep.db was removed or renamed while rows were put into it");
}
