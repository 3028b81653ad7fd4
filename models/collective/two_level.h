/*
 * What the algorithm two-level does at each level (two_level.c).
 */
#ifndef SHARDSIM_COLLECTIVE_TWO_LEVEL_H
#define SHARDSIM_COLLECTIVE_TWO_LEVEL_H

#include "array/machine.h"
#include "plan/plan.h"

/* A collective of one level over all its groups at once; `bytes` as algorithms have it. */
struct lowered_level {
	enum op op;
	struct groups groups;
	double bytes;
};

enum { TWO_LEVEL_MOST = 3 };

/*
 * Returns whether all groups have equally many members, two or more, in two or more
 * nodes.
 */
bool two_level_applies(const struct machine *m, enum op op, const struct groups *g);

/*
 * Tells the levels that make up the op, one after another, and returns how many there
 * are. The groups are the arena's. Only where two_level_applies().
 */
int two_level_split(struct lowered_level out[TWO_LEVEL_MOST], struct arena *a,
                    const struct machine *m, enum op op, const struct groups *g,
                    double bytes);

#endif
