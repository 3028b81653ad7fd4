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

/* Returns whether the file is such a suite: YAML that begins with the key `shardings`. */
bool automap_is_study(const char *path);

/* Runs all cases and writes a table, as Markdown or as CSV. Errors have their place. */
enum status automap_study(FILE *out, struct arena *a, const char *path, bool csv,
                          struct error *e);

#endif
