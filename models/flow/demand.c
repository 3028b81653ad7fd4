#include "flow/demand.h"

#include "array/tile.h"
#include "base/list.h"

/* One layout: its tiles per dimension, and which devices have each. */
struct side {
	struct tilemap map;
	int64_t ntiles, tiles[RANK_MAX];
	struct party *party; /* [ntiles] */
};

/* Returns the number of the tile that a device has, -1 for none. */
static int64_t tile_of(const struct side *s, const struct layout *l, int32_t device)
{
	int64_t tile = 0;

	if (!tilemap_has(&s->map, device))
		return -1;
	for (int i = 0; i < l->rank; i++)
		tile = tile * s->tiles[i] + s->map.index[(int64_t)device * l->rank + i];
	return tile;
}

static void side_make(struct side *s, const struct layout *l, const struct mesh *m,
                      const struct shape *shape, struct arena *a)
{
	int32_t *device, *at;

	s->map = tilemap_make(l, m, shape, a);
	s->ntiles = 1;
	for (int i = 0; i < l->rank; i++) {
		s->tiles[i] = layout_shards(l, i);
		s->ntiles *= s->tiles[i];
	}
	s->party = arena_alloc(a, (size_t)s->ntiles, sizeof(*s->party));
	device = arena_alloc(a, (size_t)s->map.ndevices, sizeof(*device));
	at = arena_alloc(a, (size_t)s->ntiles + 2, sizeof(*at));
	for (int32_t d = 0; d < s->map.ndevices; d++)
		if (tile_of(s, l, d) >= 0)
			at[tile_of(s, l, d) + 2]++;
	for (int64_t t = 0; t < s->ntiles; t++)
		at[t + 2] += at[t + 1];
	for (int32_t d = 0; d < s->map.ndevices; d++)
		if (tile_of(s, l, d) >= 0)
			device[at[tile_of(s, l, d) + 1]++] = d;
	for (int64_t t = 0; t < s->ntiles; t++)
		s->party[t] = (struct party){at[t + 1] - at[t], device + at[t]};
}

/* Returns the real elements that tile `i` of one side and `k` of the other share. */
static int64_t shared(const struct side *s, int64_t i, const struct side *t, int64_t k,
                      const struct shape *shape)
{
	int64_t elements = 1;

	for (int dim = shape->rank - 1; dim >= 0 && elements > 0; dim--) {
		int64_t size = s->map.tile.dim[dim], other = t->map.tile.dim[dim];
		int64_t lo = i % s->tiles[dim] * size;
		int64_t from = k % t->tiles[dim] * other;
		int64_t hi = lo + size, to = from + other;

		lo = lo > from ? lo : from;
		hi = hi < to ? hi : to;
		hi = hi < shape->dim[dim] ? hi : shape->dim[dim];
		elements *= hi > lo ? hi - lo : 0;
		i /= s->tiles[dim];
		k /= t->tiles[dim];
	}
	return elements;
}

/* Returns whether all of one party are of the other. */
static bool all_of(const struct party *some, const struct party *others)
{
	int32_t k = 0;

	for (int32_t i = 0; i < some->n; i++) {
		while (k < others->n && others->device[k] < some->device[i])
			k++;
		if (k == others->n || others->device[k] != some->device[i])
			return false;
	}
	return true;
}

/* Returns whether each tile of a side is with no more devices than that. */
static bool has_at_most(const struct side *s, int64_t devices)
{
	for (int64_t t = 0; t < s->ntiles; t++)
		if (s->party[t].n > devices)
			return false;
	return true;
}

bool demand_make(struct demand *out, const struct problem *p, struct arena *a)
{
	const struct shape *shape = &p->array.shape;
	struct side from, to;
	LIST(struct supply) supplies = {0};

	*out = (struct demand){.single = true, .sums = p->from.nunreduced > 0};
	if (p->to.nunreduced)
		return false;
	side_make(&from, &p->from, &p->mesh, shape, a);
	side_make(&to, &p->to, &p->to_mesh, shape, a);
	if (out->sums) {
		struct side turned = from;

		from = to;
		to = turned;
		if (!has_at_most(&from, 1) || !has_at_most(&to, to.map.partials))
			return false;
	}
	out->ndevices = p->ndevices;
	out->supply_of = arena_alloc(a, (size_t)p->ndevices, sizeof(int32_t));
	out->party_of = arena_alloc(a, (size_t)p->ndevices, sizeof(int32_t));
	for (int32_t d = 0; d < p->ndevices; d++)
		out->supply_of[d] = out->party_of[d] = -1;
	for (int64_t s = 0; s < from.ntiles; s++) {
		struct supply supply = {.holders = from.party[s]};
		LIST(struct datum) data = {0};

		for (int64_t t = 0; t < to.ntiles; t++) {
			int64_t elements = shared(&from, s, &to, t, shape);

			if (elements == 0 || all_of(&to.party[t], &from.party[s]))
				continue;
			if (supply.holders.n == 0)
				return false;
			*list_add(&data, a) = (struct datum){
				(int32_t)t, (double)elements * p->array.dtype->bits / 8};
			out->single = out->single && to.party[t].n == 1;
		}
		supply.ndata = data.n;
		supply.datum = data.at;
		out->ndata += data.n;
		if (!data.n)
			continue;
		for (int32_t i = 0; i < supply.holders.n; i++)
			out->supply_of[supply.holders.device[i]] = (int32_t)supplies.n;
		*list_add(&supplies, a) = supply;
	}
	for (int64_t t = 0; t < to.ntiles; t++)
		for (int32_t i = 0; i < to.party[t].n; i++)
			out->party_of[to.party[t].device[i]] = (int32_t)t;
	out->nsupplies = (int32_t)supplies.n;
	out->supply = supplies.at;
	out->party = to.party;
	out->nparties = (int32_t)to.ntiles;
	return true;
}
