/*
 * Published times of training steps, against `step` (program/step_time.h): platforms/steps.csv.
 *
 * CSV with the columns, in any order,
 *   set, name, detail, source   what was measured, in words
 *   measured_s                  seconds of a step
 *   left_out                    why the row is not simulated; blank: it is
 * and, for rows that are,
 *   platform                    the machine, with what the source says of it
 *   model                       a model.yaml relative to the table
 *   parallel                    the degrees, as of `step --parallel`
 *   units                       nodes or racks that the devices are spread over evenly, the
 *                               first of each; blank: they are the first of all
 *   seq, global_batch, micro_batch, zero, recompute, interleave, fuse, attention
 *                               in place of those of the model; blank: 0, none, 1, eager, flash
 *   sequence                    yes: sequence parallelism
 *   precision                   bf16; amp: 16 bits with sums between layers in 32 (autocast);
 *                               fp8: projections of layers in 8 bits; amp-fp8: both
 * Rows of equal model, degrees, figures and machine are timed once.
 */
#ifndef SHARDSIM_SIM_VALIDATE_STEPS_H
#define SHARDSIM_SIM_VALIDATE_STEPS_H

#include "base/error.h"
#include "text/pen.h"

struct measured_step {
	const char *set, *name, *detail, *source,
		*left_out; /* left_out NULL: simulated */
	/* Of rows that are simulated. */
	const char *platform, *family, *model, *parallel, *precision;
	int64_t devices;
	bool experts, tensor, pipeline, context;
	double params, layers, expert_layers; /* program/step.h */
	double measured_s;
	/*
	 * NaN: left out. Of time_s, what kernels take (of that matmuls, and attention), what
	 * they wait for, of how much communication, the bubble, and the rest.
	 */
	double time_s, compute_s, matmul_s, attention_s, exposed_s, communication_s;
	double bubble_s, idle_s;
	double peak_bytes, device_bytes; /* held by a device; that it has */
	int64_t line;
};

struct step_table {
	int64_t n;
	struct measured_step *row;
};

/* Returns whether the first line of a file has the columns parallel and global_batch. */
bool step_table_is(const char *path);

/*
 * Reads a file and simulates its rows; everything is the arena's. It is an error at a field
 * if a column is missing or a value is none, and what models, degrees and platforms say is
 * wrong.
 */
enum status step_table_read(struct step_table *out, struct arena *a, const char *path,
                            struct error *e);

void step_table_words(const struct pen *pen, const struct step_table *t);
void step_table_csv(FILE *out, const struct step_table *t);
void step_table_json(FILE *out, const struct step_table *t);

#endif
