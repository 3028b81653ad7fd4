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
 *               destination ends without data.
 * reduce-scatter and all-reduce are typed here for schedules; planners of unreduced
 * axes build on them.
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
	OPS
};

/* "slice", "all-gather", ... as in design 3 and JSON. */
const char *op_name(enum op op);
bool op_communicates(enum op op);

struct move {
	int from_dim, to_dim; /* -1: none (a slice has no from, a gather no to) */
	int32_t factor;       /* product of the parts' sizes */
	int nparts;           /* 0 where no axes say it */
	const struct part *parts; /* major to minor, on the problem's mesh */
};

struct groups {
	int32_t ngroups, size;
	const int32_t *ids; /* [ngroups * size], group after group, in chunk order */
};

struct pair {
	int32_t src, dst;
};

struct step {
	enum op op;
	int nmoves;
	const struct move *move;
	struct groups groups;     /* collectives */
	int32_t npairs;           /* permute; identity pairs included */
	const struct pair *pairs;
	const int32_t *chunk;     /* slice: [ndevices * nmoves] chunk numbers */
	struct layout after;
	struct shape before_local, local; /* tile before and after, padded */
	/*
	 * Bytes of the busiest device in this step, own part excluded, padding included;
	 * padding_bytes of what that device receives are padding.
	 */
	int64_t recv_bytes, send_bytes, padding_bytes;
};

struct plan {
	struct arena *arena;
	const struct problem *problem;
	const char *planner;
	int nsteps, capacity;
	struct step *step;
	/* Filled by plan_finish: */
	int64_t recv_bytes, send_bytes; /* max over devices of the sum over steps */
	int64_t peak_array_bytes; /* largest live array (what the memory limit applies to) */
	int64_t peak_live_bytes;  /* largest source + operand (if another) + result */
	bool full_remat; /* some tile is the full array although neither end is replicated */
};

/* An empty plan of the problem (its steps live in `a`). */
struct plan *plan_new(struct arena *a, const struct problem *p, const char *planner);

/* The layout and tile after the steps so far. */
const struct layout *plan_layout(const struct plan *p);
struct shape plan_local(const struct plan *p);

/*
 * Steps on LAYOUT_AXES, all on the problem's (source) mesh. Each computes groups, chunk
 * numbers and the layout after it. Moves' parts need not be normalised. The caller
 * guarantees the preconditions of spec redistribution.md 3 (asserted).
 *   slice:      each move appends its parts as the minor-most of to_dim.
 *   all-gather: each move removes its parts, the minor-most ones of from_dim.
 *   all-to-all: each move takes its parts, the minor-most of from_dim, to to_dim.
 */
void plan_axes_step(struct plan *p, enum op op, const struct move *moves, int nmoves);

/*
 * A permute to `after` (equal local shape). Pairs follow Shardy's rule (spec 3): devices
 * numbered by the mixed radix of (sharding parts in dim order, then the unused digits in
 * mesh order) in both layouts; equal numbers are paired. No step is added when all pairs
 * are identities. plan_permute_pairs takes the pairs as given (copied).
 */
void plan_permute(struct plan *p, const struct layout *after);
void plan_permute_pairs(struct plan *p, const struct layout *after,
                        const struct pair *pairs, int32_t npairs);

/*
 * A step whose groups (or, for slice, chunk numbers) and layout are given; parts are
 * filled in by comparing the layouts where both are of axes. All data are copied.
 */
void plan_groups_step(struct plan *p, enum op op, const struct move *moves, int nmoves,
                      struct groups groups, const int32_t *chunk,
                      const struct layout *after);

/*
 * Compute bytes and memory of all steps (plan.h's figures; rules in memory.h), after the
 * last step was added. Layouts are first turned into axes where axes can say them.
 */
void plan_finish(struct plan *p);

/* True if a tile array of the plan is larger than `limit` bytes (-1: never). */
bool plan_over_memory(const struct plan *p, int64_t limit_bytes);

#endif
