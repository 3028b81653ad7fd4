/*
 * XLA's SPMD partitioner: how it turns one sharding into another.
 *
 * The rules run on tile assignments (struct tiling, array/layout.h) and write a
 * program, a straight line of collectives and slices over device numbers; only a
 * finished program becomes a plan. A rule that fails takes back what it wrote, as XLA's
 * dead code elimination would. Nothing is weighed: the first rule that applies wins.
 *
 * A tiling is replicated if it has one tile, tiled if it has one replica, else partial
 * (XLA's last_tile_dim_replicate). Names follow XLA's source of 2021-11-30, commit
 * a6336f56443064e874da564605b3dbcbfc15e91b, xla/service/spmd/spmd_partitioner*.
 *
 * All shapes are even here: every dimension divides by every tile count it meets.
 */
#ifndef SHARDSIM_PLANNER_XLA_H
#define SHARDSIM_PLANNER_XLA_H

#include "planner/planner.h"

extern const struct planner planner_xla_2021;

/* --- Rules on tilings, pure --- */

/* Number of tiles, replicas not counted (XLA's NumTiles). */
int32_t xla_tile_count(const struct tiling *t);
bool xla_replicated(const struct tiling *t);
bool xla_partial(const struct tiling *t);

/* Same tile counts and replicas; and the same devices. */
bool xla_same_dims(const struct tiling *a, const struct tiling *b);
bool xla_equal(const struct tiling *a, const struct tiling *b);

/* Tile index of a place of t->ids: [rank], then the replica number. */
void xla_index(const struct tiling *t, int32_t place, int32_t index[RANK_MAX + 1]);
int32_t xla_place(const struct tiling *t, const int32_t index[RANK_MAX + 1]);

/* Place of every device in t->ids: [ndevices], the arena's. */
const int32_t *xla_places(const struct tiling *t, struct arena *a);

/*
 * A canonical tiling with these dimensions whose device at a place is ids[place]; sorts
 * the replicas of every tile. Takes `ids`, which must be the arena's.
 */
const struct tiling *xla_tiling(struct arena *a, int rank, const int32_t *tiles,
                                int32_t replicas, int32_t *ids);
const struct tiling *xla_tiling_replicated(struct arena *a, int rank, int32_t ndevices);

/*
 * Groups of the devices whose tile indices, that of dimension d divided by inside[d],
 * agree (d == rank: replicas): groups in row-major order of these, members in row-major
 * order of their index. inside[d] must divide the count of dimension d.
 */
struct groups xla_groups_by(const struct tiling *t, const int32_t inside[RANK_MAX + 1],
                            struct arena *a);

/* One step of an all-to-all: dimension `from` gives its minor tiles to `to`. */
struct xla_swap {
	int from, to;
};

/*
 * The swaps that make the tile counts of `s` those of `t`, a permutation of them; their
 * number, or 0 where XLA finds none (GetReshardAllToAllSourceTargetDims). Two counts
 * above 1 swap only if the smaller divides the larger.
 */
int xla_swaps(struct xla_swap swaps[RANK_MAX], const struct tiling *s,
              const struct tiling *t);

/* The tiling after one swap: count(to) takes the factor count(from) / count(to). */
const struct tiling *xla_swapped(const struct tiling *s, struct xla_swap swap,
                                 struct arena *a);

/*
 * A tiling with the tile counts of `fine` each of whose tiles lies, on every device,
 * inside that device's tile of `coarse`: `fine` itself if it does so already, else one
 * made by cutting up the replicas of `coarse`
 * (PartialReplicateReshardCompatibleSharding). NULL if `coarse` is not partial or a
 * count of `fine` is no multiple of that of `coarse`.
 */
const struct tiling *xla_compatible(const struct tiling *coarse,
                                    const struct tiling *fine, struct arena *a);

/*
 * Where `partial` is `tiled` with all tile counts moved one dimension to the right and
 * the last one, of dimension k, turned into replication: `tiled` with dimension k
 * replicated, through which XLA goes with an all-to-all. Else NULL.
 */
const struct tiling *xla_shifted(const struct tiling *partial,
                                 const struct tiling *tiled, struct arena *a);

/* --- Device groups --- */

/*
 * Steps run inside groups of devices that work alike; shardings inside use the numbers
 * 0..size-1 of members. Group g holds tile outer_index[g * rank + d] of outer[d] in
 * each dimension, and inside it the array is `base`. At the top: one group, one tile.
 */
struct xla_scope {
	struct groups groups;
	int rank;
	int32_t outer[RANK_MAX];
	const int32_t *outer_index;
	struct shape base;
};

struct xla_scope xla_scope_top(const struct shape *shape, int32_t ndevices,
                               struct arena *a);

/*
 * Cut `s`, a sharding inside `scope`, into groups along dimensions dims[0..n), of which
 * inside[k] tiles stay in one group (GroupShardingOnDims): groups in the mixed radix of
 * the others, dims[0] most major. *inner is the sharding of every group.
 */
struct xla_scope xla_scope_group(const struct tiling **inner,
                                 const struct xla_scope *scope, const struct tiling *s,
                                 const int *dims, const int32_t *inside, int n,
                                 struct arena *a);

/* A sharding inside the groups as one over all devices. */
const struct tiling *xla_scope_tiling(const struct xla_scope *scope,
                                      const struct tiling *inner, struct arena *a);

/* --- Programs --- */

/* One step over all devices, in the terms of plan/plan.h. */
struct xla_op {
	enum op op;
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

/* Take the value from `s` to `t` inside x->scope; false, writing nothing, to pass. */
typedef bool xla_rule(struct xla *x, const struct tiling *s, const struct tiling *t);

/* What sets the partitioner of one date apart from that of another. */
struct xla_mode {
	xla_rule *const *rules; /* in order, ended by NULL */
	bool swaps_lose_rows;   /* spec xla.md 4.2, fixed 2022-09 */
};

extern const struct xla_mode xla_mode_2021;

struct xla {
	struct arena *arena;
	const struct xla_mode *mode;
	struct xla_scope scope;
	int nops, capacity;
	struct xla_op *op;
};

struct xla xla_start(const struct xla_mode *mode, const struct shape *shape,
                     int32_t ndevices, struct arena *a);

/* Apply the first rule of the mode that applies; false if none does. */
bool xla_reshard(struct xla *x, const struct tiling *s, const struct tiling *t);

/* The rules of both dates, spec xla.md 3.1 by number. */
xla_rule xla_rule_permute;        /* 3 */
xla_rule xla_rule_swap;           /* 4 */
xla_rule xla_rule_slice_partial;  /* 5a */
xla_rule xla_rule_unshift;        /* 5b */
xla_rule xla_rule_gather_partial; /* 6a */
xla_rule xla_rule_shift;          /* 6b */
xla_rule xla_rule_replicate;      /* 10: full rematerialization */
xla_rule xla_rule_slice;          /* 11, 12 */

/* Single steps inside x->scope, each of which returns the sharding after it. */
const struct tiling *xla_permute(struct xla *x, const struct tiling *s,
                                 const struct tiling *t);
const struct tiling *xla_swap_once(struct xla *x, const struct tiling *s,
                                   struct xla_swap swap);
const struct tiling *xla_slice(struct xla *x, const struct tiling *s,
                               const struct tiling *t);
/* One all-gather per dimension with wanted[d], highest first (ReplicatePartial). */
const struct tiling *xla_gather(struct xla *x, const struct tiling *s,
                                const bool wanted[RANK_MAX]);

#endif
