/*
 * sends: all-to-all of S per device as plain sends; the library has no model of them. n
 * devices, m nodes of g each.
 *
 *   rounds  one
 *   bytes   all-to-all inside: S(g-1)/n, and where a switch joins the node, what is for
 *           other rails of other nodes goes to the device of that rail first, S(n-g)/n
 *           (g-1)/g more. Across, over the rails: S(n-g)/n from each device, over the
 *           share that plain sends reach of a NIC
 *   cost    (g-1) send_s + (n-g) net_send_s + w, and what the caller adds where one process
 *           runs all devices. m = 1: + 2 sqrt(w fill), but not over direct links of AMD's
 *           devices, + a step of Simple where messages are too large for LL, and w is
 *           what channels take, if that is more (nccl_channels_s()), or blocks, or wires
 *           that are slower than links say (nccl_sends_wires()).
 *           m > 1: + a step of Simple for each eight peers across, a call's 6 us, and first
 *           chunks (nccl_sends_far_s(), nccl_sends_chunks_s())
 *   need    3S on every device
 * On switches, only what each port carries counts: one message to the next device of
 * the node and one to the next node stand for all. Elsewhere messages run between the
 * pairs that exchange data, rail by rail. Each node and each rail is a task, as none
 * waits for another. Nodes with unequally many members: one task, of what each port
 * carries where all have switches and two members or more, else between all pairs.
 * Source: NCCL's PXN (models/README.md, "Collectives").
 */
#include "collective/nccl.h"
#include "collective/nccl_data.h"

#include <math.h>

static bool sends_applies(const struct nccl_group *g, enum op op, enum protocol p)
{
	(void)g;
	return op == OP_ALL_TO_ALL && p == PROTOCOL_SIMPLE;
}

static void send_pair(struct schedule *out, const struct nccl_group *g, int32_t src,
                      int32_t dst, double bytes)
{
	int f = machine_fabric(g->machine, g->ids[src], g->ids[dst]);
	double share = g->machine->tuning.value[TUNING_NET_SEND_SHARE];

	if (nccl_is_network(g->machine, f))
		bytes /= share;
	schedule_message(out, f, g->ids[src], g->ids[dst], bytes);
}

/* Adds the sends among the members from `node` on that share a node. */
static void sends_inside(struct schedule *out, const struct nccl_group *g, int32_t node,
                         double bytes)
{
	int32_t per = g->per_node;
	double other_rails = (double)(g->n - per) / per;
	bool ports = nccl_switch(g, false) && per > 1;

	schedule_task(out, 1);
	for (int32_t i = node; i < node + per; i++) {
		if (ports) {
			send_pair(out, g, i, node + (i + 1) % per,
			          bytes / g->n * (per - 1) * (1 + other_rails));
			continue;
		}
		for (int32_t k = node; k < node + per; k++)
			if (k != i)
				send_pair(out, g, i, k, bytes / g->n);
	}
}

/* Adds the sends among the members `rail` of all nodes. */
static void across(struct schedule *out, const struct nccl_group *g, int32_t rail,
                   double bytes)
{
	int32_t per = g->per_node;
	bool ports = nccl_switch(g, true);

	schedule_task(out, 1);
	for (int32_t i = rail; i < g->n; i += per) {
		if (ports) {
			send_pair(out, g, i, (i + per) % g->n,
			          bytes / g->n * (g->n - per));
			continue;
		}
		for (int32_t k = rail; k < g->n; k += per)
			if (k != i)
				send_pair(out, g, i, k, bytes / g->n * per);
	}
}

/* Lists the members of the nodes with `most` members or less; returns how many. */
static int32_t list_members(int32_t *member, const struct nccl_group *g, int32_t most)
{
	int32_t n = 0;

	for (int32_t k = 0; k < g->nodes; k++)
		for (int32_t i = g->start[k];
		     i < g->start[k + 1] && g->start[k + 1] - g->start[k] <= most; i++)
			member[n++] = i;
	return n;
}

/*
 * Returns the members of the largest node that has less than `below`; 0 if none has. A
 * member of a node of m sends n - m of the n parts to others: those of smaller nodes send
 * more, on top of what all send.
 */
static int32_t next_size(const struct nccl_group *g, int32_t below)
{
	int32_t size = 0;

	for (int32_t k = 0; k < g->nodes; k++) {
		int32_t m = g->start[k + 1] - g->start[k];

		size = m < below && m > size ? m : size;
	}
	return size;
}

/*
 * Returns whether there are ports, each of one member, for rings inside the nodes and across,
 * and no node of one member, which alone makes no ring.
 */
static bool has_ports(const struct nccl_group *g)
{
	const struct machine *m = g->machine;

	if (g->nodes < 2 || !nccl_switch(g, true) ||
	    m->fabric[machine_fabric(m, g->ids[0], g->ids[g->start[1]])].share > 1)
		return false;
	for (int32_t k = 0; k < g->nodes; k++) {
		const int32_t *ids = g->ids + g->start[k];

		if (g->start[k + 1] - g->start[k] < 2 ||
		    m->fabric[machine_fabric(m, ids[0], ids[1])].geometry !=
		            GEOMETRY_SWITCH)
			return false;
	}
	return true;
}

/*
 * Adds what the ports carry in nodes of unequal size: rings inside, and on the network one
 * ring for each size of nodes, over the members of nodes of that size and smaller ones.
 */
static void uneven_ports(struct schedule *out, const struct nccl_group *g, double part)
{
	int32_t *member = arena_alloc(out->arena, (size_t)g->n, sizeof(*member));
	int net = machine_fabric(g->machine, g->ids[0], g->ids[g->start[1]]);
	double share = g->machine->tuning.value[TUNING_NET_SEND_SHARE];
	int32_t m = next_size(g, g->n), sent = 0;

	for (; m > 0; sent = g->n - m, m = next_size(g, m)) {
		int32_t n = list_members(member, g, m);

		for (int32_t i = 0; i < n; i++)
			schedule_message(out, net, g->ids[member[i]],
			                 g->ids[member[i + 1 < n ? i + 1 : 0]],
			                 part * (g->n - m - sent) / share);
	}
	for (int32_t k = 0; k < g->nodes; k++) {
		int32_t first = g->start[k], size = g->start[k + 1] - first;

		for (int32_t i = 0; i < size; i++)
			send_pair(out, g, first + i, first + (i + 1) % size,
			          part * (size - 1));
	}
}

static void sends_messages(struct schedule *out, const struct nccl_group *g, enum op op,
                           double bytes)
{
	(void)op;
	if (nccl_even(g)) {
		for (int32_t node = 0; node < g->n; node += g->per_node)
			sends_inside(out, g, node, bytes);
		for (int32_t rail = 0; rail < g->per_node && g->nodes > 1; rail++)
			across(out, g, rail, bytes);
		return;
	}
	if (has_ports(g)) {
		uneven_ports(out, g, bytes / g->n);
		return;
	}
	for (int32_t i = 0; i < g->n; i++)
		for (int32_t k = 0; k < g->n; k++)
			if (k != i)
				send_pair(out, g, i, k, bytes / g->n);
}

/* Returns whether one process runs all members where it runs all devices of a host. */
static bool one_process(const struct nccl_group *g)
{
	for (int32_t i = 1; i < g->n; i++)
		if (!nccl_one_process(g->machine, g->ids[0], g->ids[i]))
			return false;
	return g->nodes == 1;
}

static double sends_steps_s(const struct nccl_group *g, enum op op, enum protocol p)
{
	const double *tuning = g->machine->tuning.value;

	(void)op;
	(void)p;
	return (g->per_node - 1) * tuning[TUNING_SEND_S] +
	       nccl_peers_across(g) * tuning[TUNING_NET_SEND_S] +
	       (one_process(g) ? nccl_callers[g->machine->launch].node_sends_s : 0);
}

/* Each eight peers are a step (nccl_sends_far_s()). */
static double sends_crossings(const struct nccl_group *g, enum op op)
{
	(void)op;
	return nccl_send_batches(nccl_peers_across(g));
}

static double sends_large_s(const struct nccl_group *g, double bytes)
{
	return g->nodes > 1 ? nccl_sends_far_s(g->machine, nccl_peers_across(g))
	                    : nccl_sends_large_s(g->machine, g->n - 1, bytes / g->n);
}

static double sends_chunks_s(const struct nccl_group *g, enum op op, enum protocol p,
                             double bytes, double wire_s)
{
	(void)op;
	(void)p;
	return g->nodes > 1 ? nccl_sends_chunks_s(g->machine, nccl_peers_across(g),
	                                          bytes / g->n, wire_s)
	                    : -1;
}

/*
 * Where the rings are few, so are the channels, and one peer after another has them: all-to-alls
 * among 5, 6 and 7 MI355X send 61 GB/s in all, what one link carries (mi355x-node6100-724). The block
 * of a channel copies a device's own part as well, and in all 1.2 times what a channel sends: two
 * B200 exchange 432 GB/s and four 614 (aicr-b200-2g-a2a, aicr-b200-4g-a2a).
 */
static double sends_least_s(const struct nccl_group *g, enum op op, enum protocol p,
                            double bytes)
{
	double least_s, slow;

	(void)op;
	(void)p;
	if (g->nodes > 1)
		return 0;
	if (nccl_few_rings(g))
		return bytes / g->n * (g->n - 1) / nccl_slowest_Bps(g);
	least_s = fmax(nccl_channels_s(g->machine, g->n, g->n - 1, bytes / g->n),
	               nccl_blocks_s(g->machine, bytes));
	slow = fmax(nccl_slow_wires(g, false), nccl_sends_wires(g->machine, g->n - 1));
	if (slow > 1 && nccl_paired(g))
		least_s = fmax(least_s, slow * bytes / g->n *
		                                (nccl_switch(g, false) ? g->n - 1 : 1) /
		                                nccl_slowest_Bps(g));
	return least_s;
}

const struct nccl_algorithm nccl_sends = {
	.name = "sends",
	.help = "all-to-all as plain sends between the pairs",
	.kind = NCCL_NONE,
	.applies = sends_applies,
	.messages = sends_messages,
	.steps_s = sends_steps_s,
	.least_s = sends_least_s,
	.crossings = sends_crossings,
	.chunks_s = sends_chunks_s,
	.large_s = sends_large_s,
};
