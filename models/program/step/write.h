/*
 * Writing the text of a step's program: arrays, ops, and computations that the entry calls.
 * Private to program/step.
 */
#ifndef SHARDSIM_PROGRAM_STEP_WRITE_H
#define SHARDSIM_PROGRAM_STEP_WRITE_H

#include "base/list.h"
#include "program/step.h"

enum { ARRAY_RANK = 4, COMBINED_MAX = 32 };

/* An array of the program: `%vN`, its dtype's name and dimensions. */
struct array_of {
	int32_t number;
	const char *type;
	int rank;
	int64_t dim[ARRAY_RANK];
};

enum step_axis {
	AXIS_PIPELINE,
	AXIS_DATA,
	AXIS_FSDP,
	AXIS_CONTEXT,
	AXIS_TENSOR,
	AXIS_EXPERT,        /* the minor part of data x fsdp */
	AXIS_EXPERT_SHARES, /* the rest of data x fsdp */
	AXIS_EXPERT_NODES,  /* the major part of AXIS_EXPERT, over nodes */
	AXIS_EXPERT_INSIDE, /* the minor one */
	STEP_AXES
};

struct step_writer {
	struct arena *a;
	struct text done; /* computations that are whole */
	struct text body; /* of the one that is being written */
	int32_t arrays, computations;
	int64_t channels;
	bool eager;
	const char *part; /* of op_name: "forward", "backward", ... */
	int64_t degree[STEP_AXES];
	int64_t devices;
	LIST(struct array_of) params; /* of the computation that is being written */
};

struct array_of array_new(const char *type, int rank, int64_t d0, int64_t d1,
                          int64_t d2, int64_t d3);
double array_elements(const struct array_of *x);

/* Begins a computation; write_param() gives its parameters, write_end() its name. */
void write_begin(struct step_writer *w);
struct array_of write_param(struct step_writer *w, struct array_of shape);
const char *write_end(struct step_writer *w, const struct array_of *results, int n,
                      bool entry);

/* Calls a computation; `results` come with their shapes and get their numbers. */
void write_call(struct step_writer *w, const char *name, const struct array_of *in,
                int nin, struct array_of *results, int n);

/*
 * One kernel that makes an array of the shape `out` from others, element by element: of those
 * of another shape it reads what there is of them (a vector along the last dimension, halves
 * of a wider one).
 */
struct array_of write_combine(struct step_writer *w, const char *name,
                              struct array_of out, const struct array_of *in, int n);

/* The sum over all dimensions but the last: gradients of norms and biases. */
struct array_of write_reduce(struct step_writer *w, const char *name, struct array_of x);

/* Results are of the type given. x [.., k] times y [k, n]; of `back` x [.., n] times the transpose of y [k, n]. */
struct array_of write_dot(struct step_writer *w, const char *name, const char *type,
                          struct array_of x, struct array_of y, bool back);

/* The transpose of x [m, k] times y [m, n]: a gradient [k, n]. */
struct array_of write_dot_grad(struct step_writer *w, const char *name,
                               const char *type, struct array_of x, struct array_of y);

/* Another name with other dimensions. */
struct array_of write_view(struct step_writer *w, struct array_of x, int rank,
                           int64_t d0, int64_t d1, int64_t d2, int64_t d3);

/* Collectives along an axis; none where its degree is 1. `dim` is what grows or shrinks. */
struct array_of write_gather(struct step_writer *w, enum step_axis axis,
                             struct array_of x, int dim);
struct array_of write_scatter(struct step_writer *w, enum step_axis axis,
                              struct array_of x, int dim);
struct array_of write_sum(struct step_writer *w, enum step_axis axis, struct array_of x);
struct array_of write_all_to_all(struct step_writer *w, enum step_axis axis,
                                 struct array_of x, int dim);
struct array_of write_shift(struct step_writer *w, enum step_axis axis,
                            struct array_of x);

/*
 * Collectives of several arrays in one, as frameworks bundle the parameters of a layer: all are
 * vectors. `op` is "all-gather", "reduce-scatter" or "all-reduce"; x is replaced.
 */
void write_bundle(struct step_writer *w, const char *op, enum step_axis axis,
                  struct array_of *x, int n);

/* The rows of a table that numbers name: out[i] = x[rows[i]]. */
struct array_of write_rows(struct step_writer *w, const char *name, struct array_of x,
                           int64_t rows);

/* Adds rows to those of a table of the shape `table`, the gradient of write_rows(). */
struct array_of write_add_rows(struct step_writer *w, const char *name,
                               struct array_of table, struct array_of rows);

/* An op of several results, which get numbers. */
void write_tuple_op(struct step_writer *w, const char *op, const char *name,
                    const struct array_of *in, int nin, struct array_of *out, int n,
                    const char *text);

/* Says that a value is computed although nobody reads it: eager frameworks drop nothing. */
void write_keep(struct step_writer *w, struct array_of x);

/*
 * A counted loop that carries arrays: `body` is given them as its trip has them, and puts what
 * the next trip is to have in their place. Afterwards they are what the last trip left.
 */
void write_loop(struct step_writer *w, int64_t trips, struct array_of *x, int n,
                void (*body)(void *self, struct array_of *x), void *self);

/* The same numbers as another type; x itself if it is of that. */
struct array_of write_convert(struct step_writer *w, struct array_of x,
                              const char *type);

/* A scalar 0 of a type. */
struct array_of write_zero(struct step_writer *w, const char *type);

/* Any other op on arrays: `text` is what stands behind its operands, or "". */
struct array_of write_op(struct step_writer *w, const char *op, const char *name,
                         struct array_of out, const struct array_of *in, int n,
                         const char *text);

#endif
