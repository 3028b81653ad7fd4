#include "bound/grid.h"

#include "base/assert.h"

/*
 * Finds the real interval [*lo, *hi) of tile number `index` of a dimension; it is empty
 * if *lo >= *hi.
 */
static void interval(const struct grid *g, int dim, int32_t index, int64_t *lo,
                     int64_t *hi)
{
	int64_t size = g->map.tile.dim[dim], extent = g->shape->dim[dim];

	*lo = index * size;
	*hi = *lo + size < extent ? *lo + size : extent;
}

static void size_cells(struct grid *g, struct arena *a)
{
	int32_t *index = arena_alloc(a, (size_t)g->ncells * (size_t)(g->rank + 1),
	                             sizeof(*index));
	int64_t *size = arena_alloc(a, (size_t)g->ncells, sizeof(*size));

	for (int32_t c = 0; c < g->ncells; c++) {
		int32_t rest = c;

		size[c] = 1;
		for (int i = g->rank - 1; i >= 0; i--) {
			int64_t lo, hi;

			index[(int64_t)c * g->rank + i] = rest % g->shards[i];
			rest /= g->shards[i];
			interval(g, i, index[(int64_t)c * g->rank + i], &lo, &hi);
			size[c] *= hi > lo ? hi - lo : 0;
		}
	}
	g->index = index;
	g->size = size;
}

int64_t grid_common(const struct grid *g, int32_t cell, const struct grid *h,
                    int32_t other)
{
	int64_t elements = 1;

	for (int i = 0; i < g->rank && elements > 0; i++) {
		int64_t lo, hi, other_lo, other_hi;

		interval(g, i, g->index[(int64_t)cell * g->rank + i], &lo, &hi);
		interval(h, i, h->index[(int64_t)other * h->rank + i], &other_lo,
		         &other_hi);
		lo = other_lo > lo ? other_lo : lo;
		hi = other_hi < hi ? other_hi : hi;
		elements *= hi > lo ? hi - lo : 0;
	}
	return elements;
}

void grid_make(struct grid *g, const struct layout *l, const struct mesh *m,
               const struct shape *shape, struct arena *a)
{
	int32_t *cell, *holders;

	*g = (struct grid){.map = tilemap_make(l, m, shape, a),
	                   .shape = shape,
	                   .rank = shape->rank,
	                   .ncells = 1};
	for (int i = 0; i < g->rank; i++) {
		g->shards[i] = (int32_t)layout_shards(l, i);
		g->ncells *= g->shards[i];
	}
	size_cells(g, a);
	cell = arena_alloc(a, (size_t)g->map.ndevices, sizeof(*cell));
	holders = arena_alloc(a, (size_t)g->ncells * (size_t)g->map.partials,
	                      sizeof(*holders));
	for (int32_t d = 0; d < g->map.ndevices; d++) {
		cell[d] = -1;
		if (!tilemap_has(&g->map, d))
			continue;
		cell[d] = 0;
		for (int i = 0; i < g->rank; i++)
			cell[d] = cell[d] * g->shards[i] +
			          g->map.index[(int64_t)d * g->rank + i];
		holders[(int64_t)cell[d] * g->map.partials + g->map.partial[d]]++;
	}
	g->cell = cell;
	g->holders = holders;
}

static struct overlap overlap_make(const struct grid *g, const struct grid *h, int dim,
                                   int32_t index, struct arena *a)
{
	struct overlap out = {.first = 0, .last = -1};
	int64_t lo, hi, hlo, hhi, *elements;

	interval(g, dim, index, &lo, &hi);
	if (lo >= hi)
		return out;
	out.first = (int32_t)(lo / h->map.tile.dim[dim]);
	out.last = (int32_t)((hi - 1) / h->map.tile.dim[dim]);
	elements = arena_alloc(a, (size_t)(out.last - out.first + 1), sizeof(*elements));
	for (int32_t k = out.first; k <= out.last; k++) {
		interval(h, dim, k, &hlo, &hhi);
		elements[k - out.first] = (hhi < hi ? hhi : hi) - (hlo > lo ? hlo : lo);
	}
	out.elements = elements;
	return out;
}

struct overlap *grid_overlaps(const struct grid *g, const struct grid *h, int dim,
                              struct arena *a)
{
	struct overlap *all = arena_alloc(a, (size_t)g->shards[dim], sizeof(*all));

	for (int32_t k = 0; k < g->shards[dim]; k++)
		all[k] = overlap_make(g, h, dim, k, a);
	return all;
}

/* --- cells that meet -------------------------------------------------------------- */

int64_t grid_pairs(const struct grid *g, struct overlap *const *overlap, int64_t most)
{
	int64_t pairs = 1;

	for (int i = 0; i < g->rank && pairs <= most; i++) {
		int64_t meeting = 0;

		for (int32_t k = 0; k < g->shards[i]; k++)
			meeting += overlap[i][k].last - overlap[i][k].first + 1;
		pairs *= meeting;
	}
	return pairs;
}

/* What list_cell() walks through. */
struct walk {
	const struct grid *g, *h;
	struct overlap *const *overlap;
	struct meeting *meeting;
	int64_t n;
};

/* Appends what a cell of `g` meets from dimension `dim` on. */
static void list_cell(struct walk *w, int32_t cell, int dim, int32_t other,
                      int64_t elements)
{
	const struct overlap *o;

	if (dim == w->g->rank) {
		w->meeting[w->n++] = (struct meeting){other, elements};
		return;
	}
	o = &w->overlap[dim][w->g->index[(int64_t)cell * w->g->rank + dim]];
	for (int32_t k = o->first; k <= o->last; k++)
		list_cell(w, cell, dim + 1, other * w->h->shards[dim] + k,
		          elements * o->elements[k - o->first]);
}

struct meetings grid_meetings(const struct grid *g, const struct grid *h,
                              struct overlap *const *overlap, int64_t pairs,
                              struct arena *a)
{
	struct meetings out = {
		.first = arena_alloc(a, (size_t)g->ncells + 1, sizeof(*out.first)),
		.meeting = arena_alloc(a, (size_t)pairs, sizeof(*out.meeting)),
	};
	struct walk walk = {g, h, overlap, out.meeting, 0};

	for (int32_t cell = 0; cell < g->ncells; cell++) {
		out.first[cell] = walk.n;
		list_cell(&walk, cell, 0, 0, 1);
	}
	assert(walk.n == pairs);
	out.first[g->ncells] = walk.n;
	return out;
}
