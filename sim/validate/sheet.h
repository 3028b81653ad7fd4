/*
 * Tables of measured runs: CSV files (text/csv.h) whose columns a reader knows by number. A
 * column that need not be there is blank in every row.
 */
#ifndef SHARDSIM_SIM_VALIDATE_SHEET_H
#define SHARDSIM_SIM_VALIDATE_SHEET_H

#include "base/arena.h"
#include "base/error.h"
#include "text/csv.h"

#include <stdint.h>

struct sheet {
	struct arena *arena;
	struct csv csv;
	const char *const *name; /* of the columns, in the reader's order */
	int *column;             /* csv's number of each, -1 where it is not there */
	struct error *error;     /* which the functions below set */
};

/*
 * Reads a table with the columns name[n], of which the first `needed` must be there. The
 * names and the error must outlive the table; all else is the arena's.
 */
enum status sheet_read(struct sheet *out, struct arena *a, const char *path,
                       const char *const *name, int n, int needed, struct error *e);

/* Returns a field, "" where it is blank, and a field, NULL where it is blank. */
const char *sheet_text(const struct sheet *s, int64_t row, int k);
const char *sheet_field(const struct sheet *s, int64_t row, int k);

/* Returns where a field starts. */
struct where sheet_where(const struct sheet *s, int64_t row, int k);

/* Reads a finite decimal number above 0; a blank is an error. */
enum status sheet_number(double *out, const struct sheet *s, int64_t row, int k);

/*
 * Returns the path in a field, which is relative to the folder of the table, in the arena;
 * NULL where it is blank.
 */
const char *sheet_path(const struct sheet *s, int64_t row, int k, struct arena *a);

#endif
