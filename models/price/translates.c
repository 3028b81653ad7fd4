#include "price/translates.h"

#include <string.h>

/* Coordinates of a device: its domain, its place along the axes, and which of its port it is. */
enum { DOMAIN, FIRST_AXIS, COORDINATES = TORUS_AXES_MAX + 2 };

struct translates {
	const struct fabric *torus;
	int32_t ndevices, most; /* most: no coordinate is as large */
	int n, nth;             /* coordinates, and the number of the last */
	int32_t *at;            /* [ndevices * n] */
};

static bool same_link(const struct machine *m, int32_t a, int32_t b)
{
	return a < 0 || b < 0 ||
	       (m->link[a].bandwidth_Bps == m->link[b].bandwidth_Bps &&
	        m->link[a].latency_s == m->link[b].latency_s);
}

/* Whether each port of a device is as that of the same number of all others is, if they have it. */
static bool same_ports(const struct machine *m, const struct fabric *f)
{
	int ports = f->geometry == GEOMETRY_TORUS ? 2 * f->naxes : 2;

	for (int k = 0; k < ports; k++) {
		int32_t known = -1;

		for (int32_t d = 0; d < m->ndevices; d++) {
			int32_t port = f->port[(int64_t)d * ports + k];

			if (!same_link(m, known, port))
				return false;
			known = known < 0 ? port : known;
		}
	}
	return true;
}

/* Whether the fabric joins those devices only that share a port of the torus. */
static bool is_within(const struct machine *m, const struct fabric *f,
                      const struct fabric *torus)
{
	int32_t *chip;
	struct arena *a;
	bool within = f->geometry == GEOMETRY_SWITCH;

	if (!within)
		return false;
	a = arena_new();
	chip = arena_alloc(a, (size_t)f->ndomains, sizeof(*chip));
	for (int32_t d = 0; d < m->ndevices; d++) {
		int32_t number = d / torus->share + 1;

		if (f->domain[d] < 0)
			continue;
		within &= !chip[f->domain[d]] || chip[f->domain[d]] == number;
		chip[f->domain[d]] = number;
	}
	arena_free(a);
	return within;
}

/* The torus of all devices with no more than what is within a chip before it; NULL: there is none. */
static const struct fabric *find_torus(const struct machine *m)
{
	const struct fabric *torus = NULL;

	for (int i = 0; i < m->nfabrics && !torus; i++)
		if (m->fabric[i].geometry == GEOMETRY_TORUS)
			torus = &m->fabric[i];
	if (!torus || torus->twist)
		return NULL;
	for (int32_t d = 0; d < m->ndevices; d++)
		if (torus->domain[d] < 0 ||
		    m->device[d].memory_Bps != m->device[0].memory_Bps ||
		    m->device[d].launch_s != m->device[0].launch_s)
			return NULL;
	for (const struct fabric *f = m->fabric; f < torus; f++)
		if (!is_within(m, f, torus) || !same_ports(m, f))
			return NULL;
	return same_ports(m, torus) ? torus : NULL;
}

struct translates *translates_new(struct arena *a, const struct machine *m)
{
	const struct fabric *f = find_torus(m);
	struct translates *t;

	if (!f)
		return NULL;
	t = arena_alloc(a, 1, sizeof(*t));
	t->torus = f;
	t->ndevices = m->ndevices;
	t->n = f->naxes + 2;
	t->nth = t->n - 1;
	t->most = f->ndomains > f->share ? f->ndomains : f->share;
	for (int i = 0; i < f->naxes; i++)
		t->most = f->shape[i] > t->most ? f->shape[i] : t->most;
	t->at = arena_alloc(a, (size_t)m->ndevices * (size_t)t->n, sizeof(*t->at));
	for (int32_t d = 0; d < m->ndevices; d++) {
		int32_t *at = t->at + (int64_t)d * t->n, place = f->place[d];

		at[DOMAIN] = f->domain[d];
		for (int i = f->naxes - 1; i >= 0; i--) {
			at[FIRST_AXIS + i] = place % f->shape[i];
			place /= f->shape[i];
		}
		at[t->nth] = d % f->share;
	}
	return t;
}

static const int32_t *spot(const struct translates *t, int32_t device)
{
	return t->at + (int64_t)device * t->n;
}

/*
 * Whether group i is the first one translated, and notes who has the coordinates: `owner` [n * most]
 * tells where groups begin, + 1, that have one.
 */
static bool is_translate(const struct translates *t, const struct groups *g, int32_t i,
                         int32_t *owner)
{
	const int32_t *ids = g->ids + (int64_t)i * g->size;
	const int32_t *from = spot(t, g->ids[0]), *base = spot(t, ids[0]);

	for (int32_t k = 0; k < g->size; k++) {
		const int32_t *first = spot(t, g->ids[k]), *at = spot(t, ids[k]);

		for (int c = 0; c < t->n; c++) {
			int32_t *own = &owner[c * t->most + at[c]];

			if (at[c] - base[c] != first[c] - from[c])
				return false;
			/* Devices that share a port are looked at together. */
			if (c == t->nth)
				continue;
			if (*own && *own != base[c] + 1)
				return false;
			*own = base[c] + 1;
		}
	}
	return true;
}

/* Whether a group begins where the first one does but along one axis that groups go along. */
static bool is_needed(const struct translates *t, const struct groups *g, int32_t i,
                      const bool *spread)
{
	const int32_t *from = spot(t, g->ids[0]);
	const int32_t *base = spot(t, g->ids[(int64_t)i * g->size]);
	int others = 0;

	for (int c = 0; c < t->nth; c++) {
		if (base[c] == from[c])
			continue;
		if (!spread[c])
			return false;
		others++;
	}
	return others <= 1;
}

/* Marks the coordinates in which members of the first group differ. */
static void mark_spread(bool *spread, const struct translates *t, const struct groups *g)
{
	for (int32_t k = 1; k < g->size; k++)
		for (int c = 0; c < t->n; c++)
			spread[c] |= spot(t, g->ids[k])[c] != spot(t, g->ids[0])[c];
}

struct groups translates_few(const struct translates *t, const struct groups *g,
                             struct arena *a)
{
	bool spread[COORDINATES] = {false};
	struct groups few = {.size = g->size};
	int32_t *owner, *ids;

	if (!t)
		return *g;
	mark_spread(spread, t, g);
	if (spread[DOMAIN])
		return *g;
	owner = arena_alloc(a, (size_t)t->n * (size_t)t->most, sizeof(*owner));
	for (int32_t i = 0; i < g->ngroups; i++)
		if (!is_translate(t, g, i, owner))
			return *g;
	ids = arena_alloc(a, (size_t)g->ngroups * (size_t)g->size, sizeof(*ids));
	for (int32_t i = 0; i < g->ngroups; i++)
		if (is_needed(t, g, i, spread))
			memcpy(ids + (int64_t)few.ngroups++ * g->size,
			       g->ids + (int64_t)i * g->size,
			       (size_t)g->size * sizeof(*ids));
	few.ids = ids;
	return few;
}

const struct fabric *translates_torus(const struct translates *t)
{
	return t->torus;
}

int32_t translates_coordinate(const struct translates *t, int32_t device, int axis)
{
	return spot(t, device)[FIRST_AXIS + axis];
}
