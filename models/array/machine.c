#include "array/machine.h"

#include "base/assert.h"

#include <stddef.h>
#include <stdlib.h>

bool fabric_shared(const struct fabric *f, int32_t a, int32_t b)
{
	return f->share > 1 && a / f->share == b / f->share;
}

int machine_fabric(const struct machine *m, int32_t src, int32_t dst)
{
	for (int f = 0; f < m->nfabrics; f++) {
		const int32_t *domain = m->fabric[f].domain;

		if (domain[src] >= 0 && domain[src] == domain[dst] &&
		    (src == dst || !fabric_shared(&m->fabric[f], src, dst)))
			return f;
	}
	return -1;
}

int32_t fabric_places(const struct fabric *f)
{
	int32_t n = 1;

	for (int a = 0; a < f->naxes; a++)
		n *= f->shape[a];
	return n;
}

int32_t fabric_twist(int naxes, const int32_t *shape)
{
	int32_t shortest = shape[0], longest = shape[0];

	for (int a = 1; a < naxes; a++) {
		shortest = shape[a] < shortest ? shape[a] : shortest;
		longest = shape[a] > longest ? shape[a] : longest;
	}
	for (int a = 0; a < naxes; a++)
		if (shape[a] != shortest && shape[a] != longest)
			return 0;
	return shortest >= 2 && longest % 2 == 0 && longest / 2 == shortest ? shortest
	                                                                    : 0;
}

/* Returns the place n further along every long axis, which is n back as well. */
static int32_t twist_place(const struct fabric *f, int32_t place)
{
	int32_t stride = 1, to = place;

	for (int a = f->naxes - 1; a >= 0; a--) {
		int32_t c = place / stride % f->shape[a];

		if (f->shape[a] > f->twist)
			to += (c < f->twist ? f->twist : -f->twist) * stride;
		stride *= f->shape[a];
	}
	return to;
}

/* Returns the place one step from another along an axis; -1 where the axis ends. */
static int32_t step_place(const struct fabric *f, int32_t place, int axis, int dir)
{
	int32_t size = f->shape[axis], stride = 1, c, to;

	for (int a = f->naxes - 1; a > axis; a--)
		stride *= f->shape[a];
	c = place / stride % size;
	to = c + dir;
	if (to >= 0 && to < size)
		return place + dir * stride;
	if (!f->wrap[axis] && !f->twist)
		return -1;
	to = place + ((to + size) % size - c) * stride;
	return f->wrap[axis] ? to : twist_place(f, to);
}

int32_t fabric_neighbour(const struct fabric *f, int32_t d, int axis, int dir)
{
	int32_t to = step_place(f, f->place[d], axis, dir);

	return to < 0 ? -1 : f->at[(int64_t)f->domain[d] * fabric_places(f) + to];
}

static int axis_hops(int32_t n, bool wrap, int32_t c, int32_t t, int *dir)
{
	int32_t up = t - c, down;

	if (!wrap) {
		*dir = up >= 0 ? 1 : -1;
		return up >= 0 ? up : -up;
	}
	if (up < 0)
		up += n;
	down = n - up;
	if (up == down)
		*dir = t > c || c > n / 2 ? 1 : -1;
	else
		*dir = up < down ? 1 : -1;
	return *dir > 0 ? up : down;
}

int fabric_hops(const struct fabric *f, int axis, int32_t c, int32_t t, int *dir)
{
	return axis_hops(f->shape[axis], f->wrap[axis], c, t, dir);
}

int fabric_direction(const struct fabric *f, int axis, int32_t c, int32_t t)
{
	int dir;

	axis_hops(f->shape[axis], f->wrap[axis], c, t, &dir);
	return dir;
}

static int torus_route(const struct fabric *f, int32_t src, int32_t dst, int32_t *links,
                       int capacity)
{
	const int32_t *at = f->at + (int64_t)f->domain[src] * fabric_places(f);
	int32_t here = f->place[src], stride = 1;
	/* Places without the axes that were gone along. */
	int32_t from = here, there = f->place[dst];
	int n = 0;

	for (int a = f->naxes - 1; from != there; a--) {
		int32_t size = f->shape[a], c = from % size, t = there % size;
		int dir, hops = axis_hops(size, f->wrap[a], c, t, &dir);

		if (hops > capacity - n)
			return -1;
		while (hops-- > 0) {
			int64_t ports = (int64_t)at[here] * 2 * f->naxes;
			int32_t to = c + dir;

			if (to == size)
				to = 0;
			else if (to < 0)
				to = size - 1;
			links[n] = f->port[ports + 2 * a + (dir < 0)];
			assert(links[n] >= 0);
			n++;
			here += (to - c) * stride;
			c = to;
		}
		from /= size;
		there /= size;
		stride *= size;
	}
	return n;
}

/* Hops along the axes, signed; how many others are equal but for halves of long axes. */
struct offset {
	int32_t hops, along[TORUS_AXES_MAX];
	int nhalves;
};

/*
 * Returns the shortest offset from coordinates c to t of a twisted torus with these
 * rounds of the short axes: `number` to base 3, the last axis least. Halves of long
 * axes go forward.
 */
static struct offset twisted_offset(const struct fabric *f, const int32_t *c,
                                    const int32_t *t, int number)
{
	static const int rounds[] = {0, 1, -1};
	int32_t n = f->twist, turns = 0;
	struct offset out = {.nhalves = 0};

	for (int a = f->naxes - 1; a >= 0; a--)
		if (!f->wrap[a]) {
			int round = rounds[number % 3];

			number /= 3;
			turns += round;
			out.along[a] = t[a] - c[a] + round * n;
			out.hops += abs(out.along[a]);
		}
	for (int a = 0; a < f->naxes; a++)
		if (f->wrap[a]) {
			/* every turn round a short axis has led n along this one */
			int32_t up =
				((t[a] - c[a] - turns * n) % (2 * n) + 2 * n) % (2 * n);

			out.along[a] = up > n ? up - 2 * n : up;
			out.nhalves += up == n;
			out.hops += abs(out.along[a]);
		}
	return out;
}

/* Turns those halves that `back` says, the last axis by its lowest bit. */
static void turn_halves(struct offset *out, const struct fabric *f, int32_t back)
{
	for (int a = f->naxes - 1; a >= 0; a--) {
		if (!f->wrap[a] || out->along[a] != f->twist)
			continue;
		if (back % 2)
			out->along[a] = -f->twist;
		back /= 2;
	}
}

/* Returns the one of the shortest offsets that the header tells to take. */
static struct offset twisted_choose(const struct fabric *f, int32_t src, int32_t dst)
{
	int32_t c[TORUS_AXES_MAX], t[TORUS_AXES_MAX], sum = 0, nbest = 0;
	struct offset best = {.hops = INT32_MAX}, o;
	int numbers = 1;

	for (int a = f->naxes - 1; a >= 0; a--) {
		c[a] = src % f->shape[a];
		t[a] = dst % f->shape[a];
		src /= f->shape[a];
		dst /= f->shape[a];
		sum += c[a] + t[a];
		numbers *= f->wrap[a] ? 1 : 3;
	}
	for (int i = 0; i < numbers; i++) {
		o = twisted_offset(f, c, t, i);
		if (o.hops > best.hops)
			continue;
		nbest = (o.hops < best.hops ? 0 : nbest) + (1 << o.nhalves);
		best = o;
	}
	sum %= nbest;
	for (int i = 0; i < numbers; i++) {
		o = twisted_offset(f, c, t, i);
		if (o.hops != best.hops)
			continue;
		if (sum < 1 << o.nhalves) {
			turn_halves(&o, f, sum);
			return o;
		}
		sum -= 1 << o.nhalves;
	}
	assert(false);
	return best;
}

static int twisted_route(const struct fabric *f, int32_t src, int32_t dst,
                         int32_t *links, int capacity)
{
	const int32_t *at = f->at + (int64_t)f->domain[src] * fabric_places(f);
	int32_t here = f->place[src];
	struct offset offset = twisted_choose(f, here, f->place[dst]);
	int n = 0;

	if (offset.hops > capacity)
		return -1;
	for (int a = f->naxes - 1; a >= 0; a--) {
		int dir = offset.along[a] < 0 ? -1 : 1;

		for (int i = abs(offset.along[a]); i > 0; i--) {
			links[n] = f->port[(int64_t)at[here] * 2 * f->naxes + 2 * a +
			                   (dir < 0)];
			assert(links[n] >= 0);
			n++;
			here = step_place(f, here, a, dir);
		}
	}
	assert(here == f->place[dst]);
	return n;
}

int machine_route(const struct machine *m, int f, int32_t src, int32_t dst,
                  int32_t *links, int capacity)
{
	const struct fabric *fab = &m->fabric[f];

	assert(f >= 0 && f < m->nfabrics);
	assert(src >= 0 && src < m->ndevices && dst >= 0 && dst < m->ndevices);
	if (fab->domain[src] < 0 || fab->domain[src] != fab->domain[dst])
		return -1;
	if (src == dst)
		return 0;
	if (fabric_shared(fab, src, dst))
		return -1;
	switch (fab->geometry) {
	case GEOMETRY_TORUS:
		if (fab->twist)
			return twisted_route(fab, src, dst, links, capacity);
		return torus_route(fab, src, dst, links, capacity);
	case GEOMETRY_SWITCH:
		if (capacity < 2)
			return -1;
		links[0] = fab->port[2 * (int64_t)src];
		links[1] = fab->port[2 * (int64_t)dst + 1];
		return 2;
	case GEOMETRY_GRAPH:
		break;
	}
	return m->ask ? m->ask(m, f, src, dst, links, capacity) : -1;
}

int machine_hops(const struct machine *m, int f, int32_t src, int32_t dst)
{
	const struct fabric *fab = &m->fabric[f];
	int32_t links[ROUTE_LINKS_MAX], from, to;
	int n = 0;

	if (fab->geometry != GEOMETRY_TORUS || fab->twist || fab->domain[src] < 0 ||
	    fab->domain[src] != fab->domain[dst] || fabric_shared(fab, src, dst))
		return machine_route(m, f, src, dst, links, ROUTE_LINKS_MAX);
	from = fab->place[src];
	to = fab->place[dst];
	for (int a = fab->naxes - 1; from != to; a--) {
		int32_t size = fab->shape[a];
		int dir;

		n += axis_hops(size, fab->wrap[a], from % size, to % size, &dir);
		from /= size;
		to /= size;
	}
	return n <= ROUTE_LINKS_MAX ? n : -1;
}

double machine_latency(const struct machine *m, int f, int32_t src, int32_t dst)
{
	int32_t links[ROUTE_LINKS_MAX];
	int n = machine_route(m, f, src, dst, links, ROUTE_LINKS_MAX);
	double sum = 0;

	if (n < 0)
		return -1;
	for (int i = 0; i < n; i++)
		sum += m->link[links[i]].latency_s;
	return sum;
}

static const struct device *devices_alike(struct arena *a, int32_t n,
                                          const struct device *device)
{
	struct device *all = arena_alloc(a, (size_t)n, sizeof(*all));

	for (int32_t d = 0; d < n; d++)
		all[d] = *device;
	return all;
}

static int32_t link_add(struct machine *m, struct link *links, struct link link,
                        const char *name)
{
	links[m->nlinks] = link;
	links[m->nlinks].name = name;
	return m->nlinks++;
}

/* Adds the links of a torus, numbered by device, axis and direction. */
static void torus_wire(struct machine *m, struct arena *a, struct fabric *f,
                       struct link link)
{
	size_t n = (size_t)m->ndevices * 2 * (size_t)f->naxes;
	struct link *links = arena_alloc(a, n, sizeof(*links));
	int32_t *port = arena_alloc(a, n, sizeof(*port));

	for (size_t i = 0; i < n; i++) {
		int32_t d = (int32_t)(i / 2) / f->naxes;
		int axis = (int)(i / 2) % f->naxes;
		int32_t to = fabric_neighbour(f, d, axis, i % 2 ? -1 : 1);

		port[i] = -1;
		if (to >= 0)
			port[i] = link_add(m, links, link,
			                   arena_printf(a, "%s_%d_to_%d", f->name,
			                                (int)d, (int)to));
	}
	m->link = links;
	f->port = port;
}

static struct machine *torus_make(struct arena *a, int naxes, const int32_t *shape,
                                  const bool *wrap, int32_t twist, struct link link,
                                  struct device device)
{
	struct machine *m = arena_alloc(a, 1, sizeof(*m));
	struct fabric *f = &m->fabric[0];
	int32_t *domain, *place;

	assert(naxes >= 1 && naxes <= TORUS_AXES_MAX);
	*f = (struct fabric){.name = "ici",
	                     .profile = "tpu",
	                     .ndomains = 1,
	                     .share = 1,
	                     .geometry = GEOMETRY_TORUS,
	                     .naxes = naxes,
	                     .twist = twist};
	for (int x = 0; x < naxes; x++) {
		assert(shape[x] >= 1);
		f->shape[x] = shape[x];
		f->wrap[x] = wrap[x] && shape[x] > 2;
	}
	m->name = "torus";
	m->tuning = tuning_default;
	m->nfabrics = 1;
	m->ndevices = fabric_places(f);
	m->device = devices_alike(a, m->ndevices, &device);
	domain = arena_alloc(a, (size_t)m->ndevices, sizeof(*domain));
	place = arena_alloc(a, (size_t)m->ndevices, sizeof(*place));
	for (int32_t d = 0; d < m->ndevices; d++)
		place[d] = d;
	f->domain = domain;
	f->place = place;
	f->at = place;
	torus_wire(m, a, f, link);
	return m;
}

struct machine *machine_torus(struct arena *a, int naxes, const int32_t *shape,
                              const bool *wrap, struct link link, struct device device)
{
	return torus_make(a, naxes, shape, wrap, 0, link, device);
}

struct machine *machine_twisted(struct arena *a, int naxes, const int32_t *shape,
                                struct link link, struct device device)
{
	int32_t twist = fabric_twist(naxes, shape);
	bool wrap[TORUS_AXES_MAX];

	assert(twist > 0);
	for (int x = 0; x < naxes; x++)
		wrap[x] = shape[x] > twist;
	return torus_make(a, naxes, shape, wrap, twist, link, device);
}

/* Adds a switch for every `ports` consecutive devices. */
static void switch_add(struct machine *m, struct arena *a, struct link *links,
                       const char *name, int32_t ports, struct link link)
{
	struct fabric *f = &m->fabric[m->nfabrics];
	size_t n = (size_t)m->ndevices;
	int32_t *domain = arena_alloc(a, n, sizeof(*domain));
	int32_t *port = arena_alloc(a, 2 * n, sizeof(*port));

	for (int32_t d = 0; d < m->ndevices; d++) {
		domain[d] = d / ports;
		port[2 * d] = link_add(m, links, link,
		                       arena_printf(a, "%s_%d_up", name, (int)d));
		port[2 * d + 1] = link_add(m, links, link,
		                           arena_printf(a, "%s_%d_down", name, (int)d));
	}
	*f = (struct fabric){.name = name,
	                     .profile = "plain",
	                     .domain = domain,
	                     .priority = m->nfabrics,
	                     .share = 1,
	                     .port = port,
	                     .geometry = GEOMETRY_SWITCH,
	                     .ndomains = m->ndevices / ports};
	m->nfabrics++;
}

struct machine *machine_gpu(struct arena *a, int32_t nodes, int32_t gpus,
                            struct link nvlink, struct link nic, struct device device)
{
	struct machine *m = arena_alloc(a, 1, sizeof(*m));
	struct link *links;

	assert(nodes >= 1 && gpus >= 1);
	m->name = "gpu";
	m->tuning = tuning_default;
	m->ndevices = nodes * gpus;
	m->device = devices_alike(a, m->ndevices, &device);
	links = arena_alloc(a, (size_t)m->ndevices * 4, sizeof(*links));
	switch_add(m, a, links, "nvlink", gpus, nvlink);
	if (nodes > 1)
		switch_add(m, a, links, "net", m->ndevices, nic);
	m->link = links;
	return m;
}
