/*
 * A plan as the program of one device, that all devices run alike: what the kinds of
 * whole-tile collectives share (jax, torch, stablehlo, dtensor, sdy).
 *
 * Such a program knows tiles of one shape, collectives over groups of equal size, and
 * permutes of whole tiles; boxes, tiles of unequal size and pads it cannot say.
 */
#ifndef SHARDSIM_EMIT_LOCAL_H
#define SHARDSIM_EMIT_LOCAL_H

#include "emit/emit.h"
#include "plan/groups.h"

struct local {
	const struct plan *plan;
	struct arena *arena;
	/*
	 * The problem's mesh with every axis cut where a layout or move cuts it, which
	 * leaves the positions of devices as they are; local_cut() makes it. Those of
	 * axis a are first[a]..first[a + 1] - 1.
	 */
	struct mesh pieces;
	int first[MESH_AXES_MAX + 1];
	/* Of every array dimension, which dimension of the plan (a digit) grows with it. */
	int free[RANK_MAX];
	/*
	 * Elements by which each array dimension is padded before the first step, and a
	 * shape of the plan that is small and divides as the plan's own: that of checks.
	 */
	int64_t pad[RANK_MAX];
	struct shape small;
};

/* Takes any plan, for questions about its layouts and extents alone. */
void local_open(struct local *out, const struct plan *p, struct arena *a);

/*
 * Looks at a plan; returns false with the reason in `why`, and what would do instead,
 * where it is no such program.
 */
bool local_make(struct local *out, const struct plan *p, struct arena *a,
                struct text *why);

/* Cuts the mesh; false where two cuts of an axis do not fit together. */
bool local_cut(struct local *l, struct text *why);

/*
 * Returns whether the parts of a step's moves say its groups or, of a slice, its chunk
 * numbers: then a program may name axes instead of devices.
 */
bool local_step_axes(const struct local *l, const struct step *s);

/*
 * Stores the pieces of parts, major to minor, in `out` (as many as MESH_AXES_MAX), and
 * returns their number.
 */
int local_pieces(int *out, const struct local *l, const struct part *part, int n);

/* Returns the layout of one end of the problem on its source mesh, if axes say it there. */
bool local_end(struct layout *out, const struct local *l, bool target);

/* Returns the tile before step i (or after the last), of the plan or of its check. */
struct shape local_tile(const struct local *l, int step, bool small);

/* Returns the shape of the array, padded, of the plan or of its check. */
struct shape local_array(const struct local *l, bool small);

/* Returns how many contributions the array of a layout is the sum of; 1: it is no sum. */
int32_t sums_of(const struct layout *l);

/* Returns how many contributions the source, or the target, is the sum of. */
int32_t local_partials(const struct local *l, bool target);

/*
 * Returns what contribution `i` adds to each element of the array, in multiples of the
 * number of elements: powers of two, of which no other choice of `n` has the same sum,
 * or squares where these would be too large.
 */
int64_t local_weight(int32_t i, int32_t n);

/* Returns what all `n` of them add together. */
int64_t local_weights(int32_t n);

/*
 * Returns where the tile of each device starts in the array of the check: [ndevices * rank];
 * which contribution to a sum it has; and its place in its group of a step. The arena's.
 */
const int64_t *local_starts(const struct local *l, bool target);
const int32_t *local_contribution(const struct local *l);
const int32_t *local_places(const struct local *l, const struct step *s);

/*
 * The local transposes around one collective of several moves. Packing cuts dimensions into
 * blocks (`split`: a dimension, and the number of blocks; 0 is what a block is long) and
 * puts the blocks of all moves in front, where the q members' are then one dimension.
 * Unpacking takes the blocks from the front, [f0, f1, ..., tile], each to before its
 * dimension, with which it is then one: block[dim] is its move, -1 where none.
 */
struct rearrange {
	int nsplit, order[2 * RANK_MAX];
	struct {
		int dim;
		int32_t blocks;
		bool cut;
	} split[2 * RANK_MAX];
	int block[RANK_MAX];
};
struct rearrange local_pack(const struct step *s, int rank);
struct rearrange local_unpack(const struct step *s, int rank);

/*
 * The functions of a kind that write the steps such a program has, by their ops: what each
 * takes besides the step is the kind's own.
 */
#define LOCAL_PUTS                                                                     \
	{                                                                              \
		[OP_SLICE] = put_slice, [OP_ALL_GATHER] = put_gather,                  \
		[OP_ALL_TO_ALL] = put_all_to_all, [OP_PERMUTE] = put_permute,          \
		[OP_REDUCE_SCATTER] = put_reduce_scatter,                              \
		[OP_ALL_REDUCE] = put_all_reduce, [OP_PARTIAL] = put_partial,          \
	}

#endif
