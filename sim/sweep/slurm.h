/*
 * The shards of a plan as the tasks of a Slurm array. Task K is shard K, so one that is
 * requeued is the same shard, and one whose shard is done or being written by another
 * process ends at once.
 */
#ifndef SHARDSIM_SIM_SWEEP_SLURM_H
#define SHARDSIM_SIM_SWEEP_SLURM_H

#include "base/arena.h"
#include "base/error.h"
#include "base/list.h"

struct slurm_job {
	const char *program, *plan; /* absolute, as the next two names are */
	const char *start;          /* the folder where `sweep run` starts */
	const char *folder;         /* of shards, script and logs slurm-JOB_TASK.log */
	const char *jobs, *timeout, *memory, *progress; /* of `sweep run`, or NULL */
	int nshards, cpus;        /* of the plan; of a task, at least 1 */
	int throttle;             /* tasks at a time; 0: as many as there is room for */
	LIST(const char *) extra; /* more words of sbatch */
};

/* Appends rising numbers as --array has them: "0-3,7" and, with a throttle, "%2". */
void slurm_array(struct text *out, const int *task, int n, int throttle);

/* Appends the array script that measures these shards. */
void slurm_script(struct text *out, const struct slurm_job *job, const int *task, int n);

/*
 * Submits a script; *id is the number of the job, the arena's. E_IO: there is no sbatch,
 * or it refuses; its own message is then on stderr.
 */
enum status slurm_submit(const char **id, const char *script, struct arena *a,
                         struct error *e);

#endif
