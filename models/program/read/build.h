/*
 * Building a program while its text is read: ops, values and regions in the order of the
 * text, and the names by which they are found. Private to the readers.
 */
#ifndef SHARDSIM_PROGRAM_READ_BUILD_H
#define SHARDSIM_PROGRAM_READ_BUILD_H

#include "array/mesh.h"
#include "base/table.h"
#include "program/lex.h"

/* A type as it was read: its leaves, and for a tuple where its elements begin. */
struct read_type {
	LIST(struct value_type) leaf;
	LIST(int32_t) split; /* [elements + 1] of a tuple; of an array it is empty */
};

/* What a name stands for: the leaves that begin at a value. */
struct named {
	struct span name;
	int32_t first, n;     /* values */
	int32_t op;           /* that makes them; -1: none */
	int32_t elements;     /* of a tuple; -1: an array or several results */
	const int32_t *split; /* [elements + 1] */
	bool gone;            /* its region has ended */
};

/* A region that a text calls by name, before or after the region is there. */
struct called_name {
	struct span name;
	int32_t at;      /* number in program->called, to be filled in */
	const char *pos; /* of the name in the text */
	enum region_kind kind;
};

struct build {
	struct program *p;
	struct arena *a;
	struct scan s;
	const char *counted; /* lines of the text up to here are in `line` */
	int32_t line;
	int depth;
	struct read_type type; /* the one that was read last */
	struct table names;
	LIST(struct named) named;
	struct table regions; /* by name */
	LIST(struct called_name) calls;
	LIST(int32_t) order; /* ops of the regions that are open */
	struct table group_texts;
	LIST(struct span) group_text; /* of each of program->groups */
};

/*
 * Copies the text, which must not have zeros inside, and starts the program. The build must
 * stay where it is; build_end() gives back what it holds whether or not all went well.
 */
bool build_begin(struct build *b, struct program *p, struct arena *a, const char *text,
                 size_t length, const char *file, struct error *e);
void build_end(struct build *b);

/* Returns the line of the next byte of the text. */
int32_t build_line(struct build *b);

/* Appends a leaf to the type that is being read; its lists are copied. */
void build_leaf(struct build *b, const struct value_type *t);

/*
 * Adds an op at the end of the region that is open, with values of the leaves of b->type,
 * and returns its number. Ops move when another is added.
 */
int32_t build_op(struct build *b, enum opcode code, struct span name);
struct instruction *build_last(struct build *b, int32_t op);

/* Adds an operand to the op that was added last. */
void build_operand(struct build *b, int32_t op, int32_t value);

/*
 * Says that value number `k` of an op is another name of a value. It is an error at `pos`
 * unless both have equal dtypes and dimensions.
 */
bool build_same(struct build *b, int32_t value, int32_t of, const char *pos);

/* Gives a name to values; `split` as in struct named, copied. */
bool build_name(struct build *b, struct span name, int32_t first, int32_t n, int32_t op);
const struct named *build_find(const struct build *b, struct span name);

/*
 * Opens a region: ops are added to it until it is closed, but for those of regions that are
 * opened inside. region_open() returns a mark for region_close(), which returns the
 * region's number. Names that were given inside are gone then.
 */
struct mark {
	int64_t order, named;
};
struct mark build_region_open(struct build *b);
int32_t build_region_close(struct build *b, struct mark m, struct region *r);

/* Adds a region that the op calls: by its number, or by its name, for build_resolve(). */
void build_call(struct build *b, int32_t op, int32_t region, enum region_kind kind);
void build_call_name(struct build *b, int32_t op, struct span name,
                     enum region_kind kind);

/* Makes a region known under its name; false with an error at the name if there is one. */
bool build_region_name(struct build *b, int32_t region);

/* Finds the regions of all names; an error where one is not there. */
bool build_resolve(struct build *b);

/*
 * Reads replica groups or pairs in any of HLO's spellings ({{0,1},{2,3}}, [2,4]<=[8]T(..),
 * mesh['x'=2,'y'=4] {'x'}) and returns the number of the groups; -1 with an error.
 */
int32_t build_groups(struct build *b);

/* Adds groups that are there as numbers; returns their number. */
int32_t build_add_groups(struct build *b, struct span text, int32_t ngroups,
                         const int32_t *first, const int32_t *ids);

/*
 * Checks that an op's operands, results and attributes go together, as far as others rely on
 * it; false with an error at `pos`.
 */
bool build_check(struct build *b, int32_t op, const char *pos);

/*
 * What is done when all is read: asynchronous ops find their ends, stage and devices are
 * told, trips are found, runs are counted (finish.c).
 */
bool build_finish(struct build *b);

/* The two readers. */
bool read_hlo(struct build *b);
bool read_stablehlo(struct build *b);

#endif
