/* What the files msccl*.c share: a plan as runs of memory between tiles. */
#ifndef SHARDSIM_EMIT_MSCCL_H
#define SHARDSIM_EMIT_MSCCL_H

#include "emit/emit.h"

#include "base/list.h"

enum { HOPS_MAX = 1 << 20 };

/* A run of elements that a GPU copies, or sends, from one tile into the next one. */
struct hop {
	int32_t src, dst;
	int from, to; /* numbers of the tiles: 0 is the input */
	int64_t from_at, to_at, n;
	bool adds;
};

/* Tile 0 is the input; steps of the plan have the next ones, an all-reduce two. */
struct hops {
	const struct plan *plan;
	struct arena *arena;
	LIST(struct hop) list;
	LIST(int64_t) size; /* of the tiles, in elements */
};

/*
 * Adds the hops of a step, and the tiles that it leaves; false with the reason. Hops that
 * are more than HOPS_MAX are counted by one, not added.
 */
bool hops_add_step(struct hops *m, int step, struct text *why);

#endif
