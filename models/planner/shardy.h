/*
 * Shardy's resharder: the greedy of its pass reshard-to-collectives, as of 2026-08 (spec
 * redistribution.md 7; openxla/shardy, transforms/export/reshard_to_collectives.cc).
 *
 * At most two rounds of slice, permute, all-to-alls, all-gather. It compares the axes
 * that the array has with those wanted, dimension by dimension, after cutting both to
 * common sub-axes and setting aside the prefixes that agree. All sizes are sizes of
 * (sub-)axes; the array's shape is asked in one place only. Nothing is weighed.
 *
 * What the pass emits is kept: one slice and one all-gather for all dimensions together,
 * all-to-alls of one pair of dimensions each.
 */
#ifndef SHARDSIM_PLANNER_SHARDY_H
#define SHARDSIM_PLANNER_SHARDY_H

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
	int nops, capacity;
	struct shardy_op *op; /* up to where it ended */
	enum shardy_end end;
};

/*
 * Run the greedy between two LAYOUT_AXES layouts on one list of axes. Sub-axes of the two
 * must be able to co-exist (shardy_coexist). `reorder` says that the target's mesh has
 * the same axes over another order of devices, which a permute must see to.
 */
struct shardy_program shardy_reshard(const struct shape *shape,
                                     const struct layout *from, const struct layout *to,
                                     bool reorder, struct arena *a);

/* Can all sub-axes of both layouts be cut to common ones? */
bool shardy_coexist(const struct mesh *m, const struct layout *from,
                    const struct layout *to);

#endif
