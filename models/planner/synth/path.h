/*
 * What the planners on types share: stacks of atoms, steps between two types, their
 * prices, and the plan that a list of steps makes.
 *
 * Every dimension of a type is a stack of atoms whose top is the minor-most one; slices
 * push, gathers pop, all-to-alls move a top block from one stack to another.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_PATH_H
#define SHARDSIM_PLANNER_SYNTH_PATH_H

#include "planner/planner.h"

enum { HOPS_MAX = 4 * ATOMS_MAX };

/* One step of a plan on types: the op and the type it leads to. */
struct hop {
	enum op op;
	struct type after;
};

struct path {
	int n;
	struct hop hop[HOPS_MAX];
};

/* A problem as planners on types see it. */
struct synth {
	const struct problem *problem;
	const struct prices *prices;
	struct arena *arena;
	struct atoms atoms; /* the problem's, or coarser digits: */
	uint8_t first[ATOMS_MAX],
		parts[ATOMS_MAX]; /* how many of those, from `first` on, are one */
	struct type from, to;
	struct part part[ATOMS_MAX];  /* the atoms on the source mesh */
	int64_t from_bytes, to_bytes; /* tiles, padded */
};

/* The moves of one step, with room for what they point to. */
struct hop_moves {
	int n, natoms;
	struct move move[TYPE_RANK_MAX];
	struct part part[ATOMS_MAX];
	uint8_t atom[ATOMS_MAX]; /* of all moves in order */
};

/*
 * Begins a problem. Returns false, with the reason in `why`, where types cannot say it
 * or axes are unreduced. `out` lives as long as its inputs.
 */
bool synth_begin(struct synth *out, const struct problem *p,
                 const struct prices *prices, struct arena *a, struct text *why);

/*
 * Writes the same problem on coarser digits: atoms that both layouts list one after the
 * other, or not at all, become one, within an axis of the source mesh. Returns whether
 * there are fewer. The searches take any digits; types of these are a part of all
 * types.
 */
bool synth_coarsen(struct synth *out, const struct synth *s);

/*
 * Return one device's tile on the padded shape: elements, bytes, extent in one
 * dimension.
 */
int64_t synth_elements(const struct synth *s, const struct type *t);
int64_t synth_bytes(const struct synth *s, const struct type *t);
int64_t synth_extent(const struct synth *s, const struct type *t, int dim);

/* Writes the moves of a slice, all-gather or all-to-all between two types. */
void hop_moves(struct hop_moves *out, const struct synth *s, enum op op,
               const struct type *before, const struct type *after);

/*
 * Returns the price of that step, or of a permute; `most_cost` is as in struct step_ask.
 */
struct price hop_price(const struct synth *s, enum op op, const struct type *before,
                       const struct type *after, double most_cost);

/* An all-to-all or all-gather over atoms, in the order in which its moves list them. */
struct list_step {
	enum op op;
	bool unpack; /* whether an all-gather's result must be unpacked */
	int n;
	const uint8_t *atom;
	int64_t before_bytes; /* of a tile */
	double most_cost;     /* > 0: for dearer ones any price above it will do */
};

/* Returns the price of that step. */
struct price list_price(const struct synth *s, const struct list_step *step);

/* Returns the price of permuting tiles of so many bytes. */
struct price permute_price(const struct synth *s, int64_t before_bytes);

/* Appends a hop; consecutive slices become one. */
void path_add(struct path *p, enum op op, const struct type *after);

/* Returns the finished plan of a path that ends at the problem's target. */
struct plan *path_plan(const struct synth *s, const struct path *path,
                       const char *planner);

#endif
