/*
 * Shardy's resharder: the greedy of its pass reshard-to-collectives, as of 2026-08
 * (openxla/shardy, transforms/export/reshard_to_collectives.cc; models/README.md,
 * Shardy).
 *
 * At most two rounds of slice, permute, all-to-alls, all-gather. It compares the axes
 * that the array has with those wanted, dimension by dimension, after cutting both to
 * common sub-axes and setting aside the prefixes that agree. All sizes are sizes of
 * (sub-)axes; the array's shape is asked in one place only. Nothing is weighed.
 *
 * Unreduced axes: the pass wants them equal on both sides and leaves them alone. What its
 * export pipeline does around it is done here too (insert_explicit_reshards.cc and
 * ir/canonicalization.cc):
 *   1. axes unreduced at the source only are all-reduced first,
 *   2. axes unreduced at the target only become unreduced by local steps, first those
 *      replicated at the source (sdy.replicated_to_unreduced), then the sharded ones
 *      (sdy.sharded_to_unreduced puts the tile among zeros). With sharded ones nothing
 *      else may change: every dimension keeps its axes or loses the minor-most of them to
 *      the unreduced ones, and none is reduced,
 *   3. an all-reduce that the pass's slice follows at once becomes a reduce-scatter, if
 *      the slices of all dimensions begin, between them, with all axes reduced. What is
 *      left to slice follows in a slice of its own,
 *   4. all-to-alls that follow one another, without a dimension in common, become one.
 *
 * Else what the pass emits is kept: one slice and one all-gather for all dimensions
 * together, all-to-alls of one pair of dimensions each. Nothing is made of a permute and
 * the all-to-alls behind it, as Shardy's younger pass optimize-collectives does.
 *
 * Where shards do not divide a dimension Shardy pads it around the ops by a later pass
 * (pad_for_divisibility.cc). Here a plan has local pads between the steps (uneven.h): of
 * every op or, if these would move elements, of a dimension for as long as it is
 * sharded. Not applicable if the source and the target would differ in that extent.
 */
#ifndef SHARDSIM_PLANNER_SHARDY_SHARDY_H
#define SHARDSIM_PLANNER_SHARDY_SHARDY_H

#include "planner/planner.h"

extern const struct planner planner_shardy;

struct shardy_op {
	enum op op;
	int nmoves;              /* none for a permute */
	const struct move *move; /* by rising dimension, as plan/plan.h says */
	struct layout after;
	bool reordered; /* `after` counts devices in the target mesh's order */
};

enum shardy_end {
	SHARDY_DONE,
	SHARDY_UNFINISHED, /* two rounds were not enough (Shardy's assertion fails) */
	SHARDY_MISFIT      /* a permute would change the shape of the tiles */
};

struct shardy_program {
	struct arena *arena;
	int nops;
	int64_t room;
	struct shardy_op *op; /* the ops up to where it ended */
	enum shardy_end end;
};

/*
 * Runs the greedy between two LAYOUT_AXES layouts on one list of axes. Their sub-axes
 * must be able to co-exist (shardy_coexist). `reorder` says that the target's mesh has
 * the same axes over another order of devices, which a permute must see to.
 */
struct shardy_program shardy_reshard(const struct shape *shape,
                                     const struct layout *from, const struct layout *to,
                                     bool reorder, struct arena *a);

/*
 * Returns whether all sub-axes of both layouts, unreduced ones too, can be cut to
 * common ones.
 */
bool shardy_coexist(const struct mesh *m, const struct layout *from,
                    const struct layout *to);

/* --- Unreduced axes (sums.c) --- */

/*
 * Returns whether an axis sharded in `from` is unreduced in `to`. Their sub-axes must
 * co-exist.
 */
bool shardy_unreduces(const struct layout *from, const struct layout *to);

/*
 * Returns, where an axis is so, whether every dimension keeps its axes but for
 * minor-most ones that become unreduced, and nothing is reduced.
 */
bool shardy_only_unreduces(const struct layout *from, const struct layout *to,
                           struct arena *a);

/* Returns a layout with the unreduced axes of another. */
struct layout shardy_keep_unreduced(const struct layout *l, const struct layout *sums);

/*
 * Appends what precedes the program, points 1 to 3 above. Returns how many ops of the
 * program this has dealt with: 1 where its slice is in a reduce-scatter, else 0.
 * Returns -1 with the reason in `why` if tiles would not be local (uneven.h). extent[k]
 * is what shards cut before op k, padding included.
 */
int shardy_add_sums(struct plan *plan, const struct shardy_program *program,
                    const struct shape *extent, struct text *why);

#endif
