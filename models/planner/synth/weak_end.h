/*
 * How plans through a pattern may end, for the search on weak types (weak.h): what a pattern
 * still needs to be the target, the candidates that its last steps make, and the least that
 * all others cost.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_WEAK_END_H
#define SHARDSIM_PLANNER_SYNTH_WEAK_END_H

#include "planner/synth/weak.h"

/* Returns the class of the size of a symbol. */
int weak_class(const struct weak *weak, uint8_t symbol);

/* Return the extent of a dimension of a tile, and the elements of a tile. */
int64_t weak_extent(const struct weak *weak, const struct type *t, int dim);
int64_t weak_elements(const struct weak *weak, const struct type *t);

/* Returns the number of symbols that a pattern lists. */
int weak_listed(const struct type *t);

struct weak_needs {
	bool mismatch;     /* whether some atom lies where the target wants another */
	int64_t misplaced; /* product of the sizes of the atoms from there upwards */
	int64_t missing;   /* product of the sizes that dimensions have too few of */
	int nshort;        /* dimensions that match, but hold too few atoms, */
	uint8_t shorts[TYPE_RANK_MAX];
};

/*
 * Returns the product of the sizes that dimension `dim` of the target has more of than
 * `t`.
 */
int64_t weak_missing(const struct weak *weak, const struct type *t, int dim);
struct weak_needs weak_needs_of(const struct weak *weak, const struct type *t);

/* Returns the whole plan's price when the flat part up to pattern `t` costs `flat`. */
struct price weak_whole_price(const struct weak *weak, const struct type *t,
                              struct price flat, int64_t elements);

/* Returns whether no plan of this price is better than the best candidate. */
bool weak_too_dear(const struct weak *weak, struct price whole);

/* Adds the candidates that end the flat part in or after a state. */
void weak_finish(struct weak *weak, int32_t state, const struct weak_needs *needs);

/*
 * Returns the least that any plan through a state costs that weak_finish() did not offer:
 * two more all-to-alls, the smallest block in one and all else in the other, or one
 * all-to-all and a permute, which is never cheaper.
 */
struct price weak_least_price(const struct weak *weak, int32_t state,
                              const struct weak_needs *needs);

#endif
