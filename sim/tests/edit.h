/* Platform files with something changed in them, for tests. */
#ifndef SHARDSIM_SIM_TESTS_EDIT_H
#define SHARDSIM_SIM_TESTS_EDIT_H

#include "base/arena.h"

#include <stddef.h>

/*
 * Writes the text to a new file, which the caller unlinks, and returns its path, the
 * arena's.
 */
const char *edit_write(struct arena *a, const char *text, size_t length,
                       const char *suffix);

/*
 * Writes the platform file of family:shape to a new file, with the first `from`
 * replaced by `to`, and returns its path. `from` must be in it, unless it is NULL,
 * which replaces nothing.
 */
const char *edit_platform(struct arena *a, const char *spec, const char *from,
                          const char *to);

#endif
