/*
 * The store of a sweep: one row per (scenario, platform, planner, clock) in the table
 * `rows` of the SQLite file DIR/sweep.db. Reports read rows from here and nothing else.
 *
 * A new store is written as DIR/sweep.db.part, in transactions of many rows, and takes
 * its name only in store_finish(): DIR/sweep.db is always one whole sweep. While it is
 * being written DIR/sweep.db.lock is locked by its process. Errors name DIR as their place
 * (borrowed: it must outlive the error).
 */
#ifndef SHARDSIM_SIM_STORE_H
#define SHARDSIM_SIM_STORE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What became of a measurement (design 3). */
enum outcome {
	OUTCOME_OK,
	OUTCOME_NOT_APPLICABLE, /* the planner cannot express it; `message` says why */
	OUTCOME_OVER_MEMORY,    /* `message` names the smallest limit that would do */
	OUTCOME_WRONG,          /* the plan did not pass its check: a fault of ours */
	OUTCOME_FAILED          /* `message` is what went wrong */
};
enum { OUTCOMES = OUTCOME_FAILED + 1 };

/* "ok", "not-applicable", "over-memory", "wrong", "failed". */
const char *outcome_name(enum outcome o);

/* The outcome of that name; false if there is none. */
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
	int64_t recv_bytes, send_bytes;
	int64_t peak_array_bytes, peak_live_bytes;
	const char *steps; /* the printed plan, one line */
	bool full_remat;   /* a step's tile is the full array, but neither end is */
	double bound_s;    /* a lower bound on any plan's time */
	int64_t recv_bound_bytes; /* the largest number of bytes that one device lacks */
	double planning_s;        /* wall time; not reproducible */
	int64_t devices;          /* of both meshes together */
	const char *source;
};

/* A row with nothing known: empty texts, NaN seconds, bytes and devices -1. */
struct row row_empty(void);

/* The columns of `rows`, in their order: how and where in struct row a field lies. */
enum row_kind {
	ROW_TEXT,  /* const char * */
	ROW_REAL,  /* double; NaN is NULL */
	ROW_BYTES, /* int64_t; negative is NULL */
	ROW_FLAG,  /* bool; 0 or 1 */
	ROW_STATUS /* enum outcome; its name */
};
enum { ROW_COLUMNS = 30 };
extern const struct row_column {
	enum row_kind kind;
	const char *name;
	size_t offset;
} row_columns[ROW_COLUMNS];

struct store;

/*
 * Open DIR/sweep.db for reading or, with `create`, start a new one (making DIR, and
 * taking the place of an older one when it is finished). On error `*out` is NULL.
 * E_IO: no such file, unreadable, not a database, not one of this version; with `create`
 * also if another process is writing one there: the text names it.
 */
enum status store_open(struct store **out, const char *dir, bool create,
                       struct error *e);

/* Add a row. E_TYPE: its (scenario, platform, planner, clock) is there already. */
enum status store_add(struct store *s, const struct row *r, struct error *e);

/* Write all rows to the disk and give the new store its name. No adding after it. */
enum status store_finish(struct store *s, struct error *e);

/* Give back the store; a new one that was not finished is removed. NULL is fine. */
void store_close(struct store *s);

/*
 * Call `each` with every row, in byte order of (scenario, platform, planner, clock). The
 * row's texts live until the call returns. Stops at the first status that is not OK and
 * returns it.
 */
typedef enum status store_each_fn(void *self, const struct row *r, struct error *e);
enum status store_each(struct store *s, store_each_fn *each, void *self,
                       struct error *e);

/* All rows, in the same order, as an array in the arena. */
enum status store_rows(struct store *s, struct arena *a, struct row **out, size_t *n,
                       struct error *e);

#endif
