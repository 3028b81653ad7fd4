#include "cost/lines.h"

#include "base/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fewer links of a line that carries nothing yet, or a lesser share of it, are loaded one by
 * one.
 */
enum { LEAST_LINKS = 2, LEAST_SHARE = 8 };

/* Above so many bytes in one message, sums of many might not be exact. */
static const double BYTES_MAX = 1099511627776.;

/* Of longer axes the spans between coordinates are not listed. */
enum { LISTED_MAX = 32 };

/* The links between two coordinates of an axis. */
struct span {
	int32_t hops;
	int32_t first,
		end; /* the lowest link, and behind the highest; `wraps`: from 0 on */
	bool down, wraps;
};

/*
 * All lines along one axis. A line has two rows, up and down, of so many places: one for each
 * link, and one behind them.
 */
struct along {
	int32_t size, stride, row;
	struct span *span; /* [size * size]: from one to the other; NULL: not listed */
	int32_t *link;     /* [lines * 2 * row]: that begins there; -1: none */
	double *change; /* [lines * 2 * row]: of the bytes from that link to the next above */
	bool *used; /* [lines * 2]: listed in `ways` */
};

/* A row that carries something. */
struct way {
	int32_t axis, number; /* that of the row */
};

/* Where a device is on an axis; its row up is what the axes before say + what those after do. */
struct spot {
	int32_t at, before, after;
};

struct torus {
	const struct fabric *fabric;
	struct along along[TORUS_AXES_MAX];
	struct spot *spot;                     /* [ndevices * naxes] */
	bool joined;                           /* all devices reach each other */
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
	t->joined = f->share <= 1;
	for (int32_t d = 0; d < ndevices; d++) {
		t->joined = t->joined && f->domain[d] == 0;
		for (int a = 0; a < f->naxes && f->domain[d] >= 0; a++) {
			const struct along *x = &t->along[a];
			int32_t of_domain = f->domain[d] * (places / x->size);
			int32_t before = f->place[d] / (x->stride * x->size) * x->stride;

			t->spot[(int64_t)d * f->naxes + a] =
				(struct spot){f->place[d] / x->stride % x->size,
			                      2 * (of_domain + before),
			                      2 * (f->place[d] % x->stride)};
		}
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

		x->link[line * 2 * x->row + at] = f->port[port];
		x->link[(line * 2 + 1) * x->row + at] = f->port[port + 1];
	}
}

/* Returns the links from one coordinate of an axis to another. */
static struct span find_span(const struct fabric *f, int axis, int32_t from, int32_t to)
{
	int32_t size = f->shape[axis];
	int dir, hops = fabric_hops(f, axis, from, to, &dir);
	int32_t first = dir < 0 ? from - hops + 1 : from;
	struct span span = {.hops = hops, .down = dir < 0};

	span.first = first < 0 ? first + size : first;
	span.end = span.first + hops;
	span.wraps = span.end > size;
	if (span.wraps)
		span.end -= size;
	return span;
}

static void list_spans(struct along *x, const struct fabric *f, int axis)
{
	if (x->size > LISTED_MAX)
		return;
	x->span = zeros((int64_t)x->size * x->size, sizeof(*x->span));
	for (int32_t i = 0; i < x->size * x->size; i++)
		x->span[i] = find_span(f, axis, i / x->size, i % x->size);
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

		t->along[a] = (struct along){
			.size = f->shape[a], .stride = stride, .row = f->shape[a] + 1};
		t->along[a].change =
			zeros(lines * 2 * t->along[a].row, sizeof(*t->along[a].change));
		t->along[a].used = zeros(lines * 2, sizeof(*t->along[a].used));
		t->along[a].link =
			zeros(lines * 2 * t->along[a].row, sizeof(*t->along[a].link));
		find_links(&t->along[a], f, a, lines);
		list_spans(&t->along[a], f, a);
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
		xfree(t->along[a].span);
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

bool lines_have(const struct lines *lines, int fabric)
{
	return lines->torus[fabric] != NULL;
}

/* Adds bytes on the links of a span of a row. */
static inline void add_bytes(double *change, const struct span *span, double bytes)
{
	change[span->first] += bytes;
	change[span->end] -= bytes;
	if (span->wraps)
		change[0] += bytes;
}

/*
 * Stores the links of a span, up to the end of the row and on from its begin, and returns
 * their number.
 */
static int list_links(int32_t *out, const int32_t *link, const struct span *span,
                      int32_t size)
{
	for (int32_t i = 0, at = span->first; i < span->hops; i++) {
		out[i] = link[at];
		at = at + 1 == size ? 0 : at + 1;
	}
	return span->hops;
}

double lines_send(struct lines *lines, const int32_t **links, int *n, int fabric,
                  int32_t src, int32_t dst, double bytes)
{
	struct torus *t = lines->torus[fabric];
	const struct fabric *f = t->fabric;
	const struct spot *from = t->spot + (int64_t)src * f->naxes;
	const struct spot *to = t->spot + (int64_t)dst * f->naxes;
	bool whole = bytes <= BYTES_MAX && (double)(int64_t)bytes == bytes;
	int sum = 0, near = 0;

	*n = 0;
	*links = lines->near;
	if (!t->joined && (f->domain[src] < 0 || f->domain[src] != f->domain[dst] ||
	                   (src != dst && fabric_shared(f, src, dst))))
		return -1;
	for (int a = f->naxes - 1; a >= 0; a--) {
		struct along *x = &t->along[a];
		struct span one;
		const struct span *span = &one;
		int32_t number;

		if (from[a].at == to[a].at)
			continue;
		if (x->span)
			span = &x->span[from[a].at * x->size + to[a].at];
		else
			one = find_span(f, a, from[a].at, to[a].at);
		sum += span->hops;
		if (sum > ROUTE_LINKS_MAX)
			return -1;
		number = from[a].before + to[a].after + span->down;
		if (!whole ||
		    (!x->used[number] && (span->hops < LEAST_LINKS ||
		                          span->hops * LEAST_SHARE < x->size))) {
			near += list_links(lines->near + near,
			                   x->link + (int64_t)number * x->row, span,
			                   x->size);
			continue;
		}
		if (!x->used[number])
			*list_add(&t->ways, NULL) = (struct way){a, number};
		x->used[number] = true;
		add_bytes(x->change + (int64_t)number * x->row, span, bytes);
	}
	*n = near;
	return t->latency_s[sum];
}

static void load_way(struct torus *t, struct way w, lines_load_fn *load, void *self)
{
	struct along *x = &t->along[w.axis];
	const int32_t *link = x->link + (int64_t)w.number * x->row;
	double *change = x->change + (int64_t)w.number * x->row, bytes = 0;

	x->used[w.number] = false;
	for (int32_t at = 0; at < x->size; at++) {
		bytes += change[at];
		if (bytes > 0)
			load(self, link[at], bytes);
	}
	memset(change, 0, (size_t)x->row * sizeof(*change));
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
