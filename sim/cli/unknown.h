/* Options that do not exist. */
#ifndef SHARDSIM_SIM_CLI_UNKNOWN_H
#define SHARDSIM_SIM_CLI_UNKNOWN_H

#include <argp.h>

/*
 * Looks at a command line before argp does, which would say nothing but "unrecognized":
 * a long option that is not in the table, nor one of argp's own, leaves the program with
 * a message that names the one that may be meant. `-h` becomes `--help`.
 */
void unknown_check(const struct argp_option *table, int argc, char **argv);

#endif
