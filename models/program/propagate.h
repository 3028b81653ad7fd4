/*
 * Propagation: from the shardings that a program's text gives to those of all its values, along
 * the factors of each op (program/rules.h).
 *
 * Shardy's (openxla/shardy, docs/propagation.md) hands single axes on, in five rounds from the
 * ops that hand on surely to those that do so at a price, and priorities of the user
 * outside of these. Within a round all ops are gone through forward, then backward, until nothing
 * changes, where Shardy has a work list; it can differ only where shardings conflict.
 *
 * XLA's (openxla/xla, service/sharding_propagation.cc), for texts without a mesh, hands whole
 * shardings on, in four levels; at each all ops are gone through forward, then all values
 * backward, until nothing changes:
 *  0. ops that work element by element, reshapes that the sharding fits, transposes, edges of the
 *     data flow. A sharding gives way to one that is finer in every dimension.
 *  1. all ops but broadcasts. Two shardings are put together where each dimension of one continues
 *     that of the other and no axis is in two dimensions. Operands of a matmul also take what
 *     they have in common with the other one. Its result takes first what the operand offers that
 *     its only user's sharding refines, else what the larger operand does.
 *  2. broadcasts backward. 3. broadcasts forward.
 * What a reduction or matmul sums over is replicated. What the text says stays as it is.
 *
 * Constants, and what is made of constants alone, neither take a sharding nor hand one on: every
 * user has them as it wants them. Manual computations take their operands in and give their
 * results out as they say; inside, the axes that they leave are handed on. Through ops without
 * a rule nothing is.
 */
#ifndef SHARDSIM_PROGRAM_PROPAGATE_H
#define SHARDSIM_PROGRAM_PROPAGATE_H

#include "program/sharding.h"

/*
 * Whose it is, and of Shardy's what happens where axes that come along two factors meet in one
 * array. Basic: neither array takes an axis that any array of the op has in another use. Else,
 * by default: each array takes what it can; the larger array goes first.
 */
enum propagation { PROPAGATION_SHARDY, PROPAGATION_SHARDY_BASIC, PROPAGATION_XLA };

/* Reads the shardings of a program's text and hands them on; errors of shardings_read(). */
enum status propagate(struct shardings *out, struct arena *a, struct program *p,
                      enum propagation by, struct error *e);

#endif
