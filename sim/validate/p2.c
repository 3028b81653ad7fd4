#include "validate/p2.h"

#include "base/list.h"
#include "collective/device_ring.h"

#include <stdlib.h>
#include <string.h>

static const double GiB_per_s = 1073741824.0;

const struct p2_system p2_a100 = {
	.name = "p2-a100",
	.gpus = 16,
	.nic_Bps = 8 * GiB_per_s,
	.switch_Bps = 270 * GiB_per_s,
};

const struct p2_system p2_v100 = {
	.name = "p2-v100",
	.gpus = 8,
	.nic_Bps = 8 * GiB_per_s,
	.nvlink_Bps = 135 * GiB_per_s,
	.pcie_Bps = 32 * GiB_per_s,
};

const struct p2_system *p2_system_of(const struct hierarchy *h)
{
	int32_t gpus = h->level[h->nlevels - 1].size;

	if (gpus == p2_a100.gpus)
		return &p2_a100;
	return gpus == p2_v100.gpus ? &p2_v100 : NULL;
}

/*
 * Bytes on the links of one node; [0] is up (out, to the second half), [1] the other
 * way.
 */
enum { GPUS = 16 };
struct node_load {
	double nic[2];
	double bridge[2];
	double ring[GPUS][2]; /* from this GPU to the next, to the previous */
	double pcie[GPUS / 2][2];
	double port[GPUS];
};

/* Puts the bytes of a hop between two GPUs of a node on its links. */
static void hop(struct node_load *node, const struct p2_system *p2, int32_t from,
                int32_t to, double bytes)
{
	int32_t n = p2->gpus, half = n / 2;

	if (p2->switch_Bps > 0) {
		node->port[from] += bytes;
	} else if (to == (from + 1) % n) {
		node->ring[from][0] += bytes;
	} else if (from == (to + 1) % n) {
		node->ring[from][1] += bytes;
	} else {
		node->pcie[from / 2][0] += bytes;
		node->pcie[to / 2][1] += bytes;
		if (from / half != to / half)
			node->bridge[from / half] += bytes;
	}
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Returns the seconds of the busiest link; each class of links costs one division. */
static double busiest_s(const struct node_load *node, const struct p2_system *p2)
{
	double nic = larger(larger(node->nic[0], node->nic[1]),
	                    larger(node->bridge[0], node->bridge[1]));
	double s = nic / p2->nic_Bps, port = 0, ring = 0, pcie = 0;

	for (int32_t i = 0; i < p2->gpus && p2->switch_Bps > 0; i++)
		port = larger(port, node->port[i]);
	if (p2->switch_Bps > 0)
		return larger(s, port / p2->switch_Bps);
	for (int32_t i = 0; i < p2->gpus; i++) {
		ring = larger(ring, larger(node->ring[i][0], node->ring[i][1]));
		pcie = larger(pcie, larger(node->pcie[i / 2][0], node->pcie[i / 2][1]));
	}
	return larger(s, larger(ring / p2->nvlink_Bps, pcie / p2->pcie_Bps));
}

static int32_t nodes_of(const struct p2_system *p2, const int32_t *sorted, int32_t n)
{
	int32_t nodes = 1;

	for (int32_t i = 1; i < n; i++)
		nodes += sorted[i] / p2->gpus != sorted[i - 1] / p2->gpus;
	return nodes;
}

/*
 * Puts the bytes of a group's ring on the links of a node, with devices by rising
 * number; hops between nodes use the NICs alone.
 */
static void load_group(struct node_load *node, const struct p2_system *p2,
                       const struct reduction_step *step, const int32_t *sorted,
                       double held_bytes)
{
	int32_t n = step->groups.size, nodes = nodes_of(p2, sorted, n);
	double bytes = device_ring_hop_bytes(step->op, n, held_bytes), nic_bytes = bytes;

	if (p2->tree && step->op == OP_ALL_REDUCE)
		nic_bytes = held_bytes * (nodes > 2 ? 2 : 1);
	for (int32_t i = 0; i < n; i++) {
		int32_t from = sorted[i], to = sorted[i + 1 < n ? i + 1 : 0];
		struct node_load *out = &node[from / p2->gpus],
				 *in = &node[to / p2->gpus];

		if (out == in) {
			hop(out, p2, from % p2->gpus, to % p2->gpus, bytes);
		} else {
			out->nic[0] += nic_bytes;
			in->nic[1] += nic_bytes;
		}
	}
}

double p2_step_s(const struct p2_system *p2, const struct reduction_step *step,
                 double held_bytes)
{
	const struct groups *g = &step->groups;
	int64_t nids = (int64_t)g->ngroups * g->size;
	int32_t *sorted = xmalloc((size_t)g->size, sizeof(*sorted)), nnodes = 0;
	struct node_load *node;
	double s = 0;

	for (int64_t i = 0; i < nids; i++)
		if (g->ids[i] / p2->gpus >= nnodes)
			nnodes = g->ids[i] / p2->gpus + 1;
	node = xmalloc((size_t)nnodes, sizeof(*node));
	memset(node, 0, (size_t)nnodes * sizeof(*node));
	for (int32_t i = 0; i < g->ngroups; i++) {
		memcpy(sorted, g->ids + (int64_t)i * g->size,
		       (size_t)g->size * sizeof(*sorted));
		qsort(sorted, (size_t)g->size, sizeof(*sorted), compare_int32);
		load_group(node, p2, step, sorted, held_bytes);
	}
	for (int32_t i = 0; i < nnodes; i++)
		s = larger(s, busiest_s(&node[i], p2));
	free(sorted);
	free(node);
	return s;
}

double p2_clock(void *self, const struct reduction_step *step, double held_bytes,
                struct text *why)
{
	(void)why;
	return p2_step_s(self, step, held_bytes);
}

double p2_reduction_s(const struct p2_system *p2, const struct reduction *r,
                      double payload_bytes)
{
	double s = 0;

	for (int i = 0; i < r->n; i++)
		s += p2_step_s(p2, &r->step[i], r->step[i].share * payload_bytes);
	return s;
}
