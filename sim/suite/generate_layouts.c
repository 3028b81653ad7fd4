/* All layout pairs of a mesh, or a sample of them, with or without sub-axes. */
#include "suite/generate.h"

#include "base/hash.h"
#include "base/list.h"
#include "base/table.h"

#include <assert.h>
#include <string.h>

/*
 * All layouts that give every axis to a dimension or to none, in every order inside a
 * dimension: axes are placed one after another, each behind any of those already there.
 */
struct layouts {
	struct arena *arena;
	const struct mesh *mesh;
	int rank;
	LIST(struct layout) list;
};

static void place_axes(struct layouts *all, const struct layout *l, int axis)
{
	struct part part = {axis, 1, 0};

	if (axis == all->mesh->naxes) {
		*list_add(&all->list, all->arena) = *l;
		return;
	}
	part.size = all->mesh->axis[axis].size;
	place_axes(all, l, axis + 1);
	for (int dim = 0; dim < all->rank && part.size > 1; dim++) {
		for (int at = 0; at <= l->nparts[dim]; at++) {
			struct layout next = generate_insert(l, dim, at, part);

			place_axes(all, &next, axis + 1);
		}
	}
}

/* Returns the first `take` of 0..n-1 in a random order; all in order if `take` is 0. */
static int32_t *choose_numbers(struct arena *a, int32_t n, int32_t take, int64_t seed)
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
 * Returns how many layouts place_axes() will make: where k axes are placed, the next has
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

/* Returns how many pairs to take; 0 on an error. */
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

/* Pairs of layouts and their numbers, in the order they are asked for. */
struct pairs {
	int32_t n;
	int32_t *number;
	struct layout *from, *to;
};

static struct pairs pairs_new(struct arena *a, int32_t n)
{
	return (struct pairs){
		.n = n,
		.number = arena_alloc(a, (size_t)n, sizeof(int32_t)),
		.from = arena_alloc(a, (size_t)n, sizeof(struct layout)),
		.to = arena_alloc(a, (size_t)n, sizeof(struct layout)),
	};
}

/* Takes all pairs of whole-axis layouts, or a sample of them; false on an error. */
static bool whole_pairs(struct pairs *p, const struct generate *g, struct layouts *all,
                        struct error *e)
{
	int32_t n, pairs, take = count_pairs(g, all->mesh, all->rank, e), *order;
	struct layout start = layout_replicated(all->rank);

	if (!take)
		return false;
	place_axes(all, &start, 0);
	assert((double)all->list.n == count_layouts(all->mesh, all->rank));
	n = (int32_t)all->list.n;
	pairs = n * (n - 1);
	order = choose_numbers(all->arena, pairs, take < pairs ? take : 0, g->seed);
	*p = pairs_new(all->arena, take);
	for (int32_t i = 0; i < take; i++) {
		int32_t a = order[i] / (n - 1), b = order[i] % (n - 1);

		p->number[i] = order[i];
		p->from[i] = all->list.at[a];
		p->to[i] = all->list.at[b + (b >= a)];
	}
	return true;
}

/* Cuts every axis between some of its prime factors, and places the pieces. */
static struct layout draw_sub_layout(struct rng *r, const struct mesh *m, int rank)
{
	struct layout l = layout_replicated(rank);

	for (int x = 0; x < m->naxes; x++) {
		struct part axis = {x, 1, m->axis[x].size}, digit[32], piece = {x, 1, 1};
		int n = parts_digits(digit, &axis, 1);

		for (int i = 0; i < n; i++) {
			piece.size *= digit[i].size;
			if (i + 1 < n && rng_below(r, 2))
				continue;
			generate_place(&l, r, piece);
			piece = (struct part){x, piece.pre * piece.size, 1};
		}
	}
	layout_normalise(&l);
	return l;
}

static bool has_sub_axis(const struct layout *l, const struct mesh *m)
{
	for (int dim = 0; dim < l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int i = 0; i < n; i++)
			if (part[i].size != m->axis[part[i].axis].size)
				return true;
	}
	return false;
}

/* Adds the pair number n to those that are found; false if it is there already. */
static bool found_new(struct table *found, const struct pairs *p, int32_t n)
{
	uint64_t hash = hash_bytes(HASH_START, &p->from[n], sizeof(p->from[n]));
	size_t at;

	hash = hash_bytes(hash, &p->to[n], sizeof(p->to[n]));
	for (int32_t i = table_first(found, hash, &at); i >= 0;
	     i = table_next(found, hash, &at))
		if (memcmp(&p->from[i], &p->from[n], sizeof(p->from[n])) == 0 &&
		    memcmp(&p->to[i], &p->to[n], sizeof(p->to[n])) == 0)
			return false;
	table_add(found, hash, n);
	return true;
}

/*
 * Returns how many draws in a row may find nothing new after n pairs: pairs that are a
 * thousand times rarer than the others are still found, but few possibilities are not
 * drawn from for long.
 */
static int64_t patience(int32_t n)
{
	return 10000 + INT64_C(1000) * n;
}

/* Draws a sample of distinct pairs with sub-axes; returns false on an error. */
static bool sub_pairs(struct pairs *p, const struct generate *g, struct layouts *all,
                      struct error *e)
{
	struct rng *r = rng_new((uint64_t)g->seed);
	struct table found = {.arena = all->arena};
	int64_t tries = 1000000, last = tries; /* when a new one was found */
	int32_t n = 0;

	*p = pairs_new(all->arena, (int32_t)g->count);
	for (; n < p->n && tries > 0 && last - tries < patience(n); tries--) {
		p->from[n] = draw_sub_layout(r, all->mesh, all->rank);
		p->to[n] = draw_sub_layout(r, all->mesh, all->rank);
		p->number[n] = n;
		if ((has_sub_axis(&p->from[n], all->mesh) ||
		     has_sub_axis(&p->to[n], all->mesh)) &&
		    memcmp(&p->from[n], &p->to[n], sizeof(p->to[n])) != 0 &&
		    found_new(&found, p, n)) {
			n++;
			last = tries;
		}
	}
	rng_free(r);
	if (n < p->n)
		error_set(e, E_RANGE, g->mesh_at,
		          "found %d pairs of layouts with sub-axes, expected %d", n,
		          p->n);
	return n == p->n;
}

/* Makes the array of the i-th size, which every layout of the mesh divides. */
static bool sized_array(struct array *out, const struct generate *g,
                        const struct mesh *m, int i, struct error *e)
{
	struct text text = {0};
	int64_t elements = 1, most;

	text_printf(&text, "%.20s[1]", g->dtype);
	array_parse(out, text.s, g->at, e);
	text_free(&text);
	if (e->code != OK)
		return false;
	out->shape = (struct shape){.rank = (int)g->rank[0]};
	most = GENERATED_BYTES_MAX / dtype_bytes(out->dtype, 1);
	for (int d = 0; d < out->shape.rank; d++) {
		if (elements > most / m->ndevices) {
			error_set(e, E_RANGE, g->mesh_at,
			          "the smallest array that all layouts divide is too "
			          "large");
			return false;
		}
		elements *= m->ndevices;
		out->shape.dim[d] = m->ndevices;
	}
	for (int d = 0;
	     dtype_bytes(out->dtype, shape_elements(&out->shape)) < g->size_bytes[i];
	     d = (d + 1) % out->shape.rank)
		out->shape.dim[d] *= 2;
	return true;
}

static void add_pairs(struct suite *s, const struct generate *g, const char *family,
                      const struct array *array, const struct mesh *m,
                      const struct pairs *p)
{
	struct text text = {0};
	const char *array_text;

	array_print(&text, array);
	array_text = text_take(&text, s->arena);
	for (int32_t i = 0; i < p->n; i++)
		generate_add(s, g, family, p->number[i], array_text, g->mesh,
		             generate_layout_text(s, &p->from[i], m, &array->shape),
		             generate_layout_text(s, &p->to[i], m, &array->shape));
}

enum status generate_layouts(struct suite *s, const struct generate *g, struct error *e)
{
	struct arena *scratch = arena_new();
	struct mesh m;
	struct array array;
	struct layouts all = {.arena = scratch, .mesh = &m, .rank = (int)g->rank[0]};
	struct pairs pairs;

	if (mesh_parse(&m, scratch, g->mesh, g->mesh_at, e) != OK)
		goto out;
	if (g->array) {
		if (array_parse(&array, g->array, g->array_at, e) != OK)
			goto out;
		all.rank = array.shape.rank;
	}
	if (!(g->sub_axes ? sub_pairs : whole_pairs)(&pairs, g, &all, e))
		goto out;
	if (g->array)
		add_pairs(s, g, g->family, &array, &m, &pairs);
	for (int i = 0; i < g->nsizes && sized_array(&array, g, &m, i, e); i++)
		add_pairs(s, g,
		          arena_printf(s->arena, "%s-%s", g->family, g->size_text[i]),
		          &array, &m, &pairs);
out:
	arena_free(scratch);
	return e->code;
}
