#include "planner/send/holders.h"

void sort_bins(int64_t **first, int32_t **number, const int32_t *bin, int64_t n,
               int64_t nbins, struct arena *a)
{
	/* one more than the bins, so that first[b + 1] can be where bin b grows */
	int64_t *at = arena_alloc(a, (size_t)nbins + 2, sizeof(*at));

	*first = at;
	*number = arena_alloc(a, (size_t)n, sizeof(**number));
	for (int64_t i = 0; i < n; i++)
		if (bin[i] >= 0)
			at[bin[i] + 2]++;
	for (int64_t b = 2; b <= nbins; b++)
		at[b] += at[b - 1];
	for (int64_t i = 0; i < n; i++)
		if (bin[i] >= 0)
			(*number)[at[bin[i] + 1]++] = (int32_t)i;
}

struct holders holders_of(const struct tilemap *map, const struct layout *l,
                          struct arena *a)
{
	struct holders out = {.ntiles = 1};

	out.tile = arena_alloc(a, (size_t)map->ndevices, sizeof(*out.tile));
	for (int dim = 0; dim < l->rank; dim++)
		out.ntiles *= layout_shards(l, dim);
	for (int32_t d = 0; d < map->ndevices; d++) {
		int64_t tile = 0;

		for (int dim = 0; dim < l->rank; dim++)
			tile = tile * layout_shards(l, dim) +
			       map->index[(int64_t)d * l->rank + dim];
		out.tile[d] = tilemap_has(map, d) ? (int32_t)tile : -1;
	}
	sort_bins(&out.first, &out.device, out.tile, map->ndevices, out.ntiles, a);
	return out;
}
