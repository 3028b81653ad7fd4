/* A lock on a folder or a file, which ends with its process: who was killed is in nobody's way. */
#ifndef SHARDSIM_SIM_SYSTEM_LOCK_H
#define SHARDSIM_SIM_SYSTEM_LOCK_H

#include "base/error.h"

/*
 * Make the file `path` (NAME.lock, for what NAME is) and lock it; *fd is -1 on error. Children do not inherit the lock,
 * and one process can take it any number of times. E_IO, at `at`: another process has it
 * (the text names that one), or the file cannot be made.
 */
enum status lock_take(int *fd, const char *path, struct where at, struct error *e);

/* Remove the file and the lock; nothing for an fd of -1. */
void lock_give(int fd, const char *path);

#endif
