/*
 * A problem and its measurements in words: which axes move, which rules XLA's partitioner
 * goes by, what each planner costs, what `best` does instead, and which layouts to tell a compiler
 * (advice.h).
 */
#ifndef SHARDSIM_SIM_CLI_EXPLAIN_H
#define SHARDSIM_SIM_CLI_EXPLAIN_H

#include "cli/show.h"

/* Puts all other planners behind those that were chosen. */
void explain_planners(const struct planner ***chosen, int *n, struct arena *a);

/*
 * Explains measurements of all planners, timed by the first clock, if any. The first
 * `named` were chosen: the baseline is `xla` unless only that of 2021 is among them.
 */
void explain_text(struct text *out, const struct shown *s, int named, struct arena *a);

/*
 * Returns the same as a JSON object (sim/README.md): "moves", "rules" and "instead" are
 * the lines of the text, "costs" has an object for each planner, "advice" is that of
 * advice.h.
 */
json_t *explain_json(const struct shown *s, int named, struct arena *a);

#endif
