/*
 * nvls: a switch that multicasts and reduces (GPUs of compute capability 90 and up), in
 * one node of n >= 3 devices; all-gathers and reduce-scatters of up to 32. nvls-tree: the same
 * inside each of m >= 2 nodes, and two binary trees of the reduced array between them. The library
 * has neither for two devices of a node (ncclNvlsInit).
 *
 *   rounds  one
 *   bytes   all-reduce: through every port, each way, V to be reduced or multicast and
 *           V/n for the device's own share: V(n+1)/n; all-gather, reduce-scatter: V(n-1)/n;
 *           over the share of the links that a switch has, 0.92. Between nodes as in `tree`, over
 *           the rails.
 *   cost    nvls: c + 0.85 us h + w + (k - 1) h t + 2.25 w / k for an all-reduce, where h are the
 *           heads, at most 32 of the devices, k >= 1 the rounds of chunks that V takes
 *           (round_bytes()), t the turn of a head in one, and the last term the fill of the
 *           pipeline; c is 5 us and t 0.6 us on Hopper, 17 and 1.1 from Blackwell on. An
 *           all-gather or a reduce-scatter has half of the last two terms, because it is half
 *           of an all-reduce. nvls-tree: 30 us + 0.85 us h + 2 floor(log2 m) net_step l_n of a
 *           tree step + w + 1.3 (1 + floor(log2 m)) w / k, with h and k of one node and larger
 *           chunks (tree_round_bytes()): each level of the tree holds chunks
 *   least   nvls-tree: what the wires inside a node take and (k - 1) h t, where t is 1.4 us on
 *           Hopper and 3 from Blackwell on. While the NICs are slower, turns pass unseen
 *   need    V on every device
 * The messages are a shift by one: it loads every port alike, as the switch does.
 * NCCL_ALGO=NVLS disables rings for all-reduces alone (ncclTopoTuneModel). Gathers and scatters still
 * run them: logs of such gathers on 8 H100 and B200 have the times of rings to within 2 %.
 * Source: NCCL. An all-reduce of 16 GiB over eight goes at 277 GB/s on Hopper and 470 on Blackwell,
 * where 275 and 483 are measured (models/README.md, "Collectives").
 */
#include "collective/nccl.h"
#include "collective/nccl_data.h"

#include <math.h>

static bool switch_reduces(const struct nccl_group *g, enum protocol p)
{
	int row = nccl_generation(g->machine->tuning.value[TUNING_CC]);

	return p == PROTOCOL_SIMPLE && nccl_data.nvls_efficiency[row] > 0 &&
	       nccl_switch(g, false);
}

static bool nvls_applies(const struct nccl_group *g, enum op op, enum protocol p)
{
	bool half = op == OP_ALL_GATHER || op == OP_REDUCE_SCATTER;

	return (op == OP_ALL_REDUCE || (half && g->n <= nccl_data.nvls_arity)) &&
	       g->nodes == 1 && g->n > 2 && switch_reduces(g, p);
}

static bool nvls_tree_applies(const struct nccl_group *g, enum op op, enum protocol p)
{
	return op == OP_ALL_REDUCE && g->nodes > 1 && g->per_node > 2 && nccl_even(g) &&
	       switch_reduces(g, p);
}

/* Returns what every port carries each way, as if the switch had all of its links. */
static double port_bytes(const struct nccl_group *g, enum op op, double bytes)
{
	int32_t parts = op == OP_ALL_REDUCE ? g->per_node + 1 : g->per_node - 1;

	return nccl_slow_wires(g, op != OP_ALL_GATHER) * bytes / g->per_node * parts /
	       nccl_data.nvls_share;
}

static void nvls_inside(struct schedule *out, const struct nccl_group *g, enum op op,
                        double bytes)
{
	for (int32_t k = 0; k < g->nodes; k++)
		nccl_inside(out, g, k, port_bytes(g, op, bytes));
}

static void nvls_tree_messages(struct schedule *out, const struct nccl_group *g,
                               enum op op, double bytes)
{
	nvls_inside(out, g, op, bytes);
	nccl_double_tree(out, g, bytes);
}

static double nvls_steps_s(const struct nccl_group *g, enum op op, enum protocol p)
{
	int row = nccl_generation(g->machine->tuning.value[TUNING_CC]);

	(void)op;
	(void)p;
	return 1e-6 * ((g->nodes > 1 ? nccl_data.nvls_tree_us : nccl_data.nvls_us[row]) +
	               nccl_data.nvls_head_us * nccl_nvls_heads(g));
}

/* Returns how many chunks are on their way at once: each channel has one for each head. */
static double chunks_at_once(const struct nccl_group *g)
{
	int row = nccl_generation(g->machine->tuning.value[TUNING_CC]);

	return nccl_data.nvls_channels[row] * (double)nccl_nvls_heads(g);
}

/*
 * Returns the bytes of V that one round takes: a chunk for each channel and head, of 128 KiB, or of
 * less where V has few rounds (calcCollChunking in enqueue.cc of the library).
 */
static double round_bytes(const struct nccl_group *g, double bytes)
{
	double at_once = chunks_at_once(g), chunk = 128 * 1024;

	if (bytes < 64 * at_once * chunk)
		chunk = 64 * 1024;
	if (bytes < 8 * at_once * chunk)
		chunk = 32 * 1024;
	if (bytes < 2 * at_once * chunk)
		chunk = 16 * 1024;
	return at_once * chunk;
}

static double nvls_chunks_s(const struct nccl_group *g, enum op op, enum protocol p,
                            double bytes, double wire_s)
{
	int row = nccl_generation(g->machine->tuning.value[TUNING_CC]);
	double rounds = bytes / round_bytes(g, bytes);
	double phases = op == OP_ALL_REDUCE ? 1 : .5;

	(void)p;
	return phases * (1e-6 * nccl_data.nvls_turn_us[row] * nccl_nvls_heads(g) *
	                         fmax(0, rounds - 1) +
	                 nccl_data.nvls_rounds * wire_s / fmax(1, rounds));
}

double nccl_nvls_tree_chunk(const struct nccl_group *g, double bytes)
{
	double at_once = chunks_at_once(g), chunk = (g->nodes < 4 ? 128 : 64) * 1024;

	if (bytes < 4 * at_once * chunk)
		chunk = 64 * 1024;
	if (bytes < at_once * chunk)
		chunk = 32 * 1024;
	return chunk;
}

static double tree_round_bytes(const struct nccl_group *g, double bytes)
{
	return chunks_at_once(g) * nccl_nvls_tree_chunk(g, bytes);
}

static double nvls_tree_least_s(const struct nccl_group *g, enum op op, enum protocol p,
                                double bytes)
{
	int row = nccl_generation(g->machine->tuning.value[TUNING_CC]);
	double rounds = bytes / tree_round_bytes(g, bytes);

	(void)p;
	return port_bytes(g, op, bytes) / nccl_slowest_Bps(g) +
	       1e-6 * nccl_data.nvls_tree_turn_us[row] * nccl_nvls_heads(g) *
	               fmax(0, rounds - 1);
}

static double nvls_tree_chunks_s(const struct nccl_group *g, enum op op,
                                 enum protocol p, double bytes, double wire_s)
{
	double rounds = fmax(1, bytes / tree_round_bytes(g, bytes));

	(void)op;
	(void)p;
	return nccl_data.nvls_tree_rounds * (1 + nccl_log2(g->nodes)) * wire_s / rounds;
}

static double nvls_tree_steps_s(const struct nccl_group *g, enum op op, enum protocol p)
{
	return nvls_steps_s(g, op, p) +
	       1e-6 * nccl_tree_crossings(g, op) * nccl_across_us(g, NCCL_TREE, p);
}

const struct nccl_algorithm nccl_nvls = {
	.name = "nvls",
	.help = "the switch of one node multicasts and reduces",
	.kind = NCCL_NVLS,
	.applies = nvls_applies,
	.messages = nvls_inside,
	.steps_s = nvls_steps_s,
	.chunks_s = nvls_chunks_s,
};

const struct nccl_algorithm nccl_nvls_tree = {
	.name = "nvls-tree",
	.help = "all-reduce by the switches inside nodes, two binary trees between "
		"them",
	.kind = NCCL_NVLS_TREE,
	.applies = nvls_tree_applies,
	.messages = nvls_tree_messages,
	.steps_s = nvls_tree_steps_s,
	.least_s = nvls_tree_least_s,
	.crossings = nccl_tree_crossings,
	.chunks_s = nvls_tree_chunks_s,
};
