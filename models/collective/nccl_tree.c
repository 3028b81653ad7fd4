/*
 * tree: all-reduce of V over m >= 2 nodes. Two binary trees over the nodes, each of
 * half the array and each node inner in at most one of them; inside a node a chain,
 * whose entry rotates by channel.
 *   rounds  one; steps 2(g-1) inside and 2 floor(log2 m) across
 *   bytes   inside, from each device V(g-1)/g up the chain and as much down, 2V(g-1)/g
 *           from its port; between nodes V/2 up and V/2 down each edge, over the rails: a
 *           node sends and receives V for m = 2, at most 2V for m >= 3
 *   cost    base - base(LL) + 2(g-1) step l_i + 2 floor(log2 m) net_step l_n
 *           + w + 2 sqrt(w fill), with net_fill_s for each crossing one way, so
 *           fill = floor(log2 m) net_fill_s; with Simple 2(g-1) c/b for the last term, in chunks of
 *           c = min(V/C, net_chunk_bytes) on C channels, where b is one link's or, if
 *           that is less, one channel's (channel_Bps)
 *   least   2V over what the library's model lets the channels of a tree carry, L; where
 *           net_rendezvous_s is given 2 floor(log2 m) of it, with Simple + L and, for each
 *           level after the first, L C c/V
 *   need    V on every device
 * Source: NCCL, src/graph/trees.cc, src/enqueue.cc (models/README.md, "Collectives").
 */
#include "collective/nccl.h"
#include "collective/nccl_data.h"

#include <math.h>

static bool tree_applies(const struct nccl_group *g, enum op op, enum protocol p)
{
	(void)p;
	return op == OP_ALL_REDUCE && g->nodes > 1;
}

static void tree_messages(struct schedule *out, const struct nccl_group *g, enum op op,
                          double bytes)
{
	(void)op;
	for (int32_t k = 0; k < g->nodes; k++) {
		int32_t n = g->start[k + 1] - g->start[k];

		nccl_inside(out, g, k, 2 * bytes * (n - 1) / n);
	}
	nccl_double_tree(out, g, bytes);
}

double nccl_tree_crossings(const struct nccl_group *g, enum op op)
{
	(void)op;
	return 2 * nccl_log2(g->nodes);
}

static double tree_steps_s(const struct nccl_group *g, enum op op, enum protocol p)
{
	const struct nccl_data *d = &nccl_data;
	double inside = 2 * (g->per_node - 1), across = nccl_tree_crossings(g, op);

	return 1e-6 * (d->base_us[NCCL_TREE][p] - d->base_us[NCCL_TREE][PROTOCOL_LL] +
	               inside * nccl_inside_us(g, NCCL_TREE, p) +
	               across * nccl_across_us(g, NCCL_TREE, p));
}

/*
 * The most that the library's model lets a channel of a tree carry. Forced trees of B200 take just
 * that, 96 ms over two nodes and 175 over 4 to 46 for 16 GiB (use3a-b200-0502-*-tree), where their
 * wires would take 45 and 90; and six of seven logs of two nodes of A100 show rings, which are
 * faster than such trees.
 */
static double tree_least_s(const struct nccl_group *g, enum op op, enum protocol p,
                           double bytes)
{
	const struct nccl_data *d = &nccl_data;
	double cc = g->machine->tuning.value[TUNING_CC], GBps;
	int row = nccl_generation(cc), column = g->nodes == 2 ? 1 : 2;

	(void)op;
	if (cc == 0)
		return 0;
	GBps = (p == PROTOCOL_LL128 ? d->tree_ll128_GBps : d->tree_GBps)[row][column];
	if (p == PROTOCOL_LL)
		GBps /= 3.8;
	return bytes / (1e9 * GBps * nccl_tree_channels(g) / 2);
}

/* Returns the bytes of a chunk of Simple, of which each channel passes one on at a time. */
static double chunk_bytes(const struct nccl_group *g, double bytes)
{
	return fmin(bytes / nccl_net_channels(g),
	            g->machine->tuning.value[TUNING_NET_CHUNK_BYTES]);
}

/*
 * What goes over an edge and rail; LL cuts it into parts of less than 16 KiB. With Simple the
 * first chunk meets its receiver at each level, and only then are the wires busy; it is passed on
 * as a whole, so each level after the first adds its way there and back: over 256 nodes of
 * Polaris, of eight levels, 32 and 64 MiB take 2.2 and 2.6 ms more than the wires
 * (polaris-2_21-n256-all_reduce).
 */
static double tree_meet_s(const struct nccl_group *g, enum op op, enum protocol p,
                          double bytes)
{
	int levels = nccl_log2(g->nodes);
	double meet_s = nccl_rendezvous_s(g, 2 * levels, bytes / 2 / g->per_node),
	       busy_s;

	if (p == PROTOCOL_LL || meet_s == 0)
		return 0;
	if (p != PROTOCOL_SIMPLE)
		return meet_s;
	busy_s = tree_least_s(g, op, p, bytes);
	return meet_s + busy_s +
	       (levels - 1) * busy_s * chunk_bytes(g, bytes) * nccl_net_channels(g) /
	               bytes;
}

/*
 * The library makes chunks smaller for smaller arrays, but not those of a tree with Simple: what
 * is less than a chunk for each channel waits as a whole at every device of the chain, which a
 * channel passes over one link of NVLink. The edge between nodes and its way back are the
 * wires' time; what further ones add, timings of 4 to 16 nodes do not show.
 */
static double tree_chunks_s(const struct nccl_group *g, enum op op, enum protocol p,
                            double bytes, double wire_s)
{
	const double *tuning = g->machine->tuning.value;
	double link_Bps =
		1e9 * nccl_data.nvlink_GBps[nccl_generation(tuning[TUNING_CC])];

	(void)op;
	(void)wire_s;
	if (p != PROTOCOL_SIMPLE || tuning[TUNING_CC] == 0)
		return -1;
	if (tuning[TUNING_CHANNEL_BPS] > 0)
		link_Bps = fmin(link_Bps, tuning[TUNING_CHANNEL_BPS]);
	return 2 * (g->per_node - 1) * chunk_bytes(g, bytes) / link_Bps;
}

const struct nccl_algorithm nccl_tree = {
	.name = "tree",
	.help = "all-reduce in two binary trees over the nodes, a chain inside each",
	.kind = NCCL_TREE,
	.applies = tree_applies,
	.messages = tree_messages,
	.steps_s = tree_steps_s,
	.least_s = tree_least_s,
	.crossings = nccl_tree_crossings,
	.meet_s = tree_meet_s,
	.chunks_s = tree_chunks_s,
};
