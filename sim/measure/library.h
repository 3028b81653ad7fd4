/*
 * What a user forces on the collective library of a machine, by options of `perf`,
 * `plan` and `simulate` or by an entry of a mapping.
 */
#ifndef SHARDSIM_SIM_MEASURE_LIBRARY_H
#define SHARDSIM_SIM_MEASURE_LIBRARY_H

#include "array/machine.h"
#include "base/error.h"

#include <argp.h>

enum { KEY_ALGORITHM = 640, KEY_PROTOCOL, KEY_LAUNCH };

/* clang-format off: it would join the rows. */
#define LIBRARY_OPTION_TABLE                                                                     \
	{"algorithm", KEY_ALGORITHM, "NAME", 0, "force an algorithm, such as ring", 0},          \
		{"protocol",                                                                     \
	         KEY_PROTOCOL,                                                                   \
	         "NAME",                                                                         \
	         0,                                                                              \
	         "force a protocol: ll, ll128, simple",                                          \
	         0},                                                                             \
	{                                                                                        \
		"launch", KEY_LAUNCH, "process|single|graph",                                    \
			0, "one process per device (default), one for all, or a captured graph", \
			0                                                                        \
	}
/* clang-format on */

/* The texts as they were given (borrowed), NULL where they were not. */
struct library_text {
	const char *algorithm, *protocol;
	const char *launch; /* process, single or graph */
};

/*
 * Takes the option if `key` is one of these, and returns whether it is; for argp's
 * parsers.
 */
bool library_option(struct library_text *out, int key, const char *arg);

/*
 * Sets on the machine what the texts force. It is an error if no library has the
 * algorithm or protocol, or if the machine does not have the launch mode. The error's
 * place is `at`, or the option where that is NULL.
 */
enum status library_set(struct machine *m, const struct library_text *text,
                        const struct where *at, struct error *e);

#endif
