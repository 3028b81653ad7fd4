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
 * Lock FILE.lock and read the rows that FILE or FILE.part has; failed rows are as good as
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

/* Write FILE.part anew from what is done, ready for rows. */
enum status shard_begin(struct shard_file *f, struct error *e);

/* The sink that is a shard. */
struct sweep_sink shard_sink(struct shard_file *f);

/* Give FILE.part the name FILE. */
enum status shard_finish(struct shard_file *f, struct error *e);

void shard_close(struct shard_file *f);

#endif
