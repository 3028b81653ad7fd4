/*
 * chain: broadcast from the first of n devices in group order, each passing what it
 * receives on to the next, in many small pieces; reduce is its reverse.
 * n = 3: 0 -> 1 -> 2
 *   rounds  one task, repeats n - 1 (the first piece passes all devices)
 *   bytes   V from each device to the next but from the last
 *   cost    (n-1) latency + V/W on a switch with W per port
 *   need    V on every device
 * It serves any group, over the real routes: a pipelined chain with ever smaller pieces.
 */
#include "collective/collective.h"

static bool chain_applies(const struct machine *m, enum op op, const struct groups *g)
{
	if (op != OP_BROADCAST && op != OP_REDUCE)
		return false;
	for (int32_t i = 0; i < g->ngroups; i++) {
		const int32_t *ids = g->ids + (int64_t)i * g->size;

		for (int32_t k = 0; k + 1 < g->size; k++)
			if (machine_fabric(m, ids[k], ids[k + 1]) < 0)
				return false;
	}
	return true;
}

static void chain_build(struct schedule *out, const struct machine *m, enum op op,
                        const struct groups *g, double bytes)
{
	if (g->size < 2)
		return;
	schedule_round(out);
	for (int32_t i = 0; i < g->ngroups; i++) {
		const int32_t *ids = g->ids + (int64_t)i * g->size;

		schedule_task(out, g->size - 1);
		for (int32_t k = 0; k + 1 < g->size; k++) {
			int32_t src = ids[op == OP_REDUCE ? k + 1 : k];
			int32_t dst = ids[op == OP_REDUCE ? k : k + 1];

			schedule_message(out, machine_fabric(m, src, dst), src, dst,
			                 bytes);
		}
	}
	schedule_end(out);
}

const struct algorithm algorithm_chain = {
	.name = "chain",
	.help = "broadcast and reduce from device to device, in many pieces",
	.applies = chain_applies,
	.build = chain_build,
};
