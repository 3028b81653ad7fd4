#include "cost/bound_ports.h"

#include <assert.h>
#include <math.h>

/* The links of one domain of a switch, or of those of its devices that are in a set. */
struct trunk {
	int32_t devices;
	double up_Bps, down_Bps, up_s, down_s; /* sums; least latencies */
};

struct ports {
	const struct machine *machine;
	int32_t *inside, sets; /* [ndevices]: in the set if equal to `sets` */
	struct trunk *all[MACHINE_FABRICS_MAX];    /* [ndomains], switches and graphs */
	struct trunk *within[MACHINE_FABRICS_MAX]; /* the members' share */
	int32_t *touched;                          /* [ndevices] domains with members */
	/* Domain j has device[first[j]..first[j + 1]). */
	int32_t *first[MACHINE_FABRICS_MAX], *device[MACHINE_FABRICS_MAX];
};

static void trunk_add(struct trunk *t, const struct machine *m, const struct fabric *f,
                      int32_t d)
{
	const struct link *up, *down;

	if (t->devices++ == 0)
		*t = (struct trunk){.devices = 1, .up_s = INFINITY, .down_s = INFINITY};
	if (f->geometry != GEOMETRY_SWITCH)
		return;
	up = &m->link[f->port[2 * (int64_t)d]];
	down = &m->link[f->port[2 * (int64_t)d + 1]];
	t->up_Bps += up->bandwidth_Bps;
	t->down_Bps += down->bandwidth_Bps;
	t->up_s = fmin(t->up_s, up->latency_s);
	t->down_s = fmin(t->down_s, down->latency_s);
}

/* List the devices of every domain of a fabric. */
static void list_domains(struct ports *p, int k, struct arena *a)
{
	const struct machine *m = p->machine;
	const struct fabric *f = &m->fabric[k];
	int32_t *first = arena_alloc(a, (size_t)f->ndomains + 2, sizeof(*first));

	p->device[k] = arena_alloc(a, (size_t)m->ndevices, sizeof(int32_t));
	for (int32_t d = 0; d < m->ndevices; d++)
		if (f->domain[d] >= 0)
			first[f->domain[d] + 2]++;
	for (int32_t j = 0; j < f->ndomains; j++)
		first[j + 2] += first[j + 1];
	for (int32_t d = 0; d < m->ndevices; d++)
		if (f->domain[d] >= 0)
			p->device[k][first[f->domain[d] + 1]++] = d;
	p->first[k] = first;
}

struct ports *ports_make(const struct machine *m, struct arena *a)
{
	struct ports *p = arena_alloc(a, 1, sizeof(*p));

	p->machine = m;
	p->inside = arena_alloc(a, (size_t)m->ndevices, sizeof(*p->inside));
	p->touched = arena_alloc(a, (size_t)m->ndevices, sizeof(*p->touched));
	for (int k = 0; k < m->nfabrics; k++) {
		const struct fabric *f = &m->fabric[k];

		list_domains(p, k, a);
		if (f->geometry == GEOMETRY_TORUS)
			continue;
		p->all[k] = arena_alloc(a, (size_t)f->ndomains, sizeof(*p->all[k]));
		p->within[k] =
			arena_alloc(a, (size_t)f->ndomains, sizeof(*p->within[k]));
		for (int32_t d = 0; d < m->ndevices; d++)
			if (f->domain[d] >= 0)
				trunk_add(&p->all[k][f->domain[d]], m, f, d);
	}
	return p;
}

const int32_t *ports_domain(int32_t *n, const struct ports *p, int fabric,
                            int32_t domain)
{
	*n = p->first[fabric][domain + 1] - p->first[fabric][domain];
	return p->device[fabric] + p->first[fabric][domain];
}

void gate_add(struct gate *g, double bandwidth_Bps, double latency_s)
{
	g->bandwidth_Bps += bandwidth_Bps;
	g->latency_s = fmin(g->latency_s, latency_s);
}

void ports_neighbour(struct gate *in, struct gate *out, const struct ports *p,
                     int fabric, int32_t d, int axis, int dir)
{
	const struct fabric *f = &p->machine->fabric[fabric];
	int32_t to = fabric_neighbour(f, d, axis, dir);
	int64_t row = 2 * (int64_t)f->naxes;
	const struct link *away, *back;

	if (to < 0)
		return;
	assert(f->port[d * row + 2 * axis + (dir < 0)] >= 0);
	away = &p->machine->link[f->port[d * row + 2 * axis + (dir < 0)]];
	back = &p->machine->link[f->port[to * row + 2 * axis + (dir > 0)]];
	gate_add(out, away->bandwidth_Bps, away->latency_s);
	gate_add(in, back->bandwidth_Bps, back->latency_s);
}

static void torus_gates(struct gate *in, struct gate *out, const struct ports *p, int k,
                        const int32_t *member, int32_t n)
{
	const struct fabric *f = &p->machine->fabric[k];

	for (int32_t i = 0; i < n; i++) {
		int32_t d = member[i];

		for (int port = 0; port < 2 * f->naxes && f->domain[d] >= 0; port++) {
			int dir = port % 2 ? -1 : 1;
			int32_t to = fabric_neighbour(f, d, port / 2, dir);

			if (to >= 0 && p->inside[to] != p->sets)
				ports_neighbour(in, out, p, k, d, port / 2, dir);
		}
	}
}

static void switch_gates(struct gate *in, struct gate *out, const struct trunk *all,
                         const struct trunk *within)
{
	gate_add(in, fmin(within->down_Bps, all->up_Bps - within->up_Bps),
	         all->up_s + within->down_s);
	gate_add(out, fmin(within->up_Bps, all->down_Bps - within->down_Bps),
	         within->up_s + all->down_s);
}

/* The slowest link of the route and its latency; false if the route is not known. */
static bool narrowest(const struct machine *m, int k, int32_t src, int32_t dst,
                      int32_t *link, double *latency_s)
{
	int32_t links[ROUTE_LINKS_MAX];
	int n = machine_route(m, k, src, dst, links, ROUTE_LINKS_MAX);

	*latency_s = 0;
	for (int i = 0; i < n; i++) {
		*latency_s += m->link[links[i]].latency_s;
		if (i == 0 ||
		    m->link[links[i]].bandwidth_Bps < m->link[*link].bandwidth_Bps)
			*link = links[i];
	}
	return n > 0;
}

/* Links that were counted already. */
struct links {
	int n;
	int32_t link[GRAPH_PORTS_MAX * GRAPH_PORTS_MAX];
};

static bool links_new(struct links *s, int32_t link)
{
	for (int i = 0; i < s->n; i++)
		if (s->link[i] == link)
			return false;
	s->link[s->n++] = link;
	return true;
}

/*
 * Add the slowest links of all routes between the members of a domain and the others.
 */
static bool graph_gates(struct gate *in, struct gate *out, const struct ports *p, int k,
                        int32_t domain)
{
	const struct machine *m = p->machine;
	int32_t n;
	const int32_t *device = ports_domain(&n, p, k, domain);
	struct links seen[2] = {{.n = 0}, {.n = 0}};

	if (n > GRAPH_PORTS_MAX)
		return false;
	for (int32_t i = 0; i < n * n; i++) {
		int32_t src = device[i / n], dst = device[i % n], link = -1;
		bool inward = p->inside[dst] == p->sets;
		double latency_s;

		if (inward == (p->inside[src] == p->sets))
			continue;
		if (!narrowest(m, k, src, dst, &link, &latency_s))
			return false;
		gate_add(inward ? in : out,
		         links_new(&seen[inward], link) ? m->link[link].bandwidth_Bps
		                                        : 0,
		         latency_s);
	}
	return true;
}

/* By domain, on a switch or a graph. */
static void domain_gates(struct gate *in, struct gate *out, struct ports *p, int k,
                         const int32_t *member, int32_t n)
{
	const struct fabric *f = &p->machine->fabric[k];
	int32_t ntouched = 0;

	for (int32_t i = 0; i < n; i++) {
		int32_t domain = f->domain[member[i]];

		if (domain < 0)
			continue;
		if (p->within[k][domain].devices == 0)
			p->touched[ntouched++] = domain;
		trunk_add(&p->within[k][domain], p->machine, f, member[i]);
	}
	for (int32_t i = 0; i < ntouched; i++) {
		struct trunk *within = &p->within[k][p->touched[i]];
		const struct trunk *all = &p->all[k][p->touched[i]];

		/* All are members: nothing goes through here. */
		if (within->devices == all->devices)
			;
		else if (f->geometry == GEOMETRY_SWITCH)
			switch_gates(in, out, all, within);
		else if (!graph_gates(in, out, p, k, p->touched[i]))
			*in = *out = (struct gate){.bandwidth_Bps = INFINITY};
		within->devices = 0;
	}
}

void ports_gates(struct gate *in, struct gate *out, struct ports *p,
                 const int32_t *member, int32_t n, int except)
{
	*in = *out = (struct gate){.latency_s = INFINITY};
	p->sets++;
	for (int32_t i = 0; i < n; i++)
		p->inside[member[i]] = p->sets;
	for (int k = 0; k < p->machine->nfabrics; k++) {
		if (k == except)
			continue;
		if (p->machine->fabric[k].geometry == GEOMETRY_TORUS)
			torus_gates(in, out, p, k, member, n);
		else
			domain_gates(in, out, p, k, member, n);
	}
}
