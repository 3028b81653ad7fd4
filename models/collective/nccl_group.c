#include "base/assert.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/table.h"
#include "collective/nccl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool nccl_is_network(const struct machine *m, int fabric)
{
	const char *name = m->fabric[fabric].name;

	if (!strcmp(name, "net") || !strcmp(name, "dcn"))
		return true;
	return m->nfabrics > 1 && fabric == m->nfabrics - 1 &&
	       m->fabric[fabric].geometry != GEOMETRY_TORUS;
}

/* Returns the last fabric inside a node that the device is on, -1 without one. */
static int inner_fabric(const struct machine *m, int32_t d)
{
	for (int f = m->nfabrics - 1; f >= 0; f--)
		if (!nccl_is_network(m, f) && m->fabric[f].domain[d] >= 0)
			return f;
	return -1;
}

/*
 * Numbers the nodes of the members by first appearance into node[n] and returns how
 * many there are. It takes time by the members, not by the nodes that the machine has.
 */
static int32_t number_nodes(int32_t *node, struct arena *a, const struct machine *m,
                            const int32_t *ids, int32_t n)
{
	int32_t *first = arena_alloc(a, (size_t)n, sizeof(*first)), nodes = 0;
	struct table table = {.arena = a}; /* of nodes on a fabric */

	for (int32_t i = 0; i < n; i++) {
		int f = inner_fabric(m, ids[i]);
		const int32_t *domain = f < 0 ? NULL : m->fabric[f].domain;
		int32_t key[] = {f, f < 0 ? -1 : domain[ids[i]]}, found = -1;
		uint64_t hash = hash_bytes(HASH_START, key, sizeof(key));
		size_t at;

		if (f >= 0)
			found = table_first(&table, hash, &at);
		while (found >= 0 && (inner_fabric(m, first[found]) != f ||
		                      domain[first[found]] != key[1]))
			found = table_next(&table, hash, &at);
		if (found < 0) {
			found = nodes++;
			first[found] = ids[i];
			if (f >= 0)
				table_add(&table, hash, found);
		}
		node[i] = found;
	}
	return nodes;
}

struct nccl_group nccl_group_make(struct arena *a, const struct machine *m,
                                  const int32_t *ids, int32_t n)
{
	struct nccl_group g = {.machine = m, .n = n};
	int32_t *node = arena_alloc(a, (size_t)n, sizeof(*node));
	int32_t *sorted = arena_alloc(a, (size_t)n, sizeof(*sorted)), *start, *filled;

	g.nodes = number_nodes(node, a, m, ids, n);
	start = arena_alloc(a, (size_t)g.nodes + 1, sizeof(*start));
	filled = arena_alloc(a, (size_t)g.nodes, sizeof(*filled));
	for (int32_t i = 0; i < n; i++)
		start[node[i] + 1]++;
	for (int32_t k = 0; k < g.nodes; k++) {
		if (start[k + 1] > g.per_node)
			g.per_node = start[k + 1];
		start[k + 1] += start[k];
	}
	for (int32_t i = 0; i < n; i++)
		sorted[start[node[i]] + filled[node[i]]++] = ids[i];
	for (int32_t k = 0; k < g.nodes; k++)
		qsort(sorted + start[k], (size_t)(start[k + 1] - start[k]),
		      sizeof(*sorted), compare_int32);
	g.ids = sorted;
	g.start = start;
	return g;
}

bool nccl_even(const struct nccl_group *g)
{
	return g->per_node * g->nodes == g->n;
}

double nccl_rendezvous_s(const struct nccl_group *g, double crossings, double bytes)
{
	static const double eager_bytes = 16 * 1024;

	return g->nodes > 1 && bytes >= eager_bytes
	               ? crossings * g->machine->tuning.value[TUNING_NET_RENDEZVOUS_S]
	               : 0;
}

bool nccl_switch(const struct nccl_group *g, bool across)
{
	int f = -1;

	if (across && g->nodes > 1)
		f = machine_fabric(g->machine, g->ids[0], g->ids[g->start[1]]);
	else if (!across && g->start[1] > 1)
		f = machine_fabric(g->machine, g->ids[0], g->ids[1]);
	return f >= 0 && g->machine->fabric[f].geometry == GEOMETRY_SWITCH;
}

/*
 * Returns the bandwidth of the one link that leads from a to b; 0 if more or none do.
 */
static double direct_Bps(const struct machine *m, int f, int32_t a, int32_t b)
{
	int32_t link;

	if (a == b || machine_route(m, f, a, b, &link, 1) != 1)
		return 0;
	return m->link[link].bandwidth_Bps;
}

/*
 * Returns whether direct links lead, over other members, from the first member to all
 * others or, with `back`, from all others to the first.
 */
static bool reaches(const struct machine *m, int f, const int32_t *ids, int32_t n,
                    bool back)
{
	int32_t *reached = xmalloc((size_t)n, sizeof(*reached)), count = 1;
	bool *is = xmalloc((size_t)n, sizeof(*is));

	for (int32_t k = 0; k < n; k++)
		is[k] = k == 0;
	reached[0] = 0;
	for (int32_t i = 0; i < count; i++)
		for (int32_t k = 0; k < n; k++) {
			int32_t from = ids[back ? k : reached[i]];
			int32_t to = ids[back ? reached[i] : k];

			if (!is[k] && direct_Bps(m, f, from, to) > 0) {
				is[k] = true;
				reached[count++] = k;
			}
		}
	xfree(reached);
	xfree(is);
	return count == n;
}

bool nccl_paired(const struct nccl_group *g)
{
	const struct machine *m = g->machine;
	int32_t n = g->start[1];

	if (n < 2 || nccl_switch(g, false))
		return true;
	for (int32_t i = 0; i < n; i++)
		for (int32_t k = 0; k < n; k++)
			if (i != k &&
			    direct_Bps(m, machine_fabric(m, g->ids[i], g->ids[k]),
			               g->ids[i], g->ids[k]) <= 0)
				return false;
	return true;
}

/* Returns whether AMD's library runs on the fabric, over direct links. */
static bool amd_links(const struct machine *m, int fabric)
{
	return fabric >= 0 && m->fabric[fabric].geometry != GEOMETRY_SWITCH &&
	       !strcmp(m->fabric[fabric].profile, "rccl");
}

bool nccl_few_devices(const struct machine *m, int fabric, int32_t n)
{
	return n > 4 && n < 8 && amd_links(m, fabric);
}

/* Returns the fabric inside a group of one node; -1: it has several nodes, or one device. */
static int fabric_inside(const struct nccl_group *g)
{
	bool inside = g->nodes == 1 && g->n > 1;

	return inside ? machine_fabric(g->machine, g->ids[0], g->ids[1]) : -1;
}

bool nccl_few_rings(const struct nccl_group *g)
{
	return nccl_few_devices(g->machine, fabric_inside(g), g->n);
}

int nccl_few_channels(const struct nccl_group *g)
{
	if (g->n == 3)
		return amd_links(g->machine, fabric_inside(g)) ? 8 : 0;
	return nccl_few_rings(g) ? 4 : 0;
}

double nccl_slowest_Bps(const struct nccl_group *g)
{
	const struct machine *m = g->machine;
	double Bps = INFINITY;

	for (int32_t i = 0; i < g->start[1]; i++) {
		int32_t src = g->ids[i], dst = g->ids[i + 1 == g->start[1] ? 0 : i + 1];
		int32_t links[ROUTE_LINKS_MAX];
		int n = machine_route(m, machine_fabric(m, src, dst), src, dst, links,
		                      ROUTE_LINKS_MAX);

		for (int k = 0; k < n; k++)
			Bps = fmin(Bps, m->link[links[k]].bandwidth_Bps);
	}
	return Bps;
}

enum { BALANCE_STEPS = 200 };

/* Returns whether direct links lead from every member to every other. */
static bool linked(const struct machine *m, int f, const int32_t *ids, int32_t n)
{
	return reaches(m, f, ids, n, false) && reaches(m, f, ids, n, true);
}

/*
 * Scales row i (or, `columns`, column i) to the sum 1 and returns how far the worst one
 * was off.
 */
static double balance(double *share, int32_t n, bool columns)
{
	double off = 0;

	for (int32_t i = 0; i < n; i++) {
		double sum = 0;

		for (int32_t k = 0; k < n; k++)
			sum += share[columns ? k * n + i : i * n + k];
		off = fmax(off, fabs(sum - 1));
		for (int32_t k = 0; k < n; k++)
			share[columns ? k * n + i : i * n + k] /= sum;
	}
	return off;
}

/*
 * Finds share[i * n + k], the part of what i passes on in all rings that goes to k. In
 * proportion to the bandwidth of their direct link, scaled until everyone sends and
 * receives 1 (Sinkhorn and Knopp 1967), as every ring passes every member once. False
 * if direct links do not join all members.
 */
static bool ring_shares(double *share, const struct machine *m, int f,
                        const int32_t *ids, int32_t n)
{
	if (m->fabric[f].geometry != GEOMETRY_GRAPH || !linked(m, f, ids, n))
		return false;
	for (int32_t i = 0; i < n; i++)
		for (int32_t k = 0; k < n; k++)
			share[i * n + k] = direct_Bps(m, f, ids[i], ids[k]);
	for (int i = 0; i < BALANCE_STEPS; i++) {
		double off = balance(share, n, false);

		if (fmax(off, balance(share, n, true)) < 1e-12)
			break;
	}
	return true;
}

enum { FEW = 7 }; /* most devices of nccl_few_rings() */

/* A ring over direct links, from which the one whose slowest link is the fastest is kept. */
struct ring_search {
	int32_t n, at[FEW], best[FEW];
	double Bps[FEW][FEW]; /* of the direct link, the slower of its directions; 0: none */
	double best_Bps;
};

/* Goes on from the first `placed` members, whose slowest link has `slowest_Bps`. */
static void extend_ring(struct ring_search *r, int32_t placed, double slowest_Bps)
{
	if (placed == r->n) {
		slowest_Bps = fmin(slowest_Bps, r->Bps[r->at[placed - 1]][r->at[0]]);
		if (slowest_Bps > r->best_Bps) {
			r->best_Bps = slowest_Bps;
			memcpy(r->best, r->at, sizeof(r->best));
		}
		return;
	}
	for (int32_t k = placed; k < r->n; k++) {
		double Bps = r->Bps[r->at[placed - 1]][r->at[k]];
		int32_t other = r->at[placed];

		if (fmin(Bps, slowest_Bps) <= r->best_Bps)
			continue;
		r->at[placed] = r->at[k];
		r->at[k] = other;
		extend_ring(r, placed + 1, fmin(Bps, slowest_Bps));
		r->at[k] = r->at[placed];
		r->at[placed] = other;
	}
}

/* Appends messages of half of `bytes` each way round that ring; false if there is none. */
static bool few_inside(struct schedule *out, const struct nccl_group *g, int f,
                       double bytes)
{
	struct ring_search r = {.n = g->n};

	for (int32_t i = 0; i < r.n; i++) {
		r.at[i] = i;
		for (int32_t k = 0; k < r.n; k++)
			r.Bps[i][k] =
				fmin(direct_Bps(g->machine, f, g->ids[i], g->ids[k]),
			             direct_Bps(g->machine, f, g->ids[k], g->ids[i]));
	}
	extend_ring(&r, 1, INFINITY);
	for (int32_t i = 0; i < r.n && r.best_Bps > 0; i++) {
		int32_t a = g->ids[r.best[i]], b = g->ids[r.best[(i + 1) % r.n]];

		schedule_message(out, f, a, b, bytes / 2);
		schedule_message(out, f, b, a, bytes / 2);
	}
	return r.best_Bps > 0;
}

void nccl_inside(struct schedule *out, const struct nccl_group *g, int32_t node,
                 double bytes)
{
	const struct machine *m = g->machine;
	const int32_t *ids = g->ids + g->start[node];
	int32_t n = g->start[node + 1] - g->start[node];
	double *share;
	bool rings;
	int f;

	if (n < 2)
		return;
	f = machine_fabric(m, ids[0], ids[1]);
	if (nccl_few_rings(g) && few_inside(out, g, f, bytes))
		return;
	share = xmalloc((size_t)n * (size_t)n, sizeof(*share));
	rings = ring_shares(share, m, f, ids, n);
	for (int32_t i = 0; i < n && rings; i++)
		for (int32_t k = 0; k < n; k++)
			schedule_message(out, f, ids[i], ids[k],
			                 bytes * share[i * n + k]);
	xfree(share);
	for (int32_t i = 0; i < n && !rings; i++) {
		int32_t next = ids[i + 1 == n ? 0 : i + 1];
		bool both = m->fabric[f].geometry != GEOMETRY_SWITCH;

		schedule_message(out, machine_fabric(m, ids[i], next), ids[i], next,
		                 both ? bytes / 2 : bytes);
		if (both)
			schedule_message(out, machine_fabric(m, next, ids[i]), next,
			                 ids[i], bytes / 2);
	}
}

void nccl_across(struct schedule *out, const struct nccl_group *g, int32_t from,
                 int32_t to, double bytes)
{
	const int32_t *src = g->ids + g->start[from], *dst = g->ids + g->start[to];
	int32_t rails = g->start[from + 1] - g->start[from];

	if (g->start[to + 1] - g->start[to] < rails)
		rails = g->start[to + 1] - g->start[to];
	for (int32_t i = 0; i < rails; i++)
		schedule_message(out, machine_fabric(g->machine, src[i], dst[i]),
		                 src[i], dst[i], bytes / rails);
}

/*
 * Returns the binary tree over 0..n-1 in which the parent of r lacks r's lowest bit and
 * has the next higher one, or, out of range, only lacks it; 0 is the root. Leaves are
 * odd.
 */
static int32_t tree_parent(int32_t n, int32_t r)
{
	int32_t bit = r & -r, up = (r ^ bit) | bit << 1;

	if (r == 0)
		return -1;
	return up < n ? up : r ^ bit;
}

int32_t nccl_tree_parent(int32_t nodes, int32_t node, bool second)
{
	int32_t up;

	assert(node >= 0 && node < nodes);
	if (!second)
		return tree_parent(nodes, node);
	/* The mirrored tree, or, for an odd number, the one shifted by a node. */
	if (nodes % 2 == 0) {
		up = tree_parent(nodes, nodes - 1 - node);
		return up < 0 ? -1 : nodes - 1 - up;
	}
	up = tree_parent(nodes, (node + nodes - 1) % nodes);
	return up < 0 ? -1 : (up + 1) % nodes;
}

void nccl_double_tree(struct schedule *out, const struct nccl_group *g, double bytes)
{
	for (int tree = 0; tree < 2; tree++)
		for (int32_t k = 0; k < g->nodes; k++) {
			int32_t up = nccl_tree_parent(g->nodes, k, tree);

			if (up < 0)
				continue;
			nccl_across(out, g, k, up, bytes / 2);
			nccl_across(out, g, up, k, bytes / 2);
		}
}

int32_t nccl_peers_across(const struct nccl_group *g)
{
	int32_t fewest = g->n;

	for (int32_t k = 0; k < g->nodes; k++)
		if (g->start[k + 1] - g->start[k] < fewest)
			fewest = g->start[k + 1] - g->start[k];
	return g->n - fewest;
}
