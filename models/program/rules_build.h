/* Making rules: factors, and the dimensions that have them. Private to rules*.c. */
#ifndef SHARDSIM_PROGRAM_RULES_BUILD_H
#define SHARDSIM_PROGRAM_RULES_BUILD_H

#include "program/rules.h"

struct rule_build {
	struct arena *a;
	const struct program *p;
	const struct instruction *op;
	struct op_rule *r;
	bool bad;      /* a dimension that a tensor has not */
	bool parallel; /* op_rule_parallel() */
};

/* Adds a factor and returns its number. */
int32_t rule_factor(struct rule_build *b, int64_t size, enum factor_kind kind,
                    bool blocked);

/* Appends a factor to a dimension, as its minor-most. */
void rule_put(struct rule_build *b, int32_t tensor, int64_t dim, int32_t factor);

/* The type of a tensor of the rule. */
const struct value_type *rule_type(const struct rule_build *b, int32_t tensor);

/* The size of a dimension; 1, and a bad rule, where the tensor has it not. */
int64_t rule_size(struct rule_build *b, int32_t tensor, int64_t dim);

/*
 * Whether the text says the rule of an op, `sdy.sharding_rule = #sdy.op_sharding_rule<([i, j],
 * [j])->([i]) {i=4, j=2} reduction={j}>`; rule_read() reads it, false where it does not fit.
 */
bool rule_is_said(const struct instruction *op);
bool rule_read(struct rule_build *b);

/* Rules of ops that look elements up (rules_index.c) and of windows (rules_window.c). */
void rule_dynamic_slice(struct rule_build *b);
void rule_dynamic_update(struct rule_build *b);
void rule_gather(struct rule_build *b);
void rule_attention(struct rule_build *b);
void rule_scatter(struct rule_build *b);
void rule_convolution(struct rule_build *b);
void rule_reduce_window(struct rule_build *b);
bool rule_reshape(struct rule_build *b); /* false: without elements there is none */

#endif
