/*
 * Rules 7 and 8, which today's partitioner tries before full rematerialization: go
 * through another sharding, or leave alone the dimensions that do not change.
 */
#include "base/assert.h"
#include "planner/xla/xla.h"

#include <string.h>

/*
 * How a dimension changes its tile count: in a way that cannot be split, from or to one
 * tile, or between two counts of which one divides the other.
 */
enum change { CHANGE_NONE, CHANGE_ONE, CHANGE_SPLIT };

static enum change change_of(const struct xla *xla, const struct tiling *s,
                             const struct tiling *t, int d)
{
	int32_t lo = s->tiles[d], hi = t->tiles[d];
	int64_t padded;

	if (lo == hi)
		return CHANGE_NONE;
	if (lo > hi) {
		hi = s->tiles[d];
		lo = t->tiles[d];
	}
	if (lo == 1)
		return CHANGE_ONE;
	padded = (xla->scope.base.dim[d] + lo - 1) / lo * lo;
	return hi % lo == 0 && padded % hi == 0 ? CHANGE_SPLIT : CHANGE_NONE;
}

/*
 * Returns the dimension to split in two (PatternMatchMergeOrSplitSharding), or -1: one
 * whose tiles go to or come from a dimension of one tile, else the first that loses
 * tiles.
 */
static int split_dim(const struct xla *xla, const struct tiling *s,
                     const struct tiling *t)
{
	if (s->replicas != t->replicas || s->rank == RANK_MAX)
		return -1;
	for (int i = 0; i < s->rank; i++)
		for (int j = 0; change_of(xla, s, t, i) == CHANGE_SPLIT && j < s->rank;
		     j++)
			if (change_of(xla, s, t, j) == CHANGE_ONE &&
			    (int64_t)s->tiles[i] * s->tiles[j] ==
			            (int64_t)t->tiles[i] * t->tiles[j])
				return i;
	for (int i = 0; i < s->rank; i++)
		if (change_of(xla, s, t, i) == CHANGE_SPLIT && s->tiles[i] > t->tiles[i])
			return i;
	return -1;
}

/* Returns the tiling with dimension d as one of `major` tiles and one of the others. */
static const struct tiling *split_dims(const struct tiling *s, int d, int32_t major,
                                       struct arena *a)
{
	struct tiling *out = arena_dup(a, s, 1, sizeof(*s));

	out->rank++;
	memmove(out->tiles + d + 1, s->tiles + d,
	        (size_t)(s->rank - d) * sizeof(s->tiles[0]));
	out->tiles[d] = major;
	out->tiles[d + 1] = s->tiles[d] / major;
	return out;
}

static bool reshard_split(struct xla *xla, const struct tiling *s,
                          const struct tiling *t, int d)
{
	struct xla_scope scope = xla->scope;
	int32_t major = s->tiles[d] < t->tiles[d] ? s->tiles[d] : t->tiles[d];
	bool done;

	xla->scope = xla_scope_split(&scope, d, major, xla->arena);
	done = xla_reshard_sparing(xla, split_dims(s, d, major, xla->arena),
	                           split_dims(t, d, major, xla->arena));
	xla->scope = scope;
	return done;
}

/*
 * Returns `s` with the dimension replicated that gives the target's number of replicas.
 */
static const struct tiling *replicated_first(const struct tiling *s,
                                             const struct tiling *t, struct arena *a)
{
	if (!xla_partial(t))
		return NULL;
	for (int d = 0; d < s->rank; d++)
		if (s->tiles[d] != 1 && s->tiles[d] * s->replicas == t->replicas)
			return xla_without(s, d, a);
	return NULL;
}

/*
 * Returns `s` with its replicas cut up in the first dimension that has room for them in
 * `t`.
 */
static const struct tiling *cut_first(const struct tiling *s, const struct tiling *t,
                                      struct arena *a)
{
	int32_t index[RANK_MAX + 1], *ids;
	struct tiling out = *s;
	int d = 0;

	if (!xla_partial(s) || t->replicas != 1)
		return NULL;
	while (d < s->rank &&
	       (s->tiles[d] != 1 || t->tiles[d] == 1 || t->tiles[d] % s->replicas != 0))
		d++;
	if (d == s->rank)
		return NULL;
	out.tiles[d] = s->replicas;
	out.replicas = 1;
	ids = arena_alloc(a, (size_t)s->ndevices, sizeof(*ids));
	for (int32_t place = 0; place < s->ndevices; place++) {
		xla_index(s, place, index);
		index[d] = index[s->rank];
		index[s->rank] = 0;
		ids[xla_place(&out, index)] = s->ids[place];
	}
	return xla_tiling(a, s->rank, out.tiles, 1, ids);
}

/* Tries the first pattern that matches, and no other (TryComplexReshardHandling). */
static bool complex_reshard(struct xla *xla, const struct tiling *s,
                            const struct tiling *t)
{
	const struct tiling *middle;
	int d, nops = xla->nops;

	if (xla_replicated(s) || xla_replicated(t))
		return false;
	d = split_dim(xla, s, t);
	if (d >= 0)
		return reshard_split(xla, s, t, d);
	middle = replicated_first(s, t, xla->arena);
	if (!middle)
		middle = cut_first(s, t, xla->arena);
	if (!middle)
		return false;
	if (xla_reshard(xla, s, middle) && xla_reshard_sparing(xla, middle, t))
		return true;
	xla->nops = nops;
	return false;
}

/*
 * Returns inner numbers of the target that mean, in the source's groups, the devices
 * they mean in its own, or `inner` as it is where the groups differ (AlignGroupsWith).
 */
static const struct tiling *aligned(const struct tiling *inner, const struct groups *to,
                                    const struct groups *from, struct arena *a)
{
	int32_t n = from->size, all = from->ngroups * n;
	int32_t *group = arena_alloc(a, (size_t)all, sizeof(*group));
	int32_t *place = arena_alloc(a, (size_t)all, sizeof(*place));
	int32_t *ids = arena_alloc(a, (size_t)n, sizeof(*ids));

	for (int32_t i = 0; i < all; i++) {
		group[from->ids[i]] = i / n;
		place[from->ids[i]] = i % n;
	}
	for (int32_t i = 0; i < all; i++)
		if (group[to->ids[i]] != i / n)
			return inner;
	for (int32_t i = 0; i < n; i++)
		ids[i] = place[to->ids[inner->ids[i]]];
	return xla_tiling(a, inner->rank, inner->tiles, inner->replicas, ids);
}

/*
 * Reshards inside groups of the dimensions whose counts are equal, then puts the tiles
 * in order.
 */
static bool group_equal(struct xla *xla, const struct tiling *s, const struct tiling *t)
{
	const struct xla_scope scope = xla->scope;
	struct xla_scope local, from, to;
	const struct tiling *inner, *target, *after;
	int dims[RANK_MAX], n = 0;
	int32_t inside[RANK_MAX];

	if (xla_replicated(s) || xla_replicated(t))
		return false;
	for (int d = 0; d < s->rank; d++)
		if (s->tiles[d] == t->tiles[d] && s->tiles[d] > 1) {
			dims[n] = d;
			inside[n++] = 1;
		}
	if (n == 0)
		return false;
	local = xla_scope_top(&scope.base, s->ndevices, xla->arena);
	from = xla_scope_group(&inner, &local, s, dims, inside, n, xla->arena);
	to = xla_scope_group(&target, &local, t, dims, inside, n, xla->arena);
	target = aligned(target, &to.groups, &from.groups, xla->arena);
	xla->scope = xla_scope_group(&inner, &scope, s, dims, inside, n, xla->arena);
	xla_reshard(xla, inner, target);
	xla->scope = scope;
	after = xla_scope_tiling(&from, target, xla->arena);
	return xla_reshard(xla, after, t);
}

const struct xla_rule xla_rule_complex = {
	"7", "through another sharding", "applies",
	"no way through a split or replicated dimension avoids rematerialization",
	complex_reshard};

const struct xla_rule xla_rule_group = {
	"8", "inside groups of the dimensions that keep their tiles", "applies",
	"no dimension has the same tiles on both sides", group_equal};
