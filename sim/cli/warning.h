/* `--xla-warning`: a problem from a warning that XLA logged. */
#ifndef SHARDSIM_SIM_CLI_WARNING_H
#define SHARDSIM_SIM_CLI_WARNING_H

#include "plan/problem.h"

/*
 * Fills in `from` and `to`, and `array` unless it is set, from the first warning in
 * `arg`: its text, `@FILE`, or `-` for standard input. Texts are the arena's. It is an
 * error if a file cannot be read, if it has no warning, or if none tells the array. *note
 * says how the array was found, NULL where it was given.
 */
enum status warning_read(struct problem_text *out, const char **note, struct arena *a,
                         const char *arg, struct error *e);

#endif
