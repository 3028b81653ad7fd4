/* Options, read by argp alike for all commands. */
#ifndef SHARDSIM_SIM_CLI_PARSE_H
#define SHARDSIM_SIM_CLI_PARSE_H

#include <argp.h>

/*
 * Reads the options of a command with argp, `input` being its parser's; misuse leaves the
 * program with EXIT_MISUSE. Besides argp's --help, --usage and --version, -h is --help and
 * -V is --version, and a long option that does not exist is an error that names the one
 * that may be meant.
 */
void command_parse(const struct argp *argp, int argc, char **argv, void *input);

/*
 * Does the same for a command that takes machines: it has --families FILE besides, whose
 * families are then known to the whole program (FAMILIES_MORE of facts/families.h). A file
 * that is no good is misuse.
 */
void command_parse_machines(const struct argp *argp, int argc, char **argv, void *input);

#endif
