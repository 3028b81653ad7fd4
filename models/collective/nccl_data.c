/*
 * Source: NVIDIA/nccl at 5067397c (v2.30.7), src/graph/tuning.cc and search.cc. Of PAT,
 * only Simple exists. The graphs are no constants of the library but what its search
 * finds on the usual nodes (12, 12, 18, 18 NVLinks a GPU at 20, 20, 20.6, 40.1 GB/s).
 * net_call_us: a gather of 1 KiB between two A100 of two nodes takes 16.1 us in a graph
 * (mscclpp-ndmv4-2n1), of which a launch has 5.2 and a step 3.7, and small all-reduces of eight
 * A100, H100, H200 or B200 of each of two nodes fit with the library's steps between nodes if a
 * call takes 6 more.
 * net_channel_Bps: NCCL_P2P_PER_CHANNEL_NET_BW of 2.29; measured are 13.1 of two and 14.6 of one
 * (use3a-b200-sr1), and 13.1 of two on H100 (xxrjun-c01-10n4g-sr).
 * old_channel_Bps: of the two of libraries before 2.29 on H100 and B200 (xxrjun-c00-2n8g-*-sr,
 * vultr-b200-2n-sr-v2); on older GPUs as since.
 * send_channels: as logs print them for A100 (github.com/aws/aws-ofi-nccl/issues/65), and as
 * use3a-b200-sr1 shows for B200 and xxrjun-c01-10n4g-sr for H100, where 40 devices still have
 * two for a peer, so at least 20 in all (a log of H100 on EFA prints 16, eks-cuda-efa-p5-2n).
 * net_chunk_bytes, batch: NCCL_P2P_NET_CHUNKSIZE, NCCL_MAX_DEV_WORK_P2P_PER_BATCH.
 * nvls_arity: NCCL_MAX_NVLS_ARITY, which also bounds the search's channels (search.cc).
 * nvls_channels: NVLS_NCHANNELS_SM90 and NVLS_NCHANNELS_SM100_NVL of src/transport/nvls.cc. Over
 * several nodes of Blackwell it has 32, and since mid 2026 24 or 32 by nodes and NICs; with 24
 * all-reduces there are met better than with 32.
 * nvls_us to nvls_share: the 142 all-reduces of H100 and H200 and the 255 of B200 and GB200 that the
 * library's model gives to the switch, of 4 to 72 devices; gathers and scatters of 16 to 32 GB200
 * were then tried with half of an all-reduce's turns and fill.
 * nvls_tree_us to nvls_tree_rounds: 402 all-reduces of 2 to 16 nodes of H100, H200 and B200 and of
 * two racks of GB200, by descent. nvls_head_us is that of one node. One c for all generations is as
 * good as two.
 * ring_ll128_us: gathers and scatters of 36 to 72 GB200 take 1.3 to 1.5 us a step from 32 to 512 MiB
 * (measured-xla.csv), where the library reckons with 1.9 and other steps take twice its figures. With
 * as much on Hopper all-reduces of 4 to 16 MiB by rings of 8 H200, which were simulated 1.1 to 1.3
 * times too slow, are met within 1.1 (cwrep-h200-1n-eager-nvlsoff). Steps inside nodes of a ring
 * over several are taken to be as short.
 * block_us: an all-reduce of 64 KiB to 1 MiB by one process on 8 A100 takes longer than one of 32 KiB by
 * 1.3 (dkh-a100-1n), 1.6 (superbench-a100-1n) and 2.4 us (stas-A100-1node) for each channel it has more,
 * and on azure-A100 by 0.4: 0.05 to 0.3 us a device. On MI300X and MI350X it is 0.05 to 0.1. A broadcast
 * and an all-gather take as much more as the all-reduce, though they have half the steps and bytes, so
 * it is the host's. From Hopper on all 23 blocks more take 2 to 7 us on 8 devices (azure-H200,
 * cwrep-h200-1n-eager, b300-ebpf-1n-default); 0.05 is the best of a grid.
 * send_us: calls of all-to-alls with 8 sends and 8 receives on each of 8 devices take longer than other
 * collectives' launches, by 11 us on B200 (aicr-b200-1n-a2a), which is 0.09 us each, 28 on H20
 * (nt314-h20-1n) and 49 on A100, with a library of 2021 (superbench-a100-1n). V100 is taken as A100.
 * speeds_GBps: search.cc.
 * few_channel_Bps: a channel of AMD's library. Between 64 and 128 MiB all-reduces over 5 and
 * 7 MI355X carry 46.3 GB/s, in four channels, and over three 88, in eight (primus-mi355x-*);
 * all sizes of these from 2 MiB on are met within 1.08. It is 12.5 at most: eight do not
 * fill the network of a node of MI300A (github.com/ROCm/rccl/pull/1366), four NICs of 25
 * GB/s on El Capitan (general knowledge).
 * tree_share: what the library's own model has trees carry of what rings do (tuning.cc). Trees of
 * B200 and H100 carry as much (use3a-b200-0502-tree, a3mega-ar), so only the tuner reckons with it.
 * sends_links: all-to-alls over 8 MI355X take 364 us for 128 MiB, 197 for 64 and 59 for 16
 * (mi355x-nair): 1.2 times what links say, without a fill, within 1.04.
 */
#include "collective/nccl_data.h"
#include "collective/nccl.h"

#include <math.h>

const struct nccl_data nccl_data = {
	.base_us = {[NCCL_TREE] = {6.8, 14, 8.4},
                    [NCCL_RING] = {6.6, 14, 8.4},
                    [NCCL_PAT] = {8, 8, 8}},
	.nvlink_us = {[NCCL_TREE] = {0.6, 1.25, 4.0},
                      [NCCL_RING] = {0.6, 1.9, 3.4},
                      [NCCL_NVLS] = {25, 25, 25},
                      [NCCL_NVLS_TREE] = {25, 25, 25},
                      [NCCL_PAT] = {4.0, 4.0, 4.0}},
	.net_us = {[NCCL_TREE] = {5.0, 8.5, 14},
                   [NCCL_RING] = {2.7, 4.0, 14},
                   [NCCL_NVLS] = {18, 18, 18},
                   [NCCL_NVLS_TREE] = {20.9, 20.9, 20.9},
                   [NCCL_PAT] = {14, 14, 14}},
	.net_overhead_us = 1,
	.ll_GBps = {{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}},
	.ring_ll128_us = {[2] = 1.4, [3] = 0.7},
	.block_us = {0.1, 0.1, 0.05, 0.05},
	.send_us = {0.4, 0.4, 0.23, 0.09},
	.ring_ll128_GBps = {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}},
	.tree_ll128_GBps = {{20, 20, 20},
                            {20, 20, 20},
                            {36.7, 36.7, 29},
                            {55.6, 31.67, 20}},
	.tree_GBps = {{26.5, 18.5, 10},
                      {24, 23.6, 17.8},
                      {38.7, 41.4, 36},
                      {70, 42.8, 24}},
	.nvls_tree_GBps = {{26.5, 18.5, 10},
                           {24, 23.6, 17.8},
                           {0, 57.7, 45.5},
                           {0, 96, 80}},
	.nvls_efficiency = {0, 0, 0.85, 0.74},
	.nvls_us = {0, 0, 5, 17},
	.nvls_head_us = 0.85,
	.nvls_turn_us = {0, 0, 0.6, 1.1},
	.nvls_rounds = 2.25,
	.nvls_share = 0.92,
	.nvls_tree_us = 30,
	.nvls_tree_turn_us = {0, 0, 1.4, 3},
	.nvls_tree_rounds = 1.3,
	.nvls_arity = 32,
	.nvls_channels = {0, 0, 16, 24},
	.rccl_ring_bytes = 67108864,
	.few_channel_Bps = 11.6e9,
	.block_links = 1.2,
	.sends_wires = {1, 1, 1.05, 1},
	.sends_links = 1.2,
	.lone_block = {1, 1, 1.5, 1},
	.net_call_us = 6,
	.net_channel_Bps = 14e9,
	.old_channel_Bps = {14e9, 14e9, 14.5e9, 17.9e9},
	.send_channels = {8, 8, 32, 32},
	.net_chunk_bytes = 128 * 1024,
	.batch = 8,
	.tray = 4,
	.pair_wires = 1.33,
	.four_wires = 1.07,
	.tree_share = 0.92,
	.tree_correction = {{1,  1,  1,  1,  .9, .8, .7, .7, .7, .7, .6, .5,
                             .4, .4, .5, .6, .7, .8, .9, 1,  1,  1,  1},
                            {1,  1,  1,  1,  1,  .9, .8, .8, .8, .7, .6, .6,
                             .6, .6, .6, .6, .8, .9, .9, .9, .9, 1,  1},
                            {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
                             .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}},
	.nvlink_GBps = {20, 20, 20.6, 40.1},
	.one_node = {{12, 10, 0}, {24, 10, 0}, {24, 15, 0}, {24, 30, 0}},
	.nvls = {{0, 0, 0}, {0, 0, 0}, {8, 40, 40}, {8, 80, 80}},
	.links = {12, 12, 18, 18},
	.speeds_GBps = {[2] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3},
                        [3] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18}},
	.channels_across = {8, 8, 16, 16},
};

/*
 * Constants of `xla` are the best of a grid for measured-xla.csv without its outliers, on H100 and
 * GB200 together: a program of one collective, median of five runs. Launches of 9.7 to 11 us differ
 * by 0.2 % in the error, 12.5 us or a step of 1.5 us are worse by 1 %. Wires are slower on H100
 * alone. An all-to-all has 11 us more where one process runs all of its devices: two, four and
 * eight H100, and the four GB200 of a tray, not those of several (10 to 12 us differ by 0.1 % in its
 * error).
 * `eager`: all-reduces of 32 to 512 KiB on 4 H100 take 41 us each from torch.distributed behind
 * a barrier (lambda-h100-4g-1n-ar-torch), where calls in a row take 10 to 17 us on 4 devices of
 * such a node by this model. In a row, which is not `eager`, torch.distributed adds 4 us: an
 * all-reduce of 128 bytes on 8 H100 takes 19.2 us (github.com/ByteDance-Seed/
 * Triton-distributed/issues/57), and 15.1 us in nccl-tests.
 * `mpi`: a call returns when its collective is done, so nothing overlaps. By UCC, which runs
 * collectives of Open MPI on buffers of devices, a broadcast of 1 to 8 bytes between two GPUs
 * of one host takes 38 us (github.com/openucx/ucc/pull/1093), and 9 us by this model on two
 * of a DGX H100. A figure of another library: a floor to reckon with, and nothing of
 * algorithms, which are taken to be NCCL's.
 */
static const char *const timed_graph[] = {"mi300x", "dgx-a100", "dgx-h200", NULL};
static const char *const timed_bound[] = {"dgx-h100", "mi250x", "dgx-b200", NULL};
static const char *const timed_xla[] = {"dgx-h100", "gb200-nvl72", NULL};
static const char *const timed_eager[] = {"dgx-h100", NULL};
static const char *const timed_mpi[] = {NULL};

const struct nccl_caller nccl_callers[LAUNCH_MODES] = {
	[LAUNCH_PROCESS] = {.name = "process",
                            .help = "one process per device, call behind call, as "
                                    "nccl-tests does",
                            .in_a_row = true},
	[LAUNCH_SINGLE] = {.name = "single",
                           .help = "one process for all devices of a node",
                           .one_process = true,
                           .in_a_row = true},
	[LAUNCH_BOUND] = {.name = "bound",
                          .help = "the same on one core, to which mpirun binds two",
                          .one_process = true,
                          .core_turn_s = 17e-6,
                          .core_step_s = 0.5e-6,
                          .in_a_row = true,
                          .timed = timed_bound},
	[LAUNCH_GRAPH] = {.name = "graph",
                          .help = "a captured graph",
                          .in_a_row = true,
                          .timed = timed_graph},
	[LAUNCH_XLA] = {.name = "xla",
                        .help = "programs that XLA compiled",
                        .launch_s = 10.5e-6,
                        .ll_step_us = 1.3,
                        .node_sends_s = 11e-6,
                        .reduce_wires = 1.14,
                        .timed = timed_xla},
	[LAUNCH_EAGER] = {.name = "eager",
                          .help = "torch.distributed, which waits for each call",
                          .call_s = 30e-6,
                          .timed = timed_eager},
	[LAUNCH_MPI] = {.name = "mpi",
                        .help = "MPI on buffers of devices, call by call",
                        .call_s = 29e-6,
                        .timed = timed_mpi},
};

double nccl_inside_us(const struct nccl_group *g, enum nccl_kind kind, enum protocol p)
{
	const double *tuning = g->machine->tuning.value;
	double ll128_us = nccl_data.ring_ll128_us[nccl_generation(tuning[TUNING_CC])];
	double us = nccl_data.nvlink_us[kind][p];

	if (kind == NCCL_RING && p == PROTOCOL_LL128 && ll128_us > 0)
		us = ll128_us;
	us *= tuning[TUNING_STEP];
	return p == PROTOCOL_LL ? fmax(us, nccl_callers[g->machine->launch].ll_step_us)
	                        : us;
}

double nccl_across_us(const struct nccl_group *g, enum nccl_kind kind, enum protocol p)
{
	const double *tuning = g->machine->tuning.value;

	return nccl_data.net_us[kind][p] * tuning[TUNING_NET_STEP] +
	       (p == PROTOCOL_SIMPLE ? 2e6 : 1e6) * tuning[TUNING_NET_LATENCY_S];
}

double nccl_small_group(const struct nccl_group *g)
{
	return g->n == 2 ? nccl_data.pair_wires : g->n <= 4 ? nccl_data.four_wires : 1;
}

double nccl_caller_wires(const struct machine *m)
{
	double slow = nccl_callers[m->launch].reduce_wires;

	return nccl_generation(m->tuning.value[TUNING_CC]) == 2 && slow > 0 ? slow : 1;
}

double nccl_slow_wires(const struct nccl_group *g, bool reduces)
{
	const struct machine *m = g->machine;

	if (nccl_generation(m->tuning.value[TUNING_CC]) != 2 || g->nodes > 1 ||
	    nccl_callers[m->launch].reduce_wires == 0)
		return 1;
	return nccl_small_group(g) * (reduces ? nccl_caller_wires(m) : 1);
}

bool nccl_is_rack(const struct machine *m)
{
	return m->ndevices > 16 * m->fabric[0].ndomains;
}

int32_t nccl_tray(const struct machine *m, int32_t d)
{
	return d - d % (m->ndevices / m->fabric[0].ndomains) % nccl_data.tray;
}

bool nccl_one_process(const struct machine *m, int32_t a, int32_t b)
{
	return !nccl_is_rack(m) || nccl_tray(m, a) == nccl_tray(m, b);
}

double nccl_far_ring(double cc)
{
	return cc > 0 && cc < 80 ? 1.9 : 1.4;
}

int nccl_generation(double cc)
{
	return cc == 0 ? 1 : cc < 80 ? 0 : cc < 90 ? 1 : cc < 100 ? 2 : 3;
}

const char *protocol_name(enum protocol p)
{
	static const char *const names[PROTOCOLS] = {"ll", "ll128", "simple"};

	return names[p];
}

double protocol_wire(enum protocol p)
{
	static const double wire[PROTOCOLS] = {2, 128. / 120, 1};

	return wire[p];
}

int nccl_log2(double x)
{
	int exponent;

	frexp(x, &exponent);
	return exponent - 1;
}
