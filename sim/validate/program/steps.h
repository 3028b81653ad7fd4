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
 *   dispatch                    how tokens go to experts, copies or nodes; blank: copies
 *   held_out                    yes: no constant was ever fitted to the row
 *   precision                   bf16; amp: 16 bits with sums between layers in 32 (autocast);
 *                               fp8: projections of layers in 8 bits; amp-fp8: both
 * Rows of equal model, degrees, figures and machine are timed once.
 */
#ifndef SHARDSIM_SIM_VALIDATE_STEPS_H
#define SHARDSIM_SIM_VALIDATE_STEPS_H

#include "array/tuning.h"
#include "base/list.h"
#include "measure/likely.h"
#include "program/model.h"
#include "program/step.h"
#include "text/pen.h"

/* Constants of families that are fitted to steps. */
enum { STEP_CONSTANTS = 6 };
extern const enum tuning_key step_constants[STEP_CONSTANTS];

/* What is left out with a row, of the rows of its machine. */
enum step_held {
	HELD_SET,   /* its set */
	HELD_MODEL, /* its model in that set */
	HELD_SCALE, /* all jobs of about as many devices (step_scale) */
	STEP_HELD
};

struct measured_step {
	const char *set, *name, *detail, *source,
		*left_out; /* left_out NULL: simulated */
	/* Of rows that are simulated. */
	const char *platform, *family, *model, *parallel, *precision;
	int64_t devices;
	bool held_out; /* nothing is fitted to it */
	bool experts, tensor, pipeline, context;
	double params, layers, expert_bytes; /* program/step.h */
	double measured_s;
	/*
	 * NaN: left out. Of time_s, what kernels take (of that matmuls, and attention), what
	 * they wait for, of how much communication, the bubble, and the rest.
	 */
	double time_s, compute_s, matmul_s, attention_s, exposed_s, communication_s;
	double bubble_s, idle_s;
	struct likely likely_s; /* between which time_s is; NaN: not known */
	/*
	 * Where rows are left out in turn: the family's constants, and how time_s changes with
	 * each, or with one over it where the constant is a share or a rate.
	 */
	double own[STEP_CONSTANTS], slope[STEP_CONSTANTS];
	/*
	 * Seconds with constants that were fitted without the row and what is left out with
	 * it; NaN: there is nothing else to fit one to that it depends on.
	 */
	double without_s[STEP_HELD];
	double peak_bytes, device_bytes; /* held by a device; that it has */
	int64_t line;
};

/*
 * Constants of a family, fitted to its rows but for those left out, by their slopes. One on
 * which no other row depends keeps the family's value.
 */
struct step_fit {
	enum step_held held;
	const char *family, *set, *name,
		*scale;   /* of the rows left out, as far as it counts */
	size_t n, others; /* rows left out, and fitted to */
	double value[STEP_CONSTANTS];
	bool kept[STEP_CONSTANTS]; /* not fitted, although rows left out depend on it */
};

/* A row as it is read: what is simulated. */
struct step_job {
	const char *set, *name, *platform, *precision;
	const char *left_out; /* NULL: what follows is there */
	double measured_s;
	struct architecture model; /* with the row's `train` */
	struct step_degrees degrees;
	const struct machine *machine;
	const int32_t *devices; /* of the machine; NULL: the first */
	int64_t ndevices;
	int64_t like; /* the first row that is equal but for what was measured; itself: none is */
	int64_t kin; /* the first row of its set and model that is but for seq and batches, too */
};

struct step_jobs {
	int64_t n;
	struct step_job *row;
};

struct step_table {
	int64_t n;
	struct measured_step *row;
	LIST(struct step_fit) fit; /* where rows are left out in turn */
};

/* Returns whether the first line of a file has the columns parallel and global_batch. */
bool step_table_is(const char *path);

/*
 * Reads a file and simulates its rows; everything is the arena's. With `hold_out` sets,
 * models and scales are left out in turn, which takes several times as long. It is an error at a field
 * if a column is missing or a value is none, and what models, degrees and platforms say is
 * wrong.
 */
enum status step_table_read(struct step_table *out, struct arena *a, const char *path,
                            bool hold_out, struct error *e);

/* Reads the rows and simulates none; everything is the arena's. Errors as above. */
enum status step_jobs_read(struct step_jobs *out, struct arena *a, const char *path,
                           struct error *e);

/* Returns what times are straight in: the value of a constant, or one over it. */
double step_constant_term(int k, double value);

/* Returns "up to 8", "9 to 64", "65 to 512" or "more than 512", a scale of jobs. */
const char *step_scale(int64_t devices);

/* Adds the fits of all sets, models and scales of a table whose rows have slopes. */
void step_table_fit(struct step_table *t, struct arena *a);

/* Returns the fit that leaves the row out with others; NULL: none. */
const struct step_fit *step_table_fit_of(const struct step_table *t,
                                         const struct measured_step *s,
                                         enum step_held held);

/* Returns whether all constants that a row left out depends on were fitted to others. */
bool step_fit_tells(const struct step_fit *f, const struct measured_step *s);

void step_table_words(const struct pen *pen, const struct step_table *t);
void step_table_csv(FILE *out, const struct step_table *t);
void step_table_json(FILE *out, const struct step_table *t);

#endif
