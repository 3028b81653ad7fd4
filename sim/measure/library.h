/*
 * What a user forces on the collective library of a machine, by options of `perf`,
 * `plan` and `simulate` or by an entry of a mapping.
 */
#ifndef SHARDSIM_SIM_MEASURE_LIBRARY_H
#define SHARDSIM_SIM_MEASURE_LIBRARY_H

#include "array/machine.h"
#include "base/error.h"

/* The texts as they were given (borrowed), NULL where they were not. */
struct library_text {
	const char *algorithm, *protocol;
	const char *launch; /* the name of a struct nccl_caller */
};

/*
 * Sets on the machine what the texts force. It is an error if no library has the
 * algorithm or protocol, or if the machine does not have the launch mode. The error's
 * place is `at`, or the option where that is NULL.
 */
enum status library_set(struct machine *m, const struct library_text *text,
                        const struct where *at, struct error *e);

#endif
