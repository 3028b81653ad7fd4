/* `--xla-warning`: a problem from a warning that XLA logged. */
#ifndef SHARDSIM_SIM_CLI_WARNING_H
#define SHARDSIM_SIM_CLI_WARNING_H

#include "plan/problem.h"

/*
 * Fills in `from` and `to`, and `array` unless it is set, from the first warning in `arg`:
 * its text, `@FILE`, or `-` for standard input. Texts are the arena's. Errors: a file
 * that cannot be read, no warning in it, none that tells the array.
 */
enum status warning_read(struct problem_text *out, struct arena *a, const char *arg,
                         struct error *e);

#endif
