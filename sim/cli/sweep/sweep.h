/* What `sweep`, `sweep plan`, `run`, `submit`, `merge` and `status` share. */
#ifndef SHARDSIM_SIM_CLI_SWEEP_SWEEP_H
#define SHARDSIM_SIM_CLI_SWEEP_SWEEP_H

#include "cli/options.h"
#include "sweep/setup.h"

/* The options of a request. */
struct request_options {
	struct sweep_request request;
	struct settings set; /* becomes the request's */
};
extern const struct option_row request_table[];

/*
 * Takes the suites and settings, and the defaults of options that were not given, or
 * leaves if there are no suites or too many of either; for the check of a command.
 */
void request_take(struct request_options *o, const struct command_words *suites,
                  const struct argp_state *state);

/* The options of how to run. */
struct run_options {
	const char *jobs, *timeout, *worker_memory;
	const char *progress; /* progress_alone if it was given without a number */
};
extern const struct option_row run_table[];
extern const char progress_alone[];

/* Reads the options into the sweep; its jobs are `fallback` where none are given. */
enum status run_options_take(struct sweep *s, const struct run_options *o, int fallback,
                             struct error *e);

/*
 * Sets *out to the number of `what` ("jobs"), 1 to `most`, that an option was given;
 * *out stays as it is if `text` is NULL. Errors are E_SYNTAX and E_RANGE.
 */
enum status cmd_sweep_count(int *out, const char *option, const char *what,
                            const char *text, int most, struct error *e);

/* Returns the number of cores that this process may use. */
int cmd_sweep_cores(void);

/*
 * Gets the sweep's progress ready if it is to be shown; `work` is what is missing.
 * Everything is the arena's.
 */
void cmd_sweep_progress(struct sweep *s, const struct run_options *o,
                        const struct sweep_work *work, int64_t n, int nshards,
                        struct arena *a);

/*
 * Opens the store in `out` for a sweep's rows, and tells of damage. It is an E_TYPE if
 * the store has rows of another sweep, or with `update` these are taken out. Rows of
 * the same sweep by another build of the program are taken out, and it says so. Then it
 * saves the request in the store. It stores in `done` the keys of rows that need not be
 * measured again, and counts these in `counts`.
 */
enum status cmd_sweep_open(struct store **store, const char *out, bool update,
                           const struct sweep *s, const struct sweep_request *r,
                           struct digests *done, struct sweep_counts *counts,
                           struct error *e);

/*
 * The rows of shards, of which several may have the same case. A case that is done
 * counts once, a failed one only until there is a better row. tally_add() returns
 * whether the row counts so far.
 */
struct tally {
	struct digests done, failed;
	struct sweep_counts counts;
};
bool tally_add(struct tally *t, struct digest key, enum outcome o);
void tally_free(struct tally *t);

/* Prints "160 rows in DIR: 136 ok, 24 not-applicable" on stderr, without a newline. */
void cmd_sweep_counts(const struct sweep_counts *c, const char *out);

/* Returns EXIT_DONE or, if there are failed or wrong rows, EXIT_FAULT. */
int cmd_sweep_status(const struct sweep_counts *c);

/*
 * Takes the shards among the files behind a plan: those without `.lock`, which a glob takes
 * along. Where none are named they are the `shard-K-of-N.jsonl` beside the plan, with those that
 * are not whole yet (`.part`), but without those of other plans, which it says; a list that
 * ends with NULL, the arena's.
 */
enum status cmd_sweep_shards(const char *const **shard, struct arena *a,
                             const struct command_words *file, const struct sweep *s,
                             struct error *e);

/* Returns the number of cases of all work together. */
int64_t cmd_sweep_units(const struct sweep_work *work, int64_t n);

int command_sweep_plan(int argc, char **argv);
int command_sweep_run(int argc, char **argv);
int command_sweep_submit(int argc, char **argv);
int command_sweep_merge(int argc, char **argv);
int command_sweep_status(int argc, char **argv);

#endif
