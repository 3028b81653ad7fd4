/*
 * The shards of a plan as the tasks of a Slurm array. Task K measures shard K, so it
 * does so again when it is requeued. A task ends at once if its shard is done or
 * another process writes it.
 */
#ifndef SHARDSIM_SIM_SWEEP_SLURM_H
#define SHARDSIM_SIM_SWEEP_SLURM_H

#include "base/arena.h"
#include "base/error.h"

struct slurm_job {
	const char *program, *plan; /* absolute names, as the next two are */
	const char *start;          /* the folder where `sweep run` starts */
	const char *folder;         /* of shards, script and logs slurm-JOB_TASK.log */
	const char *jobs, *timeout, *memory, *progress; /* of `sweep run`, or NULL */
	int nshards, cpus;        /* shards of the plan; cores of a task, at least 1 */
	int throttle;             /* most tasks at a time; 0 for no limit */
	const char *const *extra; /* more words for sbatch */
	int nextra;
};

/* Appends rising numbers as --array takes them: "0-3,7" and, with a throttle, "%2". */
void slurm_array(struct text *out, const int *task, int n, int throttle);

/* Appends the array script that measures these shards. */
void slurm_script(struct text *out, const struct slurm_job *job, const int *task, int n);

/*
 * Submits a script and stores the number of the job in *id; it is the arena's. It is an
 * E_IO if there is no sbatch, or if sbatch refuses and has said why on stderr.
 */
enum status slurm_submit(const char **id, const char *script, struct arena *a,
                         struct error *e);

#endif
