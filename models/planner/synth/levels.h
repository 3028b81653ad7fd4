/*
 * The prices of steps of the exact search, told by the size of the tiles that they
 * start from and the list of the atoms that they move.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_LEVELS_H
#define SHARDSIM_PLANNER_SYNTH_LEVELS_H

#include "planner/synth/code.h"
#include "planner/synth/rest.h"

/* Sizes of tiles: products of atoms. */
enum { LEVELS_MAX = 1 << CODE_ATOMS_MAX };

/* A size of tiles. */
struct level {
	int64_t elements, bytes;
	double rest_cost; /* the least of gathers up to the tile of the target */
	double step_cost; /* the least of an all-to-all */
	double move_cost; /* the least of an all-to-all or a permute */
	struct price permute;
	/*
	 * Of all-to-alls, by the list of the atoms that they move; NULL until one is
	 * asked. A search asks for each some fifteen times, of all sorts of types.
	 */
	struct price_note *all_to_all;
	bool sliced;
	struct price slice; /* that leads to this level, once it is `sliced` */
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
void levels_free(struct levels *levels);

/* Returns the number of the level of tiles of so many elements. */
int levels_find(struct levels *levels, int64_t elements);

/*
 * Return the price of an all-to-all or all-gather over a list of atoms; for one above
 * `most_cost` any price above that will do.
 */
const struct price *levels_all_to_all(struct levels *levels, int level, int list,
                                      double most_cost);
struct price levels_gather(const struct levels *levels, int level, bool unpack,
                           int list, double most_cost);

/*
 * Returns the least cost of any all-to-all or permute from tiles of a level, which asks
 * for many prices.
 */
double levels_least_move(struct levels *levels, int level);

/* Returns the price of the slice that leads from the source to a type of a level. */
const struct price *levels_slice(struct levels *levels, int level, uint64_t to);

#endif
