/*
 * A lower bound for A* in the exact search: the bytes that devices still receive are no
 * fewer than those that they lack of their tiles in the target.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_LACK_H
#define SHARDSIM_PLANNER_SYNTH_LACK_H

#include "planner/synth/code.h"

/* The devices' target tiles; {0} has none. */
struct lack {
	const struct synth *s;
	int32_t ndevices; /* 0: too many to look at each */
	bool one_size;    /* of all atoms: then no device need be looked at, */
	int32_t *digit;   /* else [ndevices * atoms] */
	struct stacks to;
	int64_t want[TYPE_RANK_MAX]; /* extents of a target tile */
	int32_t *wanted; /* unless one_size, [ndevices * rank] tile numbers */
};

void lack_init(struct lack *out, const struct synth *s);
void lack_free(struct lack *lack);

/*
 * Returns the fewest elements of its target tile that any device holds in the type of a
 * code with tiles of `elements`; `elements` where devices are not looked at.
 */
int64_t lack_least(const struct lack *lack, uint64_t code, int64_t elements);

#endif
