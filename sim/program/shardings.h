/* The shardings of an annotated program, given and found, as a table. */
#ifndef SHARDSIM_SIM_PROGRAM_SHARDINGS_H
#define SHARDSIM_SIM_PROGRAM_SHARDINGS_H

#include "program/propagate.h"

/*
 * Prints the mesh, and arguments, matmuls and results with their layouts as JAX says them; at
 * most `most` rows of each kind.
 */
void program_show_shardings(struct text *out, struct arena *a, const struct program *p,
                            const struct shardings *s, int64_t most);

#endif
