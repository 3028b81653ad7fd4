/*
 * The parts of the reader of StableHLO's text. Private to it.
 *
 * Ops have a pretty form of their own, or the generic one; both come to operands, pairs of a key
 * and a value, regions and types of results, whatever the order in the text.
 */
#ifndef SHARDSIM_PROGRAM_READ_SHLO_H
#define SHARDSIM_PROGRAM_READ_SHLO_H

#include "program/read/build.h"

struct shlo_pair {
	struct span key, value; /* the value's text; of a key alone at NULL */
};

/* An op that is being read. */
struct shlo_op {
	enum opcode code;
	const char *pos;       /* of its name */
	struct span word;      /* what it is, with the dialect */
	struct span name;      /* of its first result, with %; or the word */
	LIST(int32_t) operand; /* values */
	LIST(struct shlo_pair) pair;
	LIST(int32_t) region; /* numbers */
	LIST(struct span) called;
	LIST(struct span) word_list; /* words that are no keys: LT, SIGNED */
	struct span bracket;         /* [0:4, 1:8:2] of a slice, <..> of a constraint */
	struct span constant;        /* dense<..> */
	struct span place;           /* loc(..) */
	int32_t results;             /* that are named */
	int32_t inits;               /* of reduce: pairs of an array and its start */
};

/* A definition `#loc3 = loc("f.py":10:4)`. */
struct shlo_alias {
	struct span name, value;
};

/* What an op says of its place in the source. */
struct shlo_place {
	int32_t op;
	struct span place;
};

struct shlo {
	struct build *b;
	int depth;
	LIST(struct shlo_alias) alias;
	LIST(struct shlo_alias) mesh; /* name and <["x"=2]> */
	LIST(struct shlo_place) places;
	int32_t partitions; /* what mhlo.num_partitions says, 0 if nothing */
};

/* Arguments of a block: names and the numbers of their ops. */
struct shlo_block {
	LIST(struct span) name;
	LIST(struct value_type) type;
	LIST(struct span) sharding;
	LIST(struct span) written; /* as of struct instruction */
};

/*
 * Reads `{key = value, ...}` behind its bracket; the same with its bracket if it is next, and
 * what was written there; ` loc(..)` if it is next; the arguments
 * `%a: type {attributes} loc(..), ...` up to the bracket behind them, which is taken: in
 * attrs->operand are the numbers of those whose buffers are given away.
 */
bool shlo_dict(struct build *b, struct shlo_op *m);
bool shlo_dict_of(struct build *b, struct shlo_op *m, struct span *written);

/* Reads the value behind `key =` outside of a dictionary: `[2] x [1]`, `<..>`, a word. */
bool shlo_value(struct build *b, struct span *out);

bool shlo_place(struct build *b, struct span *out);
bool shlo_args(struct build *b, struct shlo_block *args, struct shlo_op *attrs);

/* Reads a block behind its bracket, with its label and arguments if it has one. */
bool shlo_block(struct shlo *r, const struct shlo_block *given, struct span name,
                int32_t *number);

/* Reads a type and appends its leaves to b->type; false with an error. */
bool shlo_type(struct build *b);

/* Reads `%name`, `@name` or `@"name"` behind the byte; without it. */
bool shlo_name(struct build *b, char byte, struct span *out);

/* Finds the value of a key, at NULL if it is not there; the first of several keys. */
struct span shlo_find(const struct shlo_op *m, const char *key);
struct span shlo_find_of(const struct shlo_op *m, const char *const *keys);

/*
 * Returns the whole numbers of a value: `[0, 1]`, `array<i64: 0, 1>`, `dense<[[0, 1]]> : ..`,
 * `3 : i64`; of `dense<0> : tensor<2x2xi64>` as many as the tensor has.
 */
struct ints shlo_ints(struct build *b, struct span value);

/* The numbers behind `key =` within a value such as #stablehlo.gather<..>. */
struct ints shlo_ints_in(struct build *b, struct span value, const char *key);

/* Makes the op of what was read; the types of its results are in b->type. */
bool shlo_commit(struct shlo *r, struct shlo_op *m, int32_t *out);

/* Whether regions of the op run as they stand, and are no reducers or comparators. */
bool shlo_runs_regions(enum opcode code);

/* Makes operands of what the regions of the op use of the values around them. */
void shlo_hand_in(struct build *b, struct shlo_op *m);

/* Reads the groups of a collective from its value; -1 with an error. */
int32_t shlo_groups(struct shlo *r, const struct shlo_op *m, struct span value);

/* Gives ops the names and places that loc(..) says, once all aliases are known. */
void shlo_places(struct shlo *r);

#endif
