#include "placement_help.h"

#include <stdlib.h>
#include <string.h>

/* Below each first factor, all factorizations of the rest. */
static void factorize(struct hierarchy *out, int *n, const struct hierarchy *head,
                      int32_t left)
{
	if (left == 1) {
		out[(*n)++] = *head;
		return;
	}
	for (int32_t f = 2; f <= left; f++) {
		struct hierarchy longer = *head;

		if (left % f)
			continue;
		hierarchy_add(&longer, NULL, f);
		factorize(out, n, &longer, left / f);
	}
}

int factorizations(struct hierarchy **out, struct arena *a, int32_t n)
{
	struct hierarchy empty = {0};
	int found = 0;

	*out = arena_alloc(a, 256, sizeof(**out)); /* 96 has 112 */
	factorize(*out, &found, &empty, n);
	return found;
}

struct mesh mesh_of_sizes(const struct hierarchy *sizes)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	struct mesh mesh = {.naxes = sizes->nlevels, .ndevices = sizes->ndevices};

	for (int i = 0; i < sizes->nlevels; i++)
		mesh.axis[i] = (struct axis){names[i], sizes->level[i].size};
	return mesh;
}

void each_placement(int32_t n, void (*visit)(void *self, const struct placed_case *c),
                    void *self)
{
	struct arena *a = arena_new();
	struct hierarchy *h;
	int nh = factorizations(&h, a, n);

	for (int i = 0; i < nh; i++)
		for (int j = 0; j < nh; j++) {
			struct placed_case c = {.hierarchy = h[i],
			                        .axes = mesh_of_sizes(&h[j])};
			struct error e = {0};
			struct matrix *matrix;
			int64_t nmatrices = 0;

			if (matrices_of(&matrix, &nmatrices, a, &c.hierarchy, &c.axes,
			                (struct where){0}, &e) != OK)
				abort();
			for (int64_t k = 0; k < nmatrices; k++)
				for (c.reduce = 1; c.reduce < 1u << c.axes.naxes;
				     c.reduce++) {
					c.matrix = matrix[k];
					visit(self, &c);
				}
		}
	arena_free(a);
}

char *program_fault(struct arena *a, const struct placed_case *c, enum order order,
                    const struct program *p)
{
	struct text why = {0};
	struct reduction r;
	struct space space;

	space_collapsed(&space, a, &c->hierarchy, &c->matrix, c->reduce, order);
	reduction_of(&r, a, &space, p);
	if (reduction_check(&r, &c->matrix, c->reduce, &why)) {
		text_free(&why);
		return NULL;
	}
	return text_take(&why, a);
}

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
