/* Platform files with something changed in them, for tests. */
#ifndef SHARDSIM_SIM_TESTS_EDIT_H
#define SHARDSIM_SIM_TESTS_EDIT_H

#include "base/arena.h"

#include <stddef.h>

/* A new file with the text; the path is the arena's. The caller unlinks it. */
const char *edit_write(struct arena *a, const char *text, size_t length,
                       const char *suffix);

/*
 * The platform file of family:shape with the first `from` replaced by `to`, written to a
 * new file; `from` must be in it. NULL `from`: as it is.
 */
const char *edit_platform(struct arena *a, const char *spec, const char *from,
                          const char *to);

#endif
