/*
 * Records of a SQLite file of which nothing else may be sound: neither its head nor its
 * trees, from which SQLite finds its tables, are looked at. The format is that of
 * https://www.sqlite.org/fileformat2.html and https://www.sqlite.org/walformat.html.
 * Private to store*.c.
 */
#ifndef SHARDSIM_SIM_STORE_PAGES_H
#define SHARDSIM_SIM_STORE_PAGES_H

#include "base/arena.h"

#include <sqlite3.h>

#include <stdbool.h>
#include <stddef.h>

/* The pages of a file: page i, counted from 1, at page[i - 1], NULL where it has none. */
struct pages {
	struct text file, log;
	const unsigned char **page;
	size_t n, size; /* how many, bytes of each */
};

/*
 * Read the file and, where there is one, its write-ahead log PATH-wal, whose pages are newer.
 * What cannot be read is as good as empty. A head that is no SQLite file's does not tell
 * the size of pages, which then is `size`.
 */
void pages_read(struct pages *out, const char *path, size_t size);
void pages_free(struct pages *p);

/*
 * Where in the file one is: {0} is the start. Moves on to the next record of `columns`
 * values, binds those to the statement's parameters from 1 on, and returns true; false at
 * the end. Values live until the next call with this place, or pages_place_end().
 *
 * Anything that looks like a record is one: also what has been deleted or replaced
 * since, and what was never one. Whoever asks has to tell by the values.
 */
struct pages_place {
	size_t page;
	unsigned cell;
	struct text record;
};
bool pages_next(struct pages_place *at, const struct pages *p, int columns,
                sqlite3_stmt *to);
void pages_place_end(struct pages_place *at);

#endif
