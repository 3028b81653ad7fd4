/* `--xla-warning`: problems from warnings that XLA logged. */
#ifndef SHARDSIM_SIM_CLI_WARNING_H
#define SHARDSIM_SIM_CLI_WARNING_H

#include "notation/xla_warning.h"
#include "plan/problem.h"

/*
 * Stores the text that `arg` stands for, itself, `@FILE` or `-` for standard input, and its
 * place; the arena's. It is an error if a file cannot be read.
 */
enum status warning_open(struct xla_warnings *out, struct arena *a, const char *arg,
                         struct error *e);

/*
 * Fills in `from` and `to`, and `array` unless it is set, from a warning. *note says how
 * the array was found, NULL where it was given, and *manual how many first dimensions are
 * there for the groups of a manual region. It is an error if nothing tells the array.
 */
enum status warning_fill(struct problem_text *out, const char **note, int *manual,
                         struct arena *a, const struct xla_warning *w, struct error *e);

/*
 * Does so for the first warning of a text that was opened, and stores in note[] what there is to say, ended
 * by NULL: also how many other warnings the text has. An error if there is none.
 */
enum { WARNING_NOTES = 4 };
enum status warning_read(struct problem_text *out, const char *note[WARNING_NOTES],
                         int *manual, struct arena *a, struct xla_warnings all,
                         struct error *e);

#endif
