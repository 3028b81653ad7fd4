/*
 * nvls: a switch that multicasts and reduces (GPUs of compute capability 90 and up), in
 * one node of n >= 3 devices; all-gathers and reduce-scatters only from a caller whose buffers
 * are registered. nvls-tree: the same inside each of m >= 2 nodes, and two
 * binary trees of the reduced array between them.
 *
 *   rounds  one
 *   bytes   all-reduce: through every port, each way, V to be reduced or multicast and
 *           V/n for the device's own share: V(n+1)/n, over the efficiency e of the switch's
 *           engines, 0.85 on Hopper and 0.74 on Blackwell. all-gather, reduce-scatter:
 *           V(n-1)/n, as fast as rings: forced, they reach 367 GB/s on eight H100 and 670 on
 *           eight B200 (together-h100-1n-*, slinky-b200-0512-nvls, use3a-b200-0502-nvls).
 *           Between nodes as in `tree`, over the rails.
 *   cost    31 us, from Blackwell on 40 (nvls-tree: + 2 floor(log2 m) net_step l_n of a tree
 *           step) + w + 2 sqrt(w fill), where the fill of an all-reduce has 0.45 us for each
 *           device of a node, from Blackwell on 0.8
 *   need    V on every device
 * The messages are a shift by one: it loads every port alike, as the switch does.
 * Source: NCCL. Its constants make 278 and 451 GB/s of all-reduce, where 275 and 483 are
 * measured (models/README.md, "Collectives").
 */
#include "collective/nccl.h"

#include <math.h>

static bool switch_reduces(const struct nccl_group *g, enum protocol p)
{
	int row = nccl_generation(g->machine->tuning.value[TUNING_CC]);

	return p == PROTOCOL_SIMPLE && nccl_data.nvls_efficiency[row] > 0 &&
	       nccl_switch(g, false);
}

static bool nvls_applies(const struct nccl_group *g, enum op op, enum protocol p)
{
	bool reads = op == OP_ALL_GATHER || op == OP_REDUCE_SCATTER;

	return (op == OP_ALL_REDUCE ||
	        (reads && !nccl_callers[g->machine->launch].unregistered)) &&
	       g->nodes == 1 && g->n > 2 && switch_reduces(g, p);
}

static bool nvls_tree_applies(const struct nccl_group *g, enum op op, enum protocol p)
{
	return op == OP_ALL_REDUCE && g->nodes > 1 && nccl_even(g) &&
	       switch_reduces(g, p);
}

static void nvls_inside(struct schedule *out, const struct nccl_group *g, enum op op,
                        double bytes)
{
	int row = nccl_generation(g->machine->tuning.value[TUNING_CC]);
	double slow = nccl_slow_wires(g, op != OP_ALL_GATHER);
	double port = bytes / g->per_node;

	port *= op == OP_ALL_REDUCE
	                ? slow * (g->per_node + 1) / nccl_data.nvls_efficiency[row]
	                : fmax(slow, nccl_small_group(g)) * (g->per_node - 1);
	for (int32_t k = 0; k < g->nodes; k++)
		nccl_inside(out, g, k, port);
}

static void nvls_tree_messages(struct schedule *out, const struct nccl_group *g,
                               enum op op, double bytes)
{
	nvls_inside(out, g, op, bytes);
	nccl_double_tree(out, g, bytes);
}

static double nvls_steps_s(const struct nccl_group *g, enum op op, enum protocol p)
{
	(void)op;
	(void)p;
	return 1e-6 *
	       nccl_data.nvls_us[nccl_generation(g->machine->tuning.value[TUNING_CC])];
}

static double nvls_tree_steps_s(const struct nccl_group *g, enum op op, enum protocol p)
{
	return nvls_steps_s(g, op, p) +
	       1e-6 * 2 * nccl_log2(g->nodes) * nccl_across_us(g, NCCL_TREE, p);
}

const struct nccl_algorithm nccl_nvls = {
	.name = "nvls",
	.help = "the switch of one node multicasts and reduces",
	.kind = NCCL_NVLS,
	.applies = nvls_applies,
	.messages = nvls_inside,
	.steps_s = nvls_steps_s,
};

const struct nccl_algorithm nccl_nvls_tree = {
	.name = "nvls-tree",
	.help = "all-reduce by the switches inside nodes, two binary trees between "
		"them",
	.kind = NCCL_NVLS_TREE,
	.applies = nvls_tree_applies,
	.messages = nvls_tree_messages,
	.steps_s = nvls_tree_steps_s,
};
