/* Programs for tests: ours in scenarios/programs/, and ops by their names. */
#ifndef SHARDSIM_TESTS_PROGRAM_HELP_H
#define SHARDSIM_TESTS_PROGRAM_HELP_H

#include "program/program.h"

/* Reads a file of scenarios/programs/; it must be right. */
struct program program_sample(struct arena *a, const char *name);

/* Reads a text, which must be right. */
struct program program_sample_text(struct arena *a, const char *text);

/* Returns the first op of that name, which must be there. */
const struct instruction *program_sample_op(const struct program *p, const char *name);

/* Returns the groups of a collective as "0 1,2 3"; the arena's. */
const char *program_sample_groups(struct arena *a, const struct program *p,
                                  const char *op);

#endif
