/*
 * Who holds what: the truth that plans are checked against (spec redistribution.md 2,
 * base-offset map; design 3 for uneven dimensions).
 */
#ifndef SHARDSIM_ARRAY_TILE_H
#define SHARDSIM_ARRAY_TILE_H

#include "array/layout.h"

/*
 * Tile number of every device in every dimension: device d holds, in dimension i,
 * [index[d * rank + i] * tile.dim[i], + tile.dim[i]) cut off at the global size.
 * index -1: the device holds nothing (LAYOUT_MAXIMAL).
 */
struct tilemap {
	int32_t ndevices;
	struct shape tile;
	const int32_t *index; /* [ndevices * rank] */
};

struct tilemap tilemap_make(const struct layout *l, const struct mesh *m,
                            const struct shape *global, struct arena *a);

/* The interval of device d in dimension i; empty if *lo >= *hi. */
void tilemap_interval(const struct tilemap *t, const struct shape *global, int32_t d,
                      int i, int64_t *lo, int64_t *hi);

/* Real elements (padding excluded) that device d holds. */
int64_t tilemap_elements(const struct tilemap *t, const struct shape *global, int32_t d);

/* Real elements that device d holds in both maps. */
int64_t tilemap_common(const struct tilemap *a, const struct tilemap *b,
                       const struct shape *global, int32_t d);

#endif
