/*
 * The state of Shardy's greedy, and what its phases share (planner/shardy/shardy.h).
 */
#ifndef SHARDSIM_PLANNER_SHARDY_GREEDY_H
#define SHARDSIM_PLANNER_SHARDY_GREEDY_H

#include "planner/shardy/shardy.h"

/* --- Lists of sub-axes, major to minor --- */

/* Sub-axes of size 2 or more that share no digit: no more than a mesh has digits, plus
 * those that an all-gather forgot to take off a list. */
enum { SHARDY_AXES_MAX = 64 };

struct shardy_axes {
	int n;
	struct part part[SHARDY_AXES_MAX];
};

int shardy_find(const struct shardy_axes *axes, struct part part); /* place, -1: none */
void shardy_insert(struct shardy_axes *axes, int at, struct part part);
void shardy_push(struct shardy_axes *axes, struct part part);
void shardy_remove(struct shardy_axes *axes, int at, int n);
int64_t shardy_size(const struct shardy_axes *axes);

/*
 * Takes the major part of an axis that fits in `room`, which is the whole axis or room
 * itself, and divides `room` by it; rest->size is 1 if nothing is left. Returns false
 * if neither size divides the other or there is no room.
 */
bool shardy_take(struct part *within, struct part *rest, struct part axis,
                 int64_t *room);

/* Cuts the axes of a list wherever one of `others` begins or ends inside them. */
void shardy_cut(struct shardy_axes *axes, const struct shardy_axes *others);

/* --- The state --- */

/*
 * In each dimension the present layout is `kept` and then `have`, and the target is
 * `kept` and then `want`. Parts of `have` and `want` of one axis are equal or disjoint.
 */
struct greedy {
	int rank;
	const struct shape *shape;
	struct shardy_axes kept[RANK_MAX], have[RANK_MAX], want[RANK_MAX];
	/* What Shardy takes to be in `have`; an all-gather leaves too much here. */
	struct shardy_axes held;
	int64_t room[RANK_MAX];
	bool reorder, reordered;
	struct shardy_program *out;
};

bool greedy_held(const struct greedy *g, struct part part);
void greedy_hold(struct greedy *g, struct part part);
void greedy_let_go(struct greedy *g, struct part part);

/*
 * Returns the dimension that wants a part, or -1, and stores in *place (may be NULL)
 * where.
 */
int greedy_wanted(const struct greedy *g, struct part part, int *place);

/*
 * Gives the parts of `available` (one list per dimension, or one for all) to the first
 * dimensions with room, at the front or the back of what they have, and cuts the last
 * one where it is too large. `added` (may be NULL) gets what each dimension received.
 */
void greedy_spread(struct greedy *g, struct shardy_axes *available, bool per_dim,
                   bool front, struct shardy_axes *added);

/* Returns the move of a list of axes from one dimension to another, -1 being none. */
struct move greedy_move(const struct greedy *g, int from_dim, int to_dim,
                        const struct shardy_axes *axes);

/* Appends an op that led to the present state. */
void greedy_emit(struct greedy *g, enum op op, const struct move *moves, int nmoves);

/* Appends a slice or an all-gather of axes[dim] in every dimension that has any. */
void greedy_emit_all(struct greedy *g, enum op op, const struct shardy_axes *axes);

/* --- The four phases of a round --- */

void greedy_slice(struct greedy *g);

/* Returns false if the sizes do not work out: the tiles would have another shape. */
bool greedy_permute(struct greedy *g);

/* If `in_place`, moves only what arrives where it is wanted, in order. */
void greedy_all_to_alls(struct greedy *g, bool in_place);

void greedy_all_gather(struct greedy *g);

#endif
