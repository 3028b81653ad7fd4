/*
 * Published training steps (validate/program/steps.h) as shardings: each row's degrees as tactics
 * of a search (automap/run.h), how long a step takes so by the search's own model of time, whether
 * that puts the configurations of a model on a machine in the order in which they were measured,
 * and what the search finds that starts from there.
 *
 * A step of one micro batch is cut: `data` and `fsdp` as data:data, with zero 1 and 2 zero2:data, with
 * zero 3 zero3:data, over `context` as well; `context` and `tensor` as context:context and
 * megatron:tensor, with sequence:tensor; `expert` takes its part of the data axis, as expert:expert.
 * Sums between layers in 32 bits (autocast) count as 16. What cannot be said so is left out: stages of
 * a pipeline, projections in 8 bits, attention alone computed again.
 */
#ifndef SHARDSIM_SIM_VALIDATE_SHARDED_H
#define SHARDSIM_SIM_VALIDATE_SHARDED_H

#include "text/pen.h"
#include "validate/program/steps.h"

/*
 * A configuration is an outlier if it took more than this times as long as another one of its set,
 * model, machine, degrees and settings that computes no less: sequences as long, as many tokens in a
 * pass and as many passes. Orders are stated without outliers, and with them. Times that differ by
 * less are in no order, as of collectives (validate/ways.h).
 */
#define STEP_OUTLIER 1.01

/* A configuration: rows that are equal but for what was measured. */
struct sharded_step {
	const struct step_job *job;
	const char *mesh, *tactics;        /* tactics with spaces between */
	size_t n;                          /* rows */
	double measured_s;                 /* their geometric mean */
	const struct sharded_step *faster; /* that makes it an outlier; NULL: it is none */
	const char *left_out;              /* why; NULL: what follows is there */
	double expert_s, ours_s;
	int64_t evaluations;
};

struct sharded_table {
	int64_t n;
	struct sharded_step *row;
};

/*
 * Reads a table of steps and runs it, every search with so many evaluations for each
 * configuration. Everything is the arena's. Errors are step_jobs_read()'s.
 */
enum status sharded_table_read(struct sharded_table *out, struct arena *a,
                               const char *path, int64_t budget, struct error *e);

/* Writes a table of models on machines with several configurations, and one of what is left out. */
void sharded_table_words(const struct pen *pen, const struct sharded_table *t);
void sharded_table_csv(FILE *out, const struct sharded_table *t);

#endif
