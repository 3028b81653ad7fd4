/*
 * XLA's SPMD partitioner: how it turns one sharding into another, in 2021 and today.
 *
 * The rules run on tile assignments (struct tiling, array/layout.h) and write a
 * program, a straight line of collectives and slices over device numbers; only a
 * finished program becomes a plan. A rule that fails takes back what it wrote, as XLA's
 * dead code elimination would. Nothing is weighed: the first rule that applies wins.
 *
 * A tiling is replicated if it has one tile, tiled if it has one replica, else partial
 * (XLA's last_tile_dim_replicate). Names follow XLA's source, xla/service/spmd/
 * spmd_partitioner*: that of 2021-11-30, commit
 * a6336f56443064e874da564605b3dbcbfc15e91b, and that of 2026-08-22, commit
 * e5d008bb03d9b133b0881daf3d108adea8e6625b.
 *
 * A dimension of n elements in t tiles has tiles of ceil(n / t), the last ones cut off
 * or empty. Where two counts do not pad it to the same extent, steps send parts of
 * tiles (halos), and rows are cut off or padded locally in between: xla_op.part and
 * .window.
 */
#ifndef SHARDSIM_PLANNER_XLA_XLA_H
#define SHARDSIM_PLANNER_XLA_XLA_H

#include "planner/planner.h"

extern const struct planner planner_xla_2021;
extern const struct planner planner_xla;

/*
 * Prints which rules XLA tries for a problem, one line each: what keeps a rule from
 * applying, which one does, and inside that what it resorts to; then the steps, each
 * with the rule that wrote it. `today` tells `xla` from `xla-2021`.
 */
void xla_explain(struct text *out, const struct problem *p, bool today);

/* --- Rules on tilings, pure --- */

bool xla_replicated(const struct tiling *t);
bool xla_partial(const struct tiling *t);

/*
 * Return whether two have the same tile counts and replicas, and whether also the same
 * devices.
 */
bool xla_same_dims(const struct tiling *a, const struct tiling *b);
bool xla_equal(const struct tiling *a, const struct tiling *b);

/* Finds the tile index of a place of t->ids: [rank], then the replica number. */
void xla_index(const struct tiling *t, int32_t place, int32_t index[RANK_MAX + 1]);
int32_t xla_place(const struct tiling *t, const int32_t index[RANK_MAX + 1]);

/* Returns the place of every device in t->ids, [ndevices], in the arena. */
const int32_t *xla_places(const struct tiling *t, struct arena *a);

/*
 * Returns a canonical tiling with these dimensions whose device at a place is
 * ids[place], and sorts the replicas of every tile. Takes `ids`, which must be the
 * arena's.
 */
const struct tiling *xla_tiling(struct arena *a, int rank, const int32_t *tiles,
                                int32_t replicas, int32_t *ids);
const struct tiling *xla_tiling_replicated(struct arena *a, int rank, int32_t ndevices);

/*
 * Returns the groups of the devices whose tile indices, that of dimension d divided by
 * inside[d], agree (d == rank: replicas): groups in row-major order of these, members
 * in row-major order of their index. inside[d] must divide the count of dimension d.
 */
struct groups xla_groups_by(const struct tiling *t, const int32_t inside[RANK_MAX + 1],
                            struct arena *a);

/* One step of an all-to-all: dimension `from` gives its minor tiles to `to`. */
struct xla_swap {
	int from, to;
};

/*
 * Finds the swaps that make the tile counts of `s` those of `t`, a permutation of them.
 * Returns their number, or 0 where XLA finds none (GetReshardAllToAllSourceTargetDims).
 * Two counts above 1 swap only if the smaller divides the larger.
 */
int xla_swaps(struct xla_swap swaps[RANK_MAX], const struct tiling *s,
              const struct tiling *t);

/*
 * Returns the tiling after one swap: count(to) takes the factor count(from) /
 * count(to).
 */
const struct tiling *xla_swapped(const struct tiling *s, struct xla_swap swap,
                                 struct arena *a);

/* Returns the tiling with dimension `dim` replicated. */
const struct tiling *xla_without(const struct tiling *s, int dim, struct arena *a);

/*
 * Returns a tiling with the tile counts of `fine` each of whose tiles lies, on every
 * device, inside that device's tile of `coarse`: `fine` itself if it does so already,
 * else one made by cutting up the replicas of `coarse`
 * (PartialReplicateReshardCompatibleSharding). NULL if `coarse` is not partial or a
 * count of `fine` is no multiple of that of `coarse`.
 */
const struct tiling *xla_compatible(const struct tiling *coarse,
                                    const struct tiling *fine, struct arena *a);

/*
 * Where `partial` is `tiled` with all tile counts moved one dimension to the right and
 * the last one, of dimension k, turned into replication, returns `tiled` with dimension
 * k replicated, through which XLA goes with an all-to-all. Else returns NULL.
 */
const struct tiling *xla_shifted(const struct tiling *partial,
                                 const struct tiling *tiled, struct arena *a);

/* --- Device groups --- */

/*
 * Steps run inside groups of devices that work alike; shardings inside use the numbers
 * 0..size-1 of members. Group g holds tile outer_index[g * rank + d] of outer[d] in
 * each dimension, and inside it the array is `base`. At the top: one group, one tile.
 * A dimension may stand for one of the array, or for the major or minor part of one.
 */
struct xla_scope {
	struct groups groups;
	int rank;
	int dim[RANK_MAX]; /* of the array: parts of one stand together, major first */
	int32_t outer[RANK_MAX];
	const int32_t *outer_index;
	struct shape base;
	int64_t unit[RANK_MAX]; /* elements of the array's dimension per index */
	const int64_t *origin;  /* [ngroups * rank]: the group's first element */
};

struct xla_scope xla_scope_top(const struct shape *shape, int32_t ndevices,
                               struct arena *a);

/*
 * Cuts `s`, a sharding inside `scope`, into groups along dimensions dims[0..n), of
 * which inside[k] tiles stay in one group (GroupShardingOnDims): groups in the mixed
 * radix of the others, dims[0] most major. *inner is the sharding of every group.
 */
struct xla_scope xla_scope_group(const struct tiling **inner,
                                 const struct xla_scope *scope, const struct tiling *s,
                                 const int *dims, const int32_t *inside, int n,
                                 struct arena *a);

/*
 * Returns the scope with dimension `dim` as two: `major` tiles, and what one of them
 * holds.
 */
struct xla_scope xla_scope_split(const struct xla_scope *scope, int dim, int32_t major,
                                 struct arena *a);

/*
 * Returns a sharding inside the groups as one over all devices and the array's
 * dimensions.
 */
const struct tiling *xla_scope_tiling(const struct xla_scope *scope,
                                      const struct tiling *inner, struct arena *a);

/*
 * Return, for tiles of `tile` indices per dimension inside the scope, in terms of the
 * array: their extent, and [ndevices * rank] the first elements of every device's. What
 * lies beyond the array is padding.
 */
struct shape xla_scope_extent(const struct xla_scope *scope, const struct shape *tile);
const int64_t *xla_scope_start(const struct xla_scope *scope, const struct tiling *inner,
                               const struct shape *tile, struct arena *a);

/* --- Programs --- */

/*
 * One step over all devices, in the terms of plan/plan.h, where a window is a pad:
 * part:   a permute of rows [lo, hi) of the tile along `dim` only; the tile stays, what
 *         comes is kept beside it until the next window.
 * window: no communication: each device takes its new tile out of its old one and what
 *         came since the last window; what is in neither is padding.
 * An all-reduce sums arrays of shape `operand`, zero but for the members' own tiles,
 * and so gathers them.
 */
struct xla_op {
	enum op op;
	bool part, window;
	int dim;
	int64_t lo, hi;
	struct shape operand;
	struct shape extent;  /* of the tiles after the step, padding included */
	const int64_t *start; /* [ndevices * rank] of uneven problems, else NULL */
	const struct xla_rule *rule; /* that wrote it */
	int nmoves;
	struct move *move;
	struct groups groups;
	int32_t npairs;
	struct pair *pairs;
	int32_t *chunk;
	const struct tiling *after;
	bool lossy; /* the partitioner of 2021 loses rows in this step */
};

struct xla;

/* One rule of those that are tried in order (models/README.md, XLA). */
struct xla_rule {
	const char *number; /* "5a" */
	const char *name;
	const char *when;   /* said where it applies */
	const char *unless; /* what is so where it does not */
	/*
	 * Takes the value from s to t in xla->scope. Returns false, having written
	 * nothing, to pass.
	 */
	bool (*apply)(struct xla *xla, const struct tiling *s, const struct tiling *t);
};

/* The partitioner of one date, by what sets it apart from that of another. */
struct xla_mode {
	const struct xla_rule *const *rules; /* in order, ended by NULL */
	bool swaps_lose_rows;                /* until it was fixed in 2022-09 */
	bool swaps_fuse;                     /* since 2025-01 */
	bool halos_compact;                  /* since 2023-06 */
	bool sums_small;                     /* since 2022-05 */
};

extern const struct xla_mode xla_mode_2021, xla_mode_today;

struct xla {
	struct arena *arena;
	const struct xla_mode *mode;
	struct xla_scope scope;
	bool uneven;       /* the problem is: steps record where tiles start */
	struct shape tile; /* of a device now, in the scope's dimensions */
	bool sparing;      /* rule 9: to fail rather than rematerialize */
	const char *fails; /* why XLA stops, the program being what it meant, or NULL */
	const struct xla_rule *rule; /* the one at work */
	struct text *words;          /* that xla_explain gives of rules, or NULL */
	int depth;                   /* of rules inside rules */
	int nops;
	int64_t room;
	struct xla_op *op;
};

struct xla xla_start(const struct xla_mode *mode, const struct shape *shape,
                     int32_t ndevices, struct arena *a);

/*
 * Apply the first rule of the mode that applies. Return false, having written nothing,
 * if none does. xla_reshard always finds one; its sparing form does not where only full
 * rematerialization would do.
 */
bool xla_reshard(struct xla *xla, const struct tiling *s, const struct tiling *t);
bool xla_reshard_sparing(struct xla *xla, const struct tiling *s,
                         const struct tiling *t);

/* The rules since 2022-07 and 2023-05 (regroup.c), used by that of today. */
extern const struct xla_rule xla_rule_complex; /* 7 */
extern const struct xla_rule xla_rule_group;   /* 8 */

/* Returns the extents of a tile of `s` inside xla->scope: ceil(base / tiles). */
struct shape xla_local(const struct xla *xla, const struct tiling *s);

/*
 * Adds a last step that leads to `inner` with tiles of xla->tile, told by member
 * numbers in every group of a scope, in its order.
 */
struct xla_op *xla_step(struct xla *xla, enum op op, const struct tiling *inner);
struct groups xla_spread(struct xla *xla, struct groups local);

/* Adds a local step after which tiles have `extent` elements. */
void xla_window(struct xla *xla, const struct tiling *inner, const struct shape *extent);

/*
 * Add single steps inside xla->scope, each of which returns the sharding after it;
 * xla_slice returns NULL where XLA of 2021 fails to exchange halos.
 */
const struct tiling *xla_permute(struct xla *xla, const struct tiling *s,
                                 const struct tiling *t);
/* Does swaps of distinct dimensions, by rising `to`, in one all-to-all. */
const struct tiling *xla_swap(struct xla *xla, const struct tiling *s,
                              const struct xla_swap *swaps, int n);
const struct tiling *xla_slice(struct xla *xla, const struct tiling *s,
                               const struct tiling *t);
/*
 * Adds one all-gather per dimension with wanted[d], highest first (ReplicatePartial).
 */
const struct tiling *xla_gather(struct xla *xla, const struct tiling *s,
                                const bool wanted[RANK_MAX]);

/* --- Halo exchange along one dimension --- */

/*
 * A halo: shard i of `count`, of `length` rows each, shall hold [i * length - left[i],
 * (i + 1) * length + right[i]). The shards are those of `s` in the groups of `in`;
 * `inner` is the same sharding inside xla->scope, as the steps record it.
 */
struct xla_halo {
	const struct xla_scope *in;
	const struct tiling *s, *inner;
	int dim;
	int32_t count;
	int64_t length;
	int64_t *left, *right;
};

/* Returns a halo whose rows are still to be set. */
struct xla_halo xla_halo(struct xla *xla, const struct xla_scope *in,
                         const struct tiling *s, const struct tiling *inner, int dim);

/*
 * Sends the largest halo neighbour by neighbour (ExchangeHalo). Returns false if it is
 * too large.
 */
bool xla_halo_exchange(struct xla *xla, const struct xla_halo *h);

/* Sends only what is needed (ExchangeHaloCompact); rows from `base` on are padding. */
void xla_halo_compact(struct xla *xla, const struct xla_halo *h, int64_t base);

/* Makes tiles along `dim` of `extent` rows each, of `base` real ones. */
void xla_rewindow(struct xla *xla, const struct tiling *s, int dim, int64_t extent,
                  int64_t base);

#endif
