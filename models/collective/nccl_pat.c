/*
 * pat: all-gather and reduce-scatter of V over n >= 2 nodes with one device each. Every
 * block goes down a binomial tree of its own, far steps first: the device at offset j
 * from the block's has it from offset j less j's lowest set bit; reduce-scatter is the
 * reverse.
 * n = 3, block of 0: 0 -> 2, then 0 -> 1
 *   rounds  one; steps floor(log2 n)
 *   bytes   V(n-1)/n from each device, V/n for every j at distance its lowest set bit
 *   cost    net_step (floor(log2 n) l_n / 3.5 + 2.8 us n) + w + 2 sqrt(w fill)
 *   need    V on every device
 * Source: NCCL (models/README.md, "Collectives").
 */
#include "collective/nccl.h"

static bool pat_applies(const struct nccl_group *g, enum op op, enum protocol p)
{
	return (op == OP_ALL_GATHER || op == OP_REDUCE_SCATTER) && g->nodes > 1 &&
	       g->per_node == 1 && p == PROTOCOL_SIMPLE;
}

static void pat_messages(struct schedule *out, const struct nccl_group *g, enum op op,
                         double bytes)
{
	for (int32_t bit = 1; bit < g->n; bit <<= 1) {
		int32_t blocks = (g->n - 1 + bit) / (2 * bit);

		for (int32_t i = 0; i < g->n; i++) {
			int32_t a = g->ids[i], b = g->ids[(i + bit) % g->n];
			int f = machine_fabric(g->machine, a, b);

			if (op == OP_ALL_GATHER)
				schedule_message(out, f, a, b, bytes / g->n * blocks);
			else
				schedule_message(out, f, b, a, bytes / g->n * blocks);
		}
	}
}

static double pat_steps_s(const struct nccl_group *g, enum op op, enum protocol p)
{
	(void)op;
	return 1e-6 * (nccl_log2(g->n) * nccl_across_us(g, NCCL_PAT, p) / 3.5 +
	               2.8 * g->n * g->machine->tuning.value[TUNING_NET_STEP]);
}

const struct nccl_algorithm nccl_pat = {
	.name = "pat",
	.help = "all-gather and reduce-scatter in binomial trees, one device per node",
	.kind = NCCL_PAT,
	.applies = pat_applies,
	.messages = pat_messages,
	.steps_s = pat_steps_s,
};
