/* Files that are whole or not there: written beside, synced, renamed (design 7). */
#ifndef SHARDSIM_SIM_FILE_H
#define SHARDSIM_SIM_FILE_H

#include "base/error.h"

#include <stddef.h>

/* E_IO with the path when any part fails; the old file, if any, is then untouched. */
enum status file_write(const char *path, const char *bytes, size_t n, struct error *e);

#endif
