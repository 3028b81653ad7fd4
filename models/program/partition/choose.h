/*
 * How an op runs on sharded arrays: which axes each factor of its rule (program/rules.h) is
 * split over while it runs. Operands that are laid out otherwise are resharded before it,
 * results after it. Private to partition/.
 */
#ifndef SHARDSIM_PROGRAM_PARTITION_CHOOSE_H
#define SHARDSIM_PROGRAM_PARTITION_CHOOSE_H

#include "program/partition/partition.h"
#include "program/rules.h"

/* An op, and how its arrays are laid out by propagation. */
struct choosing {
	const struct op_rule *rule;
	/* [rule->ntensors]; NULL: it is made anew as it is wanted. */
	const struct sharding *const *tensor;
	const struct program *program;
	const struct mesh *mesh;
	struct arena *a;
};

/*
 * Shardy's choice, its explicit reshards in their full version (openxla/shardy,
 * transforms/export/explicit_reshards_util.cc). Where all arrays agree on every factor, no
 * array's axes meet, and nothing that must be whole is sharded, all stays as it is. Else:
 *
 * Of two arrays, where no factor must be whole and no dimension has several, the one is kept
 * that has no sharded permutation, is larger, has more shards, stands first, in this order.
 * Factors of the other one alone keep their axes up to the first that the kept array has.
 *
 * Else axes are handed out greedily. A candidate is a factor with a list of axes that begins
 * what some array has there. The best is that whose arrays have the most elements together,
 * whose kind of factor comes first (pass, reduce, permute), whose largest array is larger on
 * one device as far as is decided, which has more shards, whose factor comes later, then whose
 * axes do by name. Factors behind others in a dimension wait until these are full. What is
 * taken is cut off the other factors' lists from there on.
 *
 * Axes that all arrays have in common on a factor that must be whole go to factors of all
 * arrays that they divide, in the order of the factors.
 *
 * `out` has room for the rule's factors; what it points to is the arena's.
 */
void choose_shardy(struct axes *out, const struct choosing *c);

/* Writes the axes of a tensor's factor as it is laid out; false if the tensor has not the factor. */
bool choose_axes(struct axes *out, const struct choosing *c, int32_t tensor, int32_t factor);

#endif
