/*
 * Atoms and types: what planners search over.
 *
 * An atom is a prime digit of the device position: coordinate (position / stride) % size.
 * `atoms_common` finds digits in which two layouts, also on two meshes of the same
 * devices, can both be said: the strides and sizes of all their axes and sub-axes must
 * form one divisor chain 1 | c1 | c2 | ... | N, which `x:(1)2` and `x:(1)3` of one axis
 * cannot (models/README.md, "Layouts").
 *
 * A type (the paper's tau) lists atoms per dimension, major to minor; atoms not listed
 * replicate. Fixed size, no pointers: copied with `=`, compared and hashed as bytes.
 */
#ifndef SHARDSIM_ARRAY_TYPE_H
#define SHARDSIM_ARRAY_TYPE_H

#include "array/layout.h"

enum { ATOMS_MAX = 24, TYPE_RANK_MAX = 12 };

struct atom {
	int32_t stride, size;
};

struct atoms {
	int n;
	struct atom atom[ATOMS_MAX]; /* major (largest stride) to minor */
};

/* Unused bytes are zero, so memcmp and a hash over all bytes are meaningful. */
struct type {
	uint8_t rank;
	uint8_t count[TYPE_RANK_MAX]; /* atoms of each dimension */
	uint8_t atom[ATOMS_MAX];      /* dimension after dimension, major to minor */
};

/*
 * Finds the common atoms of two layouts on meshes with equal device ids. Returns false,
 * with the reason in `why`, when there are none, a layout is not of axes, or limits are
 * passed.
 */
bool atoms_common(struct atoms *out, const struct layout *l1, const struct mesh *m1,
                  const struct layout *l2, const struct mesh *m2, struct text *why);

/* Returns the type of a layout in atoms that can say it (from atoms_common). */
struct type type_of_layout(const struct layout *l, const struct mesh *m,
                           const struct atoms *atoms);

/*
 * Stores the atoms of one part, major to minor, at most ATOMS_MAX; returns their
 * number.
 */
int atoms_of_part(uint8_t *out, const struct atoms *atoms, const struct mesh *m,
                  struct part part);

/*
 * Makes the layout of a type on mesh `m`: atoms become sub-axes, neighbours are merged.
 * Returns false when an atom does not lie inside one axis of `m` (possible on the other
 * mesh of a two-mesh problem).
 */
bool layout_of_type(struct layout *out, const struct type *t, const struct atoms *atoms,
                    const struct mesh *m);

/*
 * Returns the first index into t->atom of dimension `dim`; dim == rank gives the number
 * listed.
 */
int type_first(const struct type *t, int dim);

/* Returns the product of atom sizes of a dimension. */
int64_t type_shards(const struct type *t, const struct atoms *atoms, int dim);

/*
 * Every dimension of a type is a stack of atoms whose top is the minor-most one: slices
 * push, gathers pop, all-to-alls shift a top block from one stack to another.
 */

/* Returns the first atom of a dimension's stack; count[dim] of them follow. */
const uint8_t *type_stack(const struct type *t, int dim);

/* Pushes atoms on a dimension's stack, the last becoming the top. */
void type_push(struct type *t, int dim, const uint8_t *atoms, int n);

/* Pops the `n` top atoms; `out` (may be NULL) gets them in stack order. */
void type_pop(struct type *t, int dim, uint8_t *out, int n);

/* Moves the top block of `n` atoms from one stack to another, its order kept. */
void type_shift(struct type *t, int from, int to, int n);

bool type_equal(const struct type *a, const struct type *b);

/* Returns the set of listed atoms: bit a is set where the type lists atom a. */
uint32_t type_used(const struct type *t);

#endif
