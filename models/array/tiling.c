/* Layouts as tile assignments, and back: the bridge to HLO's device lists. */
#include "array/layout.h"
#include "array/tile.h"
#include "base/assert.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 32 };

const struct tiling *layout_tiling(const struct layout *l, const struct mesh *m,
                                   struct arena *a)
{
	struct tiling *t;
	struct shape shape = {.rank = l->rank};
	struct tilemap map;
	int32_t ntiles = 1, *ids, *fill;

	assert(l->kind != LAYOUT_MAXIMAL);
	if (l->kind == LAYOUT_TILES)
		return l->tiling;
	t = arena_alloc(a, 1, sizeof(*t));
	t->rank = l->rank;
	t->ndevices = m->ndevices;
	for (int i = 0; i < l->rank; i++) {
		shape.dim[i] = layout_shards(l, i);
		t->tiles[i] = (int32_t)shape.dim[i];
		ntiles *= t->tiles[i];
	}
	t->replicas = m->ndevices / ntiles;
	map = tilemap_make(l, m, &shape, a);
	ids = arena_alloc(a, (size_t)m->ndevices, sizeof(*ids));
	fill = arena_alloc(a, (size_t)ntiles, sizeof(*fill));
	for (int32_t d = 0; d < m->ndevices; d++) {
		int32_t tile = 0;

		for (int i = 0; i < l->rank; i++)
			tile = tile * t->tiles[i] + map.index[(int64_t)d * l->rank + i];
		ids[tile * t->replicas + fill[tile]++] = d;
	}
	t->ids = ids;
	return t;
}

struct layout layout_of_tiling(const struct tiling *t, struct arena *a)
{
	struct layout l = layout_replicated(t->rank);
	struct tiling *copy = arena_dup(a, t, 1, sizeof(*t));
	int32_t *ids = arena_dup(a, t->ids, (size_t)t->ndevices, sizeof(*ids));

	if (t->replicas == t->ndevices)
		for (int32_t i = 0; i < t->ndevices; i++)
			ids[i] = i;
	else
		for (int32_t i = 0; i < t->ndevices; i += t->replicas)
			qsort(ids + i, (size_t)t->replicas, sizeof(*ids), compare_int32);
	copy->ids = ids;
	l.kind = LAYOUT_TILES;
	l.tiling = copy;
	return l;
}

/* Appends a digit (stride, size) of the position as parts of the axes it covers. */
static bool append_digit(struct layout *l, const struct mesh *m, int dim,
                         int64_t stride, int64_t size)
{
	for (int x = 0; x < m->naxes; x++) {
		int64_t lo = mesh_stride(m, x), n = m->axis[x].size, hi = lo * n;
		int64_t from = stride > lo ? stride : lo;
		int64_t to = stride * size < hi ? stride * size : hi;

		if (from >= to)
			continue;
		if (from % lo || to % from || hi % to || from % stride)
			return false;
		if (!layout_append(l, dim,
		                   (struct part){.axis = (int16_t)x,
		                                 .pre = (int32_t)(hi / to),
		                                 .size = (int32_t)(to / from)}))
			return false;
	}
	return true;
}

static int32_t lowest_position(const struct tiling *t, const int32_t *position,
                               int32_t tile)
{
	int32_t best = INT32_MAX;

	for (int32_t r = 0; r < t->replicas; r++) {
		int32_t p = position[t->ids[tile * t->replicas + r]];

		best = p < best ? p : best;
	}
	return best;
}

/*
 * Finds the digits of one tile dimension by the positions of its tiles 0..n-1 (other
 * coordinates 0): the position of tile number k must be a sum of digit_j(k) * stride_j.
 * Digits are found minor to major: the first tile's distance is a stride, and it goes
 * on for as long as the distances are its multiples. Appended to the layout major
 * first.
 */
static bool find_digits(struct layout *l, const struct mesh *m, const struct tiling *t,
                        const int32_t *position, int dim, int32_t tile_stride)
{
	int32_t n = t->tiles[dim], done = 1, nfound = 0;
	struct {
		int64_t stride, size;
	} found[DIGITS_MAX];

	while (done < n) {
		int64_t stride = lowest_position(t, position, done * tile_stride);
		int32_t size = 1;

		if (stride <= 0 || nfound == DIGITS_MAX)
			return false;
		while (size * done < n &&
		       lowest_position(t, position, size * done * tile_stride) ==
		               size * stride)
			size++;
		if (n % (done * size) != 0)
			return false;
		found[nfound].stride = stride;
		found[nfound++].size = size;
		done *= size;
	}
	while (nfound-- > 0)
		if (!append_digit(l, m, dim, found[nfound].stride, found[nfound].size))
			return false;
	return true;
}

bool layout_to_axes(struct layout *out, const struct layout *l, const struct mesh *m,
                    struct arena *scratch)
{
	const struct tiling *t = l->tiling;
	const int32_t *position;
	int32_t tile_stride = 1;
	struct text why = {0};
	bool ok = true;

	if (l->kind != LAYOUT_TILES) {
		*out = *l;
		return l->kind == LAYOUT_AXES;
	}
	*out = layout_replicated(l->rank);
	position = mesh_positions(m, scratch);
	for (int dim = l->rank - 1; dim >= 0 && ok; dim--) {
		ok = find_digits(out, m, t, position, dim, tile_stride);
		tile_stride *= t->tiles[dim];
	}
	layout_normalise(out);
	ok = ok && layout_valid(out, m, &why);
	text_free(&why);
	return ok && layout_same_tiles(out, m, l, m);
}
