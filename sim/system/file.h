/* Files that are whole or not there: written beside, synced, renamed (sim/README.md, "Command line"). */
#ifndef SHARDSIM_SIM_SYSTEM_FILE_H
#define SHARDSIM_SIM_SYSTEM_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Write the file `path`, or the one that it links to. What is there and is no regular
 * file (a device, a pipe) is written as it is. E_IO with the path when any part fails;
 * the old file, if any, is then untouched.
 */
enum status file_write(const char *path, const char *bytes, size_t n, struct error *e);

/* Sync the file `part` and give it the name `path`. False with errno. */
bool file_replace(const char *part, const char *path);

#endif
