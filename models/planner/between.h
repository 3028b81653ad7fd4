/*
 * Layouts between two ends, as types over pieces of axes: what plans of `best` may go by,
 * and what `advise` tells a compiler to go by.
 */
#ifndef SHARDSIM_PLANNER_BETWEEN_H
#define SHARDSIM_PLANNER_BETWEEN_H

#include "array/type.h"
#include "plan/plan.h"

/* Two layouts of an array of this shape; without a mesh of both there is nothing between. */
struct types_ends {
	const struct mesh *mesh, *to_mesh;
	const struct shape *shape;
	const struct layout *from, *to;
	bool primes; /* every prime digit of an axis is a piece */
};

/*
 * The ends over the largest pieces of axes that say both: a piece is an atom that need not be
 * prime. Unreduced axes count as free ones. `even` says whether all tiles of both ends are.
 */
struct types_between {
	const struct mesh *mesh; /* borrowed */
	struct shape shape;
	int64_t elements; /* of the shape */
	bool even;
	struct atoms pieces;
	struct type from, to;
};

/* Returns false where no pieces say both ends. */
bool types_between(struct types_between *out, const struct types_ends *ends);

/*
 * Returns the elements that some device lacks of its tile of `after` if all hold those
 * of `before`; no device lacks more. Where tiles are uneven it is near that.
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
 * Calls `visit` with every type that differs from `type` by one piece that is dropped, added
 * or put elsewhere, or by two pieces that change places; where the ends are even, with those
 * whose tiles are even, too.
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
 * Writes what that collective does, whatever it leaves where it is, and returns its size:
 * with equal bytes the same pieces leave one dimension of tiles of one size and reach one,
 * and the result is to be unpacked or not. Which dimensions these are is not told.
 */
enum { TYPE_MOVES_MAX = 2 + (int)sizeof(int64_t) + TYPE_RANK_MAX + 2 * ATOMS_MAX };
size_t type_moves(uint8_t out[TYPE_MOVES_MAX], const struct types_between *t,
                  enum op op, const struct type *before, const struct type *after);

#endif
