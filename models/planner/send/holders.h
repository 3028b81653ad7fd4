/* The devices that hold each tile of a layout. */
#ifndef SHARDSIM_PLANNER_SEND_HOLDERS_H
#define SHARDSIM_PLANNER_SEND_HOLDERS_H

#include "array/tile.h"

/* Tiles are numbered by their place, the last dimension fastest. */
struct holders {
	int64_t ntiles;
	int32_t *tile;  /* [devices]: the tile that each has; -1: none */
	int64_t *first; /* [ntiles + 1]: tile t is on device[first[t]..first[t + 1]) */
	int32_t *device;
};

/* Returns the holders of all tiles of a layout, of which `map` is made; all is the arena's. */
struct holders holders_of(const struct tilemap *map, const struct layout *l,
                          struct arena *a);

/*
 * Sorts the numbers 0 to n - 1 by their bins, each below `nbins`; -1: in none. Those of
 * bin b are number[first[b]..first[b + 1]), ascending.
 */
void sort_bins(int64_t **first, int32_t **number, const int32_t *bin, int64_t n,
               int64_t nbins, struct arena *a);

#endif
