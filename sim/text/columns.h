/*
 * A text table for people: cells in rows, columns as wide as their widest cell. The first
 * `left` columns are flushed left, the others right, the last one left again.
 */
#ifndef SHARDSIM_SIM_TEXT_COLUMNS_H
#define SHARDSIM_SIM_TEXT_COLUMNS_H

#include "base/arena.h"
#include "base/list.h"

#include <stdbool.h>
#include <stdint.h>

struct columns {
	struct arena *arena;
	int columns, left;
	LIST(const char *) cell; /* [rows * columns] */
};

/* Begins an empty table, whose memory is the arena's. */
void columns_start(struct columns *t, struct arena *a, int columns, int left);

/* Adds a row of `columns` texts, which are copied; NULL is an empty cell. */
void columns_row(struct columns *t, const char *const *cells);

/* Prints the rows as lines, indented by `indent` spaces, without trailing spaces. */
void columns_print(struct text *out, const struct columns *t, int indent);

#endif
