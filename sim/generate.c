/* Generated scenarios: all layout pairs of a mesh, or random problems (design 8). */
#include "suite.h"

#include "base/rng.h"
#include "notation/notation.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* --- whole-axis layouts ------------------------------------------------------------ */

/*
 * All layouts that give every axis to a dimension or to none, in every order inside a
 * dimension: axes are placed one after another, each behind any of those already there.
 */
struct layouts {
	struct arena *arena;
	const struct mesh *mesh;
	int rank;
	int64_t n, capacity;
	struct layout *layout;
};

static void keep_layout(struct layouts *all, const struct layout *l)
{
	if (all->n == all->capacity) {
		struct layout *old = all->layout;

		all->capacity = all->capacity ? 2 * all->capacity : 64;
		all->layout =
			arena_alloc(all->arena, (size_t)all->capacity, sizeof(*old));
		if (all->n)
			memcpy(all->layout, old, (size_t)all->n * sizeof(*old));
	}
	all->layout[all->n++] = *l;
}

/* `l` with `part` inserted as number `at` of dimension `dim`. */
static struct layout insert(const struct layout *l, int dim, int at, struct part part)
{
	struct layout out = layout_replicated(l->rank);

	for (int i = 0; i < l->rank; i++) {
		int n;
		const struct part *old = layout_parts(l, i, &n);

		for (int k = 0; k <= n; k++) {
			if (i == dim && k == at)
				layout_append(&out, i, part);
			if (k < n)
				layout_append(&out, i, old[k]);
		}
	}
	return out;
}

static void place_axes(struct layouts *all, const struct layout *l, int axis)
{
	struct part part = {axis, 1, 0};

	if (axis == all->mesh->naxes) {
		keep_layout(all, l);
		return;
	}
	part.size = all->mesh->axis[axis].size;
	place_axes(all, l, axis + 1);
	for (int dim = 0; dim < all->rank && part.size > 1; dim++) {
		for (int at = 0; at <= l->nparts[dim]; at++) {
			struct layout next = insert(l, dim, at, part);

			place_axes(all, &next, axis + 1);
		}
	}
}

/* --- scenarios --------------------------------------------------------------------- */

static const char *layout_text(struct suite *s, const struct layout *l,
                               const struct mesh *m, const struct shape *shape)
{
	struct text t = {0};

	layout_print(&t, l, m, shape);
	return text_take(&t, s->arena);
}

static void add_generated(struct suite *s, const struct generate *g, int64_t number,
                          const char *array, const char *mesh, const char *from,
                          const char *to)
{
	struct scenario sc = {.family = g->family, .source = "generated", .at = g->at};

	sc.name = arena_printf(s->arena, "%s-%05lld", g->family, (long long)number);
	sc.text = (struct problem_text){.array = array,
	                                .mesh = mesh,
	                                .from = from,
	                                .to = to,
	                                .array_at = g->at,
	                                .mesh_at = g->at,
	                                .from_at = g->at,
	                                .to_at = g->at};
	suite_add(s, &sc);
}

/* The first `take` of 0..n-1 in a random order; all in order when nothing is sampled. */
static int32_t *choose(struct arena *a, int32_t n, int32_t take, int64_t seed)
{
	int32_t *order = arena_alloc(a, (size_t)n, sizeof(*order));
	struct rng *r = rng_new((uint64_t)seed);

	for (int32_t i = 0; i < n; i++)
		order[i] = i;
	for (int32_t i = 0; i < take; i++) {
		int32_t j = i + (int32_t)rng_below(r, (uint32_t)(n - i)), t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
	rng_free(r);
	return order;
}

/*
 * How many layouts place_axes will make: where k axes are placed, the next has
 * k + rank places and may also stay out.
 */
static double count_layouts(const struct mesh *m, int rank)
{
	double ways[MESH_AXES_MAX + 1] = {1}, all = 0;

	for (int x = 0; x < m->naxes; x++)
		for (int k = x; k >= 0 && m->axis[x].size > 1; k--)
			ways[k + 1] += ways[k] * (k + rank);
	for (int k = 0; k <= m->naxes; k++)
		all += ways[k];
	return all;
}

/* How many pairs to take; 0 with an error. */
static int32_t count_pairs(const struct generate *g, const struct mesh *m, int rank,
                           struct error *e)
{
	double n = count_layouts(m, rank), pairs = n * (n - 1);

	if (pairs > LAYOUT_PAIRS_MAX)
		error_set(e, E_RANGE, g->mesh_at,
		          "%.3g pairs of layouts, expected at most %d", pairs,
		          LAYOUT_PAIRS_MAX);
	else if (pairs > GENERATED_MAX && !g->count)
		error_set(e, E_RANGE, g->mesh_at,
		          "%.0f pairs of layouts, expected at most %d or a sample",
		          pairs, GENERATED_MAX);
	if (e->code != OK)
		return 0;
	return g->count && (double)g->count < pairs ? (int32_t)g->count : (int32_t)pairs;
}

static void add_pairs(struct suite *s, const struct generate *g,
                      const struct layouts *all, const struct shape *shape, int32_t take)
{
	int32_t n = (int32_t)all->n, pairs = n * (n - 1);
	int32_t *order = choose(all->arena, pairs, take < pairs ? take : 0, g->seed);

	for (int32_t i = 0; i < take; i++) {
		int32_t a = order[i] / (n - 1), b = order[i] % (n - 1);

		add_generated(
			s, g, order[i], g->array, g->mesh,
			layout_text(s, &all->layout[a], all->mesh, shape),
			layout_text(s, &all->layout[b + (b >= a)], all->mesh, shape));
	}
}

static enum status generate_layouts(struct suite *s, const struct generate *g,
                                    struct error *e)
{
	struct arena *scratch = arena_new();
	struct mesh m;
	struct array array;
	struct layouts all = {.arena = scratch, .mesh = &m};
	struct layout start;
	int32_t take;

	if (mesh_parse(&m, scratch, g->mesh, g->mesh_at, e) == OK &&
	    array_parse(&array, g->array, g->array_at, e) == OK) {
		all.rank = array.shape.rank;
		take = count_pairs(g, &m, all.rank, e);
		start = layout_replicated(all.rank);
		if (take) {
			place_axes(&all, &start, 0);
			assert((double)all.n == count_layouts(&m, all.rank));
			add_pairs(s, g, &all, &array.shape, take);
		}
	}
	arena_free(scratch);
	return e->code;
}

/* A uniform number of [range[0], range[1]]. */
static int64_t draw(struct rng *r, const int64_t range[2])
{
	return range[0] + rng_below(r, (uint32_t)(range[1] - range[0] + 1));
}

/*
 * Axis sizes of 2, 3, 4, 6 and 8, mostly powers of two as real meshes have them. False:
 * not within the range of devices.
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

	for (int x = 0; x < m->naxes; x++) {
		struct part part = {x, 1, m->axis[x].size};
		int dim = (int)rng_below(r, (uint32_t)rank + 1);

		if (dim < rank)
			l = insert(&l, dim, (int)rng_below(r, l.nparts[dim] + 1u), part);
	}
	return l;
}

/*
 * A shape that both layouts divide: per dimension the least common multiple of the shard
 * counts, doubled in turn up to the bytes drawn (log-uniform). False: not within the
 * range of bytes.
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
	/* Between half of the smallest and the smallest: an odd factor missed it. */
	if (bytes < g->bytes[0]) {
		a->shape.dim[0] *= 2;
		bytes *= 2;
	}
	return bytes >= g->bytes[0] && bytes <= g->bytes[1];
}

/* Draw until a problem is within the ranges; false after too many tries. */
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
		if (draw_shape(array, r, g, from, to))
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
		add_generated(s, g, i, text_take(&text, s->arena),
		              text_take(&mesh, s->arena),
		              layout_text(s, &from, &m, &array.shape),
		              layout_text(s, &to, &m, &array.shape));
	}
	rng_free(r);
	return e->code;
}

enum status suite_generate(struct suite *s, const struct generate *g, struct error *e)
{
	return g->random ? generate_random(s, g, e) : generate_layouts(s, g, e);
}
