/*
 * How operations hand shardings on: each as an einsum over factors, as Shardy has it
 * (openxla/shardy, op_sharding_rule_registry). Every dimension of every operand and result is
 * a list of factors, major first; dimensions that have a factor in common are sharded
 * alike along it.
 *
 *	dot of f32[8,16] and f32[16,32]    ([i, k],[k, j])->([i, j]) {i=8, j=32, k=16} reduction={k}
 *	reshape f32[2,12] to f32[8,3]      ([i, jk])->([ij, k]) {i=2, j=4, k=3}
 *
 * Loops, branches and calls have no rule: what they carry is an edge of the data flow
 * (program/propagate.h).
 */
#ifndef SHARDSIM_PROGRAM_RULES_H
#define SHARDSIM_PROGRAM_RULES_H

#include "program/program.h"

enum factor_kind {
	FACTOR_PASS,      /* of operands and results alike */
	FACTOR_REDUCE,    /* sharded, the results are partial sums */
	FACTOR_REPLICATE, /* the op needs it whole on each device */
	FACTOR_PERMUTE,   /* sharded, neighbours exchange their borders */
};

struct factor {
	int64_t size;
	enum factor_kind kind;
	bool blocked; /* shardings are not handed on along it */
};

/* The factors of a dimension, major first; at least one. */
struct rule_dim {
	int32_t n;
	int32_t *at;
};

struct rule_tensor {
	int32_t value; /* of the program */
	int32_t rank;
	struct rule_dim *dim;
};

struct op_rule {
	int32_t noperands, ntensors; /* results stand behind the operands */
	struct rule_tensor *tensor;
	LIST(struct factor) factor;
	bool elementwise; /* of one shape, element by element */
};

/*
 * Makes the rule of an op, in the arena. Returns false for ops that hand nothing on (unknown
 * custom calls, ops without operands or results of dimensions, and those whose dimensions do
 * not fit together as the op demands) and those that are edges of the data flow.
 */
bool op_rule_of(struct op_rule *out, struct arena *a, const struct program *p,
                const struct instruction *op);

/*
 * As op_rule_of(), but for gathers and scatters whose indices count, by an iota, the elements of
 * one of their own dimensions: that and the dimension that is looked up in go together like a
 * batch, as in XLA (hlo_sharding_util.cc, GetGatherScatterIndexParallelDims).
 */
bool op_rule_parallel(struct op_rule *out, struct arena *a, const struct program *p,
                      const struct instruction *op);

/* Prints a rule as Shardy does, without the `#sdy.op_sharding_rule<>` around it. */
void op_rule_print(struct text *out, const struct op_rule *r);

#endif
