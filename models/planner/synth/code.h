/*
 * Types of few atoms as one number, and lists of atoms as small ones: the exact search
 * looks at so many steps that each must cost a few additions.
 *
 * The code of a type has CODE_BITS bits for every atom: 0 where the type does not list
 * it, else 1 + 8 * dimension + its place in that dimension's stack (0: major-most).
 * Moving a block of atoms from one stack to another adds to the code, and different
 * types have different codes.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_CODE_H
#define SHARDSIM_PLANNER_SYNTH_CODE_H

#include "planner/synth/path.h"

enum {
	CODE_ATOMS_MAX = 6,
	CODE_BITS = 7,
	CODE_END = CODE_ATOMS_MAX * CODE_BITS, /* bits from here on are the caller's */
	CODE_MOVES_MAX = CODE_ATOMS_MAX * (TYPE_RANK_MAX - 1),
	LISTS_MAX = 1957,     /* sum over m of 6! / (6 - m)! */
	SHAPE_TYPES_MAX = 720 /* 6! */
};

/* A problem as searches on codes see it. */
struct coded {
	struct synth *s;
	int rank, natoms;
	int32_t size[CODE_ATOMS_MAX];
	uint8_t size_class[CODE_ATOMS_MAX]; /* the first atom of its size */
	uint64_t from_code, to_code;
	uint32_t in_to;         /* bit a: the target lists atom a */
	int64_t source, target; /* elements of their tiles */
};

void coded_init(struct coded *out, struct synth *s);

/* A type taken apart. */
struct stacks {
	int rank;
	uint8_t count[TYPE_RANK_MAX];
	uint8_t atom[TYPE_RANK_MAX][CODE_ATOMS_MAX];
};

/* Returns what an atom at a place of a dimension adds to a code. */
static inline uint64_t code_of_atom(int atom, int dim, int place)
{
	return (uint64_t)(1 + 8 * dim + place) << CODE_BITS * atom;
}

uint64_t code_of_type(const struct type *t);
uint32_t code_used(uint64_t code); /* bit a is set where it lists atom a */
void code_stacks(struct stacks *out, uint64_t code, int rank);
struct type code_type(uint64_t code, int rank);

/*
 * Returns whether the type of a code lists all atoms of another one, `listed`, where
 * that does.
 */
bool code_lists(uint64_t code, uint64_t listed, int natoms);

/*
 * Returns a code for the local shape of a type: in place of atoms, one after the other,
 * their size classes in falling order per dimension. `size_class` is that of each atom,
 * < natoms.
 */
uint64_t code_of_shape(const struct stacks *t, const uint8_t *size_class, int natoms);

/* The codes of all types of a local shape, of which `shape` is the code. */
struct shape_types {
	int n;
	uint64_t code[SHAPE_TYPES_MAX];
};

void shape_types_list(struct shape_types *out, uint64_t shape,
                      const uint8_t *size_class, int natoms);

/* Writes the padded extents of a tile, [rank]. */
void stacks_extents(int64_t *extent, const struct stacks *t, const struct synth *s);

/*
 * Lists of different atoms by number: the empty one is 0, and `after[list][atom]` is the
 * list with one more atom at its end. Lists are as many as there are ways to choose.
 */
struct lists {
	int n;
	int16_t after[LISTS_MAX][CODE_ATOMS_MAX];
	uint8_t count[LISTS_MAX], atom[LISTS_MAX][CODE_ATOMS_MAX];
};

void lists_make(struct lists *out, int natoms);

/* Returns the list that has `n` more atoms. */
static inline int lists_append(const struct lists *lists, int list, const uint8_t *atom,
                               int n)
{
	for (int k = 0; k < n; k++)
		list = lists->after[list][atom[k]];
	return list;
}

/* A move of the top `n` atoms of one dimension to another. */
struct block_move {
	uint8_t from, to, n;
	int next;     /* the first move from a later dimension */
	uint64_t add; /* to the code */
};

struct block_moves {
	int n;
	struct block_move move[CODE_MOVES_MAX];
};

/*
 * Lists the moves of blocks that all-to-alls from a type with these extents are made
 * of, by rising from, n, to.
 */
void block_moves_list(struct block_moves *out, const struct stacks *t,
                      const int64_t *extent, const struct synth *s);

/* The moves of one step, in any order. */
struct chosen {
	int n;
	const struct block_move *move[TYPE_RANK_MAX / 2];
};

/*
 * Returns the list of the atoms that they move, by rising dimension of arrival, which
 * is the order in which steps list their atoms.
 */
int chosen_list(const struct lists *lists, const struct stacks *t,
                const struct chosen *chosen);

#endif
