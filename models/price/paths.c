#include "price/paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of more devices no prices are remembered: those of 1,024 take 8 MiB. */
enum { DEVICES_MAX = 1024 };

/* Of longer axes the hops between coordinates are not listed. */
enum { LISTED_MAX = 64 };

/* The only fabric, where it is a torus of all devices whose links are alike. */
struct torus {
	const struct fabric *fabric;       /* NULL: it is no such */
	int32_t *at;                       /* [ndevices * naxes]: coordinates */
	int16_t *hops[TORUS_AXES_MAX];     /* [size * size]: from one to the other */
	double price[ROUTE_LINKS_MAX + 1]; /* of so many hops */
};

struct price_paths {
	const struct machine *machine;
	const struct placement *place;
	struct routes *routes;
	double fastest_Bps;                    /* of all links */
	double torus_Bps[MACHINE_FABRICS_MAX]; /* of each link of a torus; 0: they differ */
	struct torus torus;
	int32_t n;     /* placed devices */
	double *known; /* [n * n]; 0: not known yet. NULL: none is remembered */
};

/*
 * Returns the bandwidth of all links of a torus, or 0 where links differ or it is no
 * torus.
 */
static double torus_Bps(const struct machine *m, const struct fabric *f)
{
	int64_t ports = (int64_t)m->ndevices * 2 * f->naxes;
	double all_Bps = 0;

	if (f->geometry != GEOMETRY_TORUS)
		return 0;
	for (int64_t i = 0; i < ports; i++) {
		double link_Bps =
			f->port[i] < 0 ? all_Bps : m->link[f->port[i]].bandwidth_Bps;

		if (all_Bps > 0 && link_Bps != all_Bps)
			return 0;
		all_Bps = link_Bps;
	}
	return all_Bps;
}

/* Returns the price of a path of so many hops, on whose slowest link a byte takes so long. */
static double price_of(const struct price_paths *paths, double byte_s, int hops)
{
	static const double HOP_SHARE = 1. / 64, ROUND = 1 << 20;

	return rint(byte_s * paths->fastest_Bps * ROUND) / ROUND *
	       (1 + HOP_SHARE * hops);
}

static void list_hops(struct torus *t, const struct fabric *f, int axis)
{
	int32_t size = f->shape[axis];

	t->hops[axis] = xmalloc((size_t)size * (size_t)size, sizeof(*t->hops[axis]));
	for (int32_t i = 0; i < size * size; i++) {
		int dir;

		t->hops[axis][i] =
			(int16_t)fabric_hops(f, axis, i / size, i % size, &dir);
	}
}

/* Lists the hops of a torus of all devices, unless there are other fabrics. */
static void find_torus(struct price_paths *paths)
{
	const struct machine *m = paths->machine;
	const struct fabric *f = m->fabric;
	struct torus *t = &paths->torus;

	if (m->nfabrics != 1 || paths->torus_Bps[0] <= 0 || f->twist || f->share > 1)
		return;
	for (int32_t d = 0; d < m->ndevices; d++)
		if (f->domain[d] != 0)
			return;
	for (int a = 0; a < f->naxes; a++)
		if (f->shape[a] > LISTED_MAX)
			return;
	t->fabric = f;
	t->at = xmalloc((size_t)m->ndevices * (size_t)f->naxes, sizeof(*t->at));
	for (int a = 0; a < f->naxes; a++)
		list_hops(t, f, a);
	for (int32_t d = 0; d < m->ndevices; d++)
		for (int32_t a = f->naxes - 1, place = f->place[d]; a >= 0; a--) {
			t->at[d * f->naxes + a] = place % f->shape[a];
			place /= f->shape[a];
		}
	for (int hops = 0; hops <= ROUTE_LINKS_MAX; hops++)
		t->price[hops] =
			price_of(paths, hops ? 1 / paths->torus_Bps[0] : 0, hops);
}

struct price_paths *price_paths_new(const struct machine *m,
                                    const struct placement *place, struct routes *routes)
{
	struct price_paths *paths = xmalloc(1, sizeof(*paths));

	*paths = (struct price_paths){.machine = m,
	                              .place = place,
	                              .routes = routes,
	                              .n = placement_size(place, m)};
	for (int32_t l = 0; l < m->nlinks; l++)
		paths->fastest_Bps = fmax(paths->fastest_Bps, m->link[l].bandwidth_Bps);
	for (int f = 0; f < m->nfabrics; f++)
		paths->torus_Bps[f] = torus_Bps(m, &m->fabric[f]);
	find_torus(paths);
	return paths;
}

void price_paths_free(struct price_paths *paths)
{
	if (!paths)
		return;
	for (int a = 0; a < TORUS_AXES_MAX; a++)
		xfree(paths->torus.hops[a]);
	xfree(paths->torus.at);
	xfree(paths->known);
	xfree(paths);
}

/*
 * Stores the seconds that a byte takes on the slowest link of a route, and returns its
 * hops, or < 0 if there is no route.
 */
static int slowest_s(double *out, const struct price_paths *paths, int fabric,
                     int32_t from, int32_t to)
{
	const struct machine *m = paths->machine;
	const int32_t *links;
	int hops;

	*out = 0;
	if (paths->torus_Bps[fabric] > 0) {
		hops = machine_hops(m, fabric, from, to);
		if (hops > 0)
			*out = 1 / paths->torus_Bps[fabric];
		return hops;
	}
	links = routes_find(&hops, paths->routes, fabric, from, to);
	for (int i = 0; i < hops; i++)
		*out = fmax(*out, 1 / m->link[links[i]].bandwidth_Bps);
	return hops;
}

/* Returns the price of a path on the torus, < 0 without a route. */
static double torus_price(const struct torus *t, int32_t from, int32_t to)
{
	const struct fabric *f = t->fabric;
	const int32_t *c = t->at + (int64_t)from * f->naxes;
	const int32_t *d = t->at + (int64_t)to * f->naxes;
	int hops = 0;

	for (int a = 0; a < f->naxes; a++)
		hops += t->hops[a][c[a] * f->shape[a] + d[a]];
	return hops <= ROUTE_LINKS_MAX ? t->price[hops] : -1;
}

static double find_price(const struct price_paths *paths, int32_t src, int32_t dst)
{
	const struct machine *m = paths->machine;
	int32_t from = placement_device(paths->place, src);
	int32_t to = placement_device(paths->place, dst);
	double byte_s;
	int fabric, hops;

	if (from >= m->ndevices || to >= m->ndevices)
		return -1;
	if (paths->torus.fabric)
		return torus_price(&paths->torus, from, to);
	fabric = machine_fabric(m, from, to);
	if (fabric < 0)
		return -1;
	hops = slowest_s(&byte_s, paths, fabric, from, to);
	if (hops < 0)
		return -1;
	return price_of(paths, byte_s, hops);
}

double price_path(struct price_paths *paths, int32_t src, int32_t dst)
{
	size_t n = (size_t)paths->n;
	double *known;

	if (n > DEVICES_MAX)
		return find_price(paths, src, dst);
	if (!paths->known) {
		paths->known = xmalloc(n * n, sizeof(*paths->known));
		memset(paths->known, 0, n * n * sizeof(*paths->known));
	}
	known = &paths->known[(size_t)src * n + (size_t)dst];
	if (*known == 0)
		*known = find_price(paths, src, dst);
	return *known;
}
