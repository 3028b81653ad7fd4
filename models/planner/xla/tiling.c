#include "base/assert.h"
#include "base/list.h"
#include "planner/xla/xla.h"

#include <stdlib.h>
#include <string.h>

bool xla_replicated(const struct tiling *t)
{
	return t->replicas == t->ndevices;
}

bool xla_partial(const struct tiling *t)
{
	return t->replicas > 1 && t->replicas < t->ndevices;
}

bool xla_same_dims(const struct tiling *a, const struct tiling *b)
{
	return a->rank == b->rank && a->replicas == b->replicas &&
	       memcmp(a->tiles, b->tiles, (size_t)a->rank * sizeof(a->tiles[0])) == 0;
}

bool xla_equal(const struct tiling *a, const struct tiling *b)
{
	return xla_same_dims(a, b) && a->ndevices == b->ndevices &&
	       memcmp(a->ids, b->ids, (size_t)a->ndevices * sizeof(a->ids[0])) == 0;
}

void xla_index(const struct tiling *t, int32_t place, int32_t index[RANK_MAX + 1])
{
	index[t->rank] = place % t->replicas;
	place /= t->replicas;
	for (int d = t->rank - 1; d >= 0; d--) {
		index[d] = place % t->tiles[d];
		place /= t->tiles[d];
	}
}

int32_t xla_place(const struct tiling *t, const int32_t index[RANK_MAX + 1])
{
	int32_t place = 0;

	for (int d = 0; d < t->rank; d++)
		place = place * t->tiles[d] + index[d];
	return place * t->replicas + index[t->rank];
}

const int32_t *xla_places(const struct tiling *t, struct arena *a)
{
	int32_t *places = arena_alloc(a, (size_t)t->ndevices, sizeof(*places));

	for (int32_t place = 0; place < t->ndevices; place++)
		places[t->ids[place]] = place;
	return places;
}

const struct tiling *xla_tiling(struct arena *a, int rank, const int32_t *tiles,
                                int32_t replicas, int32_t *ids)
{
	struct tiling *t = arena_alloc(a, 1, sizeof(*t));

	t->rank = rank;
	t->replicas = replicas;
	t->ndevices = replicas;
	for (int d = 0; d < rank; d++) {
		t->tiles[d] = tiles[d];
		t->ndevices *= tiles[d];
	}
	for (int32_t i = 0; replicas > 1 && i < t->ndevices; i += replicas)
		qsort(ids + i, (size_t)replicas, sizeof(*ids), compare_int32);
	t->ids = ids;
	return t;
}

const struct tiling *xla_tiling_replicated(struct arena *a, int rank, int32_t ndevices)
{
	int32_t tiles[RANK_MAX];
	int32_t *ids = arena_alloc(a, (size_t)ndevices, sizeof(*ids));

	for (int d = 0; d < rank; d++)
		tiles[d] = 1;
	for (int32_t i = 0; i < ndevices; i++)
		ids[i] = i;
	return xla_tiling(a, rank, tiles, ndevices, ids);
}

struct groups xla_groups_by(const struct tiling *t, const int32_t inside[RANK_MAX + 1],
                            struct arena *a)
{
	struct groups g = {.size = 1};
	int32_t index[RANK_MAX + 1];
	int32_t *ids = arena_alloc(a, (size_t)t->ndevices, sizeof(*ids));
	int32_t *filled;

	for (int d = 0; d <= t->rank; d++)
		g.size *= inside[d];
	g.ngroups = t->ndevices / g.size;
	filled = arena_alloc(a, (size_t)g.ngroups, sizeof(*filled));
	for (int32_t place = 0; place < t->ndevices; place++) {
		int32_t key = 0;

		xla_index(t, place, index);
		for (int d = 0; d <= t->rank; d++) {
			int32_t count = d < t->rank ? t->tiles[d] : t->replicas;

			assert(count % inside[d] == 0);
			key = key * (count / inside[d]) + index[d] / inside[d];
		}
		ids[key * g.size + filled[key]++] = t->ids[place];
	}
	g.ids = ids;
	return g;
}

/*
 * The dimensions whose count changes, in XLA's order of lists: one list for each
 * present count.
 */
struct pending {
	int n;
	int dim[RANK_MAX];
	int32_t count[RANK_MAX];
};

static void pending_remove(struct pending *p, int k)
{
	for (p->n--; k < p->n; k++) {
		p->dim[k] = p->dim[k + 1];
		p->count[k] = p->count[k + 1];
	}
}

/* Returns the last entry of the smallest count. */
static int pending_smallest(const struct pending *p)
{
	int best = 0;

	for (int k = 1; k < p->n; k++)
		if (p->count[k] <= p->count[best])
			best = k;
	return best;
}

/*
 * Returns the entry of count w that gives its tiles to one of count z: the first that
 * ends with what it would be left with (or, for z = 1, that still has to change), else
 * the last of count w.
 */
static int pending_giver(const struct pending *p, const struct tiling *t, int32_t z,
                         int32_t w)
{
	int last = -1;

	for (int k = 0; k < p->n; k++) {
		int32_t wanted = t->tiles[p->dim[k]];

		if (p->count[k] != w)
			continue;
		if (z == 1 ? wanted != 1 : wanted == z)
			return k;
		last = k;
	}
	assert(last >= 0);
	return last;
}

/* Returns whether the tile counts of both are the same up to their order. */
static bool counts_permuted(const struct tiling *s, const struct tiling *t)
{
	for (int i = 0; i < s->rank; i++) {
		int balance = 0;

		for (int k = 0; k < s->rank; k++)
			balance += (s->tiles[k] == s->tiles[i]) -
			           (t->tiles[k] == s->tiles[i]);
		if (balance != 0)
			return false;
	}
	return true;
}

int xla_swaps(struct xla_swap swaps[RANK_MAX], const struct tiling *s,
              const struct tiling *t)
{
	struct pending p = {0};
	int n = 0;

	if (s->rank != t->rank || s->replicas != t->replicas || !counts_permuted(s, t))
		return 0;
	for (int d = 0; d < s->rank; d++) {
		if (s->tiles[d] == t->tiles[d])
			continue;
		p.dim[p.n] = d;
		p.count[p.n++] = s->tiles[d];
	}
	while (p.n > 0) {
		int k = pending_smallest(&p), giver;
		int32_t z = p.count[k], w = t->tiles[p.dim[k]];

		if (w == z) {
			pending_remove(&p, k);
			continue;
		}
		if (w % z != 0)
			return 0;
		giver = pending_giver(&p, t, z, w);
		swaps[n++] = (struct xla_swap){.from = p.dim[giver], .to = p.dim[k]};
		p.dim[k] = p.dim[giver];
		pending_remove(&p, giver);
	}
	return n;
}

const struct tiling *xla_swapped(const struct tiling *s, struct xla_swap swap,
                                 struct arena *a)
{
	int32_t factor = s->tiles[swap.from] / s->tiles[swap.to];
	int32_t index[RANK_MAX + 1];
	int32_t *ids = arena_alloc(a, (size_t)s->ndevices, sizeof(*ids));
	struct tiling after = *s;

	after.tiles[swap.from] = s->tiles[swap.to];
	after.tiles[swap.to] = s->tiles[swap.from];
	for (int32_t place = 0; place < s->ndevices; place++) {
		int32_t given;

		xla_index(s, place, index);
		given = index[swap.from] % factor;
		index[swap.from] /= factor;
		index[swap.to] = index[swap.to] * factor + given;
		ids[xla_place(&after, index)] = s->ids[place];
	}
	return xla_tiling(a, s->rank, after.tiles, s->replicas, ids);
}

const struct tiling *xla_without(const struct tiling *s, int dim, struct arena *a)
{
	int32_t *ids = arena_alloc(a, (size_t)s->ndevices, sizeof(*ids));
	int32_t index[RANK_MAX + 1];
	struct tiling after = *s;

	after.tiles[dim] = 1;
	after.replicas = s->replicas * s->tiles[dim];
	for (int32_t place = 0; place < s->ndevices; place++) {
		xla_index(s, place, index);
		index[s->rank] += index[dim] * s->replicas;
		index[dim] = 0;
		ids[xla_place(&after, index)] = s->ids[place];
	}
	return xla_tiling(a, s->rank, after.tiles, after.replicas, ids);
}

/* Returns whether every device's tile of `fine` lies in its tile of `coarse`. */
static bool nests(const struct tiling *coarse, const struct tiling *fine,
                  struct arena *a)
{
	const int32_t *places = xla_places(coarse, a);
	int32_t outer[RANK_MAX + 1], inner[RANK_MAX + 1];

	for (int32_t place = 0; place < fine->ndevices; place++) {
		xla_index(fine, place, inner);
		xla_index(coarse, places[fine->ids[place]], outer);
		for (int d = 0; d < fine->rank; d++)
			if (inner[d] / (fine->tiles[d] / coarse->tiles[d]) != outer[d])
				return false;
	}
	return true;
}

const struct tiling *xla_compatible(const struct tiling *coarse,
                                    const struct tiling *fine, struct arena *a)
{
	int32_t index[RANK_MAX + 1];
	int32_t *ids;

	if (!xla_partial(coarse) || coarse->rank != fine->rank ||
	    coarse->ndevices != fine->ndevices)
		return NULL;
	for (int d = 0; d < coarse->rank; d++)
		if (fine->tiles[d] % coarse->tiles[d] != 0)
			return NULL;
	if (nests(coarse, fine, a))
		return fine;
	ids = arena_alloc(a, (size_t)coarse->ndevices, sizeof(*ids));
	for (int32_t place = 0; place < coarse->ndevices; place++) {
		int32_t rest;

		/*
		 * The digits of the replica number become, from the minor one on, the
		 * new replica number and the minor tiles of the last dimension to the
		 * first.
		 */
		xla_index(coarse, place, index);
		rest = index[coarse->rank];
		index[coarse->rank] = rest % fine->replicas;
		rest /= fine->replicas;
		for (int d = coarse->rank - 1; d >= 0; d--) {
			int32_t finer = fine->tiles[d] / coarse->tiles[d];

			index[d] = index[d] * finer + rest % finer;
			rest /= finer;
		}
		ids[xla_place(fine, index)] = coarse->ids[place];
	}
	return xla_tiling(a, fine->rank, fine->tiles, fine->replicas, ids);
}

const struct tiling *xla_shifted(const struct tiling *partial,
                                 const struct tiling *tiled, struct arena *a)
{
	int32_t tiles[RANK_MAX];
	int last = tiled->rank - 1;
	size_t bytes = (size_t)tiled->ndevices * sizeof(tiled->ids[0]);

	if (!xla_partial(partial) || tiled->replicas != 1 ||
	    partial->rank != tiled->rank || partial->tiles[0] != 1 ||
	    partial->replicas != tiled->tiles[last])
		return NULL;
	for (int d = 0; d < last; d++)
		if (tiled->tiles[d] != partial->tiles[d + 1])
			return NULL;
	if (memcmp(partial->ids, tiled->ids, bytes) != 0)
		return NULL;
	memcpy(tiles, tiled->tiles, sizeof(tiles));
	tiles[last] = 1;
	return xla_tiling(a, tiled->rank, tiles, partial->replicas,
	                  arena_dup(a, tiled->ids, 1, bytes));
}
