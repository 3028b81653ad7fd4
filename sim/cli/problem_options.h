/* The options that say a problem, for commands that take one. */
#ifndef SHARDSIM_SIM_CLI_PROBLEM_OPTIONS_H
#define SHARDSIM_SIM_CLI_PROBLEM_OPTIONS_H

#include "cli/options.h"
#include "plan/problem.h"

/* For a struct problem_text. */
extern const struct option_row problem_table[];

/* Says of every text of the problem which option it is from. */
void problem_places(struct problem_text *t);

#endif
