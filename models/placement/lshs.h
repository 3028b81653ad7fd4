/*
 * Block graphs, and where their operations run: the scheduler LSHS of NumS (Elibol et al.,
 * arXiv 2206.14276, section 5) and round-robin, as baselines to sharded programs that use
 * collectives (models/README.md, "Block graphs").
 *
 * Arrays are cut into blocks; an expression over arrays is a graph of operations on
 * blocks. Devices are numbered from 0, and neighbours share nodes. An operand that is not on
 * the device of its operation is copied there whole, from its first holder, and stays there.
 *
 * Loads are a matrix of memory, bytes received and bytes sent by device. A block that an
 * operation makes and every copy count in memory; a copy counts in what the one device
 * sends and the other receives, inside of a node a tenth of it. The price of a placement is
 * the sum over the three rows of the largest entry.
 *
 * LSHS: of all operations that are ready and all devices the pair with the least price is
 * taken next, the first of equal ones. Operations that are pinned, the last ones of
 * expressions, run where the result is to be. A sum of more than two blocks is made of
 * sums of two: of those that are there, two that lie on one device, else on one node, else
 * the first two.
 * Round-robin: operations in order, each on the next device, sums of the first two blocks
 * that are there.
 */
#ifndef SHARDSIM_PLACEMENT_LSHS_H
#define SHARDSIM_PLACEMENT_LSHS_H

#include "base/arena.h"
#include "base/list.h"

#include <stdbool.h>
#include <stdint.h>

/* An operation, or where it has no operands a block that is there from the start. */
struct block_op {
	int32_t nin;
	const int32_t *in; /* numbers of operations before it */
	double bytes;      /* of the block that it makes */
	int32_t device;    /* where a block is, or the operation is pinned; -1: free */
	bool sum;          /* of any number of operands, in any order */
};

struct block_graph {
	struct arena *arena;
	int32_t ndevices, per_node; /* neighbouring devices of a node */
	LIST(struct block_op) op;
};

/* Add a block on a device, and an operation; each returns its number. `in` is copied. */
int32_t block_there(struct block_graph *g, double bytes, int32_t device);
int32_t block_make(struct block_graph *g, double bytes, int32_t device, bool sum,
                   const int32_t *in, int32_t nin);

/* A block that goes from one device to another for an operation of some depth. */
struct block_copy {
	int32_t src, dst, level; /* operations of a level need none of their own level */
	double bytes;
};

enum { LOAD_MEMORY, LOAD_IN, LOAD_OUT, LOADS };

struct block_run {
	LIST(struct block_copy) copy;
	int32_t levels;
	double *load[LOADS]; /* [ndevices], as LSHS counts them */
};

enum block_policy { POLICY_LSHS, POLICY_ROUND_ROBIN };

/* Places all operations of a graph; the run is the arena's. */
void block_place(struct block_run *out, const struct block_graph *g,
                 enum block_policy policy, struct arena *a);

/* Returns the price of loads: the sum over the rows of the largest entry. */
double block_price(const struct block_run *r, int32_t ndevices);

#endif
