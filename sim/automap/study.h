/*
 * Suites of searches: cases of a model or program, a machine and a mesh, each with
 * strategies that are known, beside what the search finds (scenarios/README.md,
 * "Shardings").
 */
#ifndef SHARDSIM_SIM_AUTOMAP_STUDY_H
#define SHARDSIM_SIM_AUTOMAP_STUDY_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

struct reader;

/* Returns whether the file is such a suite: YAML that begins with the key `shardings`. */
bool automap_is_study(const char *path);

/* Runs all cases and writes a table, as Markdown or as CSV. Errors have their place. */
enum status automap_study(FILE *out, struct arena *a, const char *path, bool csv,
                          struct error *e);

/* --- what suites of several kinds share --- */

/*
 * Returns whether a file is YAML whose first key, behind comments, is `key`, "name:". The key
 * must be in the first AUTOMAP_LOOK_BYTES: no more is read, as devices such as /dev/zero never
 * end.
 */
enum { AUTOMAP_LOOK_BYTES = 64 << 10 };
bool automap_begins_with(const char *path, const char *key);

/* Returns a path that a suite names: beside the suite, unless it begins with a slash. */
const char *automap_beside(struct reader *r, const char *path);

#endif
