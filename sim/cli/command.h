/*
 * The commands of the program. Each reads its own options with argp, prints rows to
 * stdout and messages to stderr, and returns its exit status (sim/README.md,
 * Command line).
 */
#ifndef SHARDSIM_SIM_CLI_COMMAND_H
#define SHARDSIM_SIM_CLI_COMMAND_H

#include "base/arena.h"
#include "base/error.h"
#include "measure/library.h"
#include "plan/problem.h"
#include "planner/planner.h"

enum {
	EXIT_DONE = 0,  /* not-applicable and over-memory are answers, too */
	EXIT_FAULT = 1, /* something was wrong or failed; the rest was done */
	EXIT_MISUSE = 2
};

struct command {
	const char *name, *help;
	int (*run)(int argc, char **argv); /* argv[0] is "shardsim NAME" */
};

extern const struct command commands[]; /* ended by a NULL name */

int command_plan(int argc, char **argv);
int command_simulate(int argc, char **argv);
int command_advise(int argc, char **argv);
int command_sweep(int argc, char **argv);
int command_report(int argc, char **argv);
int command_place(int argc, char **argv);
int command_move(int argc, char **argv);
int command_perf(int argc, char **argv);
int command_program(int argc, char **argv);
int command_step(int argc, char **argv);
int command_automap(int argc, char **argv);
int command_validate(int argc, char **argv);
int command_fit(int argc, char **argv);
int command_platform(int argc, char **argv);
int command_list(int argc, char **argv);
int command_help(int argc, char **argv);
int command_version(int argc, char **argv);

/* Returns the command of that name, NULL if there is none. */
const struct command *command_find(const char *name);

/* Says that there is no such command, and which may be meant; returns EXIT_MISUSE. */
int command_unknown(const char *name);

/*
 * Prints the error, behind "shardsim: " if it has no place. Returns EXIT_MISUSE, but
 * EXIT_FAULT where it is the machine's: E_WRITE.
 */
int command_misuse(const struct error *e);

/* Tells on stderr what is assumed of a machine that its name does not say; NULL: nothing. */
void command_note(const char *machine, const char *note);

/* Tells every line of a text; NULL: nothing. */
void command_notes(const char *lines);

/*
 * Tells that, and what nothing reads on the machine of what the user forces and sets
 * (library_unread()).
 */
void command_machine_notes(const struct machine *m, const struct library_text *library,
                           const char *spec, const char *const *set, int n);

#endif
