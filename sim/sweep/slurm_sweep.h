/*
 * The shards of a plan as the tasks of Slurm arrays. Nothing is kept about what was
 * submitted: which shards are done their files tell, which are on their way the queue
 * does, by a name that is a digest of plan, number of shards and folder. So the same
 * command, given again, submits what is neither.
 */
#ifndef SHARDSIM_SIM_SWEEP_SLURM_SWEEP_H
#define SHARDSIM_SIM_SWEEP_SLURM_SWEEP_H

#include "sweep/shard.h"
#include "sweep/slurm.h"

#include <sys/stat.h>

struct slurm_shard {
	bool good;          /* its file is there, without failed rows */
	bool watched;       /* in the queue, or submitted */
	bool changed;       /* since then its file was written */
	struct stat before; /* the file as it was then; all 0: there was none */
};

struct slurm_sweep {
	const struct sweep *sweep;
	struct digest plan;
	const char *path;   /* of the plan, absolute */
	const char *folder; /* of shards, script and logs; absolute */
	int nshards;
	struct slurm_job job; /* set: folder, partition, time, cpus, throttle, extra */
	const char *run;      /* more words of `sweep run`, each after a space */
	int retries;
	double poll_s;
	bool show;     /* progress, on stderr */
	bool terminal; /* one line, written over */
	struct arena *arena;
	/* By slurm_sweep_start(): */
	const char *script;
	struct slurm_shard *shard; /* [nshards] */
	struct slurm_queue queue;
	struct sweep_counts counts; /* rows of all shards' files; the signal that came */
};

/*
 * Name the job and its script. E_TYPE: a name of a folder that Slurm cannot write.
 */
enum status slurm_sweep_start(struct slurm_sweep *s, struct error *e);

/*
 * Read the shards' files: what is good, and all rows that are there. E_TYPE: a file of
 * another plan or another shard.
 */
enum status slurm_sweep_read(struct slurm_sweep *s, struct error *e);

/* Write the script for all shards that are not good; *n of them, 0: none is written. */
enum status slurm_sweep_write(struct slurm_sweep *s, int *n, struct error *e);

/*
 * Submit the shards that are neither good nor in the queue, and say so on stderr.
 */
enum status slurm_sweep_submit(struct slurm_sweep *s, struct error *e);

/* Which of the watched shards' files were written since. */
void slurm_sweep_look(struct slurm_sweep *s);

/*
 * Wait until no shard is in the queue or all that were asked for have their file, and
 * submit those again that ended without one, `retries` times. A signal ends it and is in
 * counts.signal; jobs go on. While squeue fails it is asked again.
 */
enum status slurm_sweep_wait(struct slurm_sweep *s, struct error *e);

#endif
