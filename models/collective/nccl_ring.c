/*
 * ring: channels of n devices, each sending to the next, through node after node; the
 * channels of a node enter and leave it by different members, so they share its NICs.
 *
 * All-gather, reduce-scatter of V: each device sends v = V(n-1)/n, all-reduce v =
 * 2V(n-1)/n, broadcast and reduce (a chain, pipelined) v = V.
 *   rounds  one; steps n - 1 (all-reduce 2(n-1)), of which m (2m) cross between the m
 *           nodes: what leaves the first of a node's g members passes all edges but one
 *           inside that node. m - 1 (2(m-1)) where g is 1, and in a chain. The library's
 *           own model has m - 1 throughout
 *   bytes   m = 1: v from each to the next. m > 1, g per node: v(g-1)/g inside and v/g from
 *           each NIC to the same rail of the next node. A chain does not close: nothing
 *           leaves its last device (m > 1: node).
 *   least   m = 1: slowness() times what v takes on a switch, and with LL from Hopper on at the
 *           bandwidth that the library's model has for it; v in few channels where they limit it
 *           (nccl_few_channels)
 *   cost    base - base(LL) + (steps inside) step l_i + (steps across) net_step l_n
 *           + w + 2 sqrt(w fill), with l_i, l_n by protocol (from Hopper on one node sqrt(w
 *           fill) for a chain called in a row and no fill with LL and LL128, which AMD's GPUs
 *           have not either; no fill but for chains over nodes where net_rendezvous_s is given:
 *           nccl_choose.c); for m > 1
 *           step l_i is net_post_s (Simple: three times that) or more, for every step
 *           waits for a message that is posted to a NIC; and the steps of Simple over
 *           several nodes 1.4 or 1.9 times as long (nccl_far_ring). Steps of Simple pass while
 *           wires are busy, for w/2 at most, in an all-reduce, all-gather or reduce-scatter
 *           over several nodes, behind one switch from Hopper on, or in few channels
 *   need    V on every device
 * Source: NCCL (models/README.md, "Collectives").
 */
#include "collective/nccl.h"
#include "collective/nccl_data.h"

#include <math.h>

static bool nccl_ring_applies(const struct nccl_group *g, enum op op, enum protocol p)
{
	(void)g;
	(void)p;
	return op == OP_ALL_REDUCE || op == OP_ALL_GATHER || op == OP_REDUCE_SCATTER ||
	       op == OP_BROADCAST || op == OP_REDUCE;
}

static bool chain(enum op op)
{
	return op == OP_BROADCAST || op == OP_REDUCE;
}

/* Adds a chain inside one node of a switch, in which all but the last pass V on. */
static void one_chain(struct schedule *out, const struct nccl_group *g, enum op op,
                      double bytes)
{
	for (int32_t i = 0; i + 1 < g->n; i++) {
		int32_t src = g->ids[op == OP_REDUCE ? i + 1 : i];
		int32_t dst = g->ids[op == OP_REDUCE ? i : i + 1];

		schedule_message(out, machine_fabric(g->machine, src, dst), src, dst,
		                 bytes);
	}
}

/* Returns the bytes that each device sends. */
static double bytes_sent(const struct nccl_group *g, enum op op, double bytes)
{
	double once = chain(op) ? bytes : bytes * (g->n - 1) / g->n;

	return op == OP_ALL_REDUCE ? 2 * once : once;
}

static void nccl_ring_messages(struct schedule *out, const struct nccl_group *g,
                               enum op op, double bytes)
{
	double sent = bytes_sent(g, op, bytes);

	if (g->nodes == 1) {
		if (chain(op) && nccl_switch(g, false))
			one_chain(out, g, op, bytes);
		else
			nccl_inside(out, g, 0, sent);
		return;
	}
	for (int32_t k = 0; k < g->nodes; k++) {
		int32_t next = k + 1 == g->nodes ? 0 : k + 1;
		int32_t members = g->start[k + 1] - g->start[k];

		nccl_inside(out, g, k, sent * (members - 1) / members);
		if (chain(op) && next == 0)
			continue;
		if (op == OP_REDUCE)
			nccl_across(out, g, next, k, sent);
		else
			nccl_across(out, g, k, next, sent);
	}
}

static bool nccl_ring_overlaps(const struct nccl_group *g, enum op op)
{
	return chain(op) && nccl_callers[g->machine->launch].in_a_row;
}

/* Returns how many steps of the longest way cross between nodes. */
static double crossings(const struct nccl_group *g, enum op op)
{
	bool all = g->nodes > 1 && g->per_node > 1 && !chain(op);

	return (op == OP_ALL_REDUCE ? 2 : 1) * (all ? g->nodes : g->nodes - 1);
}

static double nccl_ring_steps_s(const struct nccl_group *g, enum op op, enum protocol p)
{
	const struct nccl_data *d = &nccl_data;
	const double *tuning = g->machine->tuning.value;
	int twice = op == OP_ALL_REDUCE ? 2 : 1;
	double across = crossings(g, op), inside = twice * (g->n - 1) - across;
	double inside_us = nccl_inside_us(g, NCCL_RING, p), steps_us;

	if (g->nodes > 1)
		inside_us = fmax(inside_us, (p == PROTOCOL_SIMPLE ? 3 : 1) * 1e6 *
		                                    tuning[TUNING_NET_POST_S]);
	steps_us = inside * inside_us + across * nccl_across_us(g, NCCL_RING, p);
	if (g->nodes > 1 && p == PROTOCOL_SIMPLE)
		steps_us *= nccl_far_ring(tuning[TUNING_CC]);
	return 1e-6 * (d->base_us[NCCL_RING][p] - d->base_us[NCCL_RING][PROTOCOL_LL] +
	               steps_us);
}

/*
 * What fits the buffers of LL is passed on whole: in a loop each call of a chain takes a launch and
 * the step to its neighbour, and a call's share if that is on another node, on 128 devices of 16
 * nodes as on 8 of one (abci-a100-bcast: 7.5 us). Larger arrays wait for room more and more; from
 * 256 KiB on those logs and vp-h100-4n-* have all the steps. Where one process launches a node's
 * devices one after another, a device begins later than the one before by as much as that
 * takes, and waits for it so much less, whatever the size: broadcasts of 1 and 4 MiB over 8 of B200
 * take 33 and 37 us, which is what their launches take (aicr-b200-1n-bcast). The library knows
 * nothing of that when it chooses, so a time may fall where it changes the protocol.
 */
static double nccl_ring_saved_s(const struct nccl_group *g, enum op op, enum protocol p,
                                double bytes)
{
	const struct machine *m = g->machine;
	double room = fmax(0, 1 - bytes / (256 * 1024.));
	bool inside = g->per_node > 1;
	double step_us, call_us = inside && g->nodes > 1 ? nccl_data.net_call_us : 0;
	double ll_s = 0, later_s = 0;

	if (!nccl_ring_overlaps(g, op))
		return 0;
	step_us = inside ? nccl_inside_us(g, NCCL_RING, p)
	                 : nccl_across_us(g, NCCL_RING, p);
	if (p == PROTOCOL_LL)
		ll_s = room * (nccl_ring_steps_s(g, op, p) + 1e-6 * (call_us - step_us));
	if (nccl_callers[m->launch].one_process && g->nodes == 1)
		later_s = (g->n - 2) *
		          fmin(1e-6 * step_us, m->tuning.value[TUNING_LAUNCH_EACH_S]);
	return fmax(ll_s, later_s);
}

/*
 * A step passes a part of the array on, with Simple in two slices of each channel where they are
 * 32 KiB or longer (collectives.h, prims_simple.h of the library); a pipelined chain has no such
 * steps. On Polaris a crossing of such gathers takes twice what one of smaller parts does, over 2
 * and 8 nodes alike (polaris-software-all_gather-*: 120 us up to 128 KiB, 205 to 245 from 256).
 */
static double nccl_ring_meet_s(const struct nccl_group *g, enum op op, enum protocol p,
                               double bytes)
{
	double part = bytes / g->n, slices = 1;

	if (chain(op))
		return 0;
	if (g->nodes > 1 && p == PROTOCOL_SIMPLE &&
	    part / nccl_net_channels(g) >= 64 * 1024)
		slices = 2;
	return nccl_rendezvous_s(g, slices * crossings(g, op), part);
}

/*
 * Returns how many times as long as its links say a ring of one node takes: what the caller makes of
 * it, or its blocks. To gather or scatter a block copies n parts and sends n - 1 of them
 * (all_gather.h and reduce_scatter.h in src/device of the library), of an all-reduce 2n - 1 and
 * 2n - 2. From Hopper on the links of a channel are so fast that the block limits a pair, which
 * copies twice what it sends. Fours are as measured, on H100 and GB200 alike, and threes are
 * taken as fours.
 */
static double slowness(const struct nccl_group *g, enum op op)
{
	bool copies = op == OP_ALL_GATHER || op == OP_REDUCE_SCATTER;
	double slow = nccl_slow_wires(g, op != OP_ALL_GATHER && op != OP_BROADCAST);

	if (!copies || nccl_generation(g->machine->tuning.value[TUNING_CC]) < 2)
		return slow;
	return fmax(slow, nccl_small_group(g));
}

static double nccl_ring_least_s(const struct nccl_group *g, enum op op, enum protocol p,
                                double bytes)
{
	double wire_bytes = bytes_sent(g, op, bytes) * protocol_wire(p), lines_s = 0,
	       slow;
	int row = nccl_generation(g->machine->tuning.value[TUNING_CC]);

	if (nccl_few_channels(g))
		return wire_bytes / nccl_few_channels(g) / nccl_data.few_channel_Bps;
	if (g->nodes > 1 || g->n < 2 || !nccl_switch(g, false))
		return 0;
	if (p == PROTOCOL_LL && row >= 2)
		lines_s = bytes_sent(g, op, bytes) / (1e9 * nccl_data.ll_GBps[row][0]);
	slow = slowness(g, op);
	return fmax(lines_s, slow > 1 ? slow * wire_bytes / nccl_slowest_Bps(g) : 0);
}

const struct nccl_algorithm nccl_ring = {
	.name = "ring",
	.help = "rings over all devices, node after node; a chain for broadcast and "
		"reduce",
	.kind = NCCL_RING,
	.applies = nccl_ring_applies,
	.messages = nccl_ring_messages,
	.steps_s = nccl_ring_steps_s,
	.overlaps = nccl_ring_overlaps,
	.saved_s = nccl_ring_saved_s,
	.least_s = nccl_ring_least_s,
	.crossings = crossings,
	.meet_s = nccl_ring_meet_s,
};
