#include "p2_machine.h"

static const double GiB = 1073741824.0;

struct machine *machine_p2_a100(struct arena *a, int32_t nodes)
{
	struct machine *m =
		machine_gpu(a, nodes, 16, (struct link){"nv", 270 * GiB, 0},
	                    (struct link){"nic", 8 * GiB, 0}, (struct device){0});

	for (int f = 0; f < m->nfabrics; f++) {
		struct fabric *fabric = &m->fabric[f];
		int32_t *port = arena_dup(a, fabric->port, 2 * (size_t)m->ndevices,
		                          sizeof(*port));

		fabric->profile = "p2";
		for (int32_t d = 0; f == 1 && d < m->ndevices; d++)
			for (int way = 0; way < 2; way++)
				port[2 * d + way] = port[2 * (d / 16 * 16) + way];
		fabric->port = port;
	}
	return m;
}

/* Links of a V100 node: ring up 0-7, ring down 8-15, PCIe 16-23, bridge, NIC. */
enum { RING = 0, PCIE = 16, BRIDGE = 24, NIC = 26, NODE_LINKS = 28 };

static int v100_route(const struct machine *m, int f, int32_t src, int32_t dst,
                      int32_t *links, int capacity)
{
	int32_t s = src % 8, t = dst % 8, from = src / 8 * NODE_LINKS;
	int32_t to = dst / 8 * NODE_LINKS;
	int n = 0;

	(void)m, (void)f, (void)capacity;
	if (src == dst)
		return 0;
	if (from != to) {
		links[n++] = from + NIC;
		links[n++] = to + NIC + 1;
	} else if ((s + 1) % 8 == t) {
		links[n++] = from + RING + s;
	} else if ((t + 1) % 8 == s) {
		links[n++] = from + RING + 8 + s;
	} else {
		links[n++] = from + PCIE + s / 2;
		links[n++] = from + PCIE + 4 + t / 2;
		if (s / 4 != t / 4)
			links[n++] = from + BRIDGE + s / 4;
	}
	return n;
}

struct machine *machine_p2_v100(struct arena *a, int32_t nodes)
{
	struct machine *m = arena_alloc(a, 1, sizeof(*m));
	struct link *link = arena_alloc(a, (size_t)nodes * NODE_LINKS, sizeof(*link));

	*m = (struct machine){
		.name = "p2-v100",
		.ndevices = 8 * nodes,
		.device = arena_alloc(a, 8 * (size_t)nodes, sizeof(*m->device)),
		.nfabrics = 1,
		.nlinks = nodes * NODE_LINKS,
		.link = link,
		.ask = v100_route,
	};
	m->fabric[0] = (struct fabric){
		.name = "all",
		.profile = "p2",
		.geometry = GEOMETRY_GRAPH,
		.ndomains = 1,
		.domain = arena_alloc(a, 8 * (size_t)nodes, sizeof(int32_t)),
	};
	for (int32_t i = 0; i < m->nlinks; i++) {
		int32_t k = i % NODE_LINKS;

		link[i].name = "link";
		link[i].bandwidth_Bps = (k < PCIE ? 135 : k < BRIDGE ? 32 : 8) * GiB;
	}
	return m;
}
