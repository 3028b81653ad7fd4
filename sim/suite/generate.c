/* Generated scenarios: random problems. */
#include "suite/generate.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Draws a number from range[0] to range[1], all equally likely. */
static int64_t draw(struct rng *r, const int64_t range[2])
{
	return range[0] + rng_below(r, (uint32_t)(range[1] - range[0] + 1));
}

/*
 * Draws axis sizes of 2, 3, 4, 6 and 8, mostly powers of two as real meshes have them.
 * Returns false where the mesh is not within the range of devices.
 */
static bool draw_mesh(struct mesh *m, struct rng *r, const struct generate *g)
{
	static const int32_t sizes[] = {2, 2, 2, 4, 4, 4, 8, 8, 3, 6};
	static const char *const names[GENERATED_AXES_MAX] = {"x", "y", "z", "w",
	                                                      "v", "u", "t", "s"};

	*m = (struct mesh){.ndevices = 1};
	m->naxes = (int)draw(r, g->axes);
	for (int i = 0; i < m->naxes; i++) {
		m->axis[i].name = names[i];
		m->axis[i].size = sizes[rng_below(r, 10)];
		m->ndevices *= m->axis[i].size;
	}
	return m->ndevices >= g->devices[0] && m->ndevices <= g->devices[1];
}

static struct layout draw_layout(struct rng *r, const struct mesh *m, int rank)
{
	struct layout l = layout_replicated(rank);

	for (int x = 0; x < m->naxes; x++)
		generate_place(&l, r, (struct part){x, 1, m->axis[x].size});
	return l;
}

/*
 * Draws a shape that both layouts divide: per dimension the least common multiple of the shard
 * counts, doubled in turn up to the bytes drawn (log-uniform). Returns false
 * where it is not within the range of bytes.
 */
static bool draw_shape(struct array *a, struct rng *r, const struct generate *g,
                       const struct layout *from, const struct layout *to)
{
	int64_t doublings = 0, want, bytes;

	for (int64_t b = g->bytes[0]; b <= g->bytes[1] / 2; b *= 2)
		doublings++;
	want = g->bytes[0] << rng_below(r, (uint32_t)doublings + 1);
	for (int i = 0; i < a->shape.rank; i++) {
		int64_t s = layout_shards(from, i), t = layout_shards(to, i), x = s,
			y = t;

		while (y) {
			int64_t rest = x % y;

			x = y;
			y = rest;
		}
		a->shape.dim[i] = s / x * t;
	}
	while (dtype_bytes(a->dtype, 2 * shape_elements(&a->shape)) <= want)
		a->shape.dim[rng_below(r, (uint32_t)a->shape.rank)] *= 2;
	bytes = dtype_bytes(a->dtype, shape_elements(&a->shape));
	/*
	 * An odd factor can leave the bytes between half of the smallest and the
	 * smallest.
	 */
	if (bytes < g->bytes[0]) {
		a->shape.dim[0] *= 2;
		bytes *= 2;
	}
	return bytes >= g->bytes[0] && bytes <= g->bytes[1];
}

/*
 * Takes some elements, less than a tile's share, from dimensions that are cut. Returns
 * false where the array is even still, or too small.
 */
static bool make_uneven(struct array *a, struct rng *r, const struct generate *g,
                        const struct layout *from, const struct layout *to)
{
	bool uneven = false;

	for (int i = 0; i < a->shape.rank; i++) {
		int64_t s = layout_shards(from, i), t = layout_shards(to, i);
		int64_t *dim = &a->shape.dim[i], most = s > t ? s : t;

		if (most > *dim)
			most = *dim;
		*dim -= rng_below(r, (uint32_t)most);
		uneven |= *dim % s != 0 || *dim % t != 0;
	}
	return uneven && dtype_bytes(a->dtype, shape_elements(&a->shape)) >= g->bytes[0];
}

/* Draws until a problem is within the ranges; returns false after too many tries. */
static bool draw_problem(struct mesh *m, struct array *array, struct layout *from,
                         struct layout *to, struct rng *r, const struct generate *g,
                         int *tries)
{
	for (; *tries > 0; (*tries)--) {
		array->shape = (struct shape){.rank = (int)draw(r, g->rank)};
		while (!draw_mesh(m, r, g))
			if (--*tries <= 0)
				return false;
		do {
			*from = draw_layout(r, m, array->shape.rank);
			*to = draw_layout(r, m, array->shape.rank);
		} while (memcmp(from, to, sizeof(*from)) == 0);
		if (draw_shape(array, r, g, from, to) &&
		    (!g->uneven || make_uneven(array, r, g, from, to)))
			return true;
	}
	return false;
}

static enum status generate_random(struct suite *s, const struct generate *g,
                                   struct error *e)
{
	struct rng *r = rng_new((uint64_t)g->seed);
	struct array array;
	struct mesh m;
	char dtype[32];

	assert(g->axes[1] <= GENERATED_AXES_MAX && g->rank[1] <= GENERATED_RANK_MAX);
	snprintf(dtype, sizeof(dtype), "%.20s[1]", g->dtype);
	array_parse(&array, dtype, g->at, e);
	for (int64_t i = 0; i < g->count && e->code == OK; i++) {
		struct text mesh = {0}, text = {0};
		struct layout from, to;
		int tries = 1000000;

		if (!draw_problem(&m, &array, &from, &to, r, g, &tries)) {
			error_set(
				e, E_RANGE, g->at,
				"found no problem within these ranges; axes have 2, 3, "
				"4, 6 or 8 devices");
			break;
		}
		mesh_print(&mesh, &m);
		array_print(&text, &array);
		generate_add(s, g, g->family, i, text_take(&text, s->arena),
		             text_take(&mesh, s->arena),
		             generate_layout_text(s, &from, &m, &array.shape),
		             generate_layout_text(s, &to, &m, &array.shape));
	}
	rng_free(r);
	return e->code;
}

enum status suite_generate(struct suite *s, const struct generate *g, struct error *e)
{
	return g->random ? generate_random(s, g, e) : generate_layouts(s, g, e);
}
