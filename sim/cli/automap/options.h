/* The options of `automap`, and which of them go together. */
#ifndef SHARDSIM_SIM_CLI_AUTOMAP_OPTIONS_H
#define SHARDSIM_SIM_CLI_AUTOMAP_OPTIONS_H

#include "cli/command.h"
#include "cli/options.h"
#include "measure/library.h"

#include <string.h>

struct options {
	const char *mesh, *count, *platform, *search, *budget, *seed, *limit, *batch,
		*seq, *micro, *devices, *format, *emit, *output, *devices_out,
		*recompute, *planner, *overlap;
	struct settings set, tactic, start, group, weights;
	struct library_text library;
	struct command_words file;
};
extern const struct option_row automap_table[];

/* Ends the program with a message if options do not go together; `self` are the options. */
void automap_check_options(void *self, const struct argp_state *state);

static inline bool is_word(const char *given, const char *word)
{
	return given && !strcmp(given, word);
}

#endif
