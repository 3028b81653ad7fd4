/*
 * NCCL's own model of its time (src/graph/tuning.cc, ncclTopoTuneModel and
 * ncclTopoGetAlgoTime). It ranks pairs of algorithm and protocol;
 * it is no prediction.
 */
#include "collective/nccl.h"
#include "collective/nccl_data.h"

#include <math.h>

static int column(int32_t nodes)
{
	return nodes <= 2 ? (int)nodes - 1 : 2;
}

/*
 * Returns the cap of LL, which goes by the GPU on one node and by the hosts' processors
 * on more.
 */
static double ll_cap(const struct nccl_case *c)
{
	int row = c->nodes == 1 ? nccl_generation(c->cc) : c->amd ? 1 : 0;

	return nccl_data.ll_GBps[row][column(c->nodes)];
}

static double ring_bus(const struct nccl_case *c, double bus, enum protocol p)
{
	int row = nccl_generation(c->cc), channels = c->graph[NCCL_RING].channels;

	if (p == PROTOCOL_LL)
		return fmin(ll_cap(c), bus / 2);
	if (p == PROTOCOL_LL128)
		return fmin(0.92 * bus,
		            channels * nccl_data.ring_ll128_GBps[row][column(c->nodes)]);
	return bus;
}

static double tree_bus(const struct nccl_case *c, double bus, enum protocol p)
{
	int row = nccl_generation(c->cc), channels = c->graph[NCCL_TREE].channels;
	int col = column(c->nodes);

	bus = fmin(nccl_data.tree_share * bus, channels * nccl_data.tree_GBps[row][col]);
	if (p == PROTOCOL_LL)
		return fmin(bus / 3.8, ll_cap(c));
	if (p == PROTOCOL_LL128)
		return fmin(bus * (c->nodes == 1 ? 7. / 9 : 120. / 128),
		            channels * nccl_data.tree_ll128_GBps[row][col]);
	return bus;
}

static double nvls_bus(const struct nccl_case *c, enum nccl_kind kind)
{
	const struct nccl_graph *g = &c->graph[kind];
	double per_node = (double)c->n / c->nodes, channels = g->channels;
	int row = nccl_generation(c->cc), col = column(c->nodes);
	double intra = g->intra_GBps * nccl_data.nvls_efficiency[row];
	double inter = g->inter_GBps * (c->nodes == 2 ? 2 : 1);

	if (channels < 2)
		return 0;
	/*
	 * The source has the efficiency for gathers as well. XLA's table for GB200 leaves the
	 * switch for LL128 and Simple between 64 and 128 MiB in groups of 16, 36 and 72 in
	 * groups of 18, and 256 and 512 in groups of 32. That fits the model without the
	 * efficiency and not with it. No table shows it of Hopper, where rings rank first.
	 */
	if (c->op != OP_ALL_REDUCE)
		intra = g->intra_GBps;
	intra *= (channels - 1) / channels;
	intra *= c->op == OP_ALL_REDUCE ? 2 : (per_node - 1) / per_node;
	if (kind == NCCL_NVLS)
		return channels * intra;
	return channels * fmin(fmin(intra, inter), nccl_data.nvls_tree_GBps[row][col]);
}

/* Returns the GB/s by which V is divided. */
static double algorithm_GBps(const struct nccl_case *c, enum nccl_kind kind,
                             enum protocol p)
{
	const struct nccl_graph *g = &c->graph[kind];
	double bus = g->channels * (c->nodes <= 2 ? g->intra_GBps : g->inter_GBps);
	double n = c->n, steps = c->op == OP_ALL_REDUCE ? 2 * (n - 1) : n - 1;
	double size = floor(c->bytes / 64), speed;

	switch (kind) {
	case NCCL_RING:
		if (c->op == OP_BROADCAST || c->op == OP_REDUCE)
			steps = n;
		return ring_bus(c, bus, p) * n / steps;
	case NCCL_TREE:
		speed = tree_bus(c, bus, p) / 2;
		if (size >= 1 && nccl_log2(size) < 23)
			speed *= nccl_data.tree_correction[p][nccl_log2(size)];
		return speed;
	case NCCL_NVLS:
	case NCCL_NVLS_TREE:
		return nvls_bus(c, kind) * n / steps;
	default:
		return 0.75 * bus;
	}
}

/* Returns a step across nodes; with Simple a flush follows. */
static double across_us(const struct nccl_case *c, enum nccl_kind kind, enum protocol p)
{
	return nccl_data.net_us[kind][p] +
	       c->net_latency_us * (p == PROTOCOL_SIMPLE ? 2 : 1);
}

static double ring_latency(const struct nccl_case *c, enum protocol p)
{
	const struct nccl_data *d = &nccl_data;
	double inside = d->nvlink_us[NCCL_RING][p], overhead = 0, latency;
	double across = across_us(c, c->n == c->nodes ? NCCL_TREE : NCCL_RING, p);
	double twice = c->op == OP_ALL_REDUCE ? 2 : 1;
	double far = twice * (c->nodes - 1), steps = twice * (c->n - 1);
	int channels = c->graph[NCCL_RING].channels;

	if (c->op == OP_BROADCAST || c->op == OP_REDUCE)
		return d->base_us[NCCL_RING][p] + (c->nodes > 1 ? across : inside);
	if (c->nodes > 1)
		overhead = d->net_overhead_us * (p == PROTOCOL_SIMPLE ? 3 : 1);
	latency = d->base_us[NCCL_RING][p] + (steps - far) * fmax(inside, overhead) +
	          far * across;
	if (p == PROTOCOL_SIMPLE && c->op == OP_ALL_REDUCE && c->nodes > 1 &&
	    c->bytes / (channels * (double)c->n) >= 64)
		latency *= nccl_far_ring(c->cc);
	return latency;
}

static double latency_us(const struct nccl_case *c, enum nccl_kind kind, enum protocol p)
{
	const struct nccl_data *d = &nccl_data;
	double base = d->base_us[kind][p], inside = d->nvlink_us[kind][p];
	double across = across_us(c, c->n == c->nodes ? NCCL_TREE : kind, p);
	int levels = nccl_log2(c->nodes);

	switch (kind) {
	case NCCL_RING:
		return ring_latency(c, p);
	case NCCL_TREE:
		return base +
		       2 * (((double)c->n / c->nodes - 1) * inside + levels * across);
	case NCCL_NVLS:
		return base + inside;
	case NCCL_NVLS_TREE:
		return base + inside + 2 * levels * across;
	default:
		return base + levels * across / 3.5 + 2.8 * c->n;
	}
}

static bool allowed(const struct nccl_case *c, enum nccl_kind kind, enum protocol p)
{
	bool gathers = c->op == OP_ALL_GATHER || c->op == OP_REDUCE_SCATTER;
	bool simple = p == PROTOCOL_SIMPLE;

	switch (kind) {
	case NCCL_RING:
		return c->op != OP_ALL_TO_ALL && c->op != OP_PERMUTE;
	case NCCL_TREE:
		return c->op == OP_ALL_REDUCE;
	case NCCL_NVLS:
		return simple && c->nodes == 1 &&
		       (c->op == OP_ALL_REDUCE ||
		        (gathers && c->n <= nccl_data.nvls_arity));
	case NCCL_NVLS_TREE:
		return simple && c->nodes > 1 && c->op == OP_ALL_REDUCE;
	case NCCL_PAT:
		return simple && gathers && c->n == c->nodes;
	default:
		return false;
	}
}

double nccl_tuner_us(const struct nccl_case *c, enum nccl_kind kind, enum protocol p)
{
	double speed_GBps;

	if (!allowed(c, kind, p))
		return INFINITY;
	speed_GBps = algorithm_GBps(c, kind, p);
	if (speed_GBps <= 0)
		return INFINITY;
	return latency_us(c, kind, p) + c->bytes / (1000 * speed_GBps);
}

/*
 * Returns what the NICs of the first node carry to the second, over links it shares or
 * not, and stores how many links those are.
 */
static double node_GBps(const struct nccl_group *g, int *nics)
{
	const struct machine *m = g->machine;
	int32_t links[ROUTE_LINKS_MAX], first[64];
	double sum_Bps = 0;
	int nfirst = 0;

	for (int32_t i = 0; i < g->start[1] && g->start[1] + i < g->n; i++) {
		int32_t src = g->ids[i], dst = g->ids[g->start[1] + i];
		int f = machine_fabric(m, src, dst), k = 0;
		int n = machine_route(m, f, src, dst, links, ROUTE_LINKS_MAX);

		if (n < 1 || nfirst == 64)
			continue;
		while (k < nfirst && first[k] != links[0])
			k++;
		if (k < nfirst)
			continue;
		first[nfirst++] = links[0];
		sum_Bps += m->link[links[0]].bandwidth_Bps;
	}
	*nics = nfirst;
	return sum_Bps * 1e-9;
}

/* Returns what the platform says, unless that is nothing. */
static double said(const struct nccl_group *g, enum tuning_key key, double unit,
                   double rule)
{
	double value = g->machine->tuning.value[key];

	return value > 0 ? value / unit : rule;
}

int nccl_nvls_heads(const struct nccl_group *g)
{
	return g->per_node < nccl_data.nvls_arity ? g->per_node : nccl_data.nvls_arity;
}

/*
 * Returns the switch's graph of a group of one node. Each head has a channel, which its own links
 * carry twice and those of the other devices once. The search takes the fastest of its speeds at
 * which links have room for the channels of all heads (search.cc).
 */
static struct nccl_graph switch_graph(const struct nccl_group *g, int row)
{
	double links_GBps = nccl_data.links[row] * nccl_data.nvlink_GBps[row];
	const double *GBps = nccl_data.speeds_GBps[row];
	int heads = nccl_nvls_heads(g), i = 0;

	while (i + 1 < NCCL_SPEEDS && GBps[i + 1] > 0 &&
	       GBps[i] * (heads + 1) > links_GBps)
		i++;
	return (struct nccl_graph){heads, GBps[i], GBps[i]};
}

/* Returns whether the group is all of the devices behind its switch. */
static bool whole_node(const struct nccl_group *g)
{
	const struct machine *m = g->machine;
	int f = g->n > 1 ? machine_fabric(m, g->ids[0], g->ids[1]) : -1;

	return f >= 0 && m->fabric[f].ndomains > 0 &&
	       g->n == m->ndevices / m->fabric[f].ndomains;
}

/* Stores the graphs of one node: the platform's, or what is usual for its GPUs. */
static void node_graphs(struct nccl_case *c, const struct nccl_group *g)
{
	int row = nccl_generation(c->cc);
	struct nccl_graph ring = nccl_data.one_node[row], nvls = nccl_data.nvls[row];

	ring.channels = (int)said(g, TUNING_GRAPH_CHANNELS, 1, ring.channels);
	ring.intra_GBps = said(g, TUNING_GRAPH_BPS, 1e9, ring.intra_GBps);
	if (nvls.channels && g->nodes == 1)
		nvls = switch_graph(g, row);
	if (g->nodes > 1 || whole_node(g)) {
		nvls.channels =
			(int)said(g, TUNING_GRAPH_NVLS_CHANNELS, 1, nvls.channels);
		nvls.intra_GBps = said(g, TUNING_GRAPH_NVLS_BPS, 1e9, nvls.intra_GBps);
	}
	nvls.inter_GBps = nvls.intra_GBps;
	c->graph[NCCL_RING] = c->graph[NCCL_TREE] = c->graph[NCCL_PAT] = ring;
	c->graph[NCCL_NVLS] = c->graph[NCCL_NVLS_TREE] = nvls;
}

double nccl_enqueue_s(const struct machine *m, enum op op, int32_t n, double bytes)
{
	double cc = m->tuning.value[TUNING_CC];
	int row = nccl_generation(cc), blocks;

	if (op == OP_PERMUTE || (op == OP_ALL_TO_ALL && cc == 0))
		return 0;
	if (op == OP_ALL_TO_ALL)
		return 1e-6 * nccl_data.send_us[row] * (2. * n - 1);
	blocks = (int)fmax(1,
	                   fmin(nccl_data.one_node[row].channels, bytes / (4096. * n)));
	return 1e-6 * nccl_data.block_us[row] * (blocks - 1);
}

int nccl_net_channels(const struct nccl_group *g)
{
	int row = nccl_generation(g->machine->tuning.value[TUNING_CC]);

	return (int)said(g, TUNING_GRAPH_NET_CHANNELS, 1,
	                 nccl_data.channels_across[row]);
}

int nccl_tree_channels(const struct nccl_group *g)
{
	int nics;
	double GBps = node_GBps(g, &nics);
	bool twice = GBps >= 25 * nics && (g->machine->tuning.value[TUNING_CC] <= 80 ||
	                                   nics <= 4 || GBps >= 60 * nics);

	nics = nics < 1 ? 1 : nics;
	return twice ? 2 * nics : nics;
}

/*
 * Stores those of several nodes: as fast in all as the NICs of a node, trees up to twice as
 * fast inside, if links there are.
 */
static void net_graphs(struct nccl_case *c, const struct nccl_group *g)
{
	const struct nccl_graph *alone = &c->graph[NCCL_RING];
	int nics, channels = nccl_net_channels(g);
	double inside = alone->channels * alone->intra_GBps, node = node_GBps(g, &nics);
	double net = said(g, TUNING_GRAPH_NET_BPS, 1e9, node / channels);
	double tree = fmax(net, fmin(2 * net, inside / channels));
	struct nccl_graph *nvls = &c->graph[NCCL_NVLS_TREE];

	c->graph[NCCL_RING] = (struct nccl_graph){channels, net, net};
	c->graph[NCCL_TREE] = c->graph[NCCL_PAT] = c->graph[NCCL_RING];
	c->graph[NCCL_TREE].intra_GBps = said(g, TUNING_GRAPH_TREE_BPS, 1e9, tree);
	if (nvls->channels)
		nvls->inter_GBps = fmin(nvls->inter_GBps, node / nvls->channels);
}

struct nccl_case nccl_case_of(const struct nccl_group *g, enum op op, double bytes)
{
	const double *tuning = g->machine->tuning.value;
	struct nccl_case c = {.op = op,
	                      .n = g->n,
	                      .nodes = g->nodes,
	                      .cc = (int)tuning[TUNING_CC],
	                      .bytes = bytes};

	/* DGX A100 and its kin have AMD hosts, the others Intel's. */
	c.amd = nccl_generation(c.cc) == 1;
	c.net_latency_us = 1e6 * tuning[TUNING_NET_LATENCY_S];
	node_graphs(&c, g);
	if (g->nodes > 1)
		net_graphs(&c, g);
	return c;
}
