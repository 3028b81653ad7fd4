/* One shard of a plan, measured. */
#ifndef SHARDSIM_SIM_SWEEP_SHARD_RUN_H
#define SHARDSIM_SIM_SWEEP_SHARD_RUN_H

#include "sweep/shard.h"

/* The file of a shard while it is being written. */
struct shard_file {
	const char *path, *part; /* the arena's */
	FILE *out;               /* the open file `part`; NULL before shard_begin() */
	int lock_fd;
	struct digest plan;
	struct shard shard;
	struct digests done;        /* keys of rows that need not be measured again */
	struct sweep_counts counts; /* those of these rows */
	struct text lines;          /* the lines of these rows */
	bool whole;                 /* these rows are from the finished file */
	bool busy;                  /* another process writes it */
};

/*
 * Locks FILE.lock and reads the rows that FILE or FILE.part has; failed rows do not
 * count. It is an E_IO, and sets `busy`, if another process writes the shard. It is an
 * E_TYPE if the file is another shard, or a shard of another plan.
 */
enum status shard_open(struct shard_file *f, const char *path, struct digest plan,
                       struct shard shard, struct arena *a, struct error *e);

/*
 * Sets *done to whether FILE is there and has rows of all of the shard's `cases`, none of
 * which failed. It is an E_TYPE if FILE is another shard, or a shard of another plan.
 */
enum status shard_done(bool *done, const char *path, struct digest plan,
                       struct shard shard, int64_t cases, struct error *e);

/* Writes FILE.part anew with the rows that are done, and leaves it open for more. */
enum status shard_begin(struct shard_file *f, struct error *e);

/* Returns the sink that appends rows to the shard. */
struct sweep_sink shard_sink(struct shard_file *f);

/*
 * Gives FILE.part the name FILE. It is an E_IO or E_SYNTAX if FILE.part has not all rows
 * any more that were put into it.
 */
enum status shard_finish(struct shard_file *f, struct error *e);

/* Gives the lock back and frees what `f` holds. */
void shard_close(struct shard_file *f);

#endif
