#include "array/tile.h"

#include <assert.h>

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

static void index_axes(int32_t *index, const struct layout *l, const struct mesh *m)
{
	struct digit digit[LAYOUT_PARTS_MAX];

	for (int dim = 0; dim < l->rank; dim++) {
		int n = dim_digits(digit, l, m, dim);

		for (int32_t p = 0; p < m->ndevices; p++) {
			int32_t value = 0;

			for (int k = 0; k < n; k++)
				value = value * digit[k].size +
				        p / digit[k].stride % digit[k].size;
			index[(int64_t)mesh_device(m, p) * l->rank + dim] = value;
		}
	}
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
	struct tilemap out = {.ndevices = m->ndevices, .tile = layout_local(l, global)};
	int64_t cells = (int64_t)m->ndevices * (l->rank ? l->rank : 1);
	int32_t *index = arena_alloc(a, (size_t)cells, sizeof(*index));

	out.index = index;
	switch (l->kind) {
	case LAYOUT_AXES:
		index_axes(index, l, m);
		break;
	case LAYOUT_TILES:
		assert(l->tiling->ndevices == m->ndevices);
		index_tiles(index, l->tiling);
		break;
	case LAYOUT_MAXIMAL:
		for (int64_t i = 0; i < cells; i++)
			index[i] = -1;
		for (int dim = 0; dim < l->rank; dim++)
			index[(int64_t)l->maximal_device * l->rank + dim] = 0;
		break;
	}
	return out;
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
