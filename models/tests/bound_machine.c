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

struct machine *random_machine(struct rng *r, struct arena *arena, int32_t n,
                               double latency, bool alike)
{
	int32_t shape[3] = {1, 1, 1}, nodes = 1 + (int32_t)rng_below(r, 4);
	bool wrap[3] = {rng_below(r, 2), rng_below(r, 2), rng_below(r, 2)};
	int naxes = 1 + (int)rng_below(r, 3), kind = (int)rng_below(r, 5);
	struct machine *m;
	struct link *link;

	while (shape[0] * shape[1] * shape[2] < (kind > 3 ? (n + 1) / 2 : n))
		shape[rng_below(r, (uint32_t)naxes)]++;
	if (kind < 2)
		m = machine_torus(arena, naxes, shape, wrap, bound_ici, bound_device);
	else if (kind < 4)
		m = machine_gpu(arena, nodes, (n + nodes - 1) / nodes, bound_nvlink,
		                bound_nic, bound_device);
	else
		m = machine_pods(arena, naxes, shape, wrap, 2);
	link = arena_dup(arena, m->link, (size_t)m->nlinks, sizeof(*link));
	for (int32_t l = 0; l < m->nlinks; l++) {
		link[l].bandwidth_Bps *= alike ? 1 : 0.25 + rng_uniform(r);
		link[l].latency_s *= latency * (alike ? 1 : rng_uniform(r));
	}
	m->link = link;
	return m;
}
