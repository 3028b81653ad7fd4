/* What a problem's texts do not show at first sight: said in front of its plans. */
#ifndef SHARDSIM_SIM_CLI_NOTES_H
#define SHARDSIM_SIM_CLI_NOTES_H

#include "plan/problem.h"

/*
 * Returns the notes on a problem, ended by NULL: those of `first`, at most NOTES_FIRST, which
 * NULL ends, and which dimensions are cut into so many tiles that some hold only padding. The
 * arena's.
 */
enum { NOTES_FIRST = 8 };
const char *const *notes_of(struct arena *a, const struct problem *p,
                            const char *const *first);

#endif
