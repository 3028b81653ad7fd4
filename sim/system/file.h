/* Files that are whole or not there: written beside, synced, renamed (sim/README.md, "Command line"). */
#ifndef SHARDSIM_SIM_SYSTEM_FILE_H
#define SHARDSIM_SIM_SYSTEM_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the file `path`, or the one that it links to. If `path` is no regular file but
 * a device or a pipe, the bytes are written into that. When any part fails, it is an
 * E_IO with the path, an E_WRITE if the disk is full or broken, and the old file, if any,
 * is untouched. The name "-" is refused.
 */
enum status file_write(const char *path, const char *bytes, size_t n, struct error *e);

/*
 * Finds before any work whether file_write() could write there; the errors are its own,
 * and nothing is changed.
 */
enum status file_check(const char *path, struct error *e);

/*
 * As file_check(), and an E_TYPE if the file is one of `used`, which the same command reads, or
 * writes as well; those that are NULL or no regular files are none.
 */
enum status file_check_apart(const char *path, const char *const *used, int n,
                             struct error *e);

/* Syncs the file `part` and gives it the name `path`; returns false with errno. */
bool file_replace(const char *part, const char *path);

#endif
