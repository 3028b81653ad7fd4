/*
 * pairwise: all-to-all of S per device between n devices, S/n to each. In round k =
 * 1..n-1 device i sends to device i + k (mod n) what is its own.
 * n = 3:  round 1: 0>1 1>2 2>0   round 2: 0>2 1>0 2>1
 *
 *   rounds  n - 1; the pairs differ by round, so they are not merged
 *   bytes   sent and received per device S/n per round, S(n-1)/n in all; none relayed
 *   cost    (n-1)(latency + S/(nW)) on a switch with W per port
 *   need    2S on every device
 * For any group that no other algorithm is made for, over the real routes; every message
 * takes the fabric that joins its two devices. On a switch direct.c is faster, by n - 2
 * latencies. Any n (n = 1: no rounds). Source: MPICH alltoall_intra_pairwise.c.
 */
#include "collective/collective.h"

static bool pairwise_applies(const struct machine *m, enum op op, const struct groups *g)
{
	if (op != OP_ALL_TO_ALL)
		return false;
	for (int32_t i = 0; i < g->ngroups; i++)
		if (!machine_joins(m, g->ids + (int64_t)i * g->size, g->size))
			return false;
	return true;
}

static void pairwise_build(struct schedule *out, const struct machine *m, enum op op,
                           const struct groups *g, double bytes)
{
	int32_t n = g->size;

	(void)op;
	for (int32_t k = 1; k < n && !out->done; k++) {
		out->rounds_left = k > 1 && bytes > 0 ? n - k : 0;
		schedule_round(out);
		for (int32_t i = 0; i < g->ngroups; i++) {
			const int32_t *ids = g->ids + (int64_t)i * n;

			schedule_task(out, 1);
			for (int32_t j = 0; j < n; j++) {
				int32_t to = ids[j + k < n ? j + k : j + k - n];

				schedule_message(out, machine_fabric(m, ids[j], to),
				                 ids[j], to, bytes / n);
			}
		}
	}
	out->rounds_left = 0;
	schedule_end(out);
}

static int64_t pairwise_messages(const struct groups *g)
{
	return (int64_t)g->ngroups * g->size * (g->size - 1);
}

const struct algorithm algorithm_pairwise = {
	.name = "pairwise",
	.help = "all-to-all in n - 1 rounds, device i to i + k in round k",
	.applies = pairwise_applies,
	.build = pairwise_build,
	.messages = pairwise_messages,
};
