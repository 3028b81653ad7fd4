/* One shard of a plan, measured. */
#ifndef SHARDSIM_SIM_SWEEP_SHARD_RUN_H
#define SHARDSIM_SIM_SWEEP_SHARD_RUN_H

#include "sweep/shard.h"

/* The file of a shard while it is being written. */
struct shard_file {
	const char *path, *part; /* the arena's */
	FILE *out;               /* part, appended to; NULL before */
	int lock_fd;
	struct digest plan;
	struct shard shard;
	struct digests done;        /* keys of rows that need not be measured again */
	struct sweep_counts counts; /* of them */
	struct text lines;          /* theirs */
	bool whole;                 /* they are from the finished file */
	bool failed;                /* rows that failed were passed over */
	bool busy;                  /* another process writes it */
};

/*
 * Locks FILE.lock and reads the rows that FILE or FILE.part has; failed rows are as good as
 * none. E_IO: another process writes it, which sets `busy`; E_TYPE: it is another shard, or another plan's.
 */
enum status shard_open(struct shard_file *f, const char *path, struct digest plan,
                       struct shard shard, struct arena *a, struct error *e);

/*
 * Sets *done to whether FILE is there and has no failed rows. E_TYPE: it is another shard,
 * or another plan's.
 */
enum status shard_done(bool *done, const char *path, struct digest plan,
                       struct shard shard, struct error *e);

/* Writes FILE.part anew from what is done, ready for rows. */
enum status shard_begin(struct shard_file *f, struct error *e);

/* Returns the sink that appends rows to the shard. */
struct sweep_sink shard_sink(struct shard_file *f);

/* Gives FILE.part the name FILE. */
enum status shard_finish(struct shard_file *f, struct error *e);

/* Gives the lock back and frees what `f` holds. */
void shard_close(struct shard_file *f);

#endif
