/*
 * Digit systems: dimensions split so that source and target are both bindings of blocks
 * of atoms to whole digits (models/README.md, Digits).
 *
 * Every dimension of the padded array is cut at the shard boundaries of both layouts. A
 * digit is then bound whole or not at all by each of them. Neighbouring digits that both
 * layouts bind, or leave, together are one digit, so that no more dimensions are made
 * than are needed; the atoms that bind such a digit are a block.
 */
#ifndef SHARDSIM_PLANNER_DIGIT_DIGIT_H
#define SHARDSIM_PLANNER_DIGIT_DIGIT_H

#include "plan/plan.h"

/* Atoms that always go together, major to minor. */
struct block {
	int natoms;
	uint8_t atom[ATOMS_MAX];
	int32_t size; /* the product of the atoms' sizes */
	int from, to; /* the digit it binds in the source, in the target; -1: none */
};

struct digits {
	const struct problem *problem;
	/*
	 * The atoms of the problem, or with their primes in another order inside an
	 * axis.
	 */
	struct atoms atoms;
	struct view view;
	int nblocks;
	struct block block[ATOMS_MAX];
};

/* The block that binds each digit of a view, or -1. Copied with `=`. */
struct binding {
	int8_t block[RANK_MAX];
};

/*
 * Makes the digit system of a problem with atoms and one padded shape. Returns false
 * with the reason in `why` where there is none: the layouts cut a dimension in
 * different radices whatever the order of the primes of a mesh axis is, or there are
 * more digits than an array can have dimensions.
 */
bool digits_make(struct digits *out, const struct problem *p, struct text *why);

/* Return the source and the target as bindings. */
struct binding digits_from(const struct digits *s);
struct binding digits_to(const struct digits *s);

/* Returns the layout of a binding over the digits, on a mesh that can say the atoms. */
struct layout digits_layout(const struct digits *s, const struct binding *b,
                            const struct mesh *m);

/* Returns the normalised parts of a block on a mesh, in the arena. */
const struct part *digits_parts(int *n, const struct digits *s, const struct block *b,
                                const struct mesh *m, struct arena *a);

#endif
