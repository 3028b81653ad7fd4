#include "bound/sums.h"

#include "bound/grid.h"
#include "collective/profile.h"

#include <stdlib.h>

/* The parts that the devices are in, and what leads into and out of all of them. */
struct parts {
	int fabric; /* whose domains they are; -1: each device is one */
	int32_t n;
	const int32_t *part; /* [problem devices] */
	struct gate in, out;
};

struct sums {
	int32_t ndevices; /* the problem's */
	int nparts;
	struct parts parts[MACHINE_FABRICS_MAX + 1];
};

/* --- the parts -------------------------------------------------------------------- */

/* Returns whether switches add up between devices in different parts. */
static bool adds_between(const struct machine *m, int fabric)
{
	for (int k = 0; k < m->nfabrics; k++)
		if (k != fabric && profile_switch_adds(m, k))
			return true;
	return false;
}

/* Adds what leads into one part, and out of it. */
static void add_gates(struct parts *parts, struct ports *ports, const int32_t *member,
                      int32_t n)
{
	struct gate in, out;

	ports_gates(&in, &out, ports, member, n, parts->fabric);
	gate_add(&parts->in, in.bandwidth_Bps, in.latency_s);
	gate_add(&parts->out, out.bandwidth_Bps, out.latency_s);
}

static void part_devices(struct parts *parts, const struct machine *m,
                         struct ports *ports, const int32_t *number, int32_t *part)
{
	for (int32_t d = 0; d < m->ndevices; d++) {
		if (number[d] < 0)
			continue;
		part[number[d]] = parts->n++;
		add_gates(parts, ports, &d, 1);
	}
}

/* Returns false where some device of the problem is in no domain. */
static bool part_domains(struct parts *parts, const struct machine *m,
                         struct ports *ports, const int32_t *number, int32_t *part)
{
	const struct fabric *f = &m->fabric[parts->fabric];

	for (int32_t d = 0; d < m->ndevices; d++)
		if (number[d] >= 0 && f->domain[d] < 0)
			return false;
	for (int32_t j = 0; j < f->ndomains; j++) {
		int32_t n, there = 0;
		const int32_t *device = ports_domain(&n, ports, parts->fabric, j);

		for (int32_t i = 0; i < n; i++)
			if (number[device[i]] >= 0) {
				part[number[device[i]]] = parts->n;
				there++;
			}
		if (there == 0)
			continue;
		parts->n++;
		add_gates(parts, ports, device, n);
	}
	return true;
}

struct sums *sums_make(const struct machine *m, struct ports *ports,
                       const int32_t *number, int32_t ndevices, struct arena *a)
{
	struct sums *s = arena_alloc(a, 1, sizeof(*s));

	s->ndevices = ndevices;
	for (int k = -1; k < m->nfabrics; k++) {
		int32_t *part = arena_alloc(a, (size_t)ndevices, sizeof(*part));
		struct parts parts = {.fabric = k,
		                      .part = part,
		                      .in = {.latency_s = INFINITY},
		                      .out = {.latency_s = INFINITY}};

		if (adds_between(m, k))
			continue;
		if (k < 0)
			part_devices(&parts, m, ports, number, part);
		else if (!part_domains(&parts, m, ports, number, part))
			continue;
		if (parts.n > 1)
			s->parts[s->nparts++] = parts;
	}
	return s;
}

/* --- of one problem --------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts keys, drops those that are there twice, and returns how many are left. */
static int32_t distinct(uint64_t *key, int32_t n)
{
	int32_t out = 0;

	qsort(key, (size_t)n, sizeof(*key), compare_keys);
	for (int32_t i = 0; i < n; i++)
		if (i == 0 || key[i] != key[i - 1])
			key[out++] = key[i];
	return out;
}

/*
 * Returns the messages with an element that come into parts before one has all
 * contributions, over all elements: if no part has more than h of k, at least k / h - 1,
 * rounded up. Returns -1 where some part has all k to begin with.
 */
static double gathered(const struct grid *from, const struct parts *parts,
                       int32_t ndevices, struct arena *a)
{
	uint64_t *key = arena_alloc(a, (size_t)ndevices, sizeof(*key));
	uint64_t partials = (uint64_t)from->map.partials, nparts = (uint64_t)parts->n;
	int32_t *most = arena_alloc(a, (size_t)from->ncells, sizeof(*most));
	int32_t n = 0, held = 0;
	double elements = 0;

	for (int32_t d = 0; d < ndevices; d++)
		if (from->cell[d] >= 0)
			key[n++] = ((uint64_t)from->cell[d] * nparts +
			            (uint64_t)parts->part[d]) *
			                   partials +
			           (uint64_t)from->map.partial[d];
	n = distinct(key, n);
	for (int32_t i = 0; i < n; i++) {
		int32_t *cell = &most[key[i] / partials / nparts];

		held = i && key[i] / partials == key[i - 1] / partials ? held + 1 : 1;
		*cell = held > *cell ? held : *cell;
	}
	for (int32_t c = 0; c < from->ncells; c++) {
		if (most[c] == from->map.partials)
			return -1;
		if (most[c])
			elements += (double)from->size[c] *
			            ((from->map.partials - 1) / most[c]);
	}
	return elements;
}

/* Returns the messages that come into parts after one has the sum, over all elements. */
static double spread(const struct grid *to, const struct parts *parts, int32_t ndevices,
                     struct arena *a)
{
	uint64_t *key = arena_alloc(a, (size_t)ndevices, sizeof(*key));
	uint64_t nparts = (uint64_t)parts->n;
	double elements = 0;
	int32_t n = 0;

	for (int32_t d = 0; d < ndevices; d++)
		if (to->cell[d] >= 0)
			key[n++] = (uint64_t)to->cell[d] * nparts +
			           (uint64_t)parts->part[d];
	n = distinct(key, n);
	for (int32_t i = 1; i < n; i++)
		if (key[i] / nparts == key[i - 1] / nparts)
			elements += (double)to->size[key[i] / nparts];
	return elements;
}

/* Returns the elements of which no device that wants them has a contribution. */
static double far_away(const struct grid *from, const struct grid *to, int32_t ndevices,
                       struct arena *a)
{
	uint64_t *key = arena_alloc(a, (size_t)ndevices, sizeof(*key));
	double elements = (double)shape_elements(from->shape);
	int32_t n = 0;

	for (int32_t d = 0; d < ndevices; d++)
		if (from->cell[d] >= 0 && to->cell[d] >= 0)
			key[n++] = (uint64_t)from->cell[d] * (uint64_t)to->ncells +
			           (uint64_t)to->cell[d];
	n = distinct(key, n);
	for (int32_t i = 0; i < n; i++)
		elements -= (double)grid_common(
			from, (int32_t)(key[i] / (uint64_t)to->ncells), to,
			(int32_t)(key[i] % (uint64_t)to->ncells));
	return elements;
}

static bool consider(struct sums_bound *best, const struct parts *parts, bool in,
                     double bytes)
{
	const struct gate *gate = in ? &parts->in : &parts->out;
	double s = bytes > 0 && gate->bandwidth_Bps > 0
	                   ? bytes / gate->bandwidth_Bps + gate->latency_s
	                   : 0;

	/* what is equal but for rounding is said by the sets that come first */
	if (s <= best->s * (1 + 1e-12))
		return false;
	*best = (struct sums_bound){s, parts->fabric, in};
	return true;
}

bool sums_search(struct sums_bound *best, const struct sums *s,
                 const struct bound_asked *asked, struct arena *scratch)
{
	const struct grid *from = cells_from(asked->cells), *to = cells_to(asked->cells);
	bool found = false;

	if (from->map.partials == 1)
		return false;
	for (int i = 0; i < s->nparts; i++) {
		const struct parts *parts = &s->parts[i];
		double elements = gathered(from, parts, s->ndevices, scratch);

		if (elements < 0)
			continue;
		elements += spread(to, parts, s->ndevices, scratch);
		if (parts->fabric < 0)
			elements += far_away(from, to, s->ndevices, scratch);
		for (int in = 1; in >= 0; in--)
			found = consider(best, parts, in, elements * asked->bits / 8) ||
			        found;
	}
	return found;
}
