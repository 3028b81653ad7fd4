#include "bound/ends.h"

#include <math.h>

/*
 * The links out of some hosts (first) and into them (second): sums and least latencies.
 */
struct trunk {
	int32_t hosts;
	double Bps[2], s[2];
};

/*
 * How many hosts have a link at the end of their routes, and how many of these are
 * whole.
 */
struct tally {
	int64_t stamp; /* the counts are 0 unless this is the present stamp */
	int32_t hosts, whole;
};

struct ends {
	const struct machine *machine;
	const struct port_set *set;
	/* [ndomains] for switches and graphs whose ends are known, else NULL: */
	struct trunk *all[MACHINE_FABRICS_MAX];
	struct trunk *within[MACHINE_FABRICS_MAX]; /* of hosts with members */
	struct trunk *whole[MACHINE_FABRICS_MAX];  /* ends of members alone */
	int32_t *touched;                          /* [ndevices] domains with members */
	/* [out, in]: how many hosts of a fabric have the link at the end of a route */
	int32_t *refs[MACHINE_FABRICS_MAX][2];
	struct tally *tally[2]; /* [nlinks], out and in */
	int64_t stamps;
	int64_t *asked; /* [ndevices], by domain: the stamp of when it was asked last */
};

/* Returns the first of the devices that share the port of d. */
static int32_t host_first(const struct fabric *f, int32_t d)
{
	return f->share > 1 ? d / f->share * f->share : d;
}

bool port_whole(const struct port_set *p, const struct fabric *f, int32_t d)
{
	int32_t first = host_first(f, d), n = f->share > 1 ? f->share : 1;

	for (int32_t i = first; i < first + n; i++)
		if (p->inside[i] != p->sets)
			return false;
	return true;
}

/* Returns whether some device on the port of d takes part in the problem. */
static bool port_used(const struct port_set *p, const struct fabric *f, int32_t d)
{
	int32_t first = host_first(f, d), n = f->share > 1 ? f->share : 1;

	for (int32_t i = first; i < first + n; i++)
		if (port_takes_part(p, i))
			return true;
	return false;
}

/* Returns whether all that take part of those that share the port of d are members. */
static bool port_closed(const struct port_set *p, const struct fabric *f, int32_t d)
{
	int32_t first = host_first(f, d), n = f->share > 1 ? f->share : 1;

	for (int32_t i = first; i < first + n; i++)
		if (port_takes_part(p, i) && p->inside[i] != p->sets)
			return false;
	return true;
}

bool port_first(const struct port_set *p, const struct fabric *f, int32_t d)
{
	for (int32_t i = host_first(f, d); i < d; i++)
		if (p->inside[i] == p->sets)
			return false;
	return true;
}

/*
 * Returns the links that routes from d begin with or, if `to`, those that routes to d
 * end with.
 */
static const int32_t *ends_of(int32_t *n, const struct fabric *f, int32_t d, int to)
{
	int64_t i = 2 * (int64_t)d + to;

	*n = 1;
	if (f->geometry == GEOMETRY_SWITCH)
		return f->port + i;
	*n = f->end_first[i + 1] - f->end_first[i];
	return f->end + f->end_first[i];
}

static bool has_ends(const struct fabric *f)
{
	return f->geometry == GEOMETRY_SWITCH ||
	       (f->geometry == GEOMETRY_GRAPH && f->end_first);
}

static struct tally *tally_of(struct ends *e, int to, int32_t link)
{
	struct tally *t = &e->tally[to][link];

	if (t->stamp != e->stamps)
		*t = (struct tally){.stamp = e->stamps};
	return t;
}

static void trunk_link(struct trunk *t, const struct link *link, int to)
{
	t->Bps[to] += link->bandwidth_Bps;
	t->s[to] = fmin(t->s[to], link->latency_s);
}

static void trunk_host(struct trunk *t)
{
	if (t->hosts++ == 0)
		*t = (struct trunk){.hosts = 1, .s = {INFINITY, INFINITY}};
}

/*
 * Adds the ends of a host to its domain. Returns false if one of them is another
 * domain's too.
 */
static bool list_host(struct ends *e, int k, int32_t d)
{
	const struct machine *m = e->machine;
	const struct fabric *f = &m->fabric[k];
	struct trunk *all = &e->all[k][f->domain[d]];
	int32_t n;

	trunk_host(all);
	for (int to = 0; to < 2; to++) {
		const int32_t *end = ends_of(&n, f, d, to);

		for (int32_t i = 0; i < n; i++) {
			bool first = tally_of(e, to, end[i])->hosts++ == 0;

			if (first && e->refs[k][to][end[i]])
				return false;
			if (first)
				trunk_link(all, &m->link[end[i]], to);
			e->refs[k][to][end[i]]++;
		}
	}
	return true;
}

/* Sums up the ends of every domain. */
static void list_ends(struct ends *e, int k, struct arena *a)
{
	const struct machine *m = e->machine;
	const struct fabric *f = &m->fabric[k];
	size_t n = (size_t)f->ndomains;
	bool apart = true;

	e->all[k] = arena_alloc(a, n, sizeof(*e->all[k]));
	e->within[k] = arena_alloc(a, n, sizeof(*e->within[k]));
	e->whole[k] = arena_alloc(a, n, sizeof(*e->whole[k]));
	for (int to = 0; to < 2; to++)
		e->refs[k][to] = arena_alloc(a, (size_t)m->nlinks, sizeof(int32_t));
	for (int32_t j = 0; j < f->ndomains && apart; j++) {
		e->stamps++;
		for (int32_t i = e->set->first[k][j]; i < e->set->first[k][j + 1]; i++) {
			int32_t d = e->set->device[k][i];

			if (d == host_first(f, d) && port_used(e->set, f, d))
				apart = apart && list_host(e, k, d);
		}
	}
	if (!apart)
		e->all[k] = NULL;
}

struct ends *ends_make(const struct port_set *set, struct arena *a)
{
	const struct machine *m = set->machine;
	struct ends *e = arena_alloc(a, 1, sizeof(*e));

	e->machine = m;
	e->set = set;
	e->touched = arena_alloc(a, (size_t)m->ndevices, sizeof(*e->touched));
	e->asked = arena_alloc(a, (size_t)m->ndevices, sizeof(*e->asked));
	for (int k = 0; k < m->nfabrics; k++) {
		if (!has_ends(&m->fabric[k]))
			continue;
		for (int to = 0; to < 2 && !e->tally[to]; to++)
			e->tally[to] =
				arena_alloc(a, (size_t)m->nlinks, sizeof(struct tally));
		list_ends(e, k, a);
	}
	return e;
}

/*
 * Returns the gate that the ends of routes make. A message into the set takes a link
 * that ends at a port with members and one that begins at a port with others; likewise
 * out of the set. The side with fewer bytes per second counts. On a switch the message
 * pays the latencies of both links, on a graph that of one at least.
 */
static struct gate end_gate(const struct ends *e, int k, int32_t domain, int in)
{
	const struct trunk *within = &e->within[k][domain], *all = &e->all[k][domain];
	double far_Bps = all->Bps[!in] - e->whole[k][domain].Bps[!in];
	bool both = e->machine->fabric[k].geometry == GEOMETRY_SWITCH;

	return (struct gate){fmin(within->Bps[in], far_Bps),
	                     both ? within->s[in] + all->s[!in]
	                          : fmax(within->s[in], all->s[!in])};
}

/*
 * The routes into or out of a set in a small domain. Every one has a link at each place,
 * counted from its first link on or from its last; where it is shorter, that is the last
 * or the first.
 */
enum { PLACES = 8, CROSSINGS_MAX = GRAPH_PORTS_MAX * GRAPH_PORTS_MAX / 4 };

struct crossings {
	int n, longest;
	int32_t link[2][PLACES][CROSSINGS_MAX]; /* from the first, from the last */
	double least_s;
};

static bool crossings_add(struct crossings *c, const struct machine *m, int k,
                          int32_t src, int32_t dst)
{
	int32_t links[ROUTE_LINKS_MAX];
	int n = machine_route(m, k, src, dst, links, ROUTE_LINKS_MAX);
	double route_s = 0;

	if (n <= 0)
		return false;
	for (int i = 0; i < PLACES; i++) {
		int at = i < n ? i : n - 1;

		c->link[0][i][c->n] = links[at];
		c->link[1][i][c->n] = links[n - 1 - at];
	}
	for (int i = 0; i < n; i++)
		route_s += m->link[links[i]].latency_s;
	c->least_s = fmin(c->least_s, route_s);
	c->longest = n > c->longest ? n : c->longest;
	c->n++;
	return true;
}

/* Returns the bytes per second of n links, each counted once. */
static double links_Bps(const struct machine *m, const int32_t *link, int n)
{
	double sum_Bps = 0;

	for (int i = 0; i < n; i++) {
		int k = 0;

		while (link[k] != link[i])
			k++;
		if (k == i)
			sum_Bps += m->link[link[i]].bandwidth_Bps;
	}
	return sum_Bps;
}

/*
 * Lists the devices of a domain that take part, and returns their number, or one above
 * GRAPH_PORTS_MAX where there are more.
 */
static int32_t list_parties(int32_t *device, const struct port_set *p, int k,
                            int32_t domain)
{
	int32_t n = 0;

	for (int32_t i = p->first[k][domain]; i < p->first[k][domain + 1]; i++) {
		if (!port_takes_part(p, p->device[k][i]))
			continue;
		if (n == GRAPH_PORTS_MAX)
			return n + 1;
		device[n++] = p->device[k][i];
	}
	return n;
}

/*
 * Finds the gate by all routes. Returns false where the domain is not small or a route
 * is not known.
 */
static bool route_gate(struct gate *out, const struct ends *e, int k, int32_t domain,
                       int in)
{
	const struct machine *m = e->machine;
	int32_t device[GRAPH_PORTS_MAX];
	int32_t n = list_parties(device, e->set, k, domain);
	struct crossings c = {.least_s = INFINITY};

	if (n > GRAPH_PORTS_MAX)
		return false;
	for (int32_t i = 0; i < n * n; i++) {
		int32_t src = device[i / n], dst = device[i % n];
		bool from = e->set->inside[src] == e->set->sets;
		bool to = e->set->inside[dst] == e->set->sets;

		if (from == to || to != in || fabric_shared(&m->fabric[k], src, dst))
			continue;
		if (!crossings_add(&c, m, k, src, dst))
			return false;
	}
	*out = (struct gate){c.n ? INFINITY : 0, c.least_s};
	for (int i = 0; i < c.longest && i < PLACES; i++)
		for (int back = 0; back < 2; back++)
			out->bandwidth_Bps = fmin(out->bandwidth_Bps,
			                          links_Bps(m, c.link[back][i], c.n));
	return true;
}

/*
 * Returns the gate of a graph by its routes and by its ends, as far as they are known,
 * else an unknown gate. The choice between the two goes by bandwidth alone, so that a
 * faster link never makes a gate worse.
 */
static struct gate graph_gate(const struct ends *e, int k, int32_t domain, int in)
{
	bool ends = e->all[k] != NULL;
	struct gate gate, end = {INFINITY, 0};

	if (ends)
		end = end_gate(e, k, domain, in);
	if (!route_gate(&gate, e, k, domain, in))
		return end;
	return (struct gate){fmin(gate.bandwidth_Bps, end.bandwidth_Bps),
	                     fmax(gate.latency_s, end.latency_s)};
}

/* Adds the ends of a port with members to what its domain has of them. */
static void touch_domain(struct ends *e, int k, int32_t d)
{
	const struct machine *m = e->machine;
	const struct fabric *f = &m->fabric[k];
	struct trunk *within = &e->within[k][f->domain[d]];
	struct trunk *whole = &e->whole[k][f->domain[d]];
	bool is = port_closed(e->set, f, d);
	int32_t n;

	trunk_host(within);
	whole->hosts += is;
	for (int to = 0; to < 2; to++) {
		const int32_t *end = ends_of(&n, f, d, to);

		for (int32_t i = 0; i < n; i++) {
			struct tally *t = tally_of(e, to, end[i]);

			if (t->hosts++ == 0)
				trunk_link(within, &m->link[end[i]], to);
			t->whole += is;
			if (is && t->whole == e->refs[k][to][end[i]])
				trunk_link(whole, &m->link[end[i]], to);
		}
	}
}

/* Adds the gates of every domain on a switch, or on a graph whose ends are known. */
static void end_gates(struct gate *in, struct gate *out, struct ends *e, int k,
                      const int32_t *member, int32_t n)
{
	const struct fabric *f = &e->machine->fabric[k];
	int32_t ntouched = 0;

	e->stamps++;
	for (int32_t i = 0; i < n; i++) {
		int32_t domain = f->domain[member[i]];

		if (domain < 0 || !port_first(e->set, f, member[i]) ||
		    !port_used(e->set, f, member[i]))
			continue;
		if (e->within[k][domain].hosts == 0) {
			e->touched[ntouched++] = domain;
			e->whole[k][domain] = (struct trunk){.hosts = 0};
		}
		touch_domain(e, k, member[i]);
	}
	for (int32_t i = 0; i < ntouched; i++) {
		int32_t domain = e->touched[i];
		struct gate gate[2];

		for (int to = 0; to < 2; to++)
			gate[to] = f->geometry == GEOMETRY_SWITCH
			                   ? end_gate(e, k, domain, to)
			                   : graph_gate(e, k, domain, to);
		/* if all are members, nothing passes here */
		if (e->whole[k][domain].hosts < e->all[k][domain].hosts) {
			gate_add(out, gate[0].bandwidth_Bps, gate[0].latency_s);
			gate_add(in, gate[1].bandwidth_Bps, gate[1].latency_s);
		}
		e->within[k][domain].hosts = 0;
	}
}

/*
 * Adds the gates of every domain on a graph of which only routes can be asked, if even
 * those.
 */
static void asked_gates(struct gate *in, struct gate *out, struct ends *e, int k,
                        const int32_t *member, int32_t n)
{
	const struct fabric *f = &e->machine->fabric[k];

	e->stamps++;
	for (int32_t i = 0; i < n; i++) {
		int32_t domain = f->domain[member[i]], outside = 0;

		if (domain < 0 || e->asked[domain] == e->stamps)
			continue;
		e->asked[domain] = e->stamps;
		for (int32_t j = e->set->first[k][domain];
		     j < e->set->first[k][domain + 1]; j++)
			outside +=
				e->set->inside[e->set->device[k][j]] != e->set->sets &&
				port_takes_part(e->set, e->set->device[k][j]);
		if (outside == 0)
			continue;
		for (int to = 0; to < 2; to++) {
			struct gate gate = graph_gate(e, k, domain, to);

			gate_add(to ? in : out, gate.bandwidth_Bps, gate.latency_s);
		}
	}
}

void ends_gates(struct gate *in, struct gate *out, struct ends *e, int k,
                const int32_t *member, int32_t n)
{
	if (e->all[k])
		end_gates(in, out, e, k, member, n);
	else
		asked_gates(in, out, e, k, member, n);
}
