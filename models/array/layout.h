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

/* The fully replicated layout of a rank. */
struct layout layout_replicated(int rank);

/* The parts of dimension `dim` (== rank: the unreduced ones); *n is their number. */
const struct part *layout_parts(const struct layout *l, int dim, int *n);

/* Append a part as the minor-most of `dim` (== rank: to the unreduced). False when full. */
bool layout_append(struct layout *l, int dim, struct part part);

/* Number of shards dimension `dim` is cut into. */
int64_t layout_shards(const struct layout *l, int dim);

/* Shape of one device's tile: ceil(global / shards) per dimension. */
struct shape layout_local(const struct layout *l, const struct shape *global);

/* Number of elements in a tile. */
int64_t layout_local_elements(const struct layout *l, const struct shape *global);

/*
 * Drop parts of size 1, merge neighbours that continue each other
 * (same axis, pre * size == next pre). Equal LAYOUT_AXES layouts of one mesh are then
 * equal part by part.
 */
void layout_normalise(struct layout *l);

/*
 * Do both assign every device the same tile (and, unreduced, the same contribution)?
 * Decided on tiles (in tile.c), so it holds across kinds and spellings of the same tile
 * map.
 */
bool layout_same_tiles(const struct layout *a, const struct mesh *ma,
                       const struct layout *b, const struct mesh *mb);

/*
 * Check a LAYOUT_AXES layout: sub-axes divide their axis, no two parts overlap (an axis
 * used twice). False with the offending parts' text in `why`.
 */
bool layout_valid(const struct layout *l, const struct mesh *m, struct text *why);

/*
 * The prime digits of parts, major to minor, the smallest primes first within a part;
 * those of dimension `dim` of a layout (== rank: its unreduced parts). The number.
 */
int parts_digits(struct part *out, const struct part *parts, int n);
int layout_digits(struct part *out, const struct layout *l, int dim);

/*
 * Take the sub-axis `gone` out of a list of *n parts without overlap: what is left of a
 * part stays, on either side. False, the list untouched, where `gone` is not among them,
 * or is no digit of them (`x:(1)4` of `x:(1)6`).
 */
bool parts_take(struct part *list, int *n, struct part gone);

/* "x", or "x:(1)2" for a sub-axis. */
void part_print(struct text *out, const struct mesh *m, struct part p);

/*
 * The tiling of any LAYOUT_AXES or LAYOUT_TILES layout, canonical; the arena's.
 * Unreduced axes count as replicas.
 */
const struct tiling *layout_tiling(const struct layout *l, const struct mesh *m,
                                   struct arena *a);

/* A LAYOUT_TILES layout of a tiling; sorts replicas, in place of a copy, to be canonical. */
struct layout layout_of_tiling(const struct tiling *t, struct arena *a);

/*
 * The LAYOUT_AXES layout on mesh `m` with the same tiles, if sub-axes of `m` can say it.
 * Layouts that are LAYOUT_AXES already are copied.
 */
bool layout_to_axes(struct layout *out, const struct layout *l, const struct mesh *m,
                    struct arena *scratch);

#endif
