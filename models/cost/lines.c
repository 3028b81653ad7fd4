#include "cost/lines.h"

#include "base/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer links of a line, or a lesser share of it, are loaded one by one. */
enum { LEAST_LINKS = 3, LEAST_SHARE = 8 };

/* Of longer axes the hops between coordinates are not listed. */
enum { LISTED_MAX = 64 };

/* Above so many bytes in one message, sums of many might not be exact. */
static const double BYTES_MAX = 1099511627776.;

/* A way along a line: up, or down. */
struct way {
	int32_t axis, line;
	bool down;
};

/* All lines along one axis. */
struct along {
	int32_t size, stride;
	int8_t *hops;   /* [size * size]: from one to the other, < 0 down; NULL: not listed */
	int32_t *link;  /* [lines * 2 * size]: that begins there, up or down; -1: none */
	double *change; /* [lines * 2 * size]: of the bytes from that link to the next above */
	bool *used;     /* [lines * 2]: listed in `ways` */
};

/* Where a device is on an axis: its line is what the axes before say + what those after do. */
struct spot {
	int32_t at, before, after;
};

struct torus {
	const struct fabric *fabric;
	struct along along[TORUS_AXES_MAX];
	struct spot *spot; /* [ndevices * naxes] */
	double latency_s[ROUTE_LINKS_MAX + 1]; /* of so many links */
	LIST(struct way) ways;
};

struct lines {
	struct torus *torus[MACHINE_FABRICS_MAX]; /* NULL: another kind of fabric */
	int32_t near[ROUTE_LINKS_MAX];
};

/* Returns the latency of all links of a torus; < 0 where they differ. */
static double one_latency_s(const struct machine *m, const struct fabric *f)
{
	int64_t ports = (int64_t)m->ndevices * 2 * f->naxes;
	double all_s = -1;

	for (int64_t i = 0; i < ports; i++) {
		double link_s = f->port[i] < 0 ? all_s : m->link[f->port[i]].latency_s;

		if (all_s >= 0 && link_s != all_s)
			return -1;
		all_s = link_s;
	}
	return all_s;
}

static void *zeros(int64_t n, size_t size)
{
	return memset(xmalloc((size_t)n + 1, size), 0, ((size_t)n + 1) * size);
}

static void find_spots(struct torus *t, int32_t ndevices)
{
	const struct fabric *f = t->fabric;
	int32_t places = fabric_places(f);

	t->spot = zeros((int64_t)ndevices * f->naxes, sizeof(*t->spot));
	for (int32_t d = 0; d < ndevices; d++)
		for (int a = 0; a < f->naxes && f->domain[d] >= 0; a++) {
			const struct along *x = &t->along[a];
			int32_t of_domain = f->domain[d] * (places / x->size);

			t->spot[(int64_t)d * f->naxes + a] = (struct spot){
				f->place[d] / x->stride % x->size,
				of_domain + f->place[d] / (x->stride * x->size) * x->stride,
				f->place[d] % x->stride};
		}
}

/* Stores which links the lines along an axis have. */
static void find_links(struct along *x, const struct fabric *f, int axis, int64_t lines)
{
	for (int64_t i = 0; i < lines * x->size; i++) {
		int64_t line = i / x->size, at = i % x->size;
		/* lines are numbered as places are, without this axis */
		int64_t place = (line / x->stride * x->size + at) * x->stride +
		                line % x->stride;
		int64_t port = ((int64_t)f->at[place] * f->naxes + axis) * 2;

		x->link[line * 2 * x->size + at] = f->port[port];
		x->link[(line * 2 + 1) * x->size + at] = f->port[port + 1];
	}
}

static void list_hops(struct along *x, const struct fabric *f, int axis)
{
	if (x->size > LISTED_MAX)
		return;
	x->hops = zeros((int64_t)x->size * x->size, sizeof(*x->hops));
	for (int32_t i = 0; i < x->size * x->size; i++) {
		int dir, hops = fabric_hops(f, axis, i / x->size, i % x->size, &dir);

		x->hops[i] = (int8_t)(dir * hops);
	}
}

/* Returns the links from one coordinate of an axis to another, < 0 for those down. */
static inline int hops_along(const struct torus *t, int axis, int32_t from, int32_t to)
{
	const struct along *x = &t->along[axis];
	int dir, hops;

	if (x->hops)
		return x->hops[from * x->size + to];
	hops = fabric_hops(t->fabric, axis, from, to, &dir);
	return dir * hops;
}

static struct torus *torus_new(const struct machine *m, const struct fabric *f)
{
	int32_t stride = 1, places = fabric_places(f), domains = 0;
	double latency_s = one_latency_s(m, f);
	struct torus *t;

	if (latency_s < 0)
		return NULL;
	t = zeros(1, sizeof(*t));
	t->fabric = f;
	for (int i = 0; i < ROUTE_LINKS_MAX; i++)
		t->latency_s[i + 1] = t->latency_s[i] + latency_s;
	for (int32_t d = 0; d < m->ndevices; d++)
		domains = f->domain[d] >= domains ? f->domain[d] + 1 : domains;
	for (int a = f->naxes - 1; a >= 0; a--) {
		int64_t lines = (int64_t)domains * (places / f->shape[a]);

		t->along[a] = (struct along){.size = f->shape[a], .stride = stride};
		t->along[a].change =
			zeros(lines * 2 * f->shape[a], sizeof(*t->along[a].change));
		t->along[a].used = zeros(lines * 2, sizeof(*t->along[a].used));
		t->along[a].link =
			zeros(lines * 2 * f->shape[a], sizeof(*t->along[a].link));
		find_links(&t->along[a], f, a, lines);
		list_hops(&t->along[a], f, a);
		stride *= f->shape[a];
	}
	find_spots(t, m->ndevices);
	return t;
}

struct lines *lines_new(const struct machine *m)
{
	struct lines *lines = zeros(1, sizeof(*lines));

	for (int i = 0; i < m->nfabrics; i++) {
		const struct fabric *f = &m->fabric[i];

		if (f->geometry == GEOMETRY_TORUS && !f->twist)
			lines->torus[i] = torus_new(m, f);
	}
	return lines;
}

static void torus_free(struct torus *t)
{
	for (int a = 0; t && a < t->fabric->naxes; a++) {
		xfree(t->along[a].change);
		xfree(t->along[a].used);
		xfree(t->along[a].link);
		xfree(t->along[a].hops);
	}
	if (t) {
		xfree(t->spot);
		xfree(t->ways.at);
	}
	xfree(t);
}

void lines_free(struct lines *lines)
{
	if (!lines)
		return;
	for (int f = 0; f < MACHINE_FABRICS_MAX; f++)
		torus_free(lines->torus[f]);
	xfree(lines);
}

bool lines_take(const struct lines *lines, int fabric, double bytes)
{
	return lines->torus[fabric] && bytes <= BYTES_MAX && (double)(int64_t)bytes == bytes;
}

/* Adds bytes on `hops` links of a way, of which `first` is the lowest. */
static void add_bytes(struct torus *t, struct way w, int32_t first, int32_t hops,
                      double bytes)
{
	struct along *x = &t->along[w.axis];
	int64_t number = (int64_t)w.line * 2 + w.down;
	double *change = x->change + number * x->size;
	int32_t end = first + hops;

	if (!x->used[number])
		*list_add(&t->ways, NULL) = w;
	x->used[number] = true;
	change[first] += bytes;
	if (end > x->size)
		change[0] += bytes;
	if (end != x->size)
		change[end > x->size ? end - x->size : end] -= bytes;
}

double lines_send(struct lines *lines, const int32_t **links, int *n, int fabric,
                  int32_t src, int32_t dst, double bytes)
{
	struct torus *t = lines->torus[fabric];
	const struct fabric *f = t->fabric;
	const struct spot *from = t->spot + (int64_t)src * f->naxes;
	const struct spot *to = t->spot + (int64_t)dst * f->naxes;
	int sum = 0;

	*n = 0;
	*links = lines->near;
	if (f->domain[src] < 0 || f->domain[src] != f->domain[dst] ||
	    (src != dst && fabric_shared(f, src, dst)))
		return -1;
	for (int a = f->naxes - 1; a >= 0; a--) {
		int32_t size = t->along[a].size, at = from[a].at;
		int signed_hops = hops_along(t, a, at, to[a].at);
		int dir = signed_hops < 0 ? -1 : 1, hops = dir * signed_hops;
		struct way w = {a, from[a].before + to[a].after, dir < 0};
		const int32_t *link =
			t->along[a].link + ((int64_t)w.line * 2 + w.down) * size;

		if (hops == 0)
			continue;
		sum += hops;
		if (sum > ROUTE_LINKS_MAX)
			return -1;
		if (hops >= LEAST_LINKS && hops * LEAST_SHARE >= size) {
			if (w.down)
				at -= hops - 1;
			add_bytes(t, w, at < 0 ? at + size : at, hops, bytes);
			continue;
		}
		for (; hops > 0; hops--, at += dir)
			lines->near[(*n)++] =
				link[at < 0 ? at + size : at < size ? at : at - size];
	}
	return t->latency_s[sum];
}

static void load_way(struct torus *t, struct way w, lines_load_fn *load, void *self)
{
	struct along *x = &t->along[w.axis];
	int64_t number = (int64_t)w.line * 2 + w.down;
	const int32_t *link = x->link + number * x->size;
	double *change = x->change + number * x->size, bytes = 0;

	x->used[number] = false;
	for (int32_t at = 0; at < x->size; at++) {
		bytes += change[at];
		change[at] = 0;
		if (bytes > 0)
			load(self, link[at], bytes);
	}
}

static void forget(void *self, int32_t link, double bytes)
{
	(void)self;
	(void)link;
	(void)bytes;
}

void lines_load(struct lines *lines, lines_load_fn *load, void *self)
{
	for (int f = 0; f < MACHINE_FABRICS_MAX; f++) {
		struct torus *t = lines->torus[f];

		for (int64_t i = 0; t && i < t->ways.n; i++)
			load_way(t, t->ways.at[i], load ? load : forget, self);
		if (t)
			t->ways.n = 0;
	}
}
