/* One op's part of propagation. Private to propagate/ and to partition/. */
#ifndef SHARDSIM_PROGRAM_PROPAGATE_OP_H
#define SHARDSIM_PROGRAM_PROPAGATE_OP_H

#include "program/propagate.h"
#include "program/rules.h"

/* Which tensors hand axes on: operands to all, results to all, or all. */
enum direction { NOWHERE = 0, FORWARD = 1, BACKWARD = 2, BOTH = 3 };

/* An op that hands on, or an edge of the data flow as the copy that it is. */
struct flow_step {
	struct op_rule rule; /* its tensors' values are numbers of struct shardings' `of` */
	int32_t op;          /* -1: an edge */
	bool single_use;     /* no operand has another use */
	int64_t seen;        /* when it was gone through last */
};

struct engine {
	struct shardings *s;
	bool basic;       /* PROPAGATION_SHARDY_BASIC */
	int32_t priority; /* dimensions of later priorities are not handed on yet */
	bool pass_only;   /* factors that are neither summed nor moved */
	int64_t now;
};

/*
 * Relation of two lists of axes: the number of parts, and what both have in common from the
 * major side.
 */
enum relation { AXES_EQUAL, AXES_SHORTER, AXES_LONGER, AXES_APART };
enum relation axes_compare(struct axes *common, const struct axes *a,
                           const struct axes *b);

/* Appends a part; one that continues the last of its axis is merged with it. */
bool axes_append(struct axes *to, struct part part);

/* Returns the product of the sizes. */
int64_t axes_shards(const struct axes *axes);

/* Returns whether a part shares a digit with one of the axes. */
bool axes_overlap(const struct axes *axes, struct part part);

/* What a factor has of a tensor: its axes, and whether it may have more. */
struct piece {
	bool here;
	int32_t dim, place; /* among the factors of the dimension */
	struct axes axes;
	int64_t room; /* what is left of a factor that is not the minor-most; else 0 */
	bool fixed; /* no more axes fit: closed, stuck, or the major ones are not full */
};

/* Hands the axes of a dimension out to its factors, major to minor, up to out->place. */
void piece_project(struct piece *out, const struct axes *axes,
                   const struct rule_dim *dim, const struct op_rule *rule);

/* Hands shardings on along the factors of an op. Returns whether one changed. */
bool propagate_step(struct engine *e, struct flow_step *step, enum direction direction);

/*
 * XLA's propagation (propagate/xla.c): hands the shardings on over `n` steps, which stand in the
 * order of the program.
 */
void propagate_xla(struct shardings *s, struct arena *a, const struct program *p,
                   const struct flow_step *step, int64_t n);

#endif
