#include "flow/symmetry.h"

#include "base/hash.h"
#include "base/list.h"
#include "base/table.h"

#include <string.h>

/* Elements of a group for each device, and digits of which three at once are tried. */
enum { ORDER_MAX = 4, DIGITS_MAX = 64, TRIPLES_MAX = 10 };

/* Numbers of devices in all elements together: 64 MiB. */
enum { IMAGES_MAX = 1 << 24 };

struct digit {
	int32_t stride, size;
};

/* How one digit is changed. */
enum change { KEEP, TURN, MIRROR };

struct search {
	const struct network *net;
	const struct demand *demand;
	const struct mesh *mesh;
	struct arena *arena;
	int32_t n;
	/* The renumbering that is tried, and what it makes of links and so on. */
	int32_t *to, *link_to, *link_from, *hub_to, *supply_to, *party_to;
	int64_t *first; /* [supplies + 1] datum number of each one's first */
	int64_t *datum_to;
	/* The group: images of its elements, by hash. */
	int32_t *image, order;
	int64_t room; /* of image */
	struct table table;
	LIST(int32_t *) generators;
	struct symmetry *out;
};

/* --- is one a symmetry? ------------------------------------------------------------ */

/* Notes that link `l` becomes `k`; false where that is another one, or is not alike. */
static bool map_link(struct search *s, int32_t l, int32_t k)
{
	const struct network *net = s->net;

	if (s->link_to[l] < 0 && s->link_from[k] < 0) {
		s->link_to[l] = k;
		s->link_from[k] = l;
		return net->s_per_byte[l] == net->s_per_byte[k] &&
		       net->latency_s[l] == net->latency_s[k];
	}
	return s->link_to[l] == k;
}

static bool map_edge(struct search *s, const struct flow_edge *e)
{
	const struct network *net = s->net;
	int32_t src = s->to[e->src], dst = s->to[e->dst];

	for (int32_t i = net->out[src]; i < net->out[src + 1]; i++) {
		const struct flow_edge *k = &net->edge[i];

		if (k->dst != dst)
			continue;
		if (k->fabric != e->fabric || k->last - k->first != e->last - e->first)
			return false;
		for (int32_t l = 0; l < e->last - e->first; l++)
			if (!map_link(s, net->link[e->first + l],
			              net->link[k->first + l]))
				return false;
		return true;
	}
	return false;
}

static bool map_ports(struct search *s, int32_t d)
{
	int fabrics = s->net->machine->nfabrics;
	const struct flow_port *from = &s->net->port[d * fabrics];
	const struct flow_port *to = &s->net->port[s->to[d] * fabrics];

	for (int f = 0; f < fabrics; f++) {
		if ((from[f].hub < 0) != (to[f].hub < 0))
			return false;
		if (from[f].hub < 0)
			continue;
		if (s->hub_to[from[f].hub] < 0)
			s->hub_to[from[f].hub] = to[f].hub;
		if (s->hub_to[from[f].hub] != to[f].hub ||
		    s->net->hub[from[f].hub].n != s->net->hub[to[f].hub].n ||
		    !map_link(s, from[f].up, to[f].up) ||
		    !map_link(s, from[f].down, to[f].down))
			return false;
	}
	return true;
}

static bool keeps_network(struct search *s)
{
	const struct network *net = s->net;

	memset(s->link_to, -1, (size_t)net->nlinks * sizeof(int32_t));
	memset(s->link_from, -1, (size_t)net->nlinks * sizeof(int32_t));
	memset(s->hub_to, -1, (size_t)net->nhubs * sizeof(int32_t));
	for (int32_t e = 0; e < net->nedges; e++)
		if (!map_edge(s, &net->edge[e]))
			return false;
	for (int32_t d = 0; d < s->n; d++)
		if (!map_ports(s, d))
			return false;
	return true;
}

/* Returns the number in `of` that all devices of a party become; -1: they part. */
static int32_t map_party(const struct search *s, const struct party *p,
                         const int32_t *of)
{
	int32_t to = p->n ? of[s->to[p->device[0]]] : -1;

	for (int32_t i = 1; i < p->n && to >= 0; i++)
		if (of[s->to[p->device[i]]] != to)
			return -1;
	return to;
}

/* Returns the number of a supply's datum for a party; -1: there is none. */
static int64_t find_datum(const struct search *s, int32_t supply, int32_t party)
{
	const struct supply *of = &s->demand->supply[supply];
	int64_t low = 0, high = of->ndata;
	int64_t guess = high > 0 ? (int64_t)party - of->datum[0].wanters : -1;

	/* most lack all parties behind the first, or all but one */
	for (int64_t i = guess; i >= 0 && i >= guess - 1 && i < high; i--)
		if (of->datum[i].wanters == party)
			return s->first[supply] + i;
	while (low < high) {
		int64_t middle = (low + high) / 2;

		if (of->datum[middle].wanters < party)
			low = middle + 1;
		else
			high = middle;
	}
	return low < of->ndata && of->datum[low].wanters == party
	               ? s->first[supply] + low
	               : -1;
}

static bool map_data(struct search *s, int32_t supply)
{
	const struct supply *from = &s->demand->supply[supply];
	int32_t to = s->supply_to[supply];

	if (s->demand->supply[to].ndata != from->ndata)
		return false;
	for (int64_t i = 0; i < from->ndata; i++) {
		int32_t party = s->party_to[from->datum[i].wanters];
		int64_t k = party < 0 ? -1 : find_datum(s, to, party);

		if (k < 0 || s->demand->supply[to].datum[k - s->first[to]].bytes !=
		                     from->datum[i].bytes)
			return false;
		s->datum_to[s->first[supply] + i] = k;
	}
	return true;
}

static bool keeps_demand(struct search *s)
{
	const struct demand *d = s->demand;

	for (int32_t i = 0; i < d->nsupplies; i++) {
		int32_t to = map_party(s, &d->supply[i].holders, d->supply_of);

		if (to < 0 || d->supply[to].holders.n != d->supply[i].holders.n)
			return false;
		s->supply_to[i] = to;
	}
	for (int32_t i = 0; i < d->nparties; i++) {
		int32_t to = map_party(s, &d->party[i], d->party_of);

		s->party_to[i] = to >= 0 && d->party[to].n == d->party[i].n ? to : -1;
	}
	for (int32_t i = 0; i < d->nsupplies; i++)
		if (!map_data(s, i))
			return false;
	return true;
}

/* --- the group --------------------------------------------------------------------- */

static bool in_group(const struct search *s, const int32_t *element)
{
	size_t bytes = (size_t)s->n * sizeof(*element), at;
	uint64_t hash = hash_bytes(HASH_START, element, bytes);

	for (int32_t i = table_first(&s->table, hash, &at); i >= 0;
	     i = table_next(&s->table, hash, &at))
		if (i < s->order && !memcmp(s->image + (int64_t)i * s->n, element, bytes))
			return true;
	return false;
}

/* Adds the products of `of` elements and one more: first that, then each of them. */
static bool add_coset(struct search *s, int32_t of, const int32_t *element)
{
	if ((int64_t)(s->order + of) * s->n > s->room)
		return false;
	for (int32_t g = 0; g < of; g++) {
		int32_t *out = s->image + (int64_t)s->order * s->n;

		for (int32_t d = 0; d < s->n; d++)
			out[d] = s->image[(int64_t)g * s->n + element[d]];
		table_add(&s->table,
		          hash_bytes(HASH_START, out, (size_t)s->n * sizeof(*out)),
		          s->order++);
	}
	return true;
}

/*
 * Makes the group one with s->to, coset by coset of what it is (Dimino, after Butler,
 * Fundamental Algorithms for Permutation Groups, 1991); false where it would be too large.
 */
static bool grow(struct search *s)
{
	int32_t before = s->order;
	int32_t *product = arena_alloc(s->arena, (size_t)s->n, sizeof(*product));

	*list_add(&s->generators, s->arena) =
		arena_dup(s->arena, s->to, (size_t)s->n, sizeof(*s->to));
	for (int32_t r = 0; r < s->order; r += before)
		for (int64_t k = 0; k < s->generators.n; k++) {
			const int32_t *with = s->generators.at[k];

			for (int32_t d = 0; d < s->n; d++)
				product[d] = s->image[(int64_t)r * s->n + with[d]];
			if (in_group(s, product) || add_coset(s, before, product))
				continue;
			s->order = before;
			s->generators.n--;
			return false;
		}
	return true;
}

/* --- orbits ------------------------------------------------------------------------ */

static int64_t root(int64_t *of, int64_t i)
{
	while (of[i] != i)
		i = of[i] = of[of[i]];
	return i;
}

/* Says that the two are turned into one another; the lower one stands for both. */
static void join(int64_t *of, int64_t a, int64_t b)
{
	a = root(of, a);
	b = root(of, b);
	of[a > b ? a : b] = a > b ? b : a;
}

static void join_orbits(struct search *s, int64_t *links, int64_t *supplies)
{
	for (int32_t l = 0; l < s->net->nlinks; l++)
		if (s->link_to[l] >= 0)
			join(links, l, s->link_to[l]);
	for (int32_t i = 0; i < s->demand->nsupplies; i++)
		join(supplies, i, s->supply_to[i]);
	for (int64_t i = 0; i < s->demand->ndata; i++)
		join(s->out->datum_orbit, i, s->datum_to[i]);
}

static int64_t *alone(struct arena *a, int64_t n)
{
	int64_t *out = arena_alloc(a, (size_t)n, sizeof(*out));

	for (int64_t i = 0; i < n; i++)
		out[i] = i;
	return out;
}

/* Stores of each item the lowest of its orbit, and there the orbit's size. */
static void tell(int32_t **orbit, int32_t **size, int64_t *of, int32_t n,
                 struct arena *a)
{
	*orbit = arena_alloc(a, (size_t)n, sizeof(**orbit));
	*size = arena_alloc(a, (size_t)n, sizeof(**size));
	for (int32_t i = 0; i < n; i++) {
		(*orbit)[i] = (int32_t)root(of, i);
		(*size)[(*orbit)[i]]++;
	}
}

/* --- what is tried ----------------------------------------------------------------- */

static void try(struct search *s, const struct digit *digit, const enum change *change,
                int n, int64_t *links, int64_t *supplies)
{
	const struct mesh *m = s->mesh;

	for (int32_t d = 0; d < s->n; d++)
		s->to[d] = d;
	for (int32_t at = 0; at < m->ndevices; at++) {
		int32_t to = at;

		for (int i = 0; i < n; i++) {
			int32_t x = at / digit[i].stride % digit[i].size, y = x;

			if (change[i] == TURN)
				y = (x + 1) % digit[i].size;
			else if (change[i] == MIRROR)
				y = digit[i].size - 1 - x;
			to += (y - x) * digit[i].stride;
		}
		s->to[m->ids ? m->ids[at] : at] = m->ids ? m->ids[to] : to;
	}
	if (in_group(s, s->to) || !keeps_network(s) || !keeps_demand(s))
		return;
	if (grow(s))
		join_orbits(s, links, supplies);
}

/* Tries turns and mirror images of up to three digits of some, of equal size. */
static void try_digits(struct search *s, const struct digit *digit, int n,
                       int64_t *links, int64_t *supplies)
{
	for (int i = 0; i < n; i++)
		for (int k = i; k < n; k++)
			for (int l = k; l < n; l++) {
				enum change turn[DIGITS_MAX] = {KEEP};
				enum change mirror[DIGITS_MAX] = {KEEP};

				if (digit[i].size != digit[k].size ||
				    digit[i].size != digit[l].size ||
				    (k == i && l != k) || (l != k && n > TRIPLES_MAX))
					continue;
				turn[i] = turn[k] = turn[l] = TURN;
				mirror[i] = mirror[k] = mirror[l] = MIRROR;
				try(s, digit, turn, n, links, supplies);
				if (digit[i].size > 2)
					try(s, digit, mirror, n, links, supplies);
			}
}

/* Tries all; first axes as they are, then their prime factors. */
static void try_all(struct search *s, int64_t *links, int64_t *supplies)
{
	struct digit axis[DIGITS_MAX], prime[DIGITS_MAX];
	int axes = 0, primes = 0;
	int32_t stride = 1;

	for (int x = s->mesh->naxes - 1; x >= 0; x--) {
		int32_t size = s->mesh->axis[x].size;

		if (size > 1 && axes < DIGITS_MAX)
			axis[axes++] = (struct digit){stride, size};
		for (int32_t p = 2; size > 1; p++)
			for (; size % p == 0; size /= p) {
				if (primes < DIGITS_MAX)
					prime[primes++] = (struct digit){stride, p};
				stride *= p;
			}
	}
	try_digits(s, axis, axes, links, supplies);
	try_digits(s, prime, primes, links, supplies);
}

void symmetry_find(struct symmetry *out, const struct network *net,
                   const struct demand *demand, const struct mesh *mesh, struct arena *a)
{
	size_t n = (size_t)net->n, nlinks = (size_t)net->nlinks;
	size_t supplies = (size_t)demand->nsupplies;
	struct search s = {.net = net,
	                   .demand = demand,
	                   .mesh = mesh,
	                   .arena = a,
	                   .n = net->n,
	                   .table.arena = a,
	                   .out = out};
	int64_t *link_of = alone(a, net->nlinks),
		*supply_of = alone(a, demand->nsupplies);

	*out = (struct symmetry){.n = net->n, .datum_orbit = alone(a, demand->ndata)};
	s.to = arena_alloc(a, n, sizeof(int32_t));
	s.link_to = arena_alloc(a, nlinks, sizeof(int32_t));
	s.link_from = arena_alloc(a, nlinks, sizeof(int32_t));
	s.hub_to = arena_alloc(a, (size_t)net->nhubs, sizeof(int32_t));
	s.supply_to = arena_alloc(a, supplies, sizeof(int32_t));
	s.party_to = arena_alloc(a, (size_t)demand->nparties, sizeof(int32_t));
	s.datum_to = arena_alloc(a, (size_t)demand->ndata, sizeof(int64_t));
	s.first = arena_alloc(a, supplies + 1, sizeof(int64_t));
	for (size_t i = 0; i < supplies; i++)
		s.first[i + 1] = s.first[i] + demand->supply[i].ndata;
	s.room = ORDER_MAX * (int64_t)n * (int64_t)n;
	s.room = s.room < IMAGES_MAX ? s.room : IMAGES_MAX;
	s.image = arena_alloc(a, (size_t)s.room, sizeof(int32_t));
	for (int32_t d = 0; d < net->n; d++)
		s.to[d] = s.image[d] = d;
	table_add(&s.table, hash_bytes(HASH_START, s.to, n * sizeof(int32_t)),
	          s.order++);
	try_all(&s, link_of, supply_of);
	out->order = s.order;
	out->image = s.image;
	tell(&out->link_orbit, &out->link_orbit_size, link_of, net->nlinks, a);
	tell(&out->supply_orbit, &out->supply_orbit_size, supply_of, demand->nsupplies,
	     a);
	out->datum_orbit_size =
		arena_alloc(a, (size_t)demand->ndata, sizeof(*out->datum_orbit_size));
	for (int64_t i = 0; i < demand->ndata; i++) {
		out->datum_orbit[i] = root(out->datum_orbit, i);
		out->datum_orbit_size[out->datum_orbit[i]]++;
	}
}
