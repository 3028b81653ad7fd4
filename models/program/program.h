/*
 * A program of one step: what a compiler's dump says is done, on every device alike.
 *
 * Computations of HLO and functions and regions of StableHLO are regions here: lists of ops in
 * the order of the text. A region that several ops call is there once; how often it runs
 * is its `runs`, which is multiplied by the trips of the loops around it.
 *
 * A value is one array (a leaf of a tuple). Ops are joined by values: the operands of an op
 * are its operands' leaves in order, so that a loop has the values that it carries, whether
 * the text packs them into a tuple or not. Tuples, get-tuple-element, barriers and the ends
 * of asynchronous ops make no arrays: their values are other names, and `same` of a value
 * is what it is a name of. Operands are never other names.
 *
 * Names, values and texts of attributes are parts of the text that was read, which the
 * program keeps; all memory is its arena's.
 */
#ifndef SHARDSIM_PROGRAM_PROGRAM_H
#define SHARDSIM_PROGRAM_PROGRAM_H

#include "array/array.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/list.h"
#include "program/opcode.h"

#include <stdbool.h>

struct plan;

/* A part of a text that is kept elsewhere; it need not end with a zero. */
struct span {
	const char *at; /* NULL: there is none */
	int32_t length;
};

/* Whole numbers of an attribute, `dimensions={0,2}`. */
struct ints {
	int32_t n;
	const int64_t *at;
};

static inline bool ints_have(struct ints list, int64_t n)
{
	for (int32_t i = 0; i < list.n; i++)
		if (list.at[i] == n)
			return true;
	return false;
}

/* Numbers of values, ops or devices. */
struct numbers {
	int32_t n;
	const int32_t *at;
};

/* Where a value is kept: layouts of HLO on TPUs say it as S(1), S(5). */
enum { SPACE_DEVICE = 0, SPACE_ON_CHIP = 1, SPACE_HOST = 5 };

/*
 * The type of a value, global in annotated programs, what one device holds in partitioned
 * ones. Dimensions may be 0. `dtype` is one of array/array.h, or one without bits: token,
 * opaque.
 */
struct value_type {
	const struct dtype *dtype;
	int32_t rank;
	uint8_t space;
	const int64_t *dim;
	const int8_t *layout; /* [rank], minor to major; NULL: not said */
};

struct value {
	struct value_type type;
	int32_t op;   /* that makes it */
	int32_t same; /* the value that it is another name of; itself: of none */
};

/* Which devices an op talks to: numbers as of struct program. */
struct replica_groups {
	int32_t ngroups;
	int32_t size;         /* of the largest group */
	const int32_t *first; /* [ngroups + 1] into ids */
	const int32_t *ids;
};

enum async { ASYNC_NONE, ASYNC_START, ASYNC_UPDATE, ASYNC_DONE };

struct collective_attr {
	int32_t groups;    /* number in program->groups; -1: it has pairs */
	struct ints pairs; /* source_target_pairs: source, target, source, ... */
	int64_t channel;   /* channel_id; -1: none */
	bool global_ids;   /* use_global_device_ids */
	/*
	 * The step of a plan that it is, where neither groups nor pairs say what is sent:
	 * boxes of a change of layout (program/partition/). NULL: they do.
	 */
	const struct plan *plan;
	int32_t step;
};

struct dot_attr {
	struct ints lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
};

/* A window over dimensions; those without a number are n times 1 (pads: 0). */
struct window {
	int32_t n;
	const int64_t *size, *stride, *low, *high, *lhs_dilate, *rhs_dilate;
	const bool *reversal;
};

/* Of a convolution: which dimension of each array is which, as dim_labels says. */
struct conv_attr {
	struct window window;
	int32_t nspatial;
	int32_t batch, feature, kernel_in, kernel_out, out_batch, out_feature;
	const int32_t *spatial, *kernel_spatial, *out_spatial; /* [nspatial] */
	int64_t feature_groups, batch_groups;
};

/* Of slice (starts, limits, strides) and pad (low, high, interior). */
struct slice_attr {
	struct ints start, limit, stride;
};

/* Of gather and scatter, under the names of gather. */
struct index_attr {
	struct ints offset_dims;          /* update_window_dims */
	struct ints collapsed_slice_dims; /* inserted_window_dims */
	struct ints start_index_map;      /* scatter_dims_to_operand_dims */
	struct ints operand_batching_dims, indices_batching_dims;
	int64_t index_vector_dim;
	struct ints slice_sizes; /* of gather */
};

struct custom_attr {
	struct span target;
	struct span config; /* backend_config */
	bool known;         /* it is priced as what it is; others by their bytes */
	/* Of the sizes that `config` tells, the part that a device has; 0: all. Shapes are its own. */
	double share;
};

/* Of sdy.manual_computation: shardings of operands and results, and the axes by hand. */
struct manual_attr {
	struct span in, out, axes;
};

struct constant_attr {
	bool known; /* a scalar whose number is `value` */
	double value;
	const int64_t *table; /* of a vector that a partitioner made, its numbers; else NULL */
};

struct loop_attr {
	int64_t trips;
	bool known; /* else trips is 1 and a warning was given */
};

struct instruction {
	enum opcode code;
	enum async async;
	int32_t pair; /* of an asynchronous op: the start of its end, the end of its start */
	int32_t region; /* that it stands in */
	int32_t line;   /* of the text, from 1 */
	int32_t first_value, nvalues;
	/*
	 * The values that it computes: all of them, or of the start of an asynchronous op those
	 * that its end gives out, without the operands and contexts that stand beside them.
	 */
	int32_t first_result, nresults;
	int32_t first_operand, noperands; /* into program->operand */
	int32_t first_called, ncalled; /* into program->called: condition before body */
	struct span name;
	/*
	 * The op in the text from its name on, and what is blank behind it; of an argument of MLIR
	 * the attributes behind its type, `{..}`, of no length where there are none.
	 */
	struct span written;
	struct span op_name;     /* metadata: what the program's author called it */
	struct span source_file; /* metadata; at NULL: not said */
	int32_t source_line;     /* 0: not said */
	struct span sharding;    /* HLO's or Shardy's, as it is spelled */
	struct span frontend;    /* frontend_attributes */
	struct span rule;        /* sdy.sharding_rule, as it is spelled */
	/* dimensions, sizes of dynamic-slice, iota's, lengths of fft */
	struct ints dims;
	int64_t index;         /* of get-tuple-element, parameter and sharding-group */
	struct span direction; /* of compare; allowed_direction of a propagation barrier */
	struct span applies; /* of reduce: `stablehlo.add`, where no region says it */
	union {
		const struct collective_attr *collective;
		const struct dot_attr *dot;
		const struct conv_attr *conv;
		const struct window *window; /* reduce-window, select-and-scatter */
		const struct slice_attr *slice;
		const struct index_attr *gather;
		const struct custom_attr *custom;
		const struct constant_attr *constant;
		struct loop_attr *loop;
		const struct manual_attr *manual;
	} as; /* by `code`; NULL where the op has none */
};

enum region_kind {
	REGION_CODE,  /* the entry, what is called, bodies, conditions, branches */
	REGION_FUSED, /* of one fusion: its ops are one kernel */
	REGION_APPLIED, /* to_apply of a reduction, a sort, a scatter: to_apply's elements */
};

struct region {
	struct span name;
	enum region_kind kind;
	int32_t nops;
	const int32_t *op;                  /* [nops] in the order of the text */
	struct numbers param, result;       /* values */
	const struct span *result_sharding; /* [result.n] of functions of MLIR; else NULL */
	/* There, too, attributes behind the types, as `written` has those of an argument. */
	const struct span *result_written;
	struct span result_type; /* of a function with one type and no brackets around it */
	double runs;             /* in one step; 0: it is never called, or applied */
	int32_t line;
};

/* A buffer of an argument that a result takes over. */
struct alias {
	int32_t result;    /* leaf of the result; -1: the argument is given away */
	int32_t parameter; /* leaf of the parameters */
};

enum stage { STAGE_ANNOTATED, STAGE_PARTITIONED, STAGE_OPTIMISED };

struct warning {
	int32_t line; /* of the program's text; 0: of no line */
	const char *text;
};

struct program {
	struct arena *arena; /* borrowed: the caller's */
	const char *file;    /* as errors name it */
	const char *text;    /* that was read: names and attributes are parts of it */
	struct span name;
	enum stage stage;
	bool scheduled; /* the order of the text is that of execution */
	/*
	 * Devices that run the program together, replicas times partitions; groups and pairs
	 * name them replica * partitions + partition.
	 */
	int32_t ndevices, replicas, partitions;
	bool counted;  /* no text says how many partitions: its devices are counted */
	int32_t entry; /* region */
	const int32_t *calls_first; /* all regions, each behind those that it calls */
	LIST(struct value) value;
	LIST(struct instruction) op;
	LIST(int32_t) operand;
	LIST(int32_t) called;
	LIST(struct region) region;
	LIST(struct replica_groups) groups;
	LIST(struct alias) alias;
	LIST(struct span) mesh; /* the sdy.meshes of the text: `@name = <["x"=2]>` */
	LIST(struct warning) warning;
};

/* Returns whether a part of a text is this text. */
bool span_is(struct span s, const char *text);

/*
 * Reads a program; whether it is HLO's text or StableHLO's is told by how it begins. `file` names
 * it in errors. The text is copied. Everything is checked that others rely on: operands and
 * regions are there, numbers of dimensions are in range, regions do not call each other
 * in a circle. Errors have the place of what is wrong.
 */
enum status program_of_text(struct program *out, struct arena *a, const char *text,
                            size_t length, const char *file, struct error *e);

/* Reads a file of at most INPUT_MAX bytes (base/input.h). */
enum status program_read(struct program *out, struct arena *a, const char *path,
                         struct error *e);

/*
 * Sets the trips of the loops named NAME (of the op, or of its body) and counts anew how often
 * regions run. Returns how many loops there are of this name.
 */
int program_set_trips(struct program *p, const char *name, int64_t trips);

/* Counts how often regions run, by the trips of their loops; of branches the costliest one does. */
void program_count_runs(struct program *p);

/* Appends a warning; a text that is there already is not repeated. */
void program_warn(struct program *p, int32_t line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns value number k of an op's operands, or the region number k that it calls. */
static inline int32_t op_operand(const struct program *p, const struct instruction *op,
                                 int32_t k)
{
	return p->operand.at[op->first_operand + k];
}

static inline int32_t op_called(const struct program *p, const struct instruction *op,
                                int32_t k)
{
	return p->called.at[op->first_called + k];
}

/*
 * Returns what a reduction does with two elements: the op that it applies, the last one of
 * those that it applies together, an addition where nothing is said, as of all-reduces that
 * were put into a program.
 */
enum opcode op_applied(const struct program *p, const struct instruction *op);

int64_t value_elements(const struct value_type *t);
int64_t value_type_bytes(const struct value_type *t);

/* Returns the bytes of an op's operands, or of the values that it computes. */
int64_t op_operand_bytes(const struct program *p, const struct instruction *op);
int64_t op_result_bytes(const struct program *p, const struct instruction *op);

const char *stage_name(enum stage s);

#endif
