/* The options that show where the time goes: --trace and --links. */
#ifndef SHARDSIM_SIM_CLI_TRACE_OPTIONS_H
#define SHARDSIM_SIM_CLI_TRACE_OPTIONS_H

#include "cli/options.h"
#include "measure/links.h"

struct trace_options {
	const char *trace; /* a file, NULL where it is not asked for */
	const char *count; /* how many links as it was given, NULL where it was not */
	int32_t links;     /* 0 where they are not asked for */
};
extern const struct option_row trace_table[];

/* Takes the number of links, or leaves if it is none; for the check of a command. */
void trace_options_take(struct trace_options *o, const struct argp_state *state);

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
