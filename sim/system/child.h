/* Processes of ours that do one thing and end. */
#ifndef SHARDSIM_SIM_SYSTEM_CHILD_H
#define SHARDSIM_SIM_SYSTEM_CHILD_H

#include "base/arena.h"

#include <sys/types.h>

/* In a child that was just forked: it ends when its parent, of that id, does. */
void child_end_with(pid_t parent);

/* Append all that comes until the end of a pipe or file, which is closed. */
void child_read(struct text *out, int fd);

/* waitpid()'s status of a child that ends, -1 if there is none of that id. */
int child_wait(pid_t child);

#endif
