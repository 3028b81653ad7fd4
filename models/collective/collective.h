/*
 * The algorithms: each appends the rounds of one collective over one or several groups,
 * all groups at once, to a schedule. One file per algorithm; its comment states rounds,
 * bytes and closed-form cost, and a test recomputes them from the schedule.
 *
 * `groups` holds platform devices in chunk order. Bytes: V the gathered array
 * (all-gather output, reduce-scatter input, all-reduce, broadcast and reduce buffer), S the send buffer of one
 * device (all-to-all); see models/README.md, "Collectives".
 */
#ifndef SHARDSIM_COLLECTIVE_COLLECTIVE_H
#define SHARDSIM_COLLECTIVE_COLLECTIVE_H

#include "array/machine.h"
#include "collective/schedule.h"
#include "plan/plan.h"

struct algorithm {
	const char *name; /* shown in plans: "ring", "bidir-ring", "line", "torus", ... */
	const char *help;
	/* What it sends hangs on the devices of each group, not on their order. */
	bool any_order;
	/* Returns whether it can run this op over these groups on this machine. */
	bool (*applies)(const struct machine *m, enum op op, const struct groups *g);
	/*
	 * Appends its rounds. `bytes` is what each device holds before the op, as
	 * lower_collective() has it; exact for every op that `applies` accepts.
	 */
	void (*build)(struct schedule *out, const struct machine *m, enum op op,
	              const struct groups *g, double bytes);
	/* Returns how many messages that are, where they grow with a group's square; or NULL. */
	int64_t (*messages)(const struct groups *g);
};

/* The most of them that are lowered: they are seconds of work for any clock. */
enum { ALGORITHM_MESSAGES_MAX = 1 << 26 };

extern const struct algorithm *const algorithms[]; /* ended by NULL */

/*
 * Returns the first in `algorithms` order that applies to all groups on the fabrics
 * they use (geometry.c has the table and its reasons). What is asked of fabrics whose
 * profile goes by the geometry; libraries choose among their own (profile.h, nccl.h).
 */
const struct algorithm *algorithm_choose(const struct machine *m, enum op op,
                                         const struct groups *g);

/*
 * Returns the same, but on a torus that lacks cables (struct fabric) the one that takes
 * least: what is best on a whole torus may have to go round so many that a ring is
 * faster. Where it is the ring, on a torus it is the faster one of a ring in group order and
 * one by rising number. `bytes` as for build. An all-to-all needs no such choice (direct.c).
 */
const struct algorithm *algorithm_fastest(struct arena *a, const struct machine *m,
                                          enum op op, const struct groups *g,
                                          double bytes);

/* Returns the same where it does not hang on the time, else NULL. */
const struct algorithm *algorithm_untimed(const struct machine *m, enum op op,
                                          const struct groups *g);

#endif
