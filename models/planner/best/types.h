/*
 * Layouts between two ends, as types over pieces of axes: what plans of `best` may go by.
 * Private to models/planner/best/.
 */
#ifndef SHARDSIM_PLANNER_BEST_TYPES_H
#define SHARDSIM_PLANNER_BEST_TYPES_H

#include "array/type.h"
#include "planner/best/script.h"

/*
 * The ends of a script over the largest pieces of axes that say both: a piece is an atom
 * that need not be prime. Types have the dimensions of the script's view.
 */
struct types_between {
	const struct mesh *mesh;
	struct shape shape;
	struct atoms pieces;
	struct type from, to;
};

/*
 * Returns false where no pieces say both ends, where their tiles are not even, or where
 * something is unreduced.
 */
bool types_between(struct types_between *out, const struct script *s);

/*
 * Returns the elements that some device lacks of its tile of `after` if all hold those
 * of `before`; no device lacks more.
 */
int64_t type_lacks(const struct types_between *t, const struct type *before,
                   const struct type *after);

/*
 * Writes what an exchange from one type to another does, whatever dimensions the pieces
 * cut, and returns its size: with equal bytes each device wants as much of the tiles of
 * the same others.
 */
enum { TYPE_KEY_MAX = 4 * ATOMS_MAX };
size_t type_key(uint8_t out[TYPE_KEY_MAX], const struct types_between *t,
                const struct type *before, const struct type *after);

/*
 * Calls `visit` with every type of even tiles that differs from `type` by one piece that is dropped,
 * added or put elsewhere, or by two pieces that change places.
 */
void type_neighbours(const struct types_between *t, const struct type *type,
                     void (*visit)(void *self, const struct type *type), void *self);

/*
 * Calls `visit` once with every type of even tiles, unless there may be more than `most`.
 * Returns whether it did.
 */
bool type_all(const struct types_between *t, int most,
              void (*visit)(void *self, const struct type *type), void *self);

/*
 * Returns the slice, all-gather or all-to-all that may lead from one type to another: in
 * each dimension the pieces of one type are the first of those of the other, and what is
 * moved ends where others begin. OP_EXCHANGE if there is none.
 */
enum op type_op(const struct type *before, const struct type *after);

/*
 * Writes the step between two types: the slice, all-gather or all-to-all that does it, if
 * `collective` and there is one, or else an exchange. The moves are the arena's.
 */
void type_step(struct script_step *out, const struct types_between *t,
               const struct type *before, const struct type *after, bool collective,
               struct arena *a);

#endif
