/*
 * The commands of the program. Each reads its own options with argp, prints rows to
 * stdout and messages to stderr, and returns the exit status of design 7.
 */
#ifndef SHARDSIM_SIM_COMMAND_H
#define SHARDSIM_SIM_COMMAND_H

#include "base/arena.h"
#include "base/error.h"
#include "plan/problem.h"

enum {
	EXIT_DONE = 0,   /* not-applicable and over-memory are answers */
	EXIT_FAULT = 1,  /* something is wrong or failed; the rest was done */
	EXIT_MISUSE = 2
};

struct command {
	const char *name, *help;
	int (*run)(int argc, char **argv); /* argv[0] is the command's name */
};

extern const struct command commands[]; /* ended by a NULL name */

int command_plan(int argc, char **argv);
int command_simulate(int argc, char **argv);
int command_sweep(int argc, char **argv);
int command_report(int argc, char **argv);
int command_platform(int argc, char **argv);
int command_list(int argc, char **argv);

/* Print the error, after "shardsim: " where it has no place, and give EXIT_MISUSE. */
int command_misuse(const struct error *e);

/*
 * Words of a comma-separated list, ended by NULL; the arena's. Commas inside (), [] and
 * {} do not part words.
 */
const char **command_words(struct arena *a, const char *list);

/*
 * Device numbers `0-3,8-11`, or `@FILE` with numbers between white space or commas, each
 * below `limit` and none twice. The arena's; *n is how many.
 */
enum status command_devices(int32_t **out, int32_t *n, struct arena *a, const char *text,
                            struct where at, int32_t limit, struct error *e);

#endif
