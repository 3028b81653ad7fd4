/* The options that write a plan as a program or a trace: --emit and --output. */
#ifndef SHARDSIM_SIM_CLI_EMIT_OPTIONS_H
#define SHARDSIM_SIM_CLI_EMIT_OPTIONS_H

#include "cli/options.h"
#include "emit/emit.h"
#include "measure/library.h"
#include "measure/measure.h"

struct emit_options {
	const char *kind;              /* NULL: nothing is emitted */
	const char *output;            /* a file; NULL: standard output */
	const struct emitter *emitter; /* of that kind */
	const char *command;           /* the command line, as a shell takes it */
};
extern const struct option_row emit_table[];

/* Keeps the command line, before argp changes its order; argv[0] is "shardsim COMMAND". */
void emit_options_command(struct emit_options *o, struct arena *a, int argc,
                          char **argv);

/* Takes the name of the kind, or leaves if there is none; for the check of a command. */
void emit_options_take(struct emit_options *o, const struct argp_state *state);

/*
 * Stores who calls the collectives of the program that is written, unless the user says who
 * does or the machine has no library that is called.
 */
void emit_options_caller(struct library_text *out, const struct emit_options *o,
                         const struct machine *m);

/* Checks before any work that the file can be written (E_IO). */
enum status emit_options_check(const struct emit_options *o, struct error *e);

/* Writes a text to the file, whole or not at all (E_IO), or to standard output. */
enum status emit_write(const struct emit_options *o, const struct text *text,
                       struct error *e);

/*
 * Writes the cheapest of `n` plans that the kind can express: by the first clock, without
 * a platform by received bytes. Cheaper ones that it cannot express are told on stderr. Returns
 * EXIT_DONE, also if nothing is asked for, or EXIT_FAULT with the reasons on stderr, and
 * then nothing is written.
 */
int emit_plans(const struct emit_options *o, const struct bench *b,
               const struct measurement *m, int n, struct arena *a);

#endif
