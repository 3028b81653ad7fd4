/*
 * Programs on the machine: every instruction becomes a collective over groups of
 * platform devices, and that a schedule.
 */
#ifndef SHARDSIM_PLACEMENT_LOWER_H
#define SHARDSIM_PLACEMENT_LOWER_H

#include "cost/steps.h"
#include "placement/space.h"
#include "placement/synth.h"

/* All groups of all copies at once, members in the order of the program, root first. */
struct reduction_step {
	enum op op;
	struct groups groups; /* of platform devices */
	double share; /* of its payload that a member with data holds before it */
};

struct reduction {
	int n;
	struct reduction_step step[PROGRAM_STEPS_MAX];
};

/*
 * Makes a reduction of a program of a synthesis, with the levels of the space's
 * hierarchy; the groups are the arena's. A reduce-scatter over groups of n leaves 1/n
 * of what a device held, an all-gather makes it n times that, the others change nothing
 * for those who hold data.
 */
void reduction_of(struct reduction *out, struct arena *a, const struct space *s,
                  const struct program *p);

/*
 * Returns the groups in one order, so that equal ones are equal bytes: members by
 * rising device from the root on, starting over at the lowest; groups, disjoint ones,
 * by rising root. The arena's.
 */
struct groups reduction_groups(const struct groups *g, struct arena *a);

/*
 * Makes the schedule of one step of which each member with data holds `held_bytes`:
 * what lower_collective makes of reduction_groups(), its launch and the local work of
 * adding up, 3 x received bytes / memory bandwidth (models/README.md, "Prices").
 * Returns true, or false with the reason in `why`.
 */
bool reduction_lower(struct lowered *out, struct arena *a, const struct machine *m,
                     const struct reduction_step *step, double held_bytes,
                     struct text *why);

/*
 * The steps of a reduction on a machine, for `payload_bytes` on every device at the start,
 * as clocks take them. All are borrowed.
 */
struct reduction_steps {
	const struct reduction *reduction;
	const struct machine *machine;
	double payload_bytes;
};
struct steps steps_of_reduction(const struct reduction_steps *r);

#endif
