/*
 * A plan as copies of boxes between the buffers of devices: what the kinds of point-to-point
 * messages share. Every plan can be said so.
 */
#ifndef SHARDSIM_EMIT_COPIES_H
#define SHARDSIM_EMIT_COPIES_H

#include "base/list.h"
#include "plan/plan.h"

/*
 * A box of `size` goes from corner `from` of a buffer of device src to corner `to` of one of
 * device dst, which may be the same. Buffers: 0 is the tile; 1, 2, ... are boxes that a
 * device holds beside it, each as large as the copy that brought it.
 */
struct copy {
	int32_t src, dst, from_buffer, to_buffer;
	const int64_t *from, *to, *size; /* [rank of the plan] */
};

/*
 * What happens at once on all devices. The new tile has the extent `after`, zeros where
 * nothing comes; what comes is added where the stage `adds`. One that `holds` leaves tiles as
 * they are and keeps what comes beside them. After any other nothing is held.
 */
struct stage {
	int step; /* of the plan, from 0 */
	struct shape before, after;
	bool adds, holds;
	LIST(struct copy) copies;
};

struct copies {
	const struct plan *plan;
	struct arena *arena;
	LIST(struct stage) stages;
	int64_t ncopies;
	/*
	 * Elements that divide all corners, sizes and extents of each dimension of the
	 * plan: the tables may count in cells of so many.
	 */
	int64_t unit[RANK_MAX];
};

enum { COPIES_MAX = 1 << 20 }; /* of one text */

/*
 * Finds the copies of a plan. An all-reduce is two stages, of sums of parts and of these
 * parts, as its bytes are counted. Returns false with the reason in `why` where there are
 * more than COPIES_MAX.
 */
bool copies_make(struct copies *out, const struct plan *p, struct arena *a,
                 struct text *why);

#endif
