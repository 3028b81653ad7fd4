/*
 * What a user forces on the collective library of a machine: options of `perf`,
 * `plan`, `simulate`, and entries of a mapping.
 */
#ifndef SHARDSIM_SIM_LIBRARY_H
#define SHARDSIM_SIM_LIBRARY_H

#include "array/machine.h"
#include "base/error.h"

/* Texts as given, borrowed; NULL where not. */
struct library_text {
	const char *algorithm, *protocol;
	const char *launch; /* process, single or graph */
};

/*
 * Sets them on the machine. The errors, an algorithm, protocol or launch mode that nobody
 * has, are at `at`, or at the option of that name where it is NULL.
 */
enum status library_set(struct machine *m, const struct library_text *text,
                        const struct where *at, struct error *e);

#endif
