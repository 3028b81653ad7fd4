/*
 * What the tests of collective libraries share: machines with odd constants, among them
 * such whose GPUs are joined pair by pair, and collectives over all devices.
 */
#ifndef SHARDSIM_TESTS_NCCL_HELP_H
#define SHARDSIM_TESTS_NCCL_HELP_H

#include "collective/lower.h"
#include "collective_help.h"

/* The constants of tuned(), seconds and bytes per second. */
extern const double STEP, NET_STEP, FILL_S, NET_FILL_S, SEND_S, NET_SEND_S, SHARE,
	CHANNEL_BPS;

/* What a call across nodes takes beside all else, seconds. */
extern const double CALL_S;

/*
 * What sends to so many peers on other nodes take beside the cost of each: a call's, and for each
 * eight peers 1.8 us and 11.3 us times the step, as Simple has more than LL.
 */
double far_s(int32_t peers);

/* cluster() with profile "nccl" on all fabrics and these constants. */
struct machine *tuned(int32_t nodes, int32_t gpus, int cc);

/*
 * The same where `links[i * gpus + k]` cables of `nvlink` join GPUs i and k of a
 * node.
 */
struct machine *meshed(int32_t nodes, int32_t gpus, const int *links);

/* The hybrid cube mesh of DGX-1: cables between its eight GPUs. */
extern const int cube_mesh[64];

/* All devices of the machine, in order. */
struct groups everybody(const struct machine *m);

/* Lowers over all devices; must be possible. `bytes`: V of all-gather too. */
struct lowered lowered_all(const struct machine *m, enum op op, double bytes);

/* Launch and seconds of clock `model`, after it. */
double seconds_of(const struct machine *m, const struct lowered *l);

#endif
