/* What a problem's texts do not show at first sight: said in front of its plans. */
#ifndef SHARDSIM_SIM_CLI_NOTES_H
#define SHARDSIM_SIM_CLI_NOTES_H

#include "measure/measure.h"

/*
 * Returns the notes on a problem, ended by NULL: those of `first`, at most NOTES_FIRST, which
 * NULL ends, and which dimensions are cut into so many tiles that some hold only padding. The
 * arena's.
 */
enum { NOTES_FIRST = 8 };
const char *const *notes_of(struct arena *a, const struct problem *p,
                            const char *const *first);

/*
 * Returns the notes with one more, where today's XLA does not rematerialize fully what a
 * logged warning says that an XLA did: an older one logged it.
 */
const char *const *notes_of_warning(struct arena *a, const char *const *notes,
                                    struct bench *b, const struct problem *p);

#endif
