/*
 * Who holds what: the truth that plans are checked against. It is the base-offset map of
 * arXiv 2112.01075, also of uneven dimensions (models/README.md, "Layouts").
 */
#ifndef SHARDSIM_ARRAY_TILE_H
#define SHARDSIM_ARRAY_TILE_H

#include "array/layout.h"

/*
 * Tile number of every device in every dimension: device d holds, in dimension i,
 * [index[d * rank + i] * tile.dim[i], + tile.dim[i]) cut off at the global size.
 * index -1: the device holds nothing (LAYOUT_MAXIMAL, or not in the mesh).
 * An unreduced array is the sum of `partials` contributions: what device d holds is
 * number partial[d] of them, by the mixed radix of the unreduced parts in mesh order.
 */
struct tilemap {
	int32_t ndevices; /* mesh_nids */
	struct shape tile;
	const int32_t *index;   /* [ndevices * rank]; of a scalar [ndevices], 0 or -1 */
	int32_t partials;       /* 1 unless unreduced */
	const int32_t *partial; /* [ndevices] */
};

struct tilemap tilemap_make(const struct layout *l, const struct mesh *m,
                            const struct shape *global, struct arena *a);

/* Returns whether device d holds a tile at all. */
bool tilemap_has(const struct tilemap *t, int32_t d);

/* Finds the interval of device d in dimension i, which is empty if *lo >= *hi. */
void tilemap_interval(const struct tilemap *t, const struct shape *global, int32_t d,
                      int i, int64_t *lo, int64_t *hi);

/* Returns the real elements (padding excluded) that device d holds. */
int64_t tilemap_elements(const struct tilemap *t, const struct shape *global, int32_t d);

/* Returns the real elements that device d holds in both maps. */
int64_t tilemap_common(const struct tilemap *a, const struct tilemap *b,
                       const struct shape *global, int32_t d);

#endif
