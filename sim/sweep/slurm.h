/*
 * Slurm: arrays of tasks, through its own commands sbatch and squeue. It needs no
 * accounting database: a task that squeue does not name any more has ended, and what came
 * of it is for its files to tell.
 */
#ifndef SHARDSIM_SIM_SWEEP_SLURM_H
#define SHARDSIM_SIM_SWEEP_SLURM_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

struct slurm_job {
	const char *name;       /* by which the queue is asked */
	const char *folder;     /* in which tasks start */
	const char *log_folder; /* of their logs slurm-JOB_TASK.log; no backslash */
	const char *partition, *time; /* as sbatch has them; NULL: the cluster's */
	int cpus;                     /* of a task, >= 1 */
	int throttle;             /* tasks at a time; 0: as many as there is room for */
	const char *const *extra; /* more options of sbatch, checked */
	int nextra;
};

/*
 * Whether it can be one of `extra`: --NAME or --NAME=VALUE in printable bytes, and not one
 * that is set here or makes sbatch do something else. E_SYNTAX, E_TYPE at the option --sbatch.
 */
enum status slurm_check_extra(const char *option, struct error *e);

/* Rising numbers as sbatch's --array has them: "0-3,7" and, with a throttle, "%2". */
void slurm_array(struct text *out, const int *task, int n, int throttle);

/* The options of sbatch for these tasks of a job, ended by NULL; the arena's. */
const char *const *slurm_options(const struct slurm_job *job, const int *task, int n,
                                 struct arena *a);

/*
 * A script for sbatch: the options as lines #SBATCH, then the command, which a shell
 * reads. Words of a line #SBATCH are in "", with a backslash before " and \, where they
 * are not plain.
 */
void slurm_script(struct text *out, const char *const *options, const char *command);

/*
 * Submit a script, with its options on the command line too: they win over variables
 * SBATCH_..., which win over the script. *id is the arena's. E_IO: there is no sbatch, or
 * it refuses; its own message is then on stderr.
 */
enum status slurm_submit(const char **id, const char *const *options,
                         const char *script, struct arena *a, struct error *e);

enum slurm_state {
	SLURM_GONE, /* ended, or never there */
	SLURM_WAITING,
	SLURM_RUNNING
};

/* The tasks of one name in the queue. */
struct slurm_queue {
	enum slurm_state *state; /* [n], by task number */
	int n;
	char reason[64]; /* why a task waits; "" if none does */
};

/* Fill `q` from what squeue prints with the format "%K %T %r". Other lines are passed. */
void slurm_read_queue(struct slurm_queue *q, const char *text);

/* Ask squeue for this user's tasks. E_IO with what it says where it fails. */
enum status slurm_queue(struct slurm_queue *q, const char *name, struct error *e);

#endif
