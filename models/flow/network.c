#include "flow/network.h"

#include "base/list.h"

/* More devices or messages would take too long to look at again and again. */
enum { DEVICES_MAX = 1024, EDGES_MAX = 1 << 17, STEPS_MAX = 64 };

struct making {
	const struct machine *machine;
	const int32_t *platform;
	int32_t *number; /* [machine devices] the problem's, -1 for none */
	int32_t *local;  /* [machine links] its number in the network, -1 for none yet */
	int32_t n, nlinks;
	struct arena *arena;
	LIST(struct flow_edge) edges;
	LIST(int32_t) links;
	LIST(double) rates;
};

static bool add_link(struct making *k, int32_t link)
{
	double Bps = k->machine->link[link].bandwidth_Bps;

	if (Bps <= 0)
		return false;
	if (k->local[link] < 0) {
		k->local[link] = k->nlinks++;
		*list_add(&k->rates, k->arena) = 1 / Bps;
	}
	*list_add(&k->links, k->arena) = k->local[link];
	return true;
}

/* Adds a message by its route, unless there is one between the two. */
static bool add_edge(struct making *k, int32_t src, int32_t dst, int fabric)
{
	int32_t link[STEPS_MAX], s = k->platform[src], d = k->platform[dst];
	int n = machine_route(k->machine, fabric, s, d, link, STEPS_MAX);
	struct flow_edge e = {.src = src, .dst = dst, .fabric = fabric};

	if (n <= 0)
		return false;
	for (int64_t i = k->edges.n - 1; i >= 0 && k->edges.at[i].src == src; i--)
		if (k->edges.at[i].dst == dst)
			return true;
	e.first = (int32_t)k->links.n;
	for (int i = 0; i < n; i++) {
		e.latency_s += k->machine->link[link[i]].latency_s;
		if (!add_link(k, link[i]))
			return false;
	}
	e.last = (int32_t)k->links.n;
	*list_add(&k->edges, k->arena) = e;
	return k->edges.n <= EDGES_MAX;
}

/*
 * Returns the next device of the problem from d on in a direction of an axis, if the
 * route goes straight to it; -1: there is none.
 */
static int32_t next_along(const struct making *k, int fabric, int32_t d, int axis,
                          int dir)
{
	const struct fabric *f = &k->machine->fabric[fabric];
	int32_t start = k->platform[d], at = start;

	for (int steps = 1; steps <= STEPS_MAX; steps++) {
		at = fabric_neighbour(f, at, axis, dir);
		if (at < 0 || at == start)
			return -1;
		if (k->number[at] >= 0)
			return machine_fabric(k->machine, start, at) == fabric &&
			                       machine_hops(k->machine, fabric, start,
			                                    at) == steps
			               ? k->number[at]
			               : -1;
	}
	return -1;
}

static bool add_neighbours(struct making *k, int fabric, int32_t d)
{
	const struct fabric *f = &k->machine->fabric[fabric];

	for (int port = 0; port < 2 * f->naxes; port++) {
		int32_t to = next_along(k, fabric, d, port / 2, port % 2 ? -1 : 1);

		if (to >= 0 && !add_edge(k, d, to, fabric))
			return false;
	}
	return true;
}

/* Adds all messages of a device. */
static bool add_device(struct making *k, int32_t d)
{
	const struct machine *m = k->machine;

	for (int f = 0; f < m->nfabrics; f++) {
		if (m->fabric[f].domain[k->platform[d]] < 0)
			continue;
		if (m->fabric[f].geometry == GEOMETRY_GRAPH ||
		    (m->fabric[f].geometry == GEOMETRY_TORUS && m->fabric[f].share > 1))
			return false;
		if (m->fabric[f].geometry == GEOMETRY_TORUS && !add_neighbours(k, f, d))
			return false;
	}
	for (int32_t to = 0; to < k->n; to++) {
		int f = to == d ? -1 : machine_fabric(m, k->platform[d], k->platform[to]);

		if (f >= 0 && m->fabric[f].geometry == GEOMETRY_SWITCH &&
		    !add_edge(k, d, to, f))
			return false;
	}
	return true;
}

bool network_make(struct network *out, const struct machine *m, const int32_t *platform,
                  int32_t n, struct arena *a)
{
	struct making k = {.machine = m, .platform = platform, .n = n, .arena = a};

	*out = (struct network){.n = n};
	if (n > DEVICES_MAX)
		return false;
	k.number = arena_alloc(a, (size_t)m->ndevices, sizeof(*k.number));
	k.local = arena_alloc(a, (size_t)m->nlinks, sizeof(*k.local));
	for (int32_t d = 0; d < m->ndevices; d++)
		k.number[d] = -1;
	for (int32_t l = 0; l < m->nlinks; l++)
		k.local[l] = -1;
	for (int32_t d = 0; d < n; d++)
		k.number[platform[d]] = d;
	out->out = arena_alloc(a, (size_t)n + 1, sizeof(*out->out));
	for (int32_t d = 0; d < n; d++) {
		if (!add_device(&k, d))
			return false;
		out->out[d + 1] = (int32_t)k.edges.n;
	}
	out->nedges = (int32_t)k.edges.n;
	out->edge = k.edges.at;
	out->link = k.links.at;
	out->nlinks = k.nlinks;
	out->s_per_byte = k.rates.at;
	return true;
}
