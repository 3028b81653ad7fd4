/*
 * Profiles: whose collectives a fabric runs, as its platform says.
 *
 *   tpu    those of XLA on TPUs: the algorithms of collective.h, by the geometry of the
 *          group; and the fill of their pipelines (nccl.h) by fill_s and net_fill_s
 *   nccl   those of NVIDIA's library (nccl.h)
 *   rccl   those of AMD's (rccl.c)
 *   p2     one ring in device order for every collective that has one (device_ring.h),
 *          for all groups at once; others as plain. Xie et al. 2022 (arXiv 2110.10548), 5
 *   plain  the algorithms of collective.h, with what links cost and nothing else: for
 *          comparison with other simulators
 *
 * What a user may force (struct forced): algorithms by the names of `algorithms`,
 * `nccl_algorithms` or `rccl_algorithms`; of libraries also "tuner", their own model's
 * choice, and the protocols ll, ll128 and simple.
 *
 * A collective has the profile of the fabric that joins all devices of its group: of
 * several groups, of the last such fabric.
 */
#ifndef SHARDSIM_COLLECTIVE_PROFILE_H
#define SHARDSIM_COLLECTIVE_PROFILE_H

#include "array/machine.h"
#include "base/arena.h"
#include "base/error.h"
#include "collective/collective.h"
#include "collective/nccl.h"
#include "plan/plan.h"

struct profile {
	const char *name, *help;
	const struct nccl_algorithm *const *library; /* NULL: by geometry */
	const struct algorithm *first; /* by geometry: before all others, or NULL */
	bool fill;                     /* by geometry, with fill_s */
};

extern const struct profile *const profiles[]; /* ended by NULL */

/* E_RANGE, listing the known ones: another name. */
enum status profile_check(const char *name, struct where at, struct error *e);

/*
 * Returns the profile of the groups' collectives; "plain" where no one fabric joins
 * them.
 */
const struct profile *profile_of(const struct machine *m, const struct groups *g);

/* Returns the profile of a fabric. */
const struct profile *profile_of_fabric(const struct machine *m, int fabric);

/*
 * Returns whether switches of a fabric may add up what passes them, in some collective that
 * the machine's library has: those inside nodes of GPUs that have NVLS.
 */
bool profile_switch_adds(const struct machine *m, int fabric);

/*
 * Returns what starting one collective or local step on these devices costs ([n]
 * platform devices; NULL: 0..n-1): the launch of the slowest of them. In mode
 * LAUNCH_SINGLE or LAUNCH_BOUND one process per node launches on its devices one after another, for
 * launch_each_s each, which may be longer; in mode LAUNCH_GRAPH it is launch_graph_s
 * where the platform says so. In the others it is what struct nccl_caller says, where a
 * library runs the first fabric's collectives, unless a user gave the platform's launch_s;
 * TPUs run what XLA compiled, and nothing else.
 */
double profile_launch_s(const struct machine *m, const int32_t *devices, int32_t n);

/*
 * Returns the same of a collective that takes `s` seconds beside it and `more_s` to enqueue
 * on a device (nccl_enqueue_s()). Where one process launches on several the devices run it
 * while the process enqueues the next call, so that call follows call as fast as the slower
 * of the two: the result is what is missing to that. `s` is a time of the clock `model`;
 * other clocks take the same launch. Steps of a plan do not overlap so (lower_step()): each
 * begins when its kernels are in the queues, which is profile_launch_s().
 */
double profile_call_s(const struct machine *m, const int32_t *devices, int32_t n,
                      double more_s, double s);

/*
 * Returns who calls the collectives of plans and of programs where nobody says: XLA on TPUs,
 * and on GPUs of the generations on which its collectives were timed, Hopper and Blackwell
 * (struct nccl_caller); elsewhere LAUNCH_PROCESS, as the constants of families are fitted to.
 * Measured loops say themselves who called.
 */
enum launch_mode profile_compiler(const struct machine *m);

/*
 * Returns the name of who calls the machine's collectives (m->launch, on TPUs XLA always); NULL
 * where these are links alone, and nobody calls anything.
 */
const char *profile_caller(const struct machine *m);

/* Appends ", launch xla" to the name of a machine whose callers can differ; `m` may be NULL. */
void profile_print_caller(struct text *out, const struct machine *m);

#endif
