/*
 * The tiles of a layout as the cells of a grid, and which cells of two grids meet. Private
 * to models/bound/.
 */
#ifndef SHARDSIM_BOUND_GRID_H
#define SHARDSIM_BOUND_GRID_H

#include "array/tile.h"

/* Who holds which cell of one layout. */
struct grid {
	struct tilemap map;
	const struct shape *shape;
	int rank;
	int32_t ncells, shards[RANK_MAX];
	const int32_t *cell;    /* [ndevices] the device's, -1 without one */
	const int32_t *index;   /* [ncells * rank] of a cell, per dimension */
	const int64_t *size;    /* [ncells] real elements */
	const int32_t *holders; /* [ncells * partials] devices that hold it */
};

/* Makes the grid of a layout in the arena; the shape is borrowed. */
void grid_make(struct grid *g, const struct layout *l, const struct mesh *m,
               const struct shape *shape, struct arena *a);

/* Returns the real elements that a cell of `g` and one of `h` have in common. */
int64_t grid_common(const struct grid *g, int32_t cell, const struct grid *h,
                    int32_t other);

/* Tiles first..last of a dimension that meet a tile of the other grid; none: last < first. */
struct overlap {
	int32_t first, last;
	const int64_t *elements; /* what each shares with that tile */
};

/* Returns, for every tile of `g` in a dimension, the tiles of `h` that it meets. */
struct overlap *grid_overlaps(const struct grid *g, const struct grid *h, int dim,
                              struct arena *a);

/* A cell of the other grid that a cell meets, and what they have in common. */
struct meeting {
	int32_t cell;
	int64_t elements;
};

/* Cell c meets meeting[first[c]..first[c + 1]). */
struct meetings {
	int64_t *first; /* NULL: not listed */
	struct meeting *meeting;
};

/*
 * Returns the number of pairs of cells of `g` and another grid that meet, given the
 * overlaps of each dimension; some number above `most` where there are more than that.
 */
int64_t grid_pairs(const struct grid *g, struct overlap *const *overlap, int64_t most);

/* Lists what every cell of `g` meets in `h`: `pairs` of them in all. */
struct meetings grid_meetings(const struct grid *g, const struct grid *h,
                              struct overlap *const *overlap, int64_t pairs,
                              struct arena *a);

#endif
