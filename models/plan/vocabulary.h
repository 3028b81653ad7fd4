/*
 * What a plan may use: any step, or the portable ones alone, which JAX, PyTorch and MPI can
 * all say (models/README.md, "Vocabulary").
 */
#ifndef SHARDSIM_PLAN_VOCABULARY_H
#define SHARDSIM_PLAN_VOCABULARY_H

#include "plan/plan.h"

/*
 * Reads "any" or "portable"; NULL is "any". Another text is an E_SYNTAX that says what was
 * expected.
 */
enum status vocabulary_parse(enum vocabulary *out, const char *text, struct where at,
                             struct error *e);

/*
 * Returns what in a finished plan is not portable, such as "an exchange of boxes", or NULL
 * if the whole plan is.
 */
const char *plan_not_portable(const struct plan *p);

/* Returns what in a finished plan a vocabulary does not have, or NULL. */
const char *plan_beyond(const struct plan *p, enum vocabulary vocabulary);

#endif
