/*
 * Measured times of whole programs, against `program --as replicated`: every device runs all of
 * the program and talks to nobody (platforms/program-times.csv).
 *
 * CSV with the columns, in any order,
 *   set, model, phase, detail, source   what was measured, in words
 *   devices                     how many ran it side by side
 *   platform                    the machine
 *   file                        the program's text, relative to the table
 *   kernels                     a table of its kernels (program/kernel_list.h), relative to
 *                               the table, as this program made it of the text: it is read
 *                               where the text is not there
 *   measured_s                  seconds of one run
 *   outlier                     why the row is listed and counts in no mean; blank: it counts
 *   left_out                    why it is not simulated; blank: it is
 * A row with neither text nor kernels is left out, too.
 *
 * What is found for a model with constants that were fitted to the rows of all others is
 * printed beside what the constants of the family give.
 */
#ifndef SHARDSIM_SIM_VALIDATE_PROGRAMS_H
#define SHARDSIM_SIM_VALIDATE_PROGRAMS_H

#include "program/kernel_list.h"
#include "text/pen.h"

/* The constants of a family that the rows of a table can tell. */
enum { PROGRAM_CONSTANTS = 3 };
extern const enum tuning_key program_constants[PROGRAM_CONSTANTS];

struct measured_program {
	const char *set, *model, *phase, *source, *file;
	const char *outlier, *left_out; /* NULL: it counts; it is simulated */
	const char *platform, *family;
	int64_t devices;
	double measured_s;
	const struct kernel_list *kernels; /* NULL: left out */
	bool from_text,
		differs; /* of the text; which the table of kernels does not agree with */
	struct machine *machine;
	/*
	 * Seconds with the constants of the family, those of them of kernels of each kind, and
	 * seconds with constants fitted to the other models; NaN: left out, or nothing to fit to.
	 */
	double time_s, kind_s[COMPUTE_KINDS], held_out_s;
	int64_t line;
};

/* The constants of a family, fitted to its rows but for those of one model. */
struct program_fit {
	const char *family, *model; /* model NULL: to all */
	size_t n;                   /* rows of the model, or of all */
	double value[PROGRAM_CONSTANTS];
};

struct program_table {
	int64_t n;
	struct measured_program *row;
	LIST(struct program_fit)
	fit; /* of each family with two models: each, then of all */
};

/* Returns whether the first line of a file has the columns file and kernels. */
bool program_table_is(const char *path);

/*
 * Reads a file and simulates its rows; everything is the arena's. Texts of programs are looked
 * for in the folder `programs` where it is not NULL. Errors are at a field, and what programs,
 * kernels and platforms say is wrong.
 */
enum status program_table_read(struct program_table *out, struct arena *a,
                               const char *path, const char *programs, struct error *e);

/* Fills in the rows' held_out_s, and the fits; all rows are simulated. */
void program_table_hold_out(struct program_table *t, struct arena *a);

void program_table_words(const struct pen *pen, const struct program_table *t);
void program_table_csv(FILE *out, const struct program_table *t);
void program_table_json(FILE *out, const struct program_table *t);

#endif
