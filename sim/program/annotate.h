/*
 * A program's own text with the shardings of all its values in it, as propagation found them:
 * read again it has the same ones. Nothing else of the text changes.
 *
 * HLO's text gets `sharding={devices=..}` behind its instructions; at the tuple that the entry ends
 * with, those of the results. StableHLO's gets `sdy.sharding` at the arguments of functions and the
 * results of the entry, and behind each op a constraint whose result nobody uses, which is how its
 * operand is sharded (openxla/shardy, sdy.sharding_constraint).
 * Values made of constants alone have none.
 */
#ifndef SHARDSIM_SIM_PROGRAM_ANNOTATE_H
#define SHARDSIM_SIM_PROGRAM_ANNOTATE_H

#include "program/sharding.h"

/*
 * Returns false with the reason in `why`: a text of StableHLO without a mesh of Shardy's, or a
 * program that is partitioned already. With true `why` has a remark on the values whose shardings
 * no part of the text could say, or nothing.
 */
bool program_annotate(struct text *out, struct arena *a, const struct program *p,
                      const struct shardings *s, struct text *why);

/* Returns whether it is HLO's text, which says shardings in HLO's way. */
bool program_is_hlo(const struct program *p);

#endif
