/*
 * device-ring: a closed ring per group that visits its devices by rising number, so a
 * node's one after the other, whatever the order of the group; all groups at once. The
 * collectives of Xie et al. 2022 as their simulator charges them: on every hop, also
 * the closing one of what could be a chain, n devices send
 *   all-reduce      2 V(n-1)/n    repeats 2(n-1)
 *   reduce-scatter  V(n-1)/n      repeats n - 1
 *   all-gather      (n-1) blocks  repeats n - 1
 *   reduce, broadcast  V, in a pipeline of many pieces, repeats n - 1
 *   cost  repeats x latency + bytes of a hop / W on links of their own
 *   need  V on every device
 * A group puts the bytes of one hop out of and into every node it touches, if there are
 * several. Any n (n = 1: no rounds).
 */
#include "collective/device_ring.h"

#include "base/assert.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

double device_ring_hop_bytes(enum op op, int32_t n, double held_bytes)
{
	switch (op) {
	case OP_ALL_REDUCE:
		return 2 * held_bytes * (n - 1) / n;
	case OP_REDUCE_SCATTER:
		return held_bytes * (n - 1) / n;
	case OP_ALL_GATHER:
		return held_bytes * (n - 1);
	default:
		assert(op == OP_REDUCE || op == OP_BROADCAST);
		return held_bytes;
	}
}

/* Returns whether the numbers rise all the way round, but for one place. */
static bool is_ordered(const int32_t *group, int32_t n)
{
	int32_t falls = 0;

	for (int32_t k = 0; k < n; k++)
		falls += group[k + 1 < n ? k + 1 : 0] < group[k];
	return falls <= 1;
}

bool device_ring_differs(const struct groups *g)
{
	for (int32_t i = 0; i < g->ngroups; i++)
		if (!is_ordered(g->ids + (int64_t)i * g->size, g->size))
			return true;
	return false;
}

struct groups device_ring_order(const struct groups *g, struct arena *a)
{
	size_t all = (size_t)g->ngroups * (size_t)g->size;
	int32_t *ids = arena_alloc(a, all, sizeof(*ids));
	int32_t *sorted = xmalloc((size_t)g->size, sizeof(*sorted));

	for (int32_t i = 0; i < g->ngroups; i++) {
		const int32_t *group = g->ids + (int64_t)i * g->size;
		int32_t root = 0;

		if (is_ordered(group, g->size)) {
			memcpy(ids + (int64_t)i * g->size, group,
			       (size_t)g->size * sizeof(*ids));
			continue;
		}
		memcpy(sorted, group, (size_t)g->size * sizeof(*sorted));
		qsort(sorted, (size_t)g->size, sizeof(*sorted), compare_int32);
		while (sorted[root] != group[0])
			root++;
		for (int32_t k = 0; k < g->size; k++)
			ids[(int64_t)i * g->size + k] = sorted[(root + k) % g->size];
	}
	xfree(sorted);
	return (struct groups){g->ngroups, g->size, ids};
}

static bool device_ring_applies(const struct machine *m, enum op op,
                                const struct groups *g)
{
	struct arena *a;
	struct groups ring;
	bool joined = true;

	if (op != OP_ALL_GATHER && op != OP_REDUCE_SCATTER && op != OP_ALL_REDUCE &&
	    op != OP_REDUCE && op != OP_BROADCAST)
		return false;
	a = arena_new();
	ring = device_ring_order(g, a);
	for (int64_t i = 0; i < (int64_t)g->ngroups * g->size && g->size > 1; i++) {
		int64_t next = (i + 1) % g->size ? i + 1 : i + 1 - g->size;

		joined &= machine_fabric(m, ring.ids[i], ring.ids[next]) >= 0;
	}
	arena_free(a);
	return joined;
}

static void device_ring_build(struct schedule *out, const struct machine *m, enum op op,
                              const struct groups *g, double bytes)
{
	double hop_bytes = device_ring_hop_bytes(op, g->size, bytes);
	struct groups ring;

	if (g->size < 2)
		return;
	ring = device_ring_order(g, out->arena);
	schedule_round(out);
	for (int32_t i = 0; i < g->ngroups; i++) {
		const int32_t *ids = ring.ids + (int64_t)i * g->size;

		schedule_task(out, (g->size - 1) * (op == OP_ALL_REDUCE ? 2 : 1));
		for (int32_t k = 0; k < g->size; k++) {
			int32_t next = ids[k + 1 == g->size ? 0 : k + 1];

			schedule_message(out, machine_fabric(m, ids[k], next), ids[k],
			                 next, hop_bytes);
		}
	}
	schedule_end(out);
}

const struct algorithm algorithm_device_ring = {
	.name = "device-ring",
	.help = "a closed ring in device order for every collective but all-to-all",
	.applies = device_ring_applies,
	.build = device_ring_build,
};
