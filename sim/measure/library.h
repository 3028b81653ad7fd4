/*
 * What a user forces on the collective library of a machine: options of `perf`,
 * `plan`, `simulate`, and entries of a mapping.
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

/* Texts as given, borrowed; NULL where not. */
struct library_text {
	const char *algorithm, *protocol;
	const char *launch; /* process, single or graph */
};

/* For argp's parsers: is `key` one of the options, which is then taken? */
bool library_option(struct library_text *out, int key, const char *arg);

/*
 * Sets them on the machine. The errors, an algorithm or protocol that nobody has or a
 * launch mode that the machine does not have, are at `at`, or at the option of that
 * name where it is NULL.
 */
enum status library_set(struct machine *m, const struct library_text *text,
                        const struct where *at, struct error *e);

#endif
