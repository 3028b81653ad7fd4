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
	const struct instruction *op;
	const struct op_rule *rule;
	/* [rule->ntensors]; NULL: it is made anew as it is wanted. */
	const struct sharding *const *tensor;
	const struct program *program;
	const struct mesh *mesh;
	struct arena *a;
	double ring_bytes; /* the least that goes round (choose_xla()); 0: nothing does */
};

/*
 * A matmul that runs part by part: instead of being gathered or scattered one array, in as
 * many parts as there are devices, goes round from device to device, beside the matmuls.
 */
struct einsum_ring {
	/*
	 * What goes round: 0 or 1, an operand that would be gathered; 2, the result that would be
	 * summed and scattered, whose parts become sums on their way; -1: nothing does.
	 */
	int32_t tensor;
	int32_t factor; /* along which it is in parts; `out` of choose_xla() does not split it */
	struct axes axes; /* that the parts are over */
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

/*
 * XLA's choice, op by op (xla/service/spmd). Elementwise ops run where two operands are laid
 * out alike, else as the result is; reductions as their operand is; broadcasts and transposes
 * as the result is, and so do slices, padding and windows; reshapes as the result is if that
 * maps to the operand, else as the operand is if that maps to the result, else whole. The
 * joined or sorted dimension of a concatenation or sort is whole, its axes go to another
 * dimension that they divide. Look-ups are choose_look()'s.
 *
 * Matmuls: as long as there are devices left, all of them go to the batch if two arrays have
 * it so alike, or to an operand's free dimensions if the result has them so, the other operand
 * is then gathered. Else a group of them goes to the batch where an operand and the result
 * agree, to a free dimension likewise, of two the one for which less is gathered, or to
 * contracted dimensions that both operands split alike, over which the result is summed. What
 * is left is as the result has it. Groups are looked for once more where two arrays are split
 * into as many parts, but over other devices: the other one's change places. What a
 * convolution's window moves over is a free dimension of its left operand.
 *
 * A matmul is a windowed einsum, before all devices go to an operand's free dimensions, if the
 * other operand is split over all of them along one dimension and would be gathered; or if both
 * operands are split over them alike along what is contracted, and the result along a free
 * dimension. What is gathered or summed must have `ring_bytes` in all, there must be at most 32
 * devices, and they divide the dimension (XLA adds zeros where they do not). `ring` says so; of
 * what is read by others, and of what it takes, the caller knows more.
 */
void choose_xla(struct axes *out, struct einsum_ring *ring, const struct choosing *c);

/*
 * XLA's choice for gathers and scatters. Batches come first, those that an iota counts, too.
 * Of three ways to go on the cheapest does, then of the other two, each as far as it needs other
 * devices than are given out: dimensions of the array that go through; dimensions that
 * are looked up, where each device finds what it has, and gathers are summed; those of the
 * indices, where scatters are summed. The cheapest needs the least memory, for the op or one
 * collective around it, and then sends the fewest bytes, with all else whole; ties go in this
 * order. What is left is as the result has it.
 */
void choose_look(struct axes *out, const struct choosing *c);

/*
 * Cuts a list before the first digit that the other one has. Returns whether something was cut
 * off.
 */
bool choose_cut(struct axes *list, const struct axes *taken);

/* Writes the axes of a tensor's factor as it is laid out; false if the tensor has not the factor. */
bool choose_axes(struct axes *out, const struct choosing *c, int32_t tensor,
                 int32_t factor);

#endif
