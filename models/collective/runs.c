#include "collective/runs.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* Returns which of the devices that share its port a device is. */
static int32_t nth_of(const struct fabric *f, int32_t d)
{
	return f->share > 1 ? d % f->share : 0;
}

/*
 * Marks in `seen`, axis after axis, the coordinates of the devices. Returns false if
 * one of them is not in the domain, or not the same of those that share its port.
 */
static bool mark_places(uint8_t *seen, const struct fabric *f, int32_t domain,
                        const int32_t *ids, int32_t n)
{
	for (int32_t i = 0; i < n; i++) {
		int32_t rest = f->place[ids[i]];
		uint8_t *end = seen;

		if (f->domain[ids[i]] != domain ||
		    nth_of(f, ids[i]) != nth_of(f, ids[0]))
			return false;
		for (int a = 0; a < f->naxes; a++)
			end += f->shape[a];
		for (int a = f->naxes - 1; a >= 0; a--) {
			end -= f->shape[a];
			end[rest % f->shape[a]] = 1;
			rest /= f->shape[a];
		}
	}
	return true;
}

/*
 * Finds the one run of marked coordinates of an axis; returns false if there are
 * several.
 */
static bool run_find(struct run *out, const uint8_t *seen, int32_t size, bool wrap)
{
	int32_t starts = 0;

	out->first = 0;
	out->length = 0;
	for (int32_t c = 0; c < size; c++) {
		bool before = c > 0 ? seen[c - 1] : wrap && seen[size - 1];

		out->length += seen[c];
		if (seen[c] && !before) {
			starts++;
			out->first = c;
		}
	}
	out->ring = wrap && out->length == size && size > 2;
	return starts == 1 || out->ring || (size == 1 && out->length == 1);
}

static bool runs_of_marks(struct runs *out, const uint8_t *seen, const struct fabric *f,
                          int32_t n)
{
	int32_t stride = fabric_places(f);
	int64_t product = 1;

	for (int a = 0; a < f->naxes; a++) {
		struct run run = {.axis = a};

		if (!run_find(&run, seen, f->shape[a], f->wrap[a]))
			return false;
		seen += f->shape[a];
		stride /= f->shape[a];
		out->corner += run.first * stride;
		if (run.length == 1)
			continue;
		product *= run.length;
		out->stride[out->n] = stride;
		out->run[out->n++] = run;
	}
	return product == n;
}

/* Opens the ring of run `r`, which is a line if cables of it are missing. */
static void open_ring(struct runs *g, int r)
{
	struct run *run = &g->run[r];
	int32_t d = run->length, lines = runs_lines(g, r), gap = 0, link;
	int32_t *ids = xmalloc(2 * (size_t)d, sizeof(*ids)), *missing = ids + d;

	memset(missing, 0, (size_t)d * sizeof(*missing));
	for (int32_t line = 0; line < lines; line++) {
		runs_line(ids, g, r, line);
		for (int32_t i = 0; i < d; i++)
			missing[i] += machine_route(g->machine, g->fabric, ids[i],
			                            ids[(i + 1) % d], &link, 1) != 1;
	}
	for (int32_t i = 1; i < d; i++)
		if (missing[i] > missing[gap])
			gap = i;
	if (missing[gap]) {
		run->ring = false;
		run->first = (gap + 1) % d;
		g->corner += run->first * g->stride[r];
	}
	xfree(ids);
}

bool runs_find(struct runs *out, const struct machine *m, const int32_t *ids, int32_t n)
{
	int fabric = n > 1 ? machine_fabric(m, ids[0], ids[1]) : -1;
	const struct fabric *f = &m->fabric[fabric < 0 ? 0 : fabric];
	size_t coordinates = 0;
	uint8_t *seen;
	bool found;

	if (fabric < 0 || f->geometry == GEOMETRY_SWITCH || !f->naxes)
		return false;
	*out = (struct runs){.machine = m,
	                     .fabric = fabric,
	                     .domain = f->domain[ids[0]],
	                     .nth = nth_of(f, ids[0])};
	for (int a = 0; a < f->naxes; a++)
		coordinates += (size_t)f->shape[a];
	seen = xmalloc(coordinates, sizeof(*seen));
	memset(seen, 0, coordinates);
	found = mark_places(seen, f, out->domain, ids, n) &&
	        runs_of_marks(out, seen, f, n);
	xfree(seen);
	out->twisted = found && f->twist && n == fabric_places(f);
	for (int r = 0; found && f->geometry == GEOMETRY_GRAPH && r < out->n; r++)
		if (out->run[r].ring)
			open_ring(out, r);
	return found;
}

struct runs runs_twisted(const struct runs *g, int ring)
{
	const struct fabric *f = &g->machine->fabric[g->fabric];
	bool halved = f->shape[g->run[ring].axis] > f->twist;
	struct runs out = *g;

	assert(g->twisted && g->n == f->naxes);
	for (int r = 0; r < out.n; r++) {
		struct run *run = &out.run[r];

		run->ring = r == ring || (f->shape[run->axis] > f->twist && halved);
		run->length = run->ring ? 2 * f->twist : f->twist;
		if (f->shape[run->axis] > f->twist && r != ring)
			halved = true;
	}
	return out;
}

bool runs_carry(const struct machine *m, enum op op, const struct groups *g)
{
	int f = g->ngroups && g->size > 1 ? machine_fabric(m, g->ids[0], g->ids[1]) : -1;

	if (op == OP_BROADCAST || op == OP_REDUCE)
		return false;
	return op != OP_ALL_TO_ALL || f < 0 || m->fabric[f].geometry != GEOMETRY_GRAPH;
}

bool runs_single(const struct machine *m, const struct groups *g, bool ring)
{
	struct runs runs;

	for (int32_t i = 0; i < g->ngroups; i++)
		if (!runs_find(&runs, m, g->ids + (int64_t)i * g->size, g->size) ||
		    runs.n != 1 || runs.run[0].ring != ring)
			return false;
	return true;
}

int32_t runs_lines(const struct runs *g, int r)
{
	int32_t lines = 1;

	for (int i = 0; i < g->n; i++)
		if (i != r)
			lines *= g->run[i].length;
	return lines;
}

/* Returns how far the place of the i-th device of run `r` is from that of its first. */
static int32_t offset(const struct runs *g, int r, int32_t i)
{
	const struct run *run = &g->run[r];
	int32_t size = g->machine->fabric[g->fabric].shape[run->axis];

	return ((run->first + i) % size - run->first) * g->stride[r];
}

/*
 * Does the same from neighbour to neighbour, which is what a twisted torus is made of.
 */
static void twisted_line(int32_t *ids, const struct runs *g, int r, int32_t line)
{
	const struct fabric *f = &g->machine->fabric[g->fabric];
	int32_t d = f->at[(int64_t)g->domain * fabric_places(f)];

	for (int i = g->n - 1; i >= 0; i--) {
		if (i == r)
			continue;
		for (int32_t k = line % g->run[i].length; k > 0; k--)
			d = fabric_neighbour(f, d, g->run[i].axis, 1);
		line /= g->run[i].length;
	}
	for (int32_t i = 0; i < g->run[r].length; i++) {
		ids[i] = d + g->nth;
		d = fabric_neighbour(f, d, g->run[r].axis, 1);
	}
}

void runs_line(int32_t *ids, const struct runs *g, int r, int32_t line)
{
	const struct fabric *f = &g->machine->fabric[g->fabric];
	const int32_t *at = f->at + (int64_t)g->domain * fabric_places(f);
	int32_t place = g->corner;

	assert(line >= 0 && line < runs_lines(g, r));
	if (g->twisted) {
		twisted_line(ids, g, r, line);
		return;
	}
	for (int i = g->n - 1; i >= 0; i--) {
		if (i == r)
			continue;
		place += offset(g, i, line % g->run[i].length);
		line /= g->run[i].length;
	}
	for (int32_t i = 0; i < g->run[r].length; i++)
		ids[i] = at[place + offset(g, r, i)] + g->nth;
}

double runs_bandwidth_Bps(const struct runs *g, int r)
{
	const struct fabric *f = &g->machine->fabric[g->fabric];
	const int32_t *at = f->at + (int64_t)g->domain * fabric_places(f);
	int32_t corner = at[g->corner], links[ROUTE_LINKS_MAX];

	if (f->geometry == GEOMETRY_TORUS)
		links[0] = f->port[(int64_t)corner * 2 * f->naxes + 2 * g->run[r].axis];
	else
		machine_route(g->machine, g->fabric, corner,
		              at[g->corner + offset(g, r, 1)], links, ROUTE_LINKS_MAX);
	assert(links[0] >= 0);
	return g->machine->link[links[0]].bandwidth_Bps;
}

void all_pairs(struct schedule *out, const struct machine *m, const int32_t *ids,
               int32_t n, double bytes)
{
	for (int32_t i = 0; i < n; i++)
		for (int32_t k = 0; k < n; k++)
			if (i != k)
				schedule_message(out, machine_fabric(m, ids[i], ids[k]),
				                 ids[i], ids[k], bytes);
}
