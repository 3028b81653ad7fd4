/* The state of partitioning, and adding ops to the new program. Private to partition/. */
#ifndef SHARDSIM_PROGRAM_PARTITION_SPLIT_H
#define SHARDSIM_PROGRAM_PARTITION_SPLIT_H

#include "base/keys.h"
#include "program/partition/partition.h"
#include "program/rules.h"

/* A value of the old program, in one layout, as a value of the new one. */
struct copy {
	int32_t layout, value; /* numbers of split->layout, of the new program */
	int32_t next;          /* of the same old value; -1: none */
};

/* A change of layout that was planned, and its steps as attributes of collectives. */
struct planned {
	const struct plan *plan;
	const struct collective_attr **attr; /* [plan->nsteps] */
};

struct split {
	struct partitioned *out;
	struct arena *a;
	const struct program *p; /* the old one */
	struct program *q;       /* the new one: out->program */
	const struct shardings *s;
	const struct partition_ask *ask;
	struct keys layouts;
	LIST(struct layout) layout; /* each of them once */
	int32_t *given;             /* [s->n] layout of a sharding; -1: not asked yet */
	int32_t *copies; /* [values of p] the first of its copies; -1: none */
	LIST(struct copy) copy;
	LIST(int32_t) order; /* ops of the region that is being made */
	int32_t region;
	int32_t partition_id;           /* value of the region; -1: none yet */
	const struct instruction *hand; /* manual computation that the region is in, or NULL */
	bool whole; /* the op that is made runs whole between sharded arrays */
	struct keys plans, groups;
	LIST(struct planned) planned;
};

/* --- layouts (layouts.c) --- */

/* Returns the number of a layout, which is normalised first. */
int32_t split_layout(struct split *b, struct layout l);

/* Returns the number of the layout in which nothing is sharded. */
int32_t split_whole(struct split *b, int32_t rank);

/* Returns the layout of a value of the old program, or of result k as p->value.n + k. */
int32_t split_given(struct split *b, int32_t value);

/* Returns the type of one device's tile. */
struct value_type split_type(struct split *b, const struct value_type *t,
                             int32_t layout);

/* Returns the layout of a tensor of a rule whose factors are split over these axes. */
struct layout split_layout_of(const struct op_rule *rule, int32_t tensor,
                              const struct axes *factor);

/* --- ops (emit.c) --- */

/*
 * Adds an op with results of these types at the end of the region and returns it. It is as
 * `like`, an op of the old program, with all its attributes if the opcode is the same.
 */
struct instruction *split_op(struct split *b, const struct instruction *like,
                             enum opcode code, const struct value_type *type, int32_t n);

/* Adds an operand to the op that was added last: a value of the new program. */
void split_operand(struct split *b, struct instruction *op, int32_t value);

/*
 * What a partitioner adds of its own, for the op `like`: each returns the value of the new
 * program. split_made() adds an op that has none of the attributes of `like`, split_maker() finds
 * the op of a value; split_number() is a scalar constant, split_table() the scalar that
 * `number` has for each partition, split_spread() a scalar broadcast to a shape, split_both() an
 * op of two values of one shape, and split_inside() whether positions are in [from, to).
 */
int32_t split_made(struct split *b, const struct instruction *like, enum opcode code,
                   const struct value_type *type, const int32_t *operand, int32_t n);
struct instruction *split_maker(struct split *b, int32_t value);
int32_t split_partition_id(struct split *b, const struct instruction *like);
int32_t split_number(struct split *b, const struct instruction *like,
                     const struct dtype *dtype, double number);
int32_t split_table(struct split *b, const struct instruction *like,
                    const int64_t *number);
int32_t split_spread(struct split *b, const struct instruction *like, int32_t scalar,
                     const struct value_type *type);
int32_t split_both(struct split *b, const struct instruction *like, enum opcode code,
                   int32_t x, int32_t y);
int32_t split_inside(struct split *b, const struct instruction *like, int32_t position,
                     int64_t from, int64_t to);

/* Says that a value of the old program is this one of the new in a layout. */
void split_is(struct split *b, int32_t old, int32_t layout, int32_t value);

/* --- values in layouts (value.c, reshard.c, anew.c) --- */

/*
 * Returns an old value in a layout, as a value of the new program: as it was made or resharded
 * before, else resharded or made anew for the op `like`.
 */
int32_t split_value(struct split *b, const struct instruction *like, int32_t old,
                    int32_t layout);

/*
 * Returns the layout of result k of a region, whose target is the value of the old program that
 * its results go to, -1: they are its own.
 */
int32_t split_result(struct split *b, int32_t region, int32_t k, int32_t target);

/*
 * Brings an array from one layout to another for the op `like`. Over unreduced axes of `from`
 * it is added up, or `reduces` as that op does.
 */
struct resharding {
	const struct instruction *like;
	const struct value_type *type; /* global */
	int32_t from, to;
	bool reduces;
};
int32_t split_reshard(struct split *b, int32_t value, const struct resharding *r);

/* Returns what the planner's plan of it costs by the prices that are asked; < 0: it has none. */
double split_reshard_cost(struct split *b, const struct resharding *r);

/* Whether a value is made of constants alone, for each user as it wants it. */
bool split_is_anew(const struct split *b, int32_t old);
int32_t split_anew(struct split *b, int32_t old, int32_t layout, int depth);

/* Merges sums over devices that are only added up (merge.c), once all regions are made. */
void split_merge_sums(struct split *b);

/* --- ops on tiles (local.c) --- */

/* Adds an op of the old program, which calls no regions that run, on tiles. */
void split_local(struct split *b, const struct instruction *op);

/* --- windowed einsums (ring.c) --- */

struct einsum_ring;

/*
 * Makes a matmul whose parts go round (choose.h), of factors that are split over these axes, and
 * returns its result. Device i of n begins with part i, has part i + 1 from the next device
 * while it multiplies, and so on: n matmuls and n - 1 permutes. Where the result goes round it
 * begins with part i + 1, hands the sum on to the device before it, and ends with its own.
 */
int32_t split_ring(struct split *b, const struct instruction *op,
                   const struct op_rule *rule, const struct axes *factor,
                   const struct einsum_ring *ring);

/* Returns the axes of the factors of what goes round, before it does or once it has. */
struct axes *split_ring_ends(struct split *b, const struct op_rule *rule,
                             const struct axes *factor, const struct einsum_ring *ring);

/*
 * Returns whether that is expected to be faster, as XLA estimates it: the longer of matmul and
 * gather and two of the gather's n parts take less than one behind the other. A scatter of sums
 * is taken to be as long as a gather of what it leaves. Without a machine that says how fast it
 * computes the answer is yes.
 */
bool split_ring_pays(struct split *b, const struct instruction *op,
                     const struct op_rule *rule, const struct axes *factor,
                     const struct einsum_ring *ring);

/* --- borders (halo.c) --- */

/*
 * What an op needs of an array along a dimension that is split: on the device of tile i the
 * elements from `first` + i `step` on, `size` of them. Those outside of the array are `fill`,
 * -1: nobody looks at them.
 */
struct halo {
	int32_t dim;
	int64_t first, step, size;
	int32_t fill; /* scalar of the new program */
	/* Of an array that is dilated: what its windows have in front of the first and behind
	 * the last element of theirs. */
	int64_t lead, tail;
};

/* Whether devices exchange that; else they gather the array, which is hardly more. */
bool split_halo_fits(const struct halo *h, int64_t whole, int64_t shards);

/*
 * Makes that of `value`, the tiles of an array in a layout, as XLA does
 * (spmd_partitioner_util.cc, ExchangeHaloAndGetValidData): the largest border of all devices comes
 * by permutes from as many tiles on either side as it covers, each device cuts its own window
 * out of its tile between them, and masks what is outside. Windows that are further away than
 * twice their size come piece by piece (row_far).
 */
int32_t split_halo(struct split *b, const struct instruction *like, int32_t value,
                   int32_t layout, const struct halo *h, int64_t whole);

/* The tiles in the reverse order along a dimension. */
int32_t split_turned(struct split *b, const struct instruction *like, int32_t value,
                     int32_t layout, int32_t dim);

/* Which tile of a dimension each partition has: [devices], the arena's. */
int64_t *split_tiles(struct split *b, int32_t layout, int32_t dim);

/* --- windows (window.c) --- */

/*
 * Leaves out axes along which an op moves elements, unless neighbours can exchange them: slices,
 * padding, reversals of tiles that are alike, windows over an array, which may be dilated if the
 * windows of all devices begin alike between its elements; and convolutions whose kernel is
 * split, not reversed, into equal parts. Borders must be smaller than what gathering would bring.
 */
void split_windows_keep(struct split *b, const struct instruction *op,
                        const struct op_rule *rule, struct axes *factor);

/* Replaces the operand of an op by the windows of it that are needed along moved dimensions. */
void split_windows_take(struct split *b, const struct instruction *op,
                        const struct op_rule *rule, const struct axes *factor,
                        const int32_t *layout, int32_t *operand);

/* Sets attributes of the op on these windows. */
void split_windows_set(struct split *b, const struct instruction *op,
                       const struct op_rule *rule, const struct axes *factor,
                       struct instruction *added);

/* --- look-ups (look.c) --- */

/*
 * Gathers and scatters whose index counts elements of a split dimension, and updates of slices of
 * one, run as XLA's do (gather_scatter_handler.cc): indices are those of a device's own tile;
 * what a gather finds elsewhere is zero, and is summed; what a scatter puts elsewhere is left out;
 * an update is made where it is inside. Where updates are split, all devices but one begin with
 * what changes nothing, and the results are put together. Indices outside of the whole array find
 * zeros.
 *
 * split_looks_keep() leaves out axes along which an update may be in several tiles.
 * split_looks_take() changes operands and returns which places are inside, -1: all;
 * split_looks_mask() the result with those alone, `before`: what an update is made in.
 */
void split_looks_keep(struct split *b, const struct instruction *op,
                      const struct op_rule *rule, struct axes *factor);
int32_t split_looks_take(struct split *b, const struct instruction *op,
                         const struct op_rule *rule, const struct axes *factor,
                         const int32_t *layout, int32_t *operand);
int32_t split_looks_mask(struct split *b, const struct instruction *op, int32_t value,
                         int32_t inside, int32_t before);

/* Sets the sizes of slices, which are of tiles where they are whole. */
void split_looks_set(struct split *b, const struct instruction *op,
                     struct instruction *added);

/* --- what is made by hand (manual.c) --- */

/*
 * A manual computation: its body is for one device of the axes that it makes by hand already;
 * over axes that it leaves it is partitioned as all else.
 */
void split_manual(struct split *b, const struct instruction *op);

/* Checks that a manual computation's body is for the tiles that it is said to take. */
enum status split_check_manual(struct split *b, const struct instruction *op,
                               struct error *e);

/* Whether an op is a custom call of this target with one operand and one result. */
bool split_has_target(const struct instruction *op, const char *target);

/*
 * The ends of what HLO's text makes by hand: a tile of an array becomes an array of its own, and
 * the reverse.
 */
void split_border(struct split *b, const struct instruction *op);

/*
 * Returns the factor of a tensor's dimension that is split, given the axes that split each; -1:
 * none is.
 */
static inline int32_t split_factor(const struct op_rule *rule,
                                   const struct axes *factor, int32_t t, int32_t dim)
{
	const struct rule_dim *d = &rule->tensor[t].dim[dim];

	for (int32_t k = 0; k < d->n; k++)
		if (factor[d->at[k]].n)
			return d->at[k];
	return -1;
}

#endif
