/* What `sweep`, `sweep plan`, `run`, `submit`, `merge` and `status` share. */
#ifndef SHARDSIM_SIM_CLI_SWEEP_H
#define SHARDSIM_SIM_CLI_SWEEP_H

#include "sweep/setup.h"

#include <argp.h>

/* Options of a request; a parser of argp for them, whose input is the options. */
struct request_options {
	struct sweep_request request; /* set: planner, clock */
	uint64_t given;
};
extern const struct argp request_argp;

/* Options of how to run, and the parser for them. */
struct run_options {
	const char *jobs, *timeout, *worker_memory, *progress;
	bool show_progress;
	uint64_t given;
};
extern const struct argp run_argp;

/* Reads them into the sweep; `jobs` are `fallback` where not given. */
enum status run_options_take(struct sweep *s, const struct run_options *o, int fallback,
                             struct error *e);

/*
 * Sets *out to the number 1 to `most` of `what` ("jobs") that an option was given; it
 * stays what it is where `text` is NULL. E_SYNTAX, E_RANGE.
 */
enum status cmd_sweep_count(int *out, const char *option, const char *what,
                            const char *text, int most, struct error *e);

/* Returns the number of cores that this process may use. */
int cmd_sweep_cores(void);

/*
 * Gets the sweep's progress ready, where it is to be shown: `work` is what is missing. All
 * is the arena's.
 */
void cmd_sweep_progress(struct sweep *s, const struct run_options *o,
                        const struct sweep_work *work, int64_t n, int nshards,
                        struct arena *a);

/*
 * Opens the store in `out` for a sweep's rows, telling of damage. One that has rows of
 * another sweep is refused with E_TYPE, or with `update` those are taken out; rows of the
 * same sweep by another build of the program are taken out, which is said; then the
 * request is saved in it. `done`: the keys of rows that need not be measured again,
 * counted in `counts`.
 */
enum status cmd_sweep_open(struct store **store, const char *out, bool update,
                           const struct sweep *s, const struct sweep_request *r,
                           struct digests *done, struct sweep_counts *counts,
                           struct error *e);

/*
 * The rows of shards, of which several may have a case: one that is done counts once, a
 * failed one only until there is a better. tally_add(): does this one count (so far)?
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

/* Returns the number of cases of all work together. */
int64_t cmd_sweep_units(const struct sweep_work *work, int64_t n);

int command_sweep_plan(int argc, char **argv);
int command_sweep_run(int argc, char **argv);
int command_sweep_submit(int argc, char **argv);
int command_sweep_merge(int argc, char **argv);
int command_sweep_status(int argc, char **argv);

#endif
