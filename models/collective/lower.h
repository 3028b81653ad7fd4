/*
 * Lowering: a plan step becomes a schedule of messages on a machine, by the algorithm
 * that applies to its groups (models/README.md, "Collectives").
 */
#ifndef SHARDSIM_COLLECTIVE_LOWER_H
#define SHARDSIM_COLLECTIVE_LOWER_H

#include "array/machine.h"
#include "collective/schedule.h"
#include "plan/plan.h"

struct algorithm;

/* Where the logical devices of a plan are: platform[d], [n]; NULL: the identity. */
struct placement {
	int32_t n;
	const int32_t *platform;
};

struct lowered {
	struct schedule schedule;
	const char *algorithm; /* "bidir-ring", "nvls", "sends", ...; NULL if local */
	const char *protocol;  /* "ll", "ll128", "simple"; NULL where there are none */
	bool any_order; /* a collective costs the same whatever the order in its groups */
	double local_s;      /* packing and unpacking (local.h) */
	double launch_s;     /* one per communicating or stand-alone local step */
	int64_t relay_bytes; /* of buffers that a schedule of messages needs to relay */
	int32_t reach;       /* its enum flow_reach (flow/network.h) */
};

/*
 * Lowers a step. Returns true, or false with the reason in `why` (devices not joined by
 * any fabric).
 */
bool lower_step(struct lowered *out, struct arena *a, const struct machine *m,
                const struct placement *place, const struct plan *plan, int step,
                struct text *why);

/*
 * Returns whether a runtime that takes schedules of messages may run a step as one: an exchange
 * that is the whole plan, one that adds up contributions, and the one behind that.
 */
bool lower_may_schedule(const struct plan *plan, int step);

/*
 * Does as lower_step(), but the rounds of a collective go to a reader as those of
 * lower_collective_rounds() do; the schedule in `out` is empty then. The rounds of other
 * steps are in `out` as before, for there is one at most.
 */
bool lower_step_rounds(struct lowered *out, struct arena *a, const struct machine *m,
                       const struct placement *place, const struct plan *plan, int step,
                       round_fn *reader, void *self, struct text *why);

/*
 * Does as lower_step() for a collective that is not part of a plan: `op` over `groups`
 * of platform devices, `bytes` on each device before it (all-gather: its block; others:
 * its whole buffer). No local work. For `perf`, prices in a search, and tests. Op:
 * all-gather, reduce-scatter, all-reduce, all-to-all; broadcast and reduce, whose root
 * is the first device of the group; permute, a shift by one over the group. What
 * `m->forced` names must be among what the profile of the groups has (profile.h) and
 * run the op on them; a permute and an exchange leave nothing to force.
 */
bool lower_collective(struct lowered *out, struct arena *a, const struct machine *m,
                      enum op op, struct groups groups, double bytes, struct text *why);

/*
 * Does the same for a permute between pairs of platform devices, each of which sends
 * `bytes` from its first device to its second.
 */
bool lower_pairs(struct lowered *out, struct arena *a, const struct machine *m,
                 const struct pair *pairs, int32_t n, double bytes, struct text *why);

/*
 * Does as lower_collective(), but the rounds go to a reader (schedule.h), one by one
 * and without being kept all at once where the collective allows it; the schedule in
 * `out` is empty.
 */
bool lower_collective_rounds(struct lowered *out, struct arena *a,
                             const struct machine *m, enum op op, struct groups groups,
                             double bytes, round_fn *reader, void *self,
                             struct text *why);

/*
 * Returns the algorithm by which lower_collective() lowers a collective of any number of
 * bytes; NULL where a library does, or it hangs on the time or on what a user forces.
 */
const struct algorithm *lower_algorithm(const struct machine *m, enum op op,
                                        const struct groups *groups);

/*
 * The first returns the bytes that local passes of a step read and write on a device, the
 * second their seconds: these bytes / memory bandwidth.
 */
double lower_local_bytes(const struct plan *plan, int step);
double lower_local_s(const struct machine *m, const struct placement *place,
                     const struct plan *plan, int step);

#endif
