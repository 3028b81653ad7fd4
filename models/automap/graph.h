/*
 * A program as a search for shardings sees it: values, ops with the factors of their
 * dimensions (program/rules.h), groups of arguments that are decided on together, and
 * what each kernel reads, writes and computes. Layers that repeat are folded
 * (automap/repeat.h): what stands for several counts `weight` times. Loops are in line, their
 * bodies once, and count `times`; what a turn hands on to the next one is cut as what the loop
 * starts from.
 *
 * All arrays are whole here; what a device has of them follows from the cuts
 * (automap/cutting.h). Constants, and what is made of them alone, are left out of it all:
 * every user has them as it wants them.
 */
#ifndef SHARDSIM_AUTOMAP_GRAPH_H
#define SHARDSIM_AUTOMAP_GRAPH_H

#include "automap/repeat.h"
#include "base/pattern.h"
#include "cost/compute.h"

#include <string.h>

enum phase { PHASE_FORWARD, PHASE_BACKWARD, PHASE_UPDATE, PHASES };

/* Where a factor is: dimension `dim` of a tensor, behind `place` factors that are major to it. */
struct factor_use {
	int16_t tensor, dim, place;
};

struct graph_factor {
	int64_t size;
	bool sums; /* cut along it, results that lack it are partial sums */
	bool fixed; /* it cannot be cut: the op needs it whole, or neighbours would exchange */
	char part; /* of a matmul: b, m, n or k as in struct matmul; 0: none */
	int32_t first_use, nuses;
};

/* A dimension of a tensor of an op: its factors, major first, numbers within the op. */
struct graph_dim {
	int32_t first, n; /* into graph->factor_of */
};

struct graph_tensor {
	int32_t value;
	int32_t first_dim; /* into graph->dim; -1: the op has no rule */
};

struct graph_op {
	int32_t step; /* of the flat program */
	int32_t first_tensor, nin, nout;
	int32_t first_factor, nfactors;
	enum phase phase;
	bool linear; /* partial sums may stay partial through it */
	double weight;
	double times; /* trips of the loops around it */
};

struct graph_value {
	const struct value_type *type;
	double bytes;
	int32_t flat;     /* of the flat program */
	int32_t op, out;  /* that makes it, and which of its results; -1: an argument */
	int32_t argument; /* number of the program's argument; -1: none */
	int32_t group;    /* of an argument; -1 */
	int32_t becomes;  /* argument (a value) whose place this result takes; -1 */
	int32_t turns_into; /* the result that takes its place; -1 */
	int32_t alike; /* the next of those that are cut as it is, in a ring; itself: none */
	bool result, constant;
	bool in_memory;             /* a kernel writes it */
	int32_t first_user, nusers; /* ops, into graph->user */
	double weight;
};

/* An array that a kernel reads: as operand `tensor` of `op` has it. */
struct graph_leaf {
	int32_t op, tensor;
	double share; /* of the array that is read */
};

struct graph_kernel {
	int32_t op;
	struct compute_ask ask; /* whole; its bytes are those of leaves and results */
	int32_t first_leaf, nleaves;
	double written; /* share of the result that is written */
};

/* Data is what the step does not update; states are read by updates alone. */
enum group_role { ROLE_DATA, ROLE_PARAMETER, ROLE_STATE };

/*
 * What tells parameters and states from data (roles.c), the first of these that tells any from the
 * rest:
 *
 *   buffers   results take the place of arguments, whose buffers are donated
 *   results   a matmul, a convolution or a table reads it as a weight and a result has its
 *             dimensions (its gradient, or its next value); with such ones also what results are
 *             made of element by element, and vectors and what is broadcast if a result is left
 *             for them
 *   names     names of arguments, as JAX and PyTorch have them
 *   batches   no result has those dimensions (no gradient): all that has nothing of the first
 *             dimension of a result
 *   given     graph_weights()
 */
enum weights_rule {
	WEIGHTS_NONE,
	WEIGHTS_BUFFERS,
	WEIGHTS_NAMES,
	WEIGHTS_RESULTS,
	WEIGHTS_BATCHES,
	WEIGHTS_GIVEN
};

/* Returns "buffers", "names", ... */
const char *weights_rule(enum weights_rule rule);

struct graph_group {
	const char *name; /* of its first argument, numbers as `*` */
	int32_t first, n; /* values, into graph->member; all of one shape */
	int32_t first_argument, narguments; /* of the program, into graph->argument */
	const struct value_type *type;
	enum group_role role;
	int32_t state_of; /* of states the group of parameters that they are updated with; -1 */
	double bytes; /* of all its arguments */
};

struct graph {
	const struct program *program;
	const struct flat *flat;
	const struct repeats *repeats;
	LIST(struct graph_value) value;
	LIST(struct graph_op) op; /* in the order of the text */
	LIST(struct graph_tensor) tensor;
	LIST(struct graph_dim) dim;
	LIST(int32_t) factor_of;
	LIST(struct graph_factor) factor;
	LIST(struct factor_use) use;
	LIST(int32_t) user;
	LIST(struct graph_kernel) kernel;
	LIST(struct graph_leaf) leaf;
	LIST(struct graph_group) group;
	enum weights_rule weights;
	LIST(int32_t) member;
	LIST(int32_t) argument;
	LIST(struct flat_carry) carry; /* what loops hand on, and what it becomes */
	int32_t *value_of; /* [flat values]: the graph's value that stands for it; -1 */
	int32_t *last_use; /* [values]: the last op that reads it from memory; -1: none */
};

/*
 * Makes the graph of a program's entry; all is the arena's. With `fold` layers are
 * folded. `like`: regular expressions (POSIX, extended); arguments whose names one of
 * them matches are one group if their shapes agree. Errors have the line: a
 * collective or a part that is written for one device, as the program is cut already; or an
 * expression that is none.
 */
enum status graph_make(struct graph *out, struct arena *a, const struct program *p,
                       bool fold, const char *const *like, int nlike, struct error *e);

/*
 * Has groups be parameters whose first argument's name one of the expressions matches, and others
 * data unless they are states. Errors: an expression that is none, or matches nothing.
 */
enum status graph_weights(struct graph *g, struct arena *a, const char *const *regex,
                          int n, struct error *e);

/* Returns the name of an argument of a program: what its source calls it, else its own. */
struct span argument_name(const struct program *p, int32_t argument);

/* Returns whether the name of a group's first argument matches. */
bool group_matches(const struct graph *g, int64_t group, const regex_t *re);

/* Returns the instruction of the program that an op is. */
static inline const struct instruction *graph_instruction(const struct graph *g,
                                                          const struct graph_op *o)
{
	return &g->program->op.at[g->flat->step.at[o->step].op];
}

static inline bool same_dims(const struct value_type *a, const struct value_type *b)
{
	return a->rank == b->rank &&
	       !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof(*a->dim));
}

/* Returns the dimension d of tensor t (an index into graph->tensor). */
static inline const struct graph_dim *graph_dim_of(const struct graph *g,
                                                   int32_t tensor, int32_t d)
{
	return &g->dim.at[g->tensor.at[tensor].first_dim + d];
}

#endif
