/*
 * A plan: typed steps from one layout to another.
 *
 * A step is self-contained: an interpreter needs only its op, moves, groups or pairs to
 * run it (check.h), a lowering only these and the local bytes (collective/lower.h). The
 * layout after it is what the planner claims, and what check proves.
 *
 * Moves and group ranks: an op over moves k = 0.. with radices factor[k] runs in groups
 * of q = product of factors; the member at place r of its group has the mixed-radix
 * digits of r, move 0 most major, as its *chunk number* in each move.
 *   slice:      the device keeps, of dimension to_dim, block number chunk of `factor`.
 *   all-gather: dimension from_dim of the result is the members' blocks in chunk order.
 *   all-to-all: dimension to_dim is cut into `factor` blocks, block c goes to the member
 *               with chunk c (in every move at once); what arrives is put together along
 *               from_dim in chunk order. from and to dims of fused moves are distinct.
 *   permute:    whole tiles travel along `pairs`; a device that is in no pair as
 *               destination ends without data. With `transfers` it carries parts of
 *               tiles: devices keep their tiles and hold the boxes beside them until a
 *               pad or exchange takes them in. With pairs too, each of these carries
 *               `part` elements, of which the transfers are the real ones.
 *   exchange:   every device receives the boxes of `transfers` and then has the tile of
 *               `after`: from its old tile, boxes held and boxes received.
 *               Where the layout before is unreduced and `after` is not, contributions
 *               travel, here and in a permute of parts before: a device sends the sum of
 *               all that it has of a box, in its tile and beside it, and has none of it
 *               then. Boxes that arrive are the same or disjoint, and those of one place
 *               are added up.
 *   pad:        local: the tile becomes that of `after` and `local`, from the old tile
 *               and boxes held; what lies beyond the array is padding.
 *   reduce-scatter: as a slice, block `chunk` of to_dim, summed over the members'
 *               contributions; the parts leave the unreduced set (from_dim -1).
 *   all-reduce: the contributions are summed; both dims -1. Where it `gathers`
 *               each member adds its own tile, zeros around it, to arrays of extent
 *               `summed`, and has the tiles of all afterwards (from_dim as a gather; no
 *               moves where one device of a group holds the data). It receives what an
 *               all-reduce of such arrays does, 2 M (1 - 1/q).
 *   partial:    local, the reverse: a replicated array is taken for the sum of one
 *               device's contribution and zeros (PyTorch's R->P); both dims -1, the
 *               parts join the unreduced set. With from_dim, in every move then, each
 *               device puts its tile among zeros of the size that the members' tiles
 *               have together, put together as by an all-gather (Shardy's
 *               sharded_to_unreduced): these arrays are what adds up.
 *
 * Strided layouts: a plan may run on a *view* of the array, in which every dimension is
 * split into digits (8192 = 4 x 2048, major first). All its layouts, tiles and moves are
 * then over the digits; problem->from and to are rewritten so by plan_view().
 */
#ifndef SHARDSIM_PLAN_PLAN_H
#define SHARDSIM_PLAN_PLAN_H

#include "plan/problem.h"

enum op {
	OP_SLICE,
	OP_ALL_GATHER,
	OP_ALL_TO_ALL,
	OP_PERMUTE,
	OP_REDUCE_SCATTER,
	OP_ALL_REDUCE,
	OP_EXCHANGE,
	OP_PAD,
	OP_PARTIAL,
	OPS, /* of plans; what follows stands alone (collective/lower.h) */
	OP_BROADCAST,
	OP_REDUCE
};

/* Returns "slice", "all-gather", ... as printed plans and JSON have it. */
const char *op_name(enum op op);
bool op_communicates(enum op op);

struct move {
	int from_dim, to_dim;     /* -1: none (a slice has no from, a gather no to) */
	int32_t factor;           /* product of the parts' sizes */
	int nparts;               /* 0 where no axes say it */
	const struct part *parts; /* major to minor, on the problem's mesh */
};

struct groups {
	int32_t ngroups, size;
	const int32_t *ids; /* [ngroups * size], group after group, in chunk order */
};

struct pair {
	int32_t src, dst;
};

/* A box [lo, hi) per dimension, `bounds` lo0, hi0, lo1, ..., of real elements. */
struct transfer {
	int32_t src, dst;
	int64_t elements;
	const int64_t *bounds; /* [2 * rank] */
};

struct step {
	enum op op;
	int nmoves;
	const struct move *move;
	struct groups groups; /* collectives */
	int32_t npairs;       /* permute; identity pairs included */
	const struct pair *pairs;
	const int32_t *chunk; /* slice: [ndevices * nmoves] chunk numbers */
	int64_t ntransfers;   /* exchange, partial permute: none to oneself */
	const struct transfer *transfers;
	int64_t part; /* of a permute of parts along pairs: elements each */
	bool gathers; /* an all-reduce of arrays of `summed` */
	struct shape summed;
	struct layout after;
	const struct mesh *mesh; /* of `after`: the problem's, or its target mesh */
	/*
	 * Tile before and after, padded. Usually ceil(extent / shards); a pad may make it
	 * larger, and tile number i then starts at i times this size, unless `start`
	 * says where the tiles of devices start: [ndevices * rank], else NULL.
	 */
	struct shape before_local, local;
	const int64_t *start;
	/*
	 * Bytes of the busiest device in this step, own part excluded, padding included.
	 * padding_bytes: of what a device receives, what lies beyond the array, on the
	 * device that receives most of it. A sum counts it once for each that is added.
	 */
	int64_t recv_bytes, send_bytes, padding_bytes;
};

/* Returns what every member puts into a collective: its tile, or zeros around it. */
const struct shape *step_operand(const struct step *s);

/* Returns whether axes of the mesh say which devices work together. */
bool step_has_axes(const struct step *s);

struct plan;

/* Returns whether the boxes that travel in a step are contributions, which are added up. */
bool step_adds(const struct plan *p, int step);

/* How a plan splits dimensions into digits: digit i is of array dimension dim[i]. */
struct view {
	struct shape shape;
	uint8_t dim[RANK_MAX];
};

struct plan {
	struct arena *arena;
	const struct problem *problem;
	const char *planner;
	/*
	 * What the layouts of the steps are over: the problem's padded shape, or the digits
	 * of a view (then `view` is set). `from` and `to` are the problem's in these terms.
	 */
	struct shape shape;
	struct layout from, to;
	const struct view *view;
	int nsteps;
	int64_t room; /* for steps, as base/list.h has it */
	struct step *step;
	/* Filled by plan_finish: */
	int64_t recv_bytes, send_bytes; /* max over devices of the sum over steps */
	int64_t peak_array_bytes; /* largest live array (what the memory limit applies to) */
	int64_t peak_live_bytes; /* largest source + operand (if another) + result */
	bool full_remat; /* some tile is the full array although neither end is replicated */
};

/* Returns an empty plan of the problem (its steps live in `a`). */
struct plan *plan_new(struct arena *a, const struct problem *p, const char *planner);

/*
 * Makes an empty plan one over a view of the padded shape (copied), with `from` and `to`
 * saying the problem's layouts over its digits.
 */
void plan_view(struct plan *p, const struct view *view, const struct layout *from,
               const struct layout *to);

/*
 * Returns whether two finished plans do the same: equal steps, with equal groups, pairs,
 * chunks and boxes in equal order. False also where that cannot be seen at once, as of
 * plans of two copies of a problem. Who made them does not count.
 */
bool plan_equal(const struct plan *a, const struct plan *b);

/* Returns the layout and tile after the steps so far. */
const struct layout *plan_layout(const struct plan *p);
struct shape plan_local(const struct plan *p);

/* Returns the layout and tile before step i. */
const struct layout *plan_before(const struct plan *p, int step);

/*
 * Steps on LAYOUT_AXES, all on the problem's (source) mesh. Each computes groups, chunk
 * numbers and the layout after it. Moves' parts need not be normalised. The caller
 * guarantees, and it is asserted, that the tile divides by the factor of each move,
 * that a move's parts are where it takes them from, and that no axis is used twice.
 *   slice:      each move appends its parts as the minor-most of to_dim.
 *   all-gather: each move removes its parts, the minor-most ones of from_dim.
 *   all-to-all: each move takes its parts, the minor-most of from_dim, to to_dim.
 *   reduce-scatter, all-reduce: the parts leave the unreduced set; partial: they join it,
 *               from from_dim where the moves have one.
 */
void plan_axes_step(struct plan *p, enum op op, const struct move *moves, int nmoves);

/*
 * Adds a permute to `after` (equal local shape). Pairs follow Shardy's rule: devices
 * are numbered by the mixed radix of (sharding parts in dim order, then the unused
 * digits in mesh order) in both layouts; equal numbers are paired. No step is added
 * when all pairs are identities. plan_permute_pairs takes the pairs as given (copied).
 */
void plan_permute(struct plan *p, const struct layout *after);
void plan_permute_pairs(struct plan *p, const struct layout *after,
                        const struct pair *pairs, int32_t npairs);

/*
 * Adds an exchange to `after`, a layout of `mesh` (one of the problem's two), or a
 * permute of parts of tiles that leaves the layout as it is. Transfers are copied,
 * their bounds borrowed from the plan's arena.
 */
void plan_exchange(struct plan *p, const struct layout *after, const struct mesh *mesh,
                   const struct transfer *transfers, int64_t n);
void plan_permute_parts(struct plan *p, const struct transfer *transfers, int64_t n);

/* Adds steps [first, end) of another plan of the same array as they are. */
void plan_steps_of(struct plan *p, const struct plan *other, int first, int end);

/*
 * Adds a permute of parts along pairs, all copied but the boxes of the transfers:
 * `part` elements for each pair, padding included.
 */
void plan_permute_rows(struct plan *p, const struct pair *pairs, int32_t npairs,
                       int64_t part, const struct transfer *transfers, int64_t n);

/* Adds an all-reduce that gathers. All data are copied. */
void plan_sum_tiles(struct plan *p, const struct move *moves, int nmoves,
                    struct groups groups, const struct shape *summed,
                    const struct layout *after);

/*
 * Says what tiles the last step leaves, and where they start (copied; NULL: as usual).
 */
void plan_place(struct plan *p, const struct shape *local, const int64_t *start);

/* Adds a pad to `after` with tiles of `local` (NULL: the usual ones). */
void plan_pad(struct plan *p, const struct layout *after, const struct shape *local);

/*
 * Adds a step whose groups (or, for slice, chunk numbers) and layout are given; parts
 * are filled in by comparing the layouts where both are of axes. All data are copied.
 */
void plan_groups_step(struct plan *p, enum op op, const struct move *moves, int nmoves,
                      struct groups groups, const int32_t *chunk,
                      const struct layout *after);

/*
 * Works out bytes and memory of all steps and of the plan by the rules in finish.c,
 * after the last step was added. Layouts are first turned into axes where axes can say
 * them.
 */
void plan_finish(struct plan *p);

/* Returns whether the plan needs more memory than its problem allows (memory.h). */
bool plan_over_memory(const struct plan *p);

#endif
