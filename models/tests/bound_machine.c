#include "bound_machine.h"

#include <string.h>

const struct link bound_ici = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
const struct link bound_nvlink = {.bandwidth_Bps = 240e9, .latency_s = 0.7e-6};
const struct link bound_nic = {.bandwidth_Bps = 23e9, .latency_s = 2.5e-6};
const struct device bound_device = {.memory_Bps = 8e11, .launch_s = 5e-6};

struct machine *machine_pods(struct arena *arena, int naxes, const int32_t *shape,
                             const bool *wrap, int32_t pods)
{
	const struct machine *pod =
		machine_torus(arena, naxes, shape, wrap, bound_ici, bound_device);
	const struct fabric *from = &pod->fabric[0];
	int32_t n = pod->ndevices, row = 2 * naxes;
	struct machine *m =
		machine_gpu(arena, pods, n, bound_nvlink, bound_nic, bound_device);
	struct fabric *f = &m->fabric[0];
	struct link *link = arena_alloc(arena, (size_t)(m->nlinks + pods * pod->nlinks),
	                                sizeof(*link));
	int32_t *place = arena_alloc(arena, (size_t)m->ndevices, sizeof(*place));
	int32_t *at = arena_alloc(arena, (size_t)m->ndevices, sizeof(*at));
	int32_t *port = arena_alloc(arena, (size_t)(m->ndevices * row), sizeof(*port));

	memcpy(link, m->link, (size_t)m->nlinks * sizeof(*link));
	m->link = link;
	for (int32_t d = 0; d < m->ndevices; d++) {
		place[d] = d % n;
		at[d] = d;
		for (int32_t i = 0; i < row; i++) {
			port[d * row + i] = from->port[d % n * row + i];
			if (port[d * row + i] < 0)
				continue;
			link[m->nlinks] = bound_ici;
			port[d * row + i] = m->nlinks++;
		}
	}
	f->name = "ici";
	f->geometry = GEOMETRY_TORUS;
	f->naxes = naxes;
	memcpy(f->shape, from->shape, sizeof(f->shape));
	memcpy(f->wrap, from->wrap, sizeof(f->wrap));
	f->place = place;
	f->at = at;
	f->port = port;
	return m;
}

/* Of a web: the link from one device to the next, and the next on the way to another. */
struct web {
	int32_t n;
	int32_t *link, *next; /* [n * n], -1 for none */
};

static int web_route(const struct machine *m, int f, int32_t src, int32_t dst,
                     int32_t *links, int capacity)
{
	const struct web *w = m->ask_state;
	int n = 0;

	(void)f;
	while (src != dst) {
		int32_t to = w->next[src * w->n + dst];

		if (n == capacity)
			return -1;
		links[n++] = w->link[src * w->n + to];
		src = to;
	}
	return n;
}

/* Next hops by breadth-first search from every destination against the links. */
static void web_search(struct web *w, struct arena *arena)
{
	int32_t *queue = arena_alloc(arena, (size_t)w->n, sizeof(*queue));

	for (int32_t dst = 0; dst < w->n; dst++) {
		int32_t head = 0, tail = 0;

		queue[tail++] = dst;
		w->next[dst * w->n + dst] = dst;
		while (head < tail) {
			int32_t to = queue[head++];

			for (int32_t from = 0; from < w->n; from++)
				if (w->link[from * w->n + to] >= 0 &&
				    w->next[from * w->n + dst] < 0) {
					w->next[from * w->n + dst] = to;
					queue[tail++] = from;
				}
		}
	}
}

static void web_ends(struct machine *m, const struct web *w, struct arena *arena)
{
	int32_t n = w->n, *end = arena_alloc(arena, (size_t)(2 * n * n), sizeof(*end));
	int32_t *first = arena_alloc(arena, 2 * (size_t)n + 1, sizeof(*first));
	int32_t total = 0;

	for (int32_t i = 0; i < 2 * n; i++) {
		first[i] = total;
		for (int32_t d = 0; d < n; d++) {
			int32_t link =
				i % 2 ? w->link[d * n + i / 2] : w->link[i / 2 * n + d];

			if (link >= 0)
				end[total++] = link;
		}
	}
	first[2 * n] = total;
	m->fabric[0].end_first = first;
	m->fabric[0].end = end;
}

struct machine *machine_web(struct rng *r, struct arena *arena, int32_t n, bool ends)
{
	struct machine *m =
		machine_gpu(arena, 1, n, bound_nvlink, bound_nic, bound_device);
	struct web *w = arena_alloc(arena, 1, sizeof(*w));
	struct link *link = arena_alloc(arena, (size_t)(n * n), sizeof(*link));

	w->n = n;
	w->link = arena_alloc(arena, (size_t)(n * n), sizeof(*w->link));
	w->next = arena_alloc(arena, (size_t)(n * n), sizeof(*w->next));
	memset(w->link, -1, (size_t)(n * n) * sizeof(*w->link));
	memset(w->next, -1, (size_t)(n * n) * sizeof(*w->next));
	m->nlinks = 0;
	for (int32_t i = 0; i < n * n; i++) {
		int32_t src = i / n, dst = i % n;
		/* a ring holds it together */
		bool ring = dst == (src + 1) % n;

		if (src == dst || (!ring && rng_below(r, (uint32_t)n) > 1))
			continue;
		link[m->nlinks] = bound_ici;
		w->link[i] = m->nlinks++;
	}
	web_search(w, arena);
	m->link = link;
	m->name = "web";
	m->fabric[0].geometry = GEOMETRY_GRAPH;
	m->ask = web_route;
	m->ask_state = w;
	if (ends)
		web_ends(m, w, arena);
	return m;
}

/* Two tori of chips; the network joins all devices, those of a chip too. */
static void share_chips(struct machine *m, struct arena *arena, int32_t share)
{
	bool wrap = true;
	int32_t chips = m->ndevices / share / 2;
	const struct machine *pods = machine_pods(arena, 1, &chips, &wrap, 2);
	const struct fabric *from = &pods->fabric[0];
	struct link *link =
		arena_alloc(arena, (size_t)(m->nlinks + pods->nlinks), sizeof(*link));
	int32_t *place = arena_alloc(arena, (size_t)m->ndevices, sizeof(*place));
	int32_t *at = arena_alloc(arena, (size_t)m->ndevices, sizeof(*at));
	int32_t *port = arena_alloc(arena, 2 * (size_t)m->ndevices, sizeof(*port));
	int32_t *domain = arena_alloc(arena, (size_t)m->ndevices, sizeof(*domain));

	memcpy(link, m->link, (size_t)m->nlinks * sizeof(*link));
	memcpy(link + m->nlinks, pods->link, (size_t)pods->nlinks * sizeof(*link));
	for (int32_t d = 0; d < m->ndevices; d++) {
		place[d] = from->place[d / share];
		domain[d] = from->domain[d / share];
		at[d / share] = d / share * share;
		for (int i = 0; i < 2; i++) {
			port[2 * d + i] = from->port[2 * (d / share) + i];
			if (port[2 * d + i] >= 0)
				port[2 * d + i] += m->nlinks;
		}
	}
	m->link = link;
	m->nlinks += pods->nlinks;
	m->fabric[0] = *from;
	m->fabric[0].share = share;
	m->fabric[0].place = place;
	m->fabric[0].domain = domain;
	m->fabric[0].at = at;
	m->fabric[0].port = port;
}

/* The network of two nodes with a NIC for so many GPUs. */
static void share_nics(struct machine *m, struct arena *arena, int32_t share)
{
	struct fabric *f = &m->fabric[1];
	int32_t *port = arena_alloc(arena, 2 * (size_t)m->ndevices, sizeof(*port));

	f->share = share;
	for (int32_t d = 0; d < m->ndevices; d++)
		memcpy(&port[2 * d], &f->port[2 * (d / share * share)],
		       2 * sizeof(*port));
	f->port = port;
}

struct machine *machine_shared(struct arena *arena, int32_t n, int32_t share, bool chips)
{
	int32_t ports = (n + 2 * share - 1) / (2 * share);
	struct machine *m = machine_gpu(arena, 2, share * ports, bound_nvlink,
	                                bound_nic, bound_device);

	if (chips)
		share_chips(m, arena, share);
	else
		share_nics(m, arena, share);
	m->name = chips ? "cores" : "shared nics";
	return m;
}

/* Of two or three axes, with room for n devices. */
static struct machine *random_twisted(struct rng *r, struct arena *arena, int32_t n)
{
	int32_t half = 2, shape[3];
	int naxes = 2 + (int)rng_below(r, 2), longer = 1 << rng_below(r, 2);

	for (;; half++) {
		int32_t places = 1;

		for (int a = 0; a < naxes; a++) {
			shape[a] = half << ((longer >> a & 1) || (a == 2 && half == 2));
			places *= shape[a];
		}
		if (places >= n)
			return machine_twisted(arena, naxes, shape, bound_ici,
			                       bound_device);
	}
}

/* Each link its own bandwidth and latency, unless they are alike. */
static struct machine *vary_links(struct rng *r, struct arena *arena, struct machine *m,
                                  double latency, bool alike)
{
	struct link *link = arena_dup(arena, m->link, (size_t)m->nlinks, sizeof(*link));

	for (int32_t l = 0; l < m->nlinks; l++) {
		link[l].bandwidth_Bps *= alike ? 1 : 0.25 + rng_uniform(r);
		link[l].latency_s *= latency * (alike ? 1 : rng_uniform(r));
	}
	m->link = link;
	return m;
}

struct machine *random_machine(struct rng *r, struct arena *arena, int32_t n,
                               double latency, bool alike)
{
	int32_t shape[3] = {1, 1, 1}, nodes = 1 + (int32_t)rng_below(r, 4);
	bool wrap[3] = {rng_below(r, 2), rng_below(r, 2), rng_below(r, 2)};
	int naxes = 1 + (int)rng_below(r, 3), kind = (int)rng_below(r, 5);
	struct machine *m;

	while (shape[0] * shape[1] * shape[2] < (kind > 3 ? (n + 1) / 2 : n))
		shape[rng_below(r, (uint32_t)naxes)]++;
	if (kind < 2)
		m = machine_torus(arena, naxes, shape, wrap, bound_ici, bound_device);
	else if (kind < 4)
		m = machine_gpu(arena, nodes, (n + nodes - 1) / nodes, bound_nvlink,
		                bound_nic, bound_device);
	else
		m = machine_pods(arena, naxes, shape, wrap, 2);
	return vary_links(r, arena, m, latency, alike);
}

struct machine *random_any_machine(struct rng *r, struct arena *arena, int32_t n,
                                   double latency, bool alike)
{
	struct machine *m;

	switch (rng_below(r, 8)) {
	case 0:
		m = random_twisted(r, arena, n);
		break;
	case 1:
		m = machine_web(r, arena, n + (int32_t)rng_below(r, 3), false);
		break;
	case 2:
		m = machine_web(r, arena, n + (int32_t)rng_below(r, 3), true);
		break;
	case 3:
		m = machine_shared(arena, n, 2 + (int32_t)rng_below(r, 2), false);
		break;
	case 4:
		m = machine_shared(arena, n, 2 + (int32_t)rng_below(r, 2), true);
		break;
	default:
		return random_machine(r, arena, n, latency, alike);
	}
	return vary_links(r, arena, m, latency, alike);
}
