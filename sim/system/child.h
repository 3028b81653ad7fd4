/* Processes of ours that do one thing and end. */
#ifndef SHARDSIM_SIM_SYSTEM_CHILD_H
#define SHARDSIM_SIM_SYSTEM_CHILD_H

#include "base/arena.h"

#include <sys/types.h>

/* Makes this process end when its parent, of that id, does; for a child just forked. */
void child_end_with(pid_t parent);

/* Appends all that comes until the end of a pipe or file, and closes it. */
void child_read(struct text *out, int fd);

/*
 * Waits for a child and returns waitpid()'s status, or -1 if there is none of that id.
 */
int child_wait(pid_t child);

#endif
