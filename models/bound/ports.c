#include "bound/ports.h"

#include "base/assert.h"
#include "bound/ends.h"

#include <math.h>
#include <string.h>

struct ports {
	const struct machine *machine;
	struct arena *arena;
	struct port_set set;
	struct ends *ends; /* of switches and graphs; NULL until they are asked for */
	/*
	 * For tori: whether routes take the links along an axis of a domain from the
	 * devices at a place of it, [domain][axis][forward, back][longest]. NULL: they
	 * may take all.
	 */
	bool *taken[MACHINE_FABRICS_MAX];
	int32_t longest[MACHINE_FABRICS_MAX];
};

/* Lists the devices of every domain of a fabric. */
static void list_domains(struct ports *p, int k, struct arena *a)
{
	const struct machine *m = p->machine;
	const struct fabric *f = &m->fabric[k];
	int32_t *first = arena_alloc(a, (size_t)f->ndomains + 2, sizeof(*first));

	p->set.device[k] = arena_alloc(a, (size_t)m->ndevices, sizeof(int32_t));
	for (int32_t d = 0; d < m->ndevices; d++)
		if (f->domain[d] >= 0)
			first[f->domain[d] + 2]++;
	for (int32_t j = 0; j < f->ndomains; j++)
		first[j + 2] += first[j + 1];
	for (int32_t d = 0; d < m->ndevices; d++)
		if (f->domain[d] >= 0)
			p->set.device[k][first[f->domain[d] + 1]++] = d;
	p->set.first[k] = first;
}

/* Returns the place of device d along an axis. */
static int32_t coordinate(const struct fabric *f, int32_t d, int axis)
{
	int32_t inner = 1;

	for (int i = f->naxes - 1; i > axis; i--)
		inner *= f->shape[i];
	return f->place[d] / inner % f->shape[axis];
}

static bool *taken_row(const struct ports *p, int k, int32_t domain, int axis, int dir)
{
	int64_t row = ((int64_t)domain * p->machine->fabric[k].naxes + axis) * 2;

	return p->taken[k] + (row + (dir < 0)) * p->longest[k];
}

/* Room for finding the links along one axis that routes take. */
struct ways {
	bool *there;     /* [size]: places with devices of the problem */
	int32_t *last;   /* [2 * size]: the last such place up to one, counted on */
	int32_t *next;   /* [2 * size]: the next one from it on */
	int32_t *begins; /* [size + 1]: runs that begin at a place less those that end */
};

static struct ways ways_make(int32_t size, struct arena *a)
{
	size_t n = (size_t)size;

	return (struct ways){arena_alloc(a, n, sizeof(bool)),
	                     arena_alloc(a, 2 * n, sizeof(int32_t)),
	                     arena_alloc(a, 2 * n, sizeof(int32_t)),
	                     arena_alloc(a, n + 1, sizeof(int32_t))};
}

/* Finds the places there before and after each; where the axis wraps, twice round it. */
static void find_places(struct ways *w, int32_t size, bool wrap)
{
	int32_t last = -1, next = 2 * size, all = wrap ? 2 * size : size;

	for (int32_t i = 0; i < all; i++) {
		last = w->there[i % size] ? i : last;
		w->last[i] = last;
	}
	for (int32_t i = all - 1; i >= 0; i--) {
		next = w->there[i % size] ? i : next;
		w->next[i] = next;
	}
}

/*
 * Returns how far routes from place c, which is there, go in direction dir. Routes to
 * nearer places are parts of the one to the farthest.
 */
static int32_t reach(const struct ways *w, const struct fabric *f, int axis, int32_t c,
                     int dir)
{
	int32_t size = f->shape[axis], half = size / 2;

	if (!f->wrap[axis])
		return dir > 0 ? w->last[size - 1] - c : c - w->next[0];
	/* at exactly half way round only one of the two ways is taken */
	if (size % 2 == 0 && w->there[(c + half) % size] &&
	    fabric_direction(f, axis, c, (c + half) % size) != dir)
		half--;
	return dir > 0 ? w->last[c + half] - c : c + size - w->next[c + size - half];
}

/* Marks the links that routes between the places there take in direction dir. */
static void take_ways(bool *taken, struct ways *w, const struct fabric *f, int axis,
                      int dir)
{
	int32_t size = f->shape[axis], open = 0;

	memset(w->begins, 0, ((size_t)size + 1) * sizeof(*w->begins));
	for (int32_t c = 0; c < size; c++) {
		int32_t n = w->there[c] ? reach(w, f, axis, c, dir) : 0, from;

		if (n == 0)
			continue;
		from = dir > 0 ? c : (c - n + 1 + size) % size;
		w->begins[from]++;
		if (from + n > size)
			w->begins[0]++;
		w->begins[(from + n - 1) % size + 1]--;
	}
	for (int32_t c = 0; c < size; c++) {
		open += w->begins[c];
		taken[c] = open > 0;
	}
}

/*
 * Finds the links that routes between the devices of the problem take on a whole torus.
 */
static void find_taken(struct ports *p, int k, const int32_t *number, struct arena *a)
{
	const struct fabric *f = &p->machine->fabric[k];
	struct ways ways;

	for (int x = 0; x < f->naxes; x++)
		if (f->shape[x] > p->longest[k])
			p->longest[k] = f->shape[x];
	p->taken[k] = arena_alloc(a, (size_t)f->ndomains * (size_t)f->naxes * 2,
	                          (size_t)p->longest[k]);
	ways = ways_make(p->longest[k], a);
	for (int32_t j = 0; j < f->ndomains; j++)
		for (int x = 0; x < f->naxes; x++) {
			int32_t n;
			const int32_t *device = ports_domain(&n, p, k, j);

			memset(ways.there, 0, (size_t)f->shape[x]);
			for (int32_t i = 0; i < n; i++)
				if (number[device[i]] >= 0)
					ways.there[coordinate(f, device[i], x)] = true;
			find_places(&ways, f->shape[x], f->wrap[x]);
			take_ways(taken_row(p, k, j, x, 1), &ways, f, x, 1);
			take_ways(taken_row(p, k, j, x, -1), &ways, f, x, -1);
		}
}

struct ports *ports_make(const struct machine *m, struct arena *a)
{
	struct ports *p = arena_alloc(a, 1, sizeof(*p));

	p->machine = m;
	p->arena = a;
	p->set.machine = m;
	p->set.inside = arena_alloc(a, (size_t)m->ndevices, sizeof(*p->set.inside));
	for (int k = 0; k < m->nfabrics; k++)
		list_domains(p, k, a);
	return p;
}

void ports_restrict(struct ports *p, const int32_t *number, struct arena *a)
{
	p->set.number = number;
	p->ends = NULL;
	for (int k = 0; k < p->machine->nfabrics; k++) {
		const struct fabric *f = &p->machine->fabric[k];

		/*
		 * Routes of a twisted torus are offsets through all axes, so any link
		 * may be taken.
		 */
		if (f->geometry == GEOMETRY_TORUS && f->twist == 0)
			find_taken(p, k, number, a);
	}
}

const int32_t *ports_domain(int32_t *n, const struct ports *p, int fabric,
                            int32_t domain)
{
	*n = p->set.first[fabric][domain + 1] - p->set.first[fabric][domain];
	return p->set.device[fabric] + p->set.first[fabric][domain];
}

static bool is_taken(const struct ports *p, int k, int32_t d, int axis, int dir)
{
	const struct fabric *f = &p->machine->fabric[k];

	return !p->taken[k] ||
	       taken_row(p, k, f->domain[d], axis, dir)[coordinate(f, d, axis)];
}

void ports_neighbour(struct gate *in, struct gate *out, const struct ports *p,
                     int fabric, int32_t d, int axis, int dir)
{
	const struct fabric *f = &p->machine->fabric[fabric];
	int32_t to = fabric_neighbour(f, d, axis, dir), away, back;
	const struct link *link = p->machine->link;
	int64_t row = 2 * (int64_t)f->naxes;

	if (to < 0)
		return;
	away = f->port[d * row + 2 * axis + (dir < 0)];
	back = f->port[to * row + 2 * axis + (dir > 0)];
	assert(f->geometry == GEOMETRY_GRAPH || (away >= 0 && back >= 0));
	if (away >= 0 && is_taken(p, fabric, d, axis, dir))
		gate_add(out, link[away].bandwidth_Bps, link[away].latency_s);
	if (back >= 0 && is_taken(p, fabric, to, axis, -dir))
		gate_add(in, link[back].bandwidth_Bps, link[back].latency_s);
}

/*
 * Adds the links between ports, except where both ports have members only: a port that
 * members share with others may send to any and receive from any.
 */
static void torus_gates(struct gate *in, struct gate *out, const struct ports *p, int k,
                        const int32_t *member, int32_t n)
{
	const struct fabric *f = &p->machine->fabric[k];

	for (int32_t i = 0; i < n; i++) {
		int32_t d = member[i];

		if (f->domain[d] < 0 || !port_first(&p->set, f, d))
			continue;
		for (int port = 0; port < 2 * f->naxes; port++) {
			int dir = port % 2 ? -1 : 1;
			int32_t to = fabric_neighbour(f, d, port / 2, dir);

			if (to >= 0 &&
			    !(port_whole(&p->set, f, to) && port_whole(&p->set, f, d)))
				ports_neighbour(in, out, p, k, d, port / 2, dir);
		}
	}
}

void ports_gates(struct gate *in, struct gate *out, struct ports *p,
                 const int32_t *member, int32_t n, int except)
{
	if (!p->ends)
		p->ends = ends_make(&p->set, p->arena);
	*in = *out = (struct gate){.latency_s = INFINITY};
	p->set.sets++;
	for (int32_t i = 0; i < n; i++)
		p->set.inside[member[i]] = p->set.sets;
	for (int k = 0; k < p->machine->nfabrics; k++) {
		if (k == except)
			continue;
		if (p->machine->fabric[k].geometry == GEOMETRY_TORUS)
			torus_gates(in, out, p, k, member, n);
		else
			ends_gates(in, out, p->ends, k, member, n);
	}
}
