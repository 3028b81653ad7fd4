#include "array/tile.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* Strides and sizes of the parts of one dimension, for decoding positions. */
struct digit {
	int32_t stride, size;
};

static int dim_digits(struct digit *out, const struct layout *l, const struct mesh *m,
                      int dim)
{
	int n;
	const struct part *part = layout_parts(l, dim, &n);

	for (int k = 0; k < n; k++) {
		int32_t size = m->axis[part[k].axis].size;
		int32_t minor = size / (part[k].pre * part[k].size);

		out[k].stride = (int32_t)mesh_stride(m, part[k].axis) * minor;
		out[k].size = part[k].size;
	}
	return n;
}

/*
 * Orders unreduced parts, which are a set: their contributions are numbered in mesh
 * order.
 */
static int by_falling_stride(const void *a, const void *b)
{
	const struct digit *x = a, *y = b;

	return (x->stride < y->stride) - (x->stride > y->stride);
}

/*
 * Writes the mixed-radix values of the digits of dimension `dim` to every `stride`-th
 * cell.
 */
static void index_dim(int32_t *index, int stride, const struct layout *l,
                      const struct mesh *m, int dim)
{
	struct digit digit[LAYOUT_PARTS_MAX];
	int n = dim_digits(digit, l, m, dim);
	int32_t *value = xmalloc((size_t)m->ndevices, sizeof(*value)), weight = 1;

	if (dim == l->rank)
		qsort(digit, (size_t)n, sizeof(*digit), by_falling_stride);
	memset(value, 0, (size_t)m->ndevices * sizeof(*value));
	for (int k = n - 1; k >= 0; k--) {
		mesh_add_digit(value, 1, m->ndevices, digit[k].stride, digit[k].size,
		               weight);
		weight *= digit[k].size;
	}
	for (int32_t p = 0; p < m->ndevices; p++)
		index[(int64_t)mesh_device(m, p) * stride] = value[p];
	xfree(value);
}

static void index_tiles(int32_t *index, const struct tiling *t)
{
	for (int32_t k = 0; k < t->ndevices; k++) {
		int32_t rest = k / t->replicas;

		for (int dim = t->rank - 1; dim >= 0; dim--) {
			index[(int64_t)t->ids[k] * t->rank + dim] = rest % t->tiles[dim];
			rest /= t->tiles[dim];
		}
	}
}

struct tilemap tilemap_make(const struct layout *l, const struct mesh *m,
                            const struct shape *global, struct arena *a)
{
	struct tilemap out = {.ndevices = mesh_nids(m), .tile = layout_local(l, global)};
	int64_t cells = (int64_t)out.ndevices * (l->rank ? l->rank : 1);
	int32_t *index = arena_alloc(a, (size_t)cells, sizeof(*index));
	int32_t *partial = arena_alloc(a, (size_t)out.ndevices, sizeof(*partial));
	int n;

	out.index = index;
	out.partial = partial;
	out.partials = 1;
	if (l->kind == LAYOUT_MAXIMAL || out.ndevices > m->ndevices)
		for (int64_t i = 0; i < cells; i++)
			index[i] = -1;
	switch (l->kind) {
	case LAYOUT_AXES:
		for (int dim = 0; dim < l->rank; dim++)
			index_dim(index + dim, l->rank, l, m, dim);
		index_dim(partial, 1, l, m, l->rank);
		for (int k = 0; k < l->nunreduced; k++)
			out.partials *= layout_parts(l, l->rank, &n)[k].size;
		break;
	case LAYOUT_TILES:
		assert(l->tiling->ndevices == m->ndevices);
		index_tiles(index, l->tiling);
		break;
	case LAYOUT_MAXIMAL:
		for (int dim = 0; dim < l->rank; dim++)
			index[(int64_t)l->maximal_device * l->rank + dim] = 0;
		if (l->rank == 0)
			index[l->maximal_device] = 0;
		break;
	}
	for (int32_t p = 0;
	     p < m->ndevices && l->rank == 0 && l->kind != LAYOUT_MAXIMAL; p++)
		index[mesh_device(m, p)] = 0;
	return out;
}

bool layout_same_tiles(const struct layout *a, const struct mesh *ma,
                       const struct layout *b, const struct mesh *mb)
{
	struct arena *scratch;
	struct shape shape = {.rank = a->rank};
	struct tilemap ta, tb;
	bool same;

	if (a->rank != b->rank || mesh_nids(ma) != mesh_nids(mb))
		return false;
	for (int i = 0; i < a->rank; i++) {
		shape.dim[i] = layout_shards(a, i);
		if (shape.dim[i] != layout_shards(b, i))
			return false;
	}
	scratch = arena_new();
	ta = tilemap_make(a, ma, &shape, scratch);
	tb = tilemap_make(b, mb, &shape, scratch);
	same = memcmp(ta.index, tb.index,
	              (size_t)ta.ndevices * (size_t)a->rank * sizeof(*ta.index)) == 0 &&
	       ta.partials == tb.partials &&
	       memcmp(ta.partial, tb.partial,
	              (size_t)ta.ndevices * sizeof(*ta.partial)) == 0;
	/* A scalar has no tile numbers to compare, only devices that hold it or not. */
	if (a->rank == 0 && (a->kind == LAYOUT_MAXIMAL || b->kind == LAYOUT_MAXIMAL))
		same = a->kind == b->kind && a->maximal_device == b->maximal_device;
	arena_free(scratch);
	return same;
}

bool tilemap_has(const struct tilemap *t, int32_t d)
{
	return t->index[(int64_t)d * (t->tile.rank ? t->tile.rank : 1)] >= 0;
}

void tilemap_interval(const struct tilemap *t, const struct shape *global, int32_t d,
                      int i, int64_t *lo, int64_t *hi)
{
	int32_t index = t->index[(int64_t)d * t->tile.rank + i];
	int64_t g = global->dim[i];

	*lo = *hi = 0;
	if (index < 0)
		return;
	*lo = index * t->tile.dim[i] < g ? index * t->tile.dim[i] : g;
	*hi = *lo + t->tile.dim[i] < g ? *lo + t->tile.dim[i] : g;
}

int64_t tilemap_elements(const struct tilemap *t, const struct shape *global, int32_t d)
{
	return tilemap_common(t, t, global, d);
}

int64_t tilemap_common(const struct tilemap *a, const struct tilemap *b,
                       const struct shape *global, int32_t d)
{
	int64_t n = 1;

	for (int i = 0; i < a->tile.rank; i++) {
		int64_t alo, ahi, blo, bhi;

		tilemap_interval(a, global, d, i, &alo, &ahi);
		tilemap_interval(b, global, d, i, &blo, &bhi);
		alo = alo > blo ? alo : blo;
		ahi = ahi < bhi ? ahi : bhi;
		n *= ahi > alo ? ahi - alo : 0;
	}
	return n;
}
