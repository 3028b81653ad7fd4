/*
 * Published timings of weights that are moved between meshes, against moves (move/move.h):
 * platforms/refits.csv.
 *
 * CSV with all the columns, in any order,
 *   set, system, method, detail, source   what was measured, in words
 *   measured_s                            seconds of the whole move
 *   left_out                              why the row is not simulated; blank: it is
 * and, for rows that are,
 *   platform                              the machine
 *   model, or array                       a model.yaml relative to the table; or u8[4000]
 *   from, to, devices, to_devices         both ends (move/scheme.h); devices may be blank
 *   gather                                the mesh on which every parameter is gathered
 *                                         before it is sent; blank: it is not
 *   planner, concurrent, batch            blank: best, 1, none
 * The time is by the clock `model`; with hosts it is that, their calls, the copies into and
 * out of buffers, and the gathering, one after another (facts/host.h), where the family has
 * the figures.
 */
#ifndef SHARDSIM_SIM_VALIDATE_REFITS_H
#define SHARDSIM_SIM_VALIDATE_REFITS_H

#include "base/error.h"
#include "text/pen.h"

struct refit {
	const char *set, *system, *method, *detail, *source, *left_out;
	const char *platform, *planner,
		*ends; /* "FROM -> TO", of rows that are simulated */
	double measured_s;
	double time_s;  /* NaN: left out */
	double hosts_s; /* with what hosts add; NaN: not known */
	int64_t line;
};

struct refit_table {
	int64_t n;
	struct refit *row;
};

/* Returns whether the first line of a file has the columns method and left_out. */
bool refit_table_is(const char *path);

/*
 * Reads a file and simulates its rows; everything is the arena's. It is an error at a field
 * if a column is missing or a value is none, and what moves and platforms say is wrong.
 */
enum status refit_table_read(struct refit_table *out, struct arena *a, const char *path,
                             struct error *e);

void refit_words(const struct pen *pen, const struct refit_table *t);
void refit_csv(FILE *out, const struct refit_table *t);
void refit_json(FILE *out, const struct refit_table *t);

#endif
