/*
 * Programs partitioned and run on numbers, whole and on all devices, and their collectives
 * counted.
 */
#ifndef SHARDSIM_TESTS_PARTITION_HELP_H
#define SHARDSIM_TESTS_PARTITION_HELP_H

#include "program/partition/partition.h"
#include "program/propagate.h"

/* Planners of all kinds, for reshards. */
enum { PARTITION_PLANNERS = 5 };
extern const char *const partition_planners[PARTITION_PLANNERS];

/* A program, what its values are cut into, and what each device runs. */
struct partition_run {
	struct program p;
	struct shardings s;
	struct partitioned part;
};

/* These read a text or one of the programs beside the tests, propagate its shardings and
 * partition it; all plans are proved. All is the arena's. */
void partition_by(struct arena *arena, struct partition_run *r, const char *text,
                  const struct partition_ask *how, enum propagation by);
void partition_text(struct arena *arena, struct partition_run *r, const char *text,
                    enum partitioner partitioner, enum propagation by,
                    const char *planner);
void partition_sample(struct arena *arena, struct partition_run *r, const char *name,
                      enum partitioner partitioner);

/* Runs a program whole and another one's parts on the same numbers and compares all results. */
void partition_check_against(struct arena *arena, const struct partition_run *r,
                             const struct program *p, const char *text);

/* The same of the program that was partitioned. */
void partition_check(struct arena *arena, const struct partition_run *r,
                     const char *text);

/* How often collectives of a kind run whose results have so many elements, 0: any number. */
double partition_runs(const struct partition_run *r, enum opcode code, int64_t elements);

#endif
