#include "flow/network.h"

#include "base/list.h"

/* More messages would take too much memory. */
enum { MESSAGES_MAX = 1 << 23, STEPS_MAX = 64 };

struct making {
	const struct machine *machine;
	const int32_t *platform;
	int32_t *number; /* [machine devices] the problem's, -1 for none */
	int32_t *local; /* [machine links] its number in the network, -1 for none yet */
	int32_t n, nlinks;
	enum flow_reach reach;
	bool rails; /* there are several */
	struct arena *arena;
	LIST(struct flow_edge) edges;
	LIST(int32_t) links;
	LIST(double) rates, latencies;
	LIST(struct flow_hub) hubs;
};

/* Returns the network's number of a link; -1 where nothing can take it. */
static int32_t link_number(struct making *k, int32_t link)
{
	double Bps = link < 0 ? 0 : k->machine->link[link].bandwidth_Bps;

	if (Bps <= 0)
		return -1;
	if (k->local[link] < 0) {
		k->local[link] = k->nlinks++;
		*list_add(&k->rates, k->arena) = 1 / Bps;
		*list_add(&k->latencies, k->arena) = k->machine->link[link].latency_s;
	}
	return k->local[link];
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
		int32_t number = link_number(k, link[i]);

		if (number < 0)
			return false;
		*list_add(&k->links, k->arena) = number;
	}
	e.last = (int32_t)k->links.n;
	*list_add(&k->edges, k->arena) = e;
	return true;
}

/* Returns whether the route from s to d is `steps` long, and leaves s by a port. */
static bool goes_straight(const struct making *k, int fabric, int32_t s, int32_t d,
                          int port, int steps)
{
	const struct fabric *f = &k->machine->fabric[fabric];
	int32_t link[STEPS_MAX];

	return machine_fabric(k->machine, s, d) == fabric &&
	       machine_hops(k->machine, fabric, s, d) == steps &&
	       machine_route(k->machine, fabric, s, d, link, STEPS_MAX) > 0 &&
	       link[0] == f->port[s * 2 * f->naxes + port];
}

/*
 * Returns the next device of the problem from d on along an axis by one of its two ports, if
 * the route goes straight to it; -1: there is none. So no two messages share a link.
 */
static int32_t next_along(const struct making *k, int fabric, int32_t d, int port)
{
	const struct fabric *f = &k->machine->fabric[fabric];
	int32_t start = k->platform[d], at = start;

	for (int steps = 1; steps <= STEPS_MAX; steps++) {
		at = fabric_neighbour(f, at, port / 2, port % 2 ? -1 : 1);
		if (at < 0 || at == start)
			return -1;
		if (k->number[at] >= 0)
			return goes_straight(k, fabric, start, at, port, steps)
			               ? k->number[at]
			               : -1;
	}
	return -1;
}

static bool add_neighbours(struct making *k, int fabric, int32_t d)
{
	const struct fabric *f = &k->machine->fabric[fabric];

	for (int port = 0; port < 2 * f->naxes; port++) {
		int32_t to = next_along(k, fabric, d, port);

		if (to >= 0 && !add_edge(k, d, to, fabric))
			return false;
	}
	return true;
}

/* Adds the messages of a device along axes; false where a fabric is none for flows. */
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
	return true;
}

/*
 * Returns of each device of the machine on which rail of a fabric it is: how many before it
 * share its domain of the fabric before. All are on the first where rails do not count. Stores
 * how many rails there are.
 */
static const int32_t *find_rails(struct making *k, int fabric, int32_t *rails)
{
	size_t n = (size_t)k->machine->ndevices;
	int32_t *rail = arena_alloc(k->arena, n, sizeof(*rail));
	const struct fabric *before = &k->machine->fabric[fabric - (fabric > 0)];
	int32_t *count = arena_alloc(k->arena, (size_t)before->ndomains, sizeof(*count));

	*rails = 1;
	for (size_t d = 0; d < n && fabric > 0 && k->reach != FLOW_ALL; d++) {
		if (before->domain[d] >= 0)
			rail[d] = count[before->domain[d]]++;
		*rails = rail[d] >= *rails ? rail[d] + 1 : *rails;
	}
	return rail;
}

/* Adds the hubs of a fabric, one for each domain and rail that devices are in. */
static bool add_hubs(struct making *k, struct flow_port *port, int fabric)
{
	const struct fabric *f = &k->machine->fabric[fabric];
	int nfabrics = k->machine->nfabrics;
	int32_t rails;
	const int32_t *rail = find_rails(k, fabric, &rails);
	int32_t *hub = arena_alloc(k->arena, (size_t)f->ndomains * (size_t)rails,
	                           sizeof(*hub));

	for (int32_t d = 0; d < k->n; d++) {
		int32_t at = k->platform[d], domain = f->domain[at];
		struct flow_port *p = &port[d * nfabrics + fabric];
		struct flow_hub *of;

		*p = (struct flow_port){-1, -1, -1, -1};
		if (domain < 0 || f->geometry != GEOMETRY_SWITCH)
			continue;
		domain = domain * rails + rail[at];
		k->rails = k->rails || rail[at] > 0;
		if (hub[domain] == 0) {
			*list_add(&k->hubs, k->arena) = (struct flow_hub){
				fabric, 0,
				arena_alloc(k->arena, (size_t)k->n, sizeof(int32_t))};
			hub[domain] = (int32_t)k->hubs.n;
		}
		of = &k->hubs.at[hub[domain] - 1];
		of->member[of->n++] = d;
		*p = (struct flow_port){hub[domain] - 1, of->n - 1,
		                        link_number(k, f->port[2 * at]),
		                        link_number(k, f->port[2 * at + 1])};
		if (p->up < 0 || p->down < 0)
			return false;
	}
	return true;
}

static bool add_all(struct making *k, struct network *out)
{
	for (int32_t d = 0; d < k->n; d++) {
		if (!add_device(k, d))
			return false;
		out->out[d + 1] = (int32_t)k->edges.n;
	}
	for (int f = 0; f < k->machine->nfabrics; f++)
		if (!add_hubs(k, out->port, f))
			return false;
	return true;
}

bool network_make(struct network *out, const struct machine *m, const int32_t *platform,
                  int32_t n, enum flow_reach reach, struct arena *a)
{
	struct making k = {
		.machine = m, .platform = platform, .n = n, .reach = reach, .arena = a};
	int64_t messages = 0;

	*out = (struct network){
		.machine = m, .platform = platform, .n = n, .reach = reach};
	k.number = arena_alloc(a, (size_t)m->ndevices, sizeof(*k.number));
	k.local = arena_alloc(a, (size_t)m->nlinks, sizeof(*k.local));
	for (int32_t d = 0; d < m->ndevices; d++)
		k.number[d] = -1;
	for (int32_t l = 0; l < m->nlinks; l++)
		k.local[l] = -1;
	for (int32_t d = 0; d < n; d++)
		k.number[platform[d]] = d;
	out->out = arena_alloc(a, (size_t)n + 1, sizeof(*out->out));
	out->port = arena_alloc(a, (size_t)n * (size_t)m->nfabrics, sizeof(*out->port));
	if (!add_all(&k, out))
		return false;
	if (reach != FLOW_ALL && (k.edges.n > 0 || !k.rails))
		return false;
	out->nedges = (int32_t)k.edges.n;
	out->edge = k.edges.at;
	out->link = k.links.at;
	out->nhubs = (int32_t)k.hubs.n;
	out->hub = k.hubs.at;
	out->nlinks = k.nlinks;
	out->s_per_byte = k.rates.at;
	out->latency_s = k.latencies.at;
	out->depth_max = reach == FLOW_RAILS ? 2 * m->nfabrics - 1 : FLOW_DEPTH_MAX;
	out->looks = n + out->nedges;
	for (int32_t h = 0; h < out->nhubs; h++) {
		out->looks += 2 * (int64_t)out->hub[h].n;
		messages += (int64_t)out->hub[h].n * out->hub[h].n;
	}
	return messages <= MESSAGES_MAX;
}

int32_t network_links(const struct network *net, const struct flow_message *message,
                      const int32_t **list, int32_t pair[2])
{
	int fabrics = net->machine->nfabrics, f = message->via - net->nedges;

	if (f < 0) {
		const struct flow_edge *e = &net->edge[message->via];

		*list = net->link + e->first;
		return e->last - e->first;
	}
	pair[0] = net->port[message->src * fabrics + f].up;
	pair[1] = net->port[message->dst * fabrics + f].down;
	*list = pair;
	return 2;
}
