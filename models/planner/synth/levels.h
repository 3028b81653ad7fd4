/*
 * What steps of the exact search cost: known by the size of the tiles that they start from
 * and the list of the atoms that they move, and asked once.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_LEVELS_H
#define SHARDSIM_PLANNER_SYNTH_LEVELS_H

#include "planner/synth/code.h"
#include "planner/synth/rest.h"

/* Sizes of tiles: products of atoms. */
enum { LEVELS_MAX = 1 << CODE_ATOMS_MAX };

/* Of collectives from tiles of one size. */
enum list_price { PRICE_ALL_TO_ALL, PRICE_GATHER, PRICE_UNPACK, LIST_PRICES };

/* A price; of one above `most_cost` no more is known. */
struct asked {
	bool known;
	double most_cost;
	struct price price;
};

/* A size of tiles. */
struct level {
	int64_t elements, bytes;
	double rest_cost; /* of gathers up to the tile of the target, at least */
	double step_cost; /* of an all-to-all, at least */
	double move_cost; /* of an all-to-all or a permute, at least */
	struct asked permute, slice;        /* slice: that leads to this level */
	struct asked *by_list[LIST_PRICES]; /* [lists]: by the atoms in their order */
};

struct levels {
	const struct coded *coded;
	bool bounded; /* the bounds above are known, else 0 */
	struct lists lists;
	struct rest rest;
	int n;
	struct level level[LEVELS_MAX];
};

void levels_init(struct levels *out, const struct coded *coded, bool bounded);
void levels_free(struct levels *x);

/* The number of the level of tiles of so many elements. */
int levels_find(struct levels *x, int64_t elements);

/*
 * The price of a collective over a list of atoms; one above `most_cost` need be no more
 * than that.
 */
const struct price *levels_collective(struct levels *x, int level, enum list_price kind,
                                      int list, double most_cost);

/* The least cost of any all-to-all or permute from tiles of a level: much is asked. */
double levels_least_move(struct levels *x, int level);

/* The price of permuting tiles of a level. */
const struct price *levels_permute(struct levels *x, int level);

/* The price of the slice that leads from the source to a type of a level. */
const struct price *levels_slice(struct levels *x, int level, uint64_t to);

#endif
