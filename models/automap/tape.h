/*
 * Writing a program with its gradients: ops are written as HLO's text, one after another,
 * and noted on a tape, from which the backward pass is written by one rule per op.
 *
 * A block is a computation of one differentiable result; its backward pass is a second
 * computation, which takes the gradient of the result and of the block's values those
 * that it reads, and gives the gradients of the block's arguments. What is only a scalar
 * or an array written larger (broadcast) is not kept for the backward pass but made anew
 * there, from the argument again where it is made of one.
 */
#ifndef SHARDSIM_AUTOMAP_TAPE_H
#define SHARDSIM_AUTOMAP_TAPE_H

#include "base/arena.h"
#include "base/list.h"

#include <stdbool.h>

enum { TERM_RANK = 6, TAPE_INPUTS = 4 };

/* An array of the program: `%vN`, its dtype's name and dimensions. */
struct term {
	int32_t number; /* -1: none */
	const char *type;
	int rank;
	int64_t dim[TERM_RANK];
};

enum tape_kind {
	TAPE_ARGUMENT,
	TAPE_CONSTANT, /* a scalar */
	TAPE_ELEMENT,  /* elementwise; `op` says which */
	TAPE_DOT,      /* of two arrays, by letters: "bsh,hf->bsf" */
	TAPE_BROADCAST,
	TAPE_SUM,
	TAPE_MAX, /* without a gradient: of a softmax it has none */
	TAPE_RESHAPE,
	TAPE_TRANSPOSE,
	TAPE_ROWS,     /* rows of a table that indices name */
	TAPE_ADD_ROWS, /* added to rows of a table of zeros */
	TAPE_ATTENTION
};

struct tape_node {
	enum tape_kind kind;
	const char *op; /* elementwise opcode, letters of a dot */
	int n;
	struct term in[TAPE_INPUTS], out;
	int64_t dim[TERM_RANK]; /* of broadcast, sum, max, transpose */
	int ndims;
	double value;
	int batch; /* of rows: leading dimensions that table and indices share */
	bool causal;
	bool torch; /* attention by the kernel that PyTorch has, not the machine's best */
};

struct tape {
	struct arena *a;
	struct text done, body;
	int32_t terms, computations;
	const char *part; /* what op_name begins with: forward, backward, update */
	LIST(struct tape_node) node;
};

struct term term_new(const char *type, int rank, const int64_t *dim);

/* --- ops of the computation that is being written --- */

struct term tape_argument(struct tape *t, const char *type, int rank,
                          const int64_t *dim);
struct term tape_scalar(struct tape *t, const char *type, double value);
struct term tape_element(struct tape *t, const char *op, struct term a, struct term b);
struct term tape_unary(struct tape *t, const char *op, struct term a);
struct term tape_convert(struct tape *t, struct term a, const char *type);
struct term tape_dot(struct tape *t, const char *letters, struct term a, struct term b);
/* Dimension i of x is dimension dim[i] of the result. */
struct term tape_broadcast(struct tape *t, struct term x, struct term like,
                           const int64_t *dim);
struct term tape_sum(struct tape *t, struct term x, const int64_t *dim, int n);
struct term tape_max(struct tape *t, struct term x, const int64_t *dim, int n);
struct term tape_reshape(struct tape *t, struct term x, int rank, const int64_t *dim);
struct term tape_transpose(struct tape *t, struct term x, const int64_t *dim);
/*
 * Rows of `table`, whose first `batch` dimensions the indices have too: out[b.., i.., :]
 * = table[b.., index[b.., i..], :]. The second one is the reverse: a table of `like` to
 * whose rows those of x are added.
 */
struct term tape_rows(struct tape *t, struct term table, struct term index, int batch);
struct term tape_add_rows(struct tape *t, struct term like, struct term index,
                          struct term x, int batch);
/* q [b,s,h,d], k [b,t,g,d], v [b,t,g,e] in one kernel. */
struct term tape_attention(struct tape *t, struct term q, struct term k, struct term v,
                           bool causal, bool torch);

/* x by a number; x by a vector along its last dimension, or plus one. */
struct term tape_scaled(struct tape *t, struct term x, double by);
struct term tape_along(struct tape *t, const char *op, struct term x,
                       struct term vector, int64_t dim);

/* --- blocks --- */

struct block {
	const char *forward, *backward; /* names of the computations */
	int narguments, nsaved;
	struct term *argument;
	struct term result;
	bool *has_gradient;  /* [narguments] */
	struct term *saved;  /* what the backward pass reads: values and arguments */
	int *saved_argument; /* [nsaved]: the argument that it is; -1: a value */
};

/* Where a block ran: what its backward pass is given. */
struct block_run {
	const struct block *block;
	struct term *argument, *saved, result;
};

/* Begins a block; its ops follow, then block_end() writes both computations. */
void block_begin(struct tape *t);
void block_end(struct tape *t, struct block *out, struct term result);

/* Calls a block in the computation that is being written. */
struct block_run block_call(struct tape *t, const struct block *b,
                            const struct term *argument);

/*
 * Calls its backward pass. gradient[i] is that of argument i, of number -1 where it has
 * none.
 */
void block_call_back(struct tape *t, const struct block_run *run, struct term d,
                     struct term *gradient);

/*
 * Puts the body that was written behind the computations that are done, with parameters and a tuple
 * of results; returns its name, which begins with `kind`. The second one calls a computation of that
 * name: `results` come with their shapes and get their numbers.
 */
const char *tape_finish(struct tape *t, const char *kind, const struct term *param,
                        int nparams, const struct term *result, int nresults);
void tape_call(struct tape *t, const char *name, const struct term *in, int nin,
               struct term *results, int n);

/* Writes the computations `%add_TYPE` and `%max_TYPE` that reductions of a type apply. */
void tape_combiners(struct tape *t, const char *type);

/* Prints "TYPE[dims]" and lists of terms, with the types or as `%vN`. */
void term_print_type(struct text *out, const struct term *x);
void terms_print(struct text *out, const struct term *x, int n, bool types);

/* Private to tape*.c: the gradient of a node's inputs, -1 where one has none. */
void tape_gradient(struct tape *t, const struct tape_node *node, struct term d,
                   struct term *out);

#endif
