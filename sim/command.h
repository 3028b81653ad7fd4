/*
 * The commands of the program. Each reads its own options with argp, prints rows to
 * stdout and messages to stderr, and returns the exit status of design 7.
 */
#ifndef SHARDSIM_SIM_COMMAND_H
#define SHARDSIM_SIM_COMMAND_H

#include "base/arena.h"
#include "base/error.h"
#include "plan/problem.h"
#include "planner/planner.h"

enum {
	EXIT_DONE = 0,  /* not-applicable and over-memory are answers */
	EXIT_FAULT = 1, /* something is wrong or failed; the rest was done */
	EXIT_MISUSE = 2
};

struct command {
	const char *name, *help;
	int (*run)(int argc, char **argv); /* argv[0] is "shardsim NAME" */
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

/* The place of word number `n`, from 0, of the list that `option` was given. */
struct where command_word_at(const char *option, const char *list, int n);

/*
 * The planners of `--planner LIST` ("all": every one), the clocks of `--clock LIST` as
 * indices into clock_kinds; the arena's. E_TYPE: unknown, listed twice, or none.
 */
enum status command_planners(const struct planner ***out, int *n, struct arena *a,
                             const char *list, struct error *e);
enum status command_clocks(int **out, int *n, struct arena *a, const char *list,
                           struct error *e);

/* E_TYPE, at the place of the second, if a list has a word twice. */
enum status command_once(const char *option, const char *list, const char **words,
                         struct error *e);

/*
 * Device numbers `0-3,8-11`, or `@FILE` with numbers between white space or commas, each
 * below `limit` and none twice. The arena's; *n is how many.
 */
enum status command_devices(int32_t **out, int32_t *n, struct arena *a, const char *text,
                            struct where at, int32_t limit, struct error *e);

#endif
