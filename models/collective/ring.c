/*
 * ring: n devices in group order, each sending to the next; one direction. For all
 * groups on a switch, and for any group that no other algorithm is made for, over the
 * real routes; every message takes the fabric that joins its two devices.
 *
 * All-gather of blocks of b = V/n: in round k = 0.. device i sends block i - k (mod n).
 * n = 3, on device 0:  0.. -> 0.2 -> 012
 *   rounds  n - 1, between the same pairs: one task, repeats n - 1
 *   bytes   sent and received per device V(n-1)/n
 *   cost    (n-1) latency + V(n-1)/(nW) on a switch with W per port
 *   need    V on every device
 * Reduce-scatter is its reverse in time with the same figures for its input V.
 * All-reduce is both: repeats 2(n-1), 2V(n-1)/n per device, twice the cost.
 * Any n (n = 1: no rounds). Source: MPICH allgather_intra_ring.c; Thakur, Rabenseifner,
 * Gropp 2005.
 */
#include "collective/collective.h"

static bool ring_applies(const struct machine *m, enum op op, const struct groups *g)
{
	if (op != OP_ALL_GATHER && op != OP_REDUCE_SCATTER && op != OP_ALL_REDUCE)
		return false;
	for (int32_t i = 0; i < g->ngroups; i++) {
		const int32_t *ids = g->ids + (int64_t)i * g->size;

		for (int32_t k = 0; k < g->size && g->size > 1; k++)
			if (machine_fabric(m, ids[k], ids[(k + 1) % g->size]) < 0)
				return false;
	}
	return true;
}

static void ring_build(struct schedule *out, const struct machine *m, enum op op,
                       const struct groups *g, double bytes)
{
	int32_t n = g->size, rounds = n - 1;
	double sent = op == OP_ALL_GATHER ? bytes * rounds : bytes / n * rounds;

	if (n < 2)
		return;
	if (op == OP_ALL_REDUCE) {
		rounds *= 2;
		sent *= 2;
	}
	schedule_round(out);
	for (int32_t i = 0; i < g->ngroups; i++) {
		const int32_t *ids = g->ids + (int64_t)i * n;

		schedule_task(out, rounds);
		for (int32_t k = 0; k < n; k++) {
			int32_t next = ids[k + 1 == n ? 0 : k + 1];

			schedule_message(out, machine_fabric(m, ids[k], next), ids[k],
			                 next, sent);
		}
	}
	schedule_end(out);
}

const struct algorithm algorithm_ring = {
	.name = "ring",
	.help = "a ring in group order over the real routes, one direction",
	.applies = ring_applies,
	.build = ring_build,
};
