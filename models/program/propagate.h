/*
 * Propagation: from the shardings that a program's text gives to those of all its values, as
 * Shardy does it (openxla/shardy, docs/propagation.md): along the factors of each op
 * (program/rules.h), in five rounds from the ops that hand on surely to those that do
 * so at a price, and priorities of the user outside of these.
 *
 * Within a round all ops are gone through forward, then backward, until nothing changes, where
 * Shardy has a work list; it can differ only where shardings conflict. Constants, and what is
 * made of constants alone, neither take a sharding nor hand one on: every user has them as it
 * wants them. Manual computations take their operands in and give their results out as they
 * say; inside, and through ops without a rule, nothing is handed on.
 */
#ifndef SHARDSIM_PROGRAM_PROPAGATE_H
#define SHARDSIM_PROGRAM_PROPAGATE_H

#include "program/sharding.h"

/*
 * What happens where axes that come along two factors meet in one array. Basic: neither array
 * takes an axis that any array of the op has in another use. Aggressive, which is
 * Shardy's default: each array takes what it can; the larger array goes first.
 */
enum conflict_rule { CONFLICT_AGGRESSIVE, CONFLICT_BASIC };

/* Reads the shardings of a program's text and hands them on; errors of shardings_read(). */
enum status propagate(struct shardings *out, struct arena *a, struct program *p,
                      enum conflict_rule rule, struct error *e);

#endif
