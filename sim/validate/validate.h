/*
 * Simulated against measured: every published timing that maps to a family, run and
 * compared.
 */
#ifndef SHARDSIM_SIM_VALIDATE_VALIDATE_H
#define SHARDSIM_SIM_VALIDATE_VALIDATE_H

#include "measure/library.h"
#include "measure/likely.h"
#include "perf/perf.h"
#include "validate/mapping.h"
#include "validate/measured.h"

/*
 * A timing is an outlier if it took more than this times as long as a larger size of its
 * series, which has the same set, collective, devices and groups: a first call, a disturbance,
 * or a size for which the library chose badly. Tables state errors without the outliers, and
 * with them.
 */
#define VALIDATION_OUTLIER 1.3

/* A row and its prediction. */
struct prediction {
	const struct measured *row;
	const struct mapping_entry *entry; /* NULL: none matches */
	const char *platform;              /* with its shape; NULL without a family */
	const char *family;                /* the part before the colon */
	double time_s;                     /* NaN without a prediction */
	const char *algorithm, *protocol;
	const char *left_out; /* why there is no prediction, NULL where there is one */
	bool outlier;
	struct likely likely_s; /* between which its time is, NaN where that is not known */
};

/* Machines and their groups, kept between runs of the same rows. */
struct validation;

/*
 * Opens the platforms of all rows that the mapping maps, and finds each row's devices.
 * Errors of the platforms and of the mapping's entries have their place.
 */
enum status validation_open(struct validation **out, struct arena *a,
                            const struct measured_table *rows,
                            const struct mapping *mapping, struct error *e);
void validation_close(struct validation *v);

/*
 * Does the same with files of timings. Where `mapping` is NULL, it reads the mappings
 * beside these files, in their order, of which only the first must exist. The caller
 * closes *out in any case; it may be NULL after an error.
 */
enum status validation_load(struct validation **out, struct arena *a,
                            const char *const *file, int nfiles, const char *mapping,
                            struct error *e);

/* Returns the predictions in the order of the rows; validation_run() fills them in. */
const struct prediction *validation_rows(const struct validation *v, int64_t *n);

/*
 * Returns what the rows are called, "published timings" or "timings in place"; and whether
 * all are of one machine, by machine_log_open().
 */
const char *validation_what(const struct validation *v);
bool validation_of_one(const struct validation *v);

/* Returns why logs may be of another machine than the one that the user named, or NULL. */
const char *validation_note(const struct validation *v);

/*
 * Returns, behind validation_run(), what is wrong with the unit of times if half of them or
 * more are a thousand times off, or NULL; the text is the arena's.
 */
const char *validation_unit_note(const struct validation *v, struct arena *a);

/*
 * Returns the machine that a row is mapped to, and stores the groups that it runs on;
 * the row must have a platform.
 */
const struct machine *validation_machine(const struct validation *v, int64_t row,
                                         const struct groups **groups);

/*
 * Forces on all machines of libraries what the text says, as if every timing had been taken so;
 * what a mapping says that a source forced stays. Errors are those of library_set().
 */
enum status validation_force(struct validation *v, const struct library_text *text,
                             struct error *e);

/* Runs all rows by the clock `model`. */
void validation_run(struct validation *v);

/*
 * A figure of a family, for fits: what `--set FIGURE=VALUE` changes in the machines of its
 * rows, in proportion to the value, found by setting it to `value` and to twice that. The
 * machines then have `value`, but those of rows whose mapping says what the figure is;
 * validation_set() changes it in all others, in place.
 * Errors are those of `--set`.
 */
struct figure_use;

enum status validation_figure(struct figure_use **out, struct validation *v,
                              const char *family, const char *figure, double value,
                              struct error *e);
void validation_set(struct validation *v, const struct figure_use *f, double value);

/*
 * Lays the messages of the family's rows once, for many calls of validation_row(). The
 * figures that will be set must be known before.
 */
void validation_prepare(struct validation *v, const char *family);

/*
 * Times one row with the machines as they are, and stores the seconds, or NaN with the
 * reason in `left_out`.
 */
void validation_row(struct validation *v, int64_t row);

/* The size classes are < 64 KiB, < 1 MiB, < 64 MiB, < 512 MiB and above. */
enum { VALIDATION_CLASSES = 5, VALIDATION_FROM_MIB = 2 /* the first from 1 MiB on */ };
int validation_class(int64_t bytes);
const char *validation_class_name(int size_class);
int64_t validation_class_from(int size_class); /* its least bytes */

/* Returns whether the row, which has a platform, runs over several nodes. */
bool validation_several(const struct validation *v, const struct prediction *p);

/*
 * Returns exp(|log(simulated / measured)|), which is 1.1 for 10 % too much, or for 1 /
 * 1.1.
 */
double prediction_error(const struct prediction *p);

#endif
