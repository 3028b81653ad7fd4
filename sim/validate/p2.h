/*
 * The published simulator (Xie et al. 2022, 5), as recovered from its printed figures:
 * the independent measure of the clocks, which know none of its rules.
 *
 * No latency, no overlap: a program takes the sum over its steps, a step the largest,
 * over links, of the bytes on the link / its bandwidth. Each group is a ring over its
 * devices node by node with device_ring_hop_bytes() on every hop, so it puts that once
 * out of and once into every node it touches when there are several; the one NIC of a
 * node carries what all groups of the step put on it. Inside a node:
 *   A100  one switch, to each GPU switch_Bps; no two groups meet
 *   V100  eight GPUs on a ring of NVLink, nvlink_Bps each way; neighbours in a group that
 *         are none on the ring go over PCIe (pcie_Bps, one switch per two GPUs), and
 *         between the two halves of the node over a bridge of nic_Bps each way
 * Of V100 groups inside a node the published figures show all eight GPUs and four in a
 * row, closed over PCIe; the rule for others is ours. Its bridge explains what the
 * paper measured on pairs across the halves (9.37 s; 10 s by this rule).
 *
 * With `tree`, for the paper's measurements under NCCL_ALGO=Tree: an all-reduce between
 * nodes puts D once out of and once into each of two nodes, 2 D of three or more (a
 * leaf of one tree, an inner node of the other). That model is ours; the paper does not
 * show its own.
 */
#ifndef SHARDSIM_SIM_VALIDATE_P2_H
#define SHARDSIM_SIM_VALIDATE_P2_H

#include "placement/search.h"

struct p2_system {
	const char *name;
	int32_t gpus; /* how many a node has; nodes are consecutive devices */
	double nic_Bps;
	double switch_Bps; /* 0 where there is no switch, but the next two */
	double nvlink_Bps, pcie_Bps;
	bool tree; /* all-reduces between nodes are double binary trees */
};

/*
 * The paper's "GB/s" act as GiB/s: NIC 8 (100 Gb/s used at 60 %), NVSwitch 270 (90 % of
 * 300), NVLink ring 135 (90 % of 150), PCIe 32. Its times are those of ten runs of
 * PLACEMENT_PAYLOAD_BYTES per GPU.
 */
extern const struct p2_system p2_a100, p2_v100;
enum { P2_RUNS = 10 };

/*
 * Returns the system whose nodes are the last level of a hierarchy: p2_a100 for 16
 * GPUs, p2_v100 for 8, NULL for another size.
 */
const struct p2_system *p2_system_of(const struct hierarchy *h);

/*
 * Returns the seconds of a step before which each member with data holds `held_bytes`.
 */
double p2_step_s(const struct p2_system *p2, const struct reduction_step *step,
                 double held_bytes);

/* Does the same as a clock for searches; `self` is a const struct p2_system. */
double p2_clock(void *self, const struct reduction_step *step, double held_bytes,
                struct text *why);

/*
 * Returns the seconds of all steps, for `payload_bytes` on every device at the start.
 */
double p2_reduction_s(const struct p2_system *p2, const struct reduction *r,
                      double payload_bytes);

#endif
