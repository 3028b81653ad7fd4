/* Advice on all warnings of XLA's partitioner in logs. */
#ifndef SHARDSIM_SIM_CLI_ADVISE_LOG_H
#define SHARDSIM_SIM_CLI_ADVISE_LOG_H

#include "cli/advice.h"
#include "cli/warning.h"

/*
 * Who puts a problem on a machine: makes out->bench, and out->best. Returns false, with the
 * reason in `why`, where the machine cannot hold it.
 */
typedef bool advise_place(void *self, struct advised *out, struct problem *p,
                          struct arena *arena, const char **why);

struct advise_log {
	const struct planner *compiler;
	/* What warnings do not say: the array of those that tell none, limits. */
	struct problem_text text;
	const char *platform; /* as it was asked for, NULL without one */
	advise_place *place;
	void *self;
	int details; /* how many are told in full: the dearest that gain, then others */
};

/*
 * Reads the warnings of n texts, merges equal ones, and prints a table of them, the dearest
 * first, and those that are damaged. An array of log->text is that of all warnings if they
 * tell the same one or none, else of those that tell none. Errors: no warning; no warning
 * that the options fit; an array where all warnings tell theirs and these differ.
 */
enum status advise_log(const struct advise_log *log, const struct xla_warnings *text,
                       int n, bool json, struct error *e);

#endif
