/*
 * A layout (sharding) of an array over a mesh: the one type behind all notations.
 *
 * LAYOUT_AXES: per array dimension an ordered list of parts, MAJOR to minor (as JAX and
 * Shardy write them; the paper's own notation is minor to major and its reader
 * reverses). A part is a whole axis or a sub-axis `x:(pre)size`: x of n seen as
 * [pre, size, n / (pre * size)], the middle digit; coordinate
 * (c_x / (n / (pre * size))) mod size, as Shardy has it (models/README.md, "Layouts").
 * Axes that no dimension and no unreduced set lists replicate.
 * LAYOUT_TILES: a device-id tile assignment, where no axes say it (an arbitrary HLO
 * device list, some XLA intermediates). Planners that need axes answer not-applicable.
 * LAYOUT_MAXIMAL: the whole array on one device, nothing elsewhere (HLO `maximal`).
 *
 * A dimension of g elements cut into s shards has tiles of ceil(g / s), as JAX and XLA
 * do; the last ones may be short or empty.
 */
#ifndef SHARDSIM_ARRAY_LAYOUT_H
#define SHARDSIM_ARRAY_LAYOUT_H

#include "array/array.h"
#include "array/mesh.h"

enum { LAYOUT_PARTS_MAX = 64 };

struct part {
	int32_t axis;
	int32_t pre, size; /* a whole axis: pre 1, size that of the axis */
};

/*
 * Devices of a tiling: ids row-major over tiles[0..rank), then over `replicas`, which all
 * hold the same tile. It is canonical where the ids of one tile ascend, as XLA has it.
 */
struct tiling {
	int rank;
	int32_t tiles[RANK_MAX];
	int32_t replicas;
	int32_t ndevices;   /* product of tiles, times replicas */
	const int32_t *ids; /* [ndevices] */
};

enum layout_kind { LAYOUT_AXES, LAYOUT_TILES, LAYOUT_MAXIMAL };

/*
 * Copied with `=`. The parts of dimension i follow those of i - 1 in `part`, the
 * unreduced ones come last; layout_parts() finds them.
 */
struct layout {
	enum layout_kind kind;
	int rank;
	uint8_t nparts[RANK_MAX];
	uint8_t nunreduced;
	struct part part[LAYOUT_PARTS_MAX];
	const struct tiling *tiling; /* LAYOUT_TILES */
	int32_t maximal_device;      /* LAYOUT_MAXIMAL */
};

/* Returns the fully replicated layout of a rank. */
struct layout layout_replicated(int rank);

/*
 * Returns the parts of dimension `dim` (== rank: the unreduced ones); *n is their
 * number.
 */
const struct part *layout_parts(const struct layout *l, int dim, int *n);

/*
 * Appends a part as the minor-most of `dim` (== rank: to the unreduced). Returns false
 * when it is full.
 */
bool layout_append(struct layout *l, int dim, struct part part);

/* Returns the number of shards dimension `dim` is cut into. */
int64_t layout_shards(const struct layout *l, int dim);

/* Returns whether all tiles of an array of this shape are equal. */
bool layout_divides(const struct layout *l, const struct shape *shape);

/* Returns the shape of one device's tile: ceil(global / shards) per dimension. */
struct shape layout_local(const struct layout *l, const struct shape *global);

/* Returns the number of elements in a tile. */
int64_t layout_local_elements(const struct layout *l, const struct shape *global);

/*
 * Drops parts of size 1 and merges neighbours that continue each other (of one axis,
 * where pre * size is the next pre). Equal LAYOUT_AXES layouts of one mesh are then
 * equal part by part.
 */
void layout_normalise(struct layout *l);

/*
 * Returns whether both assign every device the same tile (and, unreduced, the same
 * contribution). It is decided on tiles (in tile.c), so it holds across kinds and
 * spellings of the same tile map.
 */
bool layout_same_tiles(const struct layout *a, const struct mesh *ma,
                       const struct layout *b, const struct mesh *mb);

/*
 * Checks of a LAYOUT_AXES layout that sub-axes divide their axis and no two parts
 * overlap (an axis used twice). Returns false with the offending parts' text in `why`.
 */
bool layout_valid(const struct layout *l, const struct mesh *m, struct text *why);

/*
 * Finds the prime digits of parts, major to minor, the smallest primes first within a
 * part; of dimension `dim` of a layout, or of its unreduced parts (dim == rank). Stores
 * them in `out` and returns their number.
 */
int parts_digits(struct part *out, const struct part *parts, int n);
int layout_digits(struct part *out, const struct layout *l, int dim);

/*
 * Takes the sub-axis `gone` out of a list of *n parts without overlap: what is left of
 * a part stays, on either side. Returns false, with the list untouched, where `gone` is
 * not among them, or is no digit of them (`x:(1)4` of `x:(1)6`).
 */
bool parts_take(struct part *list, int *n, struct part gone);

/* Prints "x", or "x:(1)2" for a sub-axis. */
void part_print(struct text *out, const struct mesh *m, struct part p);

/*
 * Returns the tiling of any LAYOUT_AXES or LAYOUT_TILES layout, canonical; the arena's.
 * Unreduced axes count as replicas.
 */
const struct tiling *layout_tiling(const struct layout *l, const struct mesh *m,
                                   struct arena *a);

/*
 * Returns a LAYOUT_TILES layout of a tiling; sorts replicas, in place of a copy, to be
 * canonical.
 */
struct layout layout_of_tiling(const struct tiling *t, struct arena *a);

/*
 * Finds the LAYOUT_AXES layout on mesh `m` with the same tiles, if sub-axes of `m` can
 * say it. Layouts that are LAYOUT_AXES already are copied.
 */
bool layout_to_axes(struct layout *out, const struct layout *l, const struct mesh *m,
                    struct arena *scratch);

#endif
