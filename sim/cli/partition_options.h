/*
 * The options of `program` that are for annotated programs: --partitioner, --planner,
 * --windowed-einsum-mib, --emit.
 */
#ifndef SHARDSIM_SIM_CLI_PARTITION_OPTIONS_H
#define SHARDSIM_SIM_CLI_PARTITION_OPTIONS_H

#include "cli/options.h"
#include "program/annotated.h"

struct partition_options {
	const char *partitioner, *planner, *windowed, *emit; /* NULL: not given */
};
extern const struct option_row partition_table[];

/* Hands the shardings of an annotated program on; *split is false where it stays whole. */
enum status partition_propagate(struct annotated *out, bool *split, struct arena *a,
                                struct program *p, const struct partition_options *o,
                                struct error *e);

/* Whether the planner `best` is to be asked. */
bool partition_asks_best(const struct partition_options *o);

/*
 * Finds the planner that is asked for (NULL: the partitioner's own), and checks that what goes
 * with programs alone that are partitioned here is asked for no other one.
 */
enum status partition_check(const struct planner **planner,
                            const struct partition_options *o, const char *report,
                            bool split, struct error *e);

/*
 * Reads the threshold of windowed einsums, as struct annotated_ask has it; < 0 where it is not
 * given. It goes with a program that XLA partitions.
 */
enum status partition_windowed(double *mib, const struct partition_options *o,
                               const struct program *p, bool split, struct error *e);

/* Returns the partitioner that is asked for, else the usual one of such a text. */
enum partitioner partition_by(const struct partition_options *o,
                              const struct program *p);

/*
 * Returns whose propagation goes with that: XLA's for a text without a mesh that XLA partitions,
 * Shardy's for all others, which it hands to XLA with all shardings in them.
 */
enum propagation partition_propagation(const struct partition_options *o,
                                       const struct program *p);

/* Writes the program's text with all shardings in it to a file; NULL: to standard output. */
enum status partition_emit(const struct partition_options *o, const char *output,
                           struct arena *a, struct program *p, struct error *e);

#endif
