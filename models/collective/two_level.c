/*
 * two-level: a group of n = mM devices, m >= 2 in each of M >= 2 nodes (domains of an
 * inner fabric), all joined by an outer fabric. Inside a node the members are numbered
 * 0..m-1 by device; a rail is the M members of equal number. The n/m inner groups run at
 * once, and so do the m rails, each with the algorithm that fits it: on switches ring
 * and direct, for which the costs are (W_i, l_i inside, W_n, l_n across, per device):
 *
 *   reduce-scatter  inside with V, then across with V/m
 *     rounds (m-1) + (M-1); bytes V(m-1)/m inside, (V/m)(M-1)/M across
 *     cost   (m-1) l_i + V(m-1)/(m W_i) + (M-1) l_n + (V/m)(M-1)/(M W_n)
 *   all-gather      its reverse: across with blocks of V/n, then inside with blocks of
 *                   V/m, so that the large data take the fast fabric; same cost
 *   all-reduce      reduce-scatter inside, all-reduce across with V/m, all-gather inside
 *     cost   2(m-1) l_i + 2V(m-1)/(m W_i) + 2(M-1) l_n + 2(V/m)(M-1)/(M W_n)
 *   all-to-all      inside first: what is for number j of any node goes to number j of
 *                   the own node, S/m to each; then on the rails, S/M to each
 *     rounds 2; bytes S(m-1)/m inside, S(M-1)/M = S(n-m)/n across; of those inside,
 *            S(m-1)(M-1)/n are relayed
 *     cost   l_i + S(m-1)/(m W_i) + l_n + S(M-1)/(M W_n)
 *   need    V on every device (all-to-all 3S)
 * The all-to-all is NCCL's PXN. geometry.c chooses the algorithm of each level.
 */
#include "collective/two_level.h"

#include "base/assert.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

struct levels {
	int inner;     /* fabric */
	int32_t m;     /* members per node */
	int32_t nodes; /* M */
};

/* Returns whether all devices are on one domain of fabric `f`. */
static bool one_domain(const struct machine *m, int f, const int32_t *ids, int32_t n)
{
	const int32_t *domain = m->fabric[f].domain;

	for (int32_t i = 0; i < n; i++)
		if (domain[ids[i]] < 0 || domain[ids[i]] != domain[ids[0]])
			return false;
	return true;
}

/*
 * Returns whether two or more domains of fabric `f` have equal numbers, two or more, of
 * members.
 */
static bool even_domains(struct levels *out, const struct machine *m, int f,
                         const int32_t *ids, int32_t n)
{
	const struct fabric *fab = &m->fabric[f];
	int32_t *count = xmalloc((size_t)fab->ndomains, sizeof(*count));
	bool even = true;

	memset(count, 0, (size_t)fab->ndomains * sizeof(*count));
	*out = (struct levels){.inner = f};
	for (int32_t i = 0; i < n && even; i++) {
		even = fab->domain[ids[i]] >= 0;
		if (even && !count[fab->domain[ids[i]]]++)
			out->nodes++;
	}
	if (even)
		out->m = count[fab->domain[ids[0]]];
	for (int32_t i = 0; i < n && even; i++)
		even = count[fab->domain[ids[i]]] == out->m;
	xfree(count);
	return even && out->m >= 2 && out->nodes >= 2;
}

static bool levels_find(struct levels *out, const struct machine *m, const int32_t *ids,
                        int32_t n)
{
	for (int f = 0; f + 1 < m->nfabrics; f++) {
		if (!even_domains(out, m, f, ids, n))
			continue;
		for (int g = f + 1; g < m->nfabrics; g++)
			if (one_domain(m, g, ids, n))
				return true;
	}
	return false;
}

bool two_level_applies(const struct machine *m, enum op op, const struct groups *g)
{
	struct levels first, levels;

	if (op == OP_BROADCAST || op == OP_REDUCE)
		return false;
	for (int32_t i = 0; i < g->ngroups; i++) {
		const int32_t *ids = g->ids + (int64_t)i * g->size;

		if (!levels_find(&levels, m, ids, g->size))
			return false;
		if (i == 0)
			first = levels;
		if (levels.inner != first.inner || levels.m != first.m)
			return false;
	}
	return g->ngroups > 0;
}

/*
 * Sort one group by nodes, in order of first appearance, into inner[node * m + number],
 * numbers by rising device, and the same into rails[number * nodes + node].
 */
static void split_group(const struct machine *m, const struct levels *levels,
                        const int32_t *ids, int32_t *inner, int32_t *rails,
                        int32_t *node_of)
{
	const int32_t *domain = m->fabric[levels->inner].domain;
	int32_t n = levels->m * levels->nodes, nodes = 0;
	int32_t *filled = rails; /* members per node so far, until rails are written */

	for (int32_t i = 0; i < n; i++)
		node_of[domain[ids[i]]] = -1;
	for (int32_t i = 0; i < n; i++) {
		int32_t *node = &node_of[domain[ids[i]]];

		if (*node < 0) {
			*node = nodes++;
			filled[*node] = 0;
		}
		inner[*node * levels->m + filled[*node]++] = ids[i];
	}
	for (int32_t k = 0; k < nodes; k++)
		qsort(inner + (int64_t)k * levels->m, (size_t)levels->m, sizeof(*inner),
		      compare_int32);
	for (int32_t j = 0; j < levels->m; j++)
		for (int32_t k = 0; k < nodes; k++)
			rails[j * nodes + k] = inner[k * levels->m + j];
}

int two_level_split(struct lowered_level out[TWO_LEVEL_MOST], struct arena *a,
                    const struct machine *m, enum op op, const struct groups *g,
                    double bytes)
{
	int32_t n = g->size, all = g->ngroups * n;
	int32_t *ids = arena_alloc(a, (size_t)all * 2, sizeof(*ids)), *node_of;
	struct groups inside = {.ids = ids}, across = {.ids = ids + all};
	struct levels levels;
	bool found = levels_find(&levels, m, g->ids, n);

	assert(found);
	(void)found;
	inside.size = across.ngroups = levels.m;
	across.size = inside.ngroups = levels.nodes;
	across.ngroups *= g->ngroups;
	inside.ngroups *= g->ngroups;
	node_of = arena_alloc(a, (size_t)m->fabric[levels.inner].ndomains,
	                      sizeof(*node_of));
	for (int32_t i = 0; i < g->ngroups; i++)
		split_group(m, &levels, g->ids + (int64_t)i * n, ids + (int64_t)i * n,
		            ids + all + (int64_t)i * n, node_of);
	switch (op) {
	case OP_ALL_GATHER:
		out[0] = (struct lowered_level){OP_ALL_GATHER, across, bytes};
		out[1] = (struct lowered_level){OP_ALL_GATHER, inside,
		                                bytes * levels.nodes};
		return 2;
	case OP_ALL_REDUCE:
		out[0] = (struct lowered_level){OP_REDUCE_SCATTER, inside, bytes};
		out[1] = (struct lowered_level){OP_ALL_REDUCE, across, bytes / levels.m};
		out[2] = (struct lowered_level){OP_ALL_GATHER, inside, bytes / levels.m};
		return 3;
	default:
		assert(op == OP_REDUCE_SCATTER || op == OP_ALL_TO_ALL);
		out[0] = (struct lowered_level){op, inside, bytes};
		out[1] = (struct lowered_level){
			op, across, op == OP_ALL_TO_ALL ? bytes : bytes / levels.m};
		return 2;
	}
}
