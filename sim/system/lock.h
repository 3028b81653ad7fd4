/* A lock on a folder or a file, which ends with its process: who was killed is in nobody's way. */
#ifndef SHARDSIM_SIM_SYSTEM_LOCK_H
#define SHARDSIM_SIM_SYSTEM_LOCK_H

#include "base/error.h"

/*
 * Makes the file `path`, which is NAME.lock for a folder or file NAME, and locks it.
 * Children do not inherit the lock, and one process can take it any number of times. It
 * is an E_IO at `at` if another process has the lock (*fd is then LOCK_HELD, and the
 * text names that process), or if the file cannot be made (*fd is then -1).
 */
enum { LOCK_HELD = -2 };

enum status lock_take(int *fd, const char *path, struct where at, struct error *e);

/* Removes the file and the lock; does nothing for an fd below 0. */
void lock_give(int fd, const char *path);

#endif
