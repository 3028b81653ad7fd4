#include "store/file.h"

#include "system/lock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { APPLICATION = 0x73687369 /* "shsi" */, VERSION = 10 };

/*
 * One process and thread writes a store, much of which is rows of a kilobyte that stay as
 * they are. So pages of 16 KiB take fewer calls than the usual ones of 4, a cache has those
 * that the next rows go to, and the log is copied into the file when it has 32 MiB of them.
 * (Two pages of a log that are of one place in the file are copied once.)
 */
#define CACHE "PRAGMA cache_size = -16384" /* KiB */
#define WRITING                                                                        \
	"PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; "                        \
	"PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 2048; " CACHE

/* --- opening ------------------------------------------------------------------------ */

static enum status check_version(struct store *s, bool *empty, struct error *e)
{
	int64_t application = 0, version = 0, tables = 0;

	if (store_number(&application, s, "PRAGMA application_id", e) != OK ||
	    store_number(&version, s, "PRAGMA user_version", e) != OK ||
	    store_number(&tables, s, "SELECT count(*) FROM sqlite_master", e) != OK)
		return e->code;
	*empty = tables == 0 && application == 0 && s->create;
	if (!*empty && (application != APPLICATION || version != VERSION))
		return error_set(e, E_IO, store_place(s),
		                 "sweep.db is not a sweep of this version (%d)",
		                 VERSION);
	return OK;
}

static enum status make_tables(struct store *s, struct error *e)
{
	struct text sql = {0};
	enum status status;

	text_printf(&sql,
	            "BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d; "
	            "CREATE TABLE rows (",
	            APPLICATION, VERSION);
	store_columns(&sql, true);
	text_printf(&sql,
	            ", \"key\" TEXT, \"sum\" INTEGER NOT NULL, "
	            "PRIMARY KEY (scenario, platform, machine, planner, clock)); "
	            "CREATE TABLE logs (scenario TEXT, platform TEXT, machine TEXT, "
	            "planner TEXT, clock TEXT, log TEXT NOT NULL, "
	            "PRIMARY KEY (scenario, platform, machine, planner, clock)); "
	            "CREATE TABLE settings (name TEXT, number INTEGER, "
	            "value TEXT NOT NULL, PRIMARY KEY (name, number)); COMMIT");
	status = store_run(s, sql.s, e);
	text_free(&sql);
	return status;
}

/* Makes a folder, or returns the reason why there is none. */
static int make_one(const char *path)
{
	struct stat found;
	int fault = mkdir(path, 0777) == 0 ? 0 : errno;

	/* What is there already counts, whatever mkdir() says first. */
	if (fault && stat(path, &found) == 0)
		return S_ISDIR(found.st_mode) ? 0 : ENOTDIR;
	return fault;
}

/* Makes the folder and those above it, or returns the reason why one is not there. */
static int make_directory(const char *dir)
{
	size_t n = strlen(dir);
	char *path = xmalloc(n + 1, 1);
	int fault = 0;

	memcpy(path, dir, n + 1);
	for (size_t i = 1; i <= n && !fault; i++) {
		if (dir[i] && dir[i] != '/')
			continue;
		path[i] = '\0';
		fault = make_one(path);
		path[i] = dir[i];
	}
	free(path);
	return fault;
}

/* SQLite says only "unable to open"; the system knows why. */
static enum status check_file(const struct store *s, int mode, struct error *e)
{
	const char *doing = s->create ? "write" : "read";
	struct stat found;

	if (access(s->path, mode) != 0 && (!s->create || errno != ENOENT))
		return error_set(e, E_IO, store_place(s), "cannot %s sweep.db: %s",
		                 doing, strerror(errno));
	if (stat(s->path, &found) == 0 && !S_ISREG(found.st_mode))
		return error_set(e, E_IO, store_place(s),
		                 "cannot %s sweep.db: it is not a file", doing);
	return OK;
}

/* Opens the file for writing, and makes its tables where it has none. */
static enum status open_new(struct store *s, struct error *e)
{
	bool empty = false;

	if (check_file(s, R_OK | W_OK, e) != OK)
		return e->code;
	if (sqlite3_open_v2(s->path, &s->db,
	                    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
	                            SQLITE_OPEN_NOMUTEX,
	                    NULL) != SQLITE_OK)
		return store_error(s, e, "cannot write it");
	sqlite3_busy_timeout(s->db, 10000);
	if (check_version(s, &empty, e) != OK || store_run(s, WRITING, e) != OK)
		return e->code;
	return empty ? make_tables(s, e) : OK;
}

/* Returns whether the file has rows in a log beside it. */
static bool has_log(const struct store *s)
{
	struct text log = {0};
	struct stat found;
	bool has;

	text_printf(&log, "%s-wal", s->path);
	has = stat(log.s, &found) == 0 && found.st_size > 0;
	text_free(&log);
	return has;
}

/*
 * Opens the file again as one that nobody writes: where the folder cannot be written,
 * SQLite cannot make the files that it wants beside one whose sweep did not end.
 */
static enum status open_immutable(struct store *s, struct error *e)
{
	struct text uri = {0};
	bool empty;

	*e = (struct error){0};
	sqlite3_close(s->db);
	s->db = NULL;
	if (has_log(s))
		return error_set(e, E_IO, store_place(s),
		                 "cannot read sweep.db: a sweep that did not end left "
		                 "rows in sweep.db-wal, which are put into it only "
		                 "where it can be written; copy both files");
	text_printf(&uri, "file:");
	for (const char *p = s->path; *p; p++)
		text_printf(&uri, strchr("?#%", *p) ? "%%%02x" : "%c", *p);
	text_printf(&uri, "?immutable=1");
	if (sqlite3_open_v2(uri.s, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
	                    NULL) != SQLITE_OK)
		store_error(s, e, "cannot read it");
	else
		check_version(s, &empty, e);
	text_free(&uri);
	return e->code;
}

static enum status open_old(struct store *s, struct error *e)
{
	bool empty;

	if (check_file(s, R_OK, e) != OK)
		return e->code;
	/* What a death left half done is taken back first, where that is allowed. */
	if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		return store_error(s, e, "cannot read it");
	sqlite3_busy_timeout(s->db, 10000);
	if (check_version(s, &empty, e) != OK &&
	    (sqlite3_errcode(s->db) == SQLITE_CANTOPEN ||
	     (sqlite3_errcode(s->db) & 0xff) == SQLITE_READONLY))
		open_immutable(s, e);
	return e->code;
}

/* --- damage ------------------------------------------------------------------------- */

/*
 * Returns whether SQLite finds nothing wrong with the file by one of its checks, and appends
 * what it says.
 */
static bool is_sound(sqlite3 *db, const char *check_sql, struct text *why)
{
	sqlite3_stmt *check = NULL;
	const char *said;
	bool sound;

	if (sqlite3_prepare_v2(db, check_sql, -1, &check, NULL) != SQLITE_OK ||
	    sqlite3_step(check) != SQLITE_ROW) {
		text_printf(why, "%s", sqlite3_errmsg(db));
		sound = false;
	} else {
		said = (const char *)sqlite3_column_text(check, 0);
		sound = said && strcmp(said, "ok") == 0;
		/* The name of the database stands on a line before. */
		said = said && strchr(said, '\n') ? strchr(said, '\n') + 1 : said;
		text_printf(why, "%s", said ? said : "");
	}
	sqlite3_finalize(check);
	return sound;
}

/* Tells whether the file is damaged, and why; `e` is what opening it said. */
static bool is_damaged(struct store *s, const struct error *e, struct text *why)
{
	if (e->code != OK) {
		int code = s->db ? sqlite3_errcode(s->db) & 0xff : SQLITE_OK;

		text_printf(why, "%s", s->db ? sqlite3_errmsg(s->db) : "");
		return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
	}
	/* Not its quick_check: an index of which rows are missing refuses new ones. */
	return !is_sound(s->db, "PRAGMA integrity_check(1)", why);
}

/* Moves the file and its log to the first free name, which is stored in `kept`. */
static enum status set_aside(struct store *s, struct text *kept, struct error *e)
{
	struct text from = {0}, to = {0};
	int n = 1, failed;

	do {
		kept->length = 0;
		text_printf(kept, "%s.damaged", s->path);
		if (n > 1)
			text_printf(kept, "-%d", n);
		n++;
	} while (access(kept->s, F_OK) == 0);
	text_printf(&from, "%s-wal", s->path);
	text_printf(&to, "%s-wal", kept->s);
	failed = rename(s->path, kept->s) != 0 ||
	         (rename(from.s, to.s) != 0 && errno != ENOENT);
	memcpy(from.s + from.length - 3, "shm", 3);
	unlink(from.s);
	text_free(&from);
	text_free(&to);
	return failed ? error_set(e, E_IO, store_place(s),
	                          "cannot keep the damaged sweep.db: %s",
	                          strerror(errno))
	              : OK;
}

/* Sets the damaged file aside and begins a new one; s->damage then says so. */
static enum status replace_damaged(struct store *s, const char *why, struct error *e)
{
	struct text kept = {0}, told = {0};
	int keep = 1;

	/* SQLite would remove a log that it takes for empty. */
	sqlite3_file_control(s->db, NULL, SQLITE_FCNTL_PERSIST_WAL, &keep);
	sqlite3_close(s->db);
	s->db = NULL;
	*e = (struct error){0};
	if (set_aside(s, &kept, e) == OK && open_new(s, e) == OK &&
	    store_begin_rows(s, e) == OK) {
		text_printf(&told,
		            "%s/sweep.db was damaged (%s): it is kept as %s, and a "
		            "new one begins without its rows; " STORE_RECOVER,
		            s->dir, why, strrchr(kept.s, '/') + 1, kept.s);
		s->damage = told.s;
	}
	text_free(&kept);
	return e->code;
}

/* Makes the folder and stores its absolute name, for the current one may change. */
static enum status take_folder(struct store *s, struct error *e)
{
	int fault = make_directory(s->dir);
	char *folder = fault ? NULL : realpath(s->dir, NULL);

	if (!folder)
		return error_set(e, E_IO, store_place(s), "cannot write sweep.db: %s",
		                 strerror(fault ? fault : errno));
	free(s->folder);
	s->folder = folder;
	return OK;
}

static void set_paths(struct store *s)
{
	struct text path = {0}, lock = {0};

	text_printf(&path, "%s/sweep.db", s->folder);
	text_printf(&lock, "%s.lock", path.s);
	s->path = path.s;
	s->lock = lock.s;
}

static enum status open_to_write(struct store *s, struct error *e)
{
	struct text why = {0};

	if (lock_take(&s->lock_fd, s->lock, store_place(s), e) != OK)
		return e->code;
	open_new(s, e);
	if (is_damaged(s, e, &why))
		replace_damaged(s, why.s, e);
	else if (e->code == OK)
		store_begin_rows(s, e);
	text_free(&why);
	return e->code;
}

enum status store_open(struct store **out, const char *dir, bool create, struct error *e)
{
	struct store *s = xmalloc(1, sizeof(*s));
	struct error local = {0};

	e = e ? e : &local;
	*s = (struct store){.dir = dir, .create = create, .lock_fd = -1};
	*out = NULL;
	s->folder = xmalloc(strlen(dir) + 1, 1);
	memcpy(s->folder, dir, strlen(dir) + 1);
	if (create)
		take_folder(s, e);
	set_paths(s);
	if (e->code == OK && (create ? open_to_write(s, e) : open_old(s, e)) == OK) {
		*out = s;
		return OK;
	}
	store_close(s);
	return e->code;
}

const char *store_damage(const struct store *s)
{
	return s->damage;
}

/* --- ending ------------------------------------------------------------------------- */

/*
 * Checks that the file on disk has all rows, as whoever opens it next will: this
 * connection has much of it in memory, and would not notice if it was cut meanwhile. The
 * number of rows is that of the index, and quick_check reads the rows themselves.
 */
static enum status check_written(struct store *s, struct error *e)
{
	struct store fresh = {.dir = s->dir, .path = s->path};
	struct text why = {0};
	int64_t rows, found = 0;

	if (store_count(&rows, s, e) != OK)
		return e->code;
	if (sqlite3_open_v2(s->path, &fresh.db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
	    sqlite3_exec(fresh.db, CACHE, NULL, NULL, NULL) != SQLITE_OK ||
	    !is_sound(fresh.db, "PRAGMA quick_check(1)", &why))
		error_set(e, E_IO, store_place(s),
		          "sweep.db was damaged while rows were put into it "
		          "(%s); " STORE_RECOVER,
		          why.s ? why.s : sqlite3_errmsg(fresh.db), s->path);
	else if (store_count(&found, &fresh, e) == OK && found != rows)
		error_set(e, E_IO, store_place(s),
		          "sweep.db has %lld rows, but %lld were put into it",
		          (long long)found, (long long)rows);
	sqlite3_close(fresh.db);
	text_free(&why);
	return e->code;
}

/* Makes the file one that needs no other beside it, unless a reader holds it as it is. */
static void leave_alone(struct store *s)
{
	sqlite3_busy_timeout(s->db, 0);
	sqlite3_exec(s->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
}

enum status store_finish(struct store *s, struct error *e)
{
	if (!s->create || s->finished)
		return OK;
	if (store_commit(s, e) != OK || store_there(s, e) != OK ||
	    store_run(s, "PRAGMA wal_checkpoint(TRUNCATE)", e) != OK)
		return e->code;
	leave_alone(s);
	s->finished = true;
	return check_written(s, e);
}

void store_discard(struct store *s)
{
	s->discarded = s->create;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	sqlite3_finalize(s->replace);
	sqlite3_finalize(s->log);
	sqlite3_finalize(s->unlog);
	if (s->db && s->create && !s->finished && !s->discarded) {
		if (s->in_transaction)
			sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		leave_alone(s);
	}
	sqlite3_close(s->db);
	if (s->discarded)
		unlink(s->path);
	lock_give(s->lock_fd, s->lock);
	free(s->folder);
	free(s->path);
	free(s->lock);
	free(s->damage);
	free(s);
}
