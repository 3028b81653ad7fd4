/* Reads and writes of a file, a pipe or a socket that are whole, whatever interrupts them. */
#ifndef SHARDSIM_SIM_SYSTEM_WHOLE_H
#define SHARDSIM_SIM_SYSTEM_WHOLE_H

#include <stdbool.h>
#include <stddef.h>

/* Return false, with errno, when the file ends too early or any part fails. */
bool whole_read(int fd, void *bytes, size_t n);
bool whole_write(int fd, const void *bytes, size_t n);

#endif
