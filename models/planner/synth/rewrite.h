/*
 * The normal form by rewriting, after arXiv 2112.01075, 4 (Lemmas 4.6 and 4.7): start from "all-gather
 * all, slice all" and rewrite neighbours until slices come first and all-gathers last.
 *
 * Ops on types; x, y, z are tops of stacks (the minor-most atoms of dimensions):
 *   G_i       all-gather the top of i         A_{i>j}   all-to-all the top of i to j
 *   S_{i,a}   slice dimension i by a          X_{i,j}   swap the tops of i and j
 *   W_i(a,b)  swap two atoms of i             R_{i,a}   replace the top of i by a
 * X, W and R are permutes; X and R need atoms of one size.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_REWRITE_H
#define SHARDSIM_PLANNER_SYNTH_REWRITE_H

#include "planner/synth/path.h"

enum rewrite_kind { REWRITE_G, REWRITE_S, REWRITE_A, REWRITE_X, REWRITE_W, REWRITE_R };

struct rewrite_op {
	enum rewrite_kind kind;
	uint8_t i, j; /* dimensions */
	uint8_t a, b; /* atoms */
};

/*
 * A list of ops and the types between them: type[k] before op[k], type[n] at the end.
 */
struct rewriting {
	const struct synth *s;
	int n;
	int64_t op_room, type_room;
	struct rewrite_op *op;
	struct type *type; /* before each op, and after the last */
};

/* Makes the easy program from s->from to s->to, which rewriting_free() frees. */
struct rewriting rewriting_easy(const struct synth *s);
void rewriting_free(struct rewriting *rewriting);

/*
 * Returns whether the op can act on this type: it needs a top to take, an atom not in
 * use, a size that divides.
 */
bool rewrite_op_fits(const struct synth *s, const struct type *t, struct rewrite_op op);

/* Rewrites to a fixed point and returns the number of rewrites. */
int rewriting_run(struct rewriting *rewriting);

/*
 * Writes the path of a rewritten list: one slice, the net moves of the flat part fused
 * and one permute if the type still differs, one all-gather. Where atoms differ in size
 * and the net moves do not fit any order of the stacks, the flat part is taken as it
 * is.
 */
void rewriting_path(struct path *out, const struct rewriting *rewriting);

#endif
