/* The ops of a priced program, put together for a table. */
#ifndef SHARDSIM_SIM_PROGRAM_ROWS_H
#define SHARDSIM_SIM_PROGRAM_ROWS_H

#include "program/price.h"

/* By what ops are put together; all collectives of a row are one op over groups of one size. */
enum rows_by {
	ROWS_BY_BYTES,   /* collectives alone: those of equal bytes */
	ROWS_BY_OP,      /* kernels alone: each op of the program */
	ROWS_BY_OP_NAME, /* the names that the source gives, without their last part */
	ROWS_BY_COMPUTATION,
	ROWS_BY_LOOP /* the body of the innermost loop, or the entry */
};

/* Sums over a step; NaN where one is not known. */
struct table_row {
	enum opcode code;
	enum op_class class;
	const char *name;   /* of the op, the op_name, the computation or the loop */
	int32_t group_size; /* of collectives */
	const char *algorithm;
	double count, time_s, bound_s, best_s, flops, bytes;
};

struct table_rows {
	LIST(struct table_row) row; /* the longest first */
};

/* Makes the rows of the collectives, or of the kernels; all is the arena's. */
void rows_of(struct table_rows *out, struct arena *a, const struct program_price *price,
             bool collectives, enum rows_by by);

/*
 * Returns what an op is called where ops are put together; `loop` is that of rows_loops(): of
 * each region the body of the innermost loop that it runs in, or the entry.
 */
const char *rows_name(const struct program *p, const int32_t *loop, int32_t op,
                      enum rows_by by, struct arena *a);
const int32_t *rows_loops(const struct program *p, struct arena *a);

/* Returns what the source calls the op, or the nearest op that it is made from. */
struct span op_source_name(const struct program *p, const struct instruction *op);

#endif
