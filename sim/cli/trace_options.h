/* The options that show where the time goes: --trace and --links. */
#ifndef SHARDSIM_SIM_CLI_TRACE_OPTIONS_H
#define SHARDSIM_SIM_CLI_TRACE_OPTIONS_H

#include "measure/links.h"

#include <argp.h>

enum { KEY_TRACE = 512, KEY_LINKS };

/* clang-format off */
#define TRACE_OPTION_TABLE \
	{"trace", KEY_TRACE, "FILE", 0, \
	 "write a time line as Chrome trace events, for Perfetto", 0}, \
	{"links", KEY_LINKS, "N", OPTION_ARG_OPTIONAL, \
	 "print the N busiest links of every step (default 5)", 0}
/* clang-format on */

struct trace_options {
	const char *trace; /* a file, NULL where it is not asked for */
	int32_t links;     /* 0 where they are not asked for */
};

/* Takes the option if `key` is one of these, else returns false; for argp's parsers. */
bool trace_option(struct trace_options *o, int key, const char *arg,
                  struct argp_state *state);

/* Checks that there is a platform if one of the options is given (E_TYPE). */
enum status trace_options_check(const struct trace_options *o, const char *platform,
                                struct error *e);

/* Returns reports of what was timed, the arena's; NULL if they were not asked for. */
const struct links_report *trace_links(const struct trace_options *o,
                                       const struct bench *b, const struct timed *t,
                                       int n, struct arena *a);

/* Writes the file of --trace (measure/trace.h), if there is one to write. */
enum status trace_write(const struct trace_options *o, struct bench *b,
                        const struct placement *devices, const struct timed *t, int n,
                        struct error *e);

#endif
