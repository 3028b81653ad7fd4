/*
 * A text table for people: cells in rows, columns as wide as their widest cell. The first
 * `left` columns are flushed left, the others right, the last one left again.
 */
#ifndef SHARDSIM_SIM_TEXT_TABLE_H
#define SHARDSIM_SIM_TEXT_TABLE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct table {
	struct arena *arena;
	int columns, left;
	int nrows, capacity;
	const char **cell; /* [nrows * columns], NULL is empty */
};

void table_start(struct table *t, struct arena *a, int columns, int left);

/* Add a row of `columns` texts (copied); NULL is an empty cell. */
void table_row(struct table *t, const char *const *cells);

/* Lines indented by `indent` spaces, without trailing spaces. */
void table_print(struct text *out, const struct table *t, int indent);

/* Cells: "1.5 MiB", "12.3 us"; "-" for a time that is not known (NaN). The arena's. */
const char *table_bytes(struct arena *a, int64_t bytes);
const char *table_time(struct arena *a, double seconds);

#endif
