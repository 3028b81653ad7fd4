/*
 * direct: all-to-all of S per device in a group, S/n to each, with all sends of a device
 * under way at once, as libraries run it: nobody waits for rounds.
 *
 *   rounds  1
 *   bytes   S(n-1)/n sent and received per device; none relayed
 *   need    2S
 * On a switch, where no two of the group are nearer to each other: only what each port
 * carries counts, so one message of S(n-1)/n from each device to the next stands for all.
 *   cost    latency + S(n-1)/(nW); pairwise, by rounds, pays n-1 latencies (pairwise.c)
 * On one graph of TPUs, a torus with missing links: all pairs over the real routes. Tori of
 * the shapes that have better algorithms use those.
 *   cost    latency of the longest route + S/n (routes on the busiest link) / W
 * The software of a machine of profile tpu, if its platform knows it, starts a message each
 * send_s inside a node, each net_send_s on a network, while others are on the wire: the
 * bytes take (n-1) times that or longer. With profile plain, links are all there is.
 */
#include "base/list.h"
#include "collective/collective.h"
#include "collective/nccl.h"
#include "collective/profile.h"
#include "collective/runs.h"

#include <stdlib.h>

/* Returns whether the n numbers that are >= 0 are all different; it sorts them. */
static bool differ(int32_t *number, int32_t n)
{
	qsort(number, (size_t)n, sizeof(*number), compare_int32);
	for (int32_t i = 1; i < n; i++)
		if (number[i] >= 0 && number[i] == number[i - 1])
			return false;
	return true;
}

/*
 * Returns whether each two of the devices, all on fabric `f`, take it: they share neither
 * a port of it nor a domain of one before it.
 */
static bool all_take(const struct machine *m, int f, const int32_t *ids, int32_t n)
{
	int32_t share = m->fabric[f].share, *number;
	bool take = true;

	if (f == 0 && share <= 1)
		return true;
	number = xmalloc((size_t)n, sizeof(*number));
	for (int before = 0; before < f && take; before++) {
		for (int32_t i = 0; i < n; i++)
			number[i] = m->fabric[before].domain[ids[i]];
		take = differ(number, n);
	}
	for (int32_t i = 0; i < n && share > 1; i++)
		number[i] = ids[i] / share;
	take = take && (share <= 1 || differ(number, n));
	xfree(number);
	return take;
}

/* The profile of TPUs is the one by geometry that is not plain. */
static bool direct_applies(const struct machine *m, enum op op, const struct groups *g)
{
	if (op != OP_ALL_TO_ALL || g->size < 2)
		return false;
	for (int32_t i = 0; i < g->ngroups; i++) {
		const int32_t *ids = g->ids + (int64_t)i * g->size;
		int f = machine_fabric_of_all(m, ids, g->size);

		if (f < 0)
			return false;
		if (m->fabric[f].geometry == GEOMETRY_SWITCH
		            ? !all_take(m, f, ids, g->size)
		            : m->fabric[f].geometry != GEOMETRY_GRAPH ||
		                      !profile_of_fabric(m, f)->fill)
			return false;
	}
	return true;
}

/* Returns the least seconds between two messages that a device starts on a fabric. */
static double each_send_s(const struct machine *m, int f)
{
	const double *tuning = m->tuning.value;

	if (!profile_of_fabric(m, f)->fill)
		return 0;
	return tuning[nccl_is_network(m, f) ? TUNING_NET_SEND_S : TUNING_SEND_S];
}

static void direct_build(struct schedule *out, const struct machine *m, enum op op,
                         const struct groups *g, double bytes)
{
	int32_t n = g->size;

	(void)op;
	schedule_round(out);
	for (int32_t i = 0; i < g->ngroups; i++) {
		const int32_t *ids = g->ids + (int64_t)i * n;
		int f = machine_fabric_of_all(m, ids, n);

		schedule_task(out, 1);
		schedule_software(out, 0, (n - 1) * each_send_s(m, f));
		if (m->fabric[f].geometry != GEOMETRY_SWITCH) {
			all_pairs(out, m, ids, n, bytes / n);
			continue;
		}
		for (int32_t k = 0; k < n; k++)
			schedule_message(out, f, ids[k], ids[k + 1 < n ? k + 1 : 0],
			                 bytes / n * (n - 1));
	}
	schedule_end(out);
}

const struct algorithm algorithm_direct = {
	.name = "direct",
	.help = "all pairs at once, on a switch or a torus with missing links",
	.applies = direct_applies,
	.build = direct_build,
};
