/*
 * The store of a sweep: one row per (scenario, platform, machine, planner, clock) in the
 * table `rows` of the SQLite file DIR/sweep.db. Reports read rows from here and nothing else.
 *
 * What was committed survives the death of the process at any moment: the file has a
 * write-ahead log beside it (sweep.db-wal, sweep.db-shm) until the sweep ends or, where its
 * process was killed, until somebody opens it who may write there. A row comes with the key
 * of its case and a checksum, so that what a disk made of it is not believed.
 * Only one process writes: DIR/sweep.db.lock is locked by it. Not for network file
 * systems, where that log does not work: shards (sweep/shard.h) are.
 *
 * The other tables: `settings`, named texts about the whole sweep, and `logs`, what the
 * processes of failed rows left on stderr.
 *
 * Errors name DIR as their place (borrowed: it must outlive the error).
 */
#ifndef SHARDSIM_SIM_STORE_STORE_H
#define SHARDSIM_SIM_STORE_STORE_H

#include "system/digest.h"

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What became of a measurement. */
enum outcome {
	OUTCOME_OK,
	OUTCOME_NOT_APPLICABLE, /* the planner cannot express it; `message` says why */
	OUTCOME_OVER_MEMORY, /* its plan does not fit; `message` says what it needs */
	OUTCOME_WRONG,       /* the plan did not pass its check: a fault of ours */
	OUTCOME_FAILED       /* `message` is what went wrong */
};
enum { OUTCOMES = OUTCOME_FAILED + 1 };

/* "ok", "not-applicable", "over-memory", "wrong", "failed". */
const char *outcome_name(enum outcome o);

/* Stores the outcome of that name; false if there is none. */
bool outcome_parse(enum outcome *out, const char *name);

/*
 * One measurement. Seconds are NaN and bytes are negative where unknown (NULL in the
 * database). Texts are spelled as on the command line; a NULL text is stored as "".
 */
struct row {
	const char *scenario, *family;
	const char *array, *mesh, *from, *to, *to_mesh;
	const char *num_devices, *from_devices, *to_devices, *memory_limit;
	const char *platform, *planner, *clock;
	enum outcome status;
	const char *message;
	double time_s;            /* the plan's time on this clock, all parts */
	double launch_s, local_s; /* the launches and the local work in time_s */
	double low_s, high_s;     /* between which time_s is (measure/likely.h) */
	int64_t recv_bytes, send_bytes;
	int64_t peak_array_bytes, peak_live_bytes;
	const char *steps; /* the printed plan, one line */
	bool full_remat;   /* a step's tile is the full array, but neither end is */
	double bound_s;    /* a lower bound on any plan's time */
	int64_t recv_bound_bytes; /* the largest number of bytes that one device lacks */
	double planning_s;        /* wall time; not reproducible */
	int64_t devices;          /* of both meshes together */
	const char *source;
	/*
	 * What a suite varied, for curves: the scenario and the platform before, and the
	 * figures as "key=value" with spaces between ("bytes=1MiB nic.bandwidth=25GBps"),
	 * "" where nothing was.
	 */
	const char *base_scenario, *base_platform, *varied;
	/*
	 * The label under which tables group rows of one machine in several sizes: the name
	 * that a suite gives it, or the platform as it was asked for (`tpu-v4:{n}`), of which
	 * `platform` is the machine it ran on.
	 */
	const char *machine;
	const char *vocabulary; /* "any", "portable" or, as where none was given, "" */
	/*
	 * Of a training step, whose `planner` is "step" (its time_s has all of these, and its
	 * peak_live_bytes are what a device holds); empty and unknown of a redistribution.
	 */
	const char *model, *parallel;
	double compute_s, exposed_s, bubble_s, mfu;
	double other_s; /* contention and idle time */
	const char *timeline; /* what each step took and the links it loads (measure/timeline.h) */
	const char *launch; /* who called its collectives; "" where these are links alone */
};

/* Returns a row with nothing known: empty texts, NaN seconds, bytes and devices -1. */
struct row row_empty(void);

/* The columns of `rows`, in their order: how and where in struct row a field lies. */
enum row_kind {
	ROW_TEXT,  /* const char * */
	ROW_REAL,  /* double; NaN is NULL */
	ROW_BYTES, /* int64_t; negative is NULL */
	ROW_FLAG,  /* bool; 0 or 1 */
	ROW_STATUS /* enum outcome; its name */
};
enum { ROW_COLUMNS = 46 };
extern const struct row_column {
	enum row_kind kind;
	const char *name;
	size_t offset;
} row_columns[ROW_COLUMNS];

/* Prints a row as bytes; and reads such bytes, where texts stay, or returns false. */
void row_pack(struct text *out, const struct row *r);
bool row_unpack(struct row *out, const char *bytes, size_t n);

/* Returns the checksum with which a row and the key of its case are stored. */
int64_t row_sum(const struct row *r, struct digest key);

/* --- the file ----------------------------------------------------------------------- */

struct store;

/*
 * Opens DIR/sweep.db for reading or, with `create`, for writing, making DIR and the file
 * where they are not there. On error `*out` is NULL. E_IO: no such file, unreadable, not a
 * database, not one of this version; with `create` also if another process is writing
 * there: the text names it.
 *
 * With `create` the file is checked. A damaged one is set aside under the first free of the
 * names sweep.db.damaged, sweep.db.damaged-2, ... with the log that belongs to it, and a new
 * one without rows is begun: store_damage() tells.
 */
enum status store_open(struct store **out, const char *dir, bool create,
                       struct error *e);

/*
 * Where a damaged file is kept and how to read what is left of it, in a sentence; NULL if
 * the file was sound. The text is the store's.
 */
const char *store_damage(const struct store *s);

/*
 * Adds a row, or puts it in the place of the one that is there, with the key of its case and
 * what its process left on stderr (NULL: nothing).
 */
enum status store_put(struct store *s, const struct row *r, struct digest key,
                      const char *log, struct error *e);

/*
 * Does the same with the row_sum() that another process has made of the row and its key; a
 * wrong one makes the row a damaged one.
 */
enum status store_put_summed(struct store *s, const struct row *r, struct digest key,
                             int64_t sum, const char *log, struct error *e);

/* Takes out the rows whose key is not in the set, and stores how many they were. */
enum status store_keep(struct store *s, const struct digests *keys, int64_t *gone,
                       struct error *e);

/*
 * Keeps a named text of the sweep, `number` from 0 where a name has several. It lasts with
 * the next commit.
 */
enum status store_set(struct store *s, const char *name, int number, const char *value,
                      struct error *e);

/* Stores that text, the arena's; NULL if there is none. */
enum status store_get(const char **out, struct store *s, struct arena *a,
                      const char *name, int number, struct error *e);

/*
 * Makes all that was added last: whatever happens now, it will be there. It is an E_IO if
 * sweep.db was removed or renamed meanwhile.
 */
enum status store_commit(struct store *s, struct error *e);

/*
 * Commits, and writes all to sweep.db itself, which needs no file beside it any more. It is
 * an E_IO if sweep.db is then not sound or lacks rows, as when it was cut meanwhile.
 */
enum status store_finish(struct store *s, struct error *e);

/* Removes the file of a store that is open for writing, when the store is closed. */
void store_discard(struct store *s);

/*
 * Closes the store; what was not committed is lost. The file needs no other beside it
 * afterwards, also where its sweep did not end. NULL is fine.
 */
void store_close(struct store *s);

/*
 * Calls `each` with every row, in byte order of (scenario, platform, machine, planner,
 * clock). The
 * row's texts live until the call returns. Stops at the first status that is not OK and
 * returns it. E_IO: a row is damaged.
 */
typedef enum status store_each_fn(void *self, const struct row *r, struct error *e);
enum status store_each(struct store *s, store_each_fn *each, void *self,
                       struct error *e);

/* Stores how many rows there are. */
enum status store_count(int64_t *out, struct store *s, struct error *e);

/* Stores all rows, in the same order, as an array in the arena. */
enum status store_rows(struct store *s, struct arena *a, struct row **out, size_t *n,
                       struct error *e);

/*
 * Calls `each` with every sound row that has a key, in no order; others are passed over.
 */
typedef enum status store_key_fn(void *self, struct digest key, const struct row *r,
                                 struct error *e);
enum status store_keys(struct store *s, store_key_fn *each, void *self, struct error *e);

#endif
