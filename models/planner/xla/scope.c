#include "base/assert.h"
#include "planner/xla/xla.h"

struct xla_scope xla_scope_top(const struct shape *shape, int32_t ndevices,
                               struct arena *a)
{
	struct xla_scope scope = {.rank = shape->rank, .base = *shape};

	for (int d = 0; d < shape->rank; d++) {
		scope.dim[d] = d;
		scope.outer[d] = 1;
		scope.unit[d] = 1;
	}
	scope.origin = arena_alloc(a, (size_t)shape->rank + 1, sizeof(*scope.origin));
	scope.outer_index =
		arena_alloc(a, (size_t)shape->rank + 1, sizeof(*scope.outer_index));
	scope.groups.ngroups = 1;
	scope.groups.size = ndevices;
	scope.groups.ids = xla_tiling_replicated(a, shape->rank, ndevices)->ids;
	return scope;
}

/* The groups inside one group of a scope, and the tile of each: [ngroups * rank]. */
struct cut {
	struct groups groups;
	int32_t *index;
};

static struct cut cut_along(const struct tiling *s, const int *dims,
                            const int32_t *inside, int n, struct arena *a)
{
	struct cut c = {.groups.ngroups = 1};
	int32_t index[RANK_MAX + 1];
	int32_t *ids = arena_alloc(a, (size_t)s->ndevices, sizeof(*ids));
	int32_t *filled;

	for (int k = 0; k < n; k++)
		c.groups.ngroups *= s->tiles[dims[k]] / inside[k];
	c.groups.size = s->ndevices / c.groups.ngroups;
	filled = arena_alloc(a, (size_t)c.groups.ngroups, sizeof(*filled));
	c.index = arena_alloc(a, (size_t)c.groups.ngroups * (size_t)s->rank,
	                      sizeof(*c.index));
	for (int32_t place = 0; place < s->ndevices; place++) {
		int32_t g = 0;

		xla_index(s, place, index);
		for (int k = 0; k < n; k++)
			g = g * (s->tiles[dims[k]] / inside[k]) +
			    index[dims[k]] / inside[k];
		for (int k = 0; k < n; k++)
			c.index[g * s->rank + dims[k]] = index[dims[k]] / inside[k];
		ids[g * c.groups.size + filled[g]++] = s->ids[place];
	}
	c.groups.ids = ids;
	return c;
}

/*
 * Makes the groups of a cut in every group of `scope`; out->base has the extents inside
 * the new groups.
 */
static void nest(struct xla_scope *out, const struct xla_scope *scope,
                 const struct cut *c, struct arena *a)
{
	int32_t n = c->groups.ngroups, size = c->groups.size;
	int32_t all = scope->groups.ngroups * n;
	size_t cells = (size_t)all * (size_t)scope->rank;
	int32_t *ids = arena_alloc(a, (size_t)all, (size_t)size * sizeof(*ids));
	int32_t *index = arena_alloc(a, cells + 1, sizeof(*index));
	int64_t *origin = arena_alloc(a, cells + 1, sizeof(*origin));

	for (int32_t i = 0; i < all; i++) {
		const int32_t *members =
			scope->groups.ids + i / n * (int64_t)scope->groups.size;

		for (int32_t k = 0; k < size; k++)
			ids[i * size + k] = members[c->groups.ids[i % n * size + k]];
		for (int d = 0; d < scope->rank; d++) {
			int32_t cuts = out->outer[d] / scope->outer[d];
			int32_t from = i / n * scope->rank + d;
			int32_t to = i * scope->rank + d;
			int32_t number = c->index[i % n * scope->rank + d];

			index[to] = scope->outer_index[from] * cuts + number;
			origin[to] = scope->origin[from] +
			             number * out->base.dim[d] * scope->unit[d];
		}
	}
	out->groups.ngroups = all;
	out->groups.size = size;
	out->groups.ids = ids;
	out->outer_index = index;
	out->origin = origin;
}

struct xla_scope xla_scope_group(const struct tiling **inner,
                                 const struct xla_scope *scope, const struct tiling *s,
                                 const int *dims, const int32_t *inside, int n,
                                 struct arena *a)
{
	struct xla_scope out = *scope;
	struct tiling within = *s;
	struct cut c = cut_along(s, dims, inside, n, a);
	int32_t *ids = arena_alloc(a, (size_t)c.groups.size, sizeof(*ids));

	for (int k = 0; k < n; k++) {
		int32_t cuts = s->tiles[dims[k]] / inside[k];

		out.outer[dims[k]] *= cuts;
		out.base.dim[dims[k]] = (out.base.dim[dims[k]] + cuts - 1) / cuts;
		within.tiles[dims[k]] = inside[k];
	}
	for (int32_t i = 0; i < c.groups.size; i++)
		ids[i] = i;
	*inner = xla_tiling(a, s->rank, within.tiles, s->replicas, ids);
	nest(&out, scope, &c, a);
	return out;
}

struct xla_scope xla_scope_split(const struct xla_scope *scope, int dim, int32_t major,
                                 struct arena *a)
{
	struct xla_scope out = {.groups = scope->groups, .rank = scope->rank + 1};
	size_t cells = (size_t)scope->groups.ngroups * (size_t)out.rank;
	int32_t *index = arena_alloc(a, cells, sizeof(*index));
	int64_t *origin = arena_alloc(a, cells, sizeof(*origin));

	assert(out.rank <= RANK_MAX);
	out.base.rank = out.rank;
	for (int d = 0; d < out.rank; d++) {
		int from = d <= dim ? d : d - 1;

		out.dim[d] = scope->dim[from];
		out.outer[d] = d == dim + 1 ? 1 : scope->outer[from];
		out.base.dim[d] = scope->base.dim[from];
		out.unit[d] = scope->unit[from];
		for (int32_t g = 0; d != dim + 1 && g < scope->groups.ngroups; g++) {
			index[g * out.rank + d] =
				scope->outer_index[g * scope->rank + from];
			origin[g * out.rank + d] = scope->origin[g * scope->rank + from];
		}
	}
	out.base.dim[dim] = major;
	out.base.dim[dim + 1] = (out.base.dim[dim + 1] + major - 1) / major;
	out.unit[dim] *= out.base.dim[dim + 1];
	out.outer_index = index;
	out.origin = origin;
	return out;
}

/*
 * Returns the array's tiling, where neighbouring dimensions that are parts of one make
 * it up.
 */
static const struct tiling *merged(const struct xla_scope *scope,
                                   const struct tiling *t, int32_t *ids, struct arena *a)
{
	int32_t tiles[RANK_MAX];
	int rank = 0;

	for (int d = 0; d < t->rank; d++) {
		if (d > 0 && scope->dim[d] == scope->dim[d - 1])
			tiles[rank - 1] *= t->tiles[d];
		else
			tiles[rank++] = t->tiles[d];
	}
	return xla_tiling(a, rank, tiles, t->replicas, ids);
}

const struct tiling *xla_scope_tiling(const struct xla_scope *scope,
                                      const struct tiling *inner, struct arena *a)
{
	int32_t n = scope->groups.ngroups * scope->groups.size;
	int32_t *ids = arena_alloc(a, (size_t)n, sizeof(*ids));
	int32_t index[RANK_MAX + 1];
	struct tiling all = *inner;

	all.ndevices = n;
	for (int d = 0; d < inner->rank; d++)
		all.tiles[d] *= scope->outer[d];
	for (int32_t i = 0; i < n; i++) {
		int32_t g = i / inner->ndevices, place = i % inner->ndevices;

		xla_index(inner, place, index);
		for (int d = 0; d < inner->rank; d++)
			index[d] += scope->outer_index[g * inner->rank + d] *
			            inner->tiles[d];
		ids[xla_place(&all, index)] =
			scope->groups.ids[g * inner->ndevices + inner->ids[place]];
	}
	return merged(scope, &all, ids, a);
}

struct shape xla_scope_extent(const struct xla_scope *scope, const struct shape *tile)
{
	struct shape extent = {0};

	/* of a dimension in parts only the minor one has more than one index a tile */
	for (int d = 0; d < scope->rank; d++) {
		extent.rank = scope->dim[d] + 1;
		extent.dim[scope->dim[d]] = tile->dim[d] * scope->unit[d];
	}
	return extent;
}

const int64_t *xla_scope_start(const struct xla_scope *scope, const struct tiling *inner,
                               const struct shape *tile, struct arena *a)
{
	int32_t n = inner->ndevices;
	int rank = xla_scope_extent(scope, tile).rank;
	int64_t *start = arena_alloc(a, (size_t)scope->groups.ngroups * (size_t)n + 1,
	                             (size_t)rank * sizeof(*start) + 1);
	int32_t index[RANK_MAX + 1];

	for (int32_t i = 0; i < scope->groups.ngroups * n; i++) {
		int32_t device = scope->groups.ids[i / n * n + inner->ids[i % n]];
		int64_t *at = start + (int64_t)device * rank;

		xla_index(inner, i % n, index);
		for (int d = 0; d < scope->rank; d++)
			at[scope->dim[d]] += scope->origin[i / n * scope->rank + d] +
			                     index[d] * tile->dim[d] * scope->unit[d];
	}
	return start;
}
