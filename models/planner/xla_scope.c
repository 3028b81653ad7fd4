#include "planner/xla.h"

#include <assert.h>

struct xla_scope xla_scope_top(const struct shape *shape, int32_t ndevices,
                               struct arena *a)
{
	struct xla_scope scope = {.rank = shape->rank, .base = *shape};

	for (int d = 0; d < shape->rank; d++)
		scope.outer[d] = 1;
	scope.outer_index =
		arena_alloc(a, (size_t)shape->rank + 1, sizeof(*scope.outer_index));
	scope.groups.ngroups = 1;
	scope.groups.size = ndevices;
	scope.groups.ids = xla_tiling_replicated(a, shape->rank, ndevices)->ids;
	return scope;
}

/* Groups inside one group of a scope, and the tile of each: [ngroups * rank]. */
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

/* The groups of a cut in every group of `scope`. */
static struct xla_scope nest(const struct xla_scope *scope, const struct cut *c,
                             struct xla_scope out, struct arena *a)
{
	int32_t n = c->groups.ngroups, size = c->groups.size;
	int32_t *ids = arena_alloc(a, (size_t)scope->groups.ngroups * (size_t)n,
	                           (size_t)size * sizeof(*ids));
	int32_t *index = arena_alloc(a, (size_t)scope->groups.ngroups * (size_t)n + 1,
	                             (size_t)scope->rank * sizeof(*index) + 1);

	for (int32_t i = 0; i < scope->groups.ngroups * n; i++) {
		const int32_t *members =
			scope->groups.ids + i / n * (int64_t)scope->groups.size;

		for (int32_t k = 0; k < size; k++)
			ids[i * size + k] = members[c->groups.ids[i % n * size + k]];
		for (int d = 0; d < scope->rank; d++) {
			int32_t cuts = out.outer[d] / scope->outer[d];

			index[i * scope->rank + d] =
				scope->outer_index[i / n * scope->rank + d] * cuts +
				c->index[i % n * scope->rank + d];
		}
	}
	out.groups.ngroups = scope->groups.ngroups * n;
	out.groups.size = size;
	out.groups.ids = ids;
	out.outer_index = index;
	return out;
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

		assert(out.base.dim[dims[k]] % cuts == 0);
		out.outer[dims[k]] *= cuts;
		out.base.dim[dims[k]] /= cuts;
		within.tiles[dims[k]] = inside[k];
	}
	for (int32_t i = 0; i < c.groups.size; i++)
		ids[i] = i;
	*inner = xla_tiling(a, s->rank, within.tiles, s->replicas, ids);
	return nest(scope, &c, out, a);
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
	return xla_tiling(a, inner->rank, all.tiles, inner->replicas, ids);
}
