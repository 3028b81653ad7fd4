/*
 * Comma-separated tables (RFC 4180): a header line of column names, then records.
 * A field may be quoted, with "" for a quote and newlines inside. Lines that start with #
 * outside a quoted field, empty ones, and the byte order mark that spreadsheets put in
 * front are skipped.
 */
#ifndef SHARDSIM_SIM_TEXT_CSV_H
#define SHARDSIM_SIM_TEXT_CSV_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct csv_place {
	unsigned line, col; /* from 1, behind the quote */
};

struct csv {
	const char *path;
	int ncolumns;
	const char **column;
	int64_t nrows;
	const char **field;   /* [nrows * ncolumns] */
	struct csv_place *at; /* [nrows * ncolumns]: where each field starts */
};

/*
 * Reads `text`, named `path` in errors; everything is the arena's. Errors: no header, a
 * column there twice, a record with more or fewer fields than columns, an open quote.
 */
enum status csv_read(struct csv *out, struct arena *a, const char *path,
                     const char *text, struct error *e);

/*
 * Returns whether the first line of a file, behind comments, has both names. False where it
 * cannot be read.
 */
bool csv_names(const char *path, const char *one, const char *other);

/* Returns the number of the column of that name, -1 if there is none. */
int csv_column(const struct csv *t, const char *name);

/*
 * Finds the columns name[n], of which the first `needed` must be there; the others are -1
 * where they are not. An error names one that is missing, or a column that is none of them
 * but is spelt like one that is missing: it would be left out without a word otherwise.
 */
enum status csv_columns(int *out, const struct csv *t, const char *const *name, int n,
                        int needed, struct error *e);

/* Returns a field; "" where the column is -1. */
const char *csv_field(const struct csv *t, int64_t row, int column);

/* Returns the line where a record starts. */
struct where csv_where(const struct csv *t, int64_t row);

/* Returns where a field starts, behind its quote; the record where the column is -1. */
struct where csv_where_field(const struct csv *t, int64_t row, int column);

/*
 * Writes one field, quoted where RFC 4180 wants it, behind a comma unless it is `first`. A
 * text that a spreadsheet would run as a formula, as it begins with =, +, -, @, a tab or a
 * carriage return, gets an apostrophe in front, unless it is a number; controls of the
 * direction of text become U+FFFD.
 */
void csv_put(FILE *out, const char *text, bool first);

#endif
