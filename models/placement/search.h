/*
 * Which placement, and which program on it: every matrix of a hierarchy and axes with
 * the time of one all-reduce and of the fastest program, ranked.
 *
 * Nobody here knows what a step costs: a clock says so. It is asked once per kind of
 * step of each matrix and order; the fastest program is the shortest path through the
 * graph of the synthesis, which is made once per number of levels reduced over. A case
 * of 1024 devices, hierarchy 4,4,8,8 and axes 4,8,4,8, has 626 matrices.
 */
#ifndef SHARDSIM_PLACEMENT_SEARCH_H
#define SHARDSIM_PLACEMENT_SEARCH_H

#include "placement/lower.h"

/*
 * Seconds of a step of which each member with data holds `held_bytes`, or < 0 with the
 * reason in `why`.
 */
struct reduction_clock {
	double (*step_s)(void *self, const struct reduction_step *step,
	                 double held_bytes, struct text *why);
	void *self;
};

/* What is reduced unless a case says otherwise: 2^29 float32 on every device. */
#define PLACEMENT_PAYLOAD_BYTES (INT64_C(1) << 31)

struct placement_case {
	struct hierarchy hierarchy;
	struct mesh axes;
	uint32_t reduce;      /* bit i: axis i */
	int limit;            /* of steps */
	unsigned orders;      /* bits 1 << ORDER_ROW, 1 << ORDER_LEVEL; at least one */
	double payload_bytes; /* on every device */
	struct where at;      /* for errors */
};

/* One matrix. */
struct placed {
	struct matrix matrix;
	int64_t number;     /* among all matrices, in their order, from 0 */
	double allreduce_s; /* one all-reduce of every reduction group, in mesh order */
	int64_t programs; /* found, per order; 1, the empty one, if nothing is reduced */
	struct program best;
	enum order order; /* of the best; row where both are equally fast */
	bool split;       /* the best is on the levels of space_split() */
	bool row_taken;   /* asked for level order, which is slower: it is row order */
	double best_s;
	double order_s[ORDERS]; /* the fastest program of each order; < 0 where not asked */
};

/*
 * Level order is searched on the levels of the machine and, where row order is faster,
 * on those of space_split(); `programs` counts the former. Where that is slower still
 * (on tori, whose axes do not nest) the program of row order is taken, so level order
 * never loses; `row_taken` says so, and `order` what it is.
 *
 * All matrices by rising best_s, then allreduce_s, then number; times that differ by
 * rounding only are equal, also among programs, where the shorter and then the first
 * found is taken. The array is the arena's. Errors: of matrices_of and synth_run;
 * E_INFEASIBLE if the clock refuses.
 */
enum status placement_search(struct placed **out, int64_t *n, struct arena *a,
                             const struct placement_case *c,
                             const struct reduction_clock *clock, struct error *e);

/* Rounds to 40 bits, so that sums of equal terms in another order are equal. */
double placement_rounded_s(double s);

/* Finds the space of its best program. */
void placed_space(struct space *out, struct arena *a, const struct placement_case *c,
                  const struct placed *p);

/*
 * Does the same for one matrix, with the syntheses of `cache` (of an arena that lasts).
 */
enum status placement_of(struct placed *out, const struct matrix *m,
                         struct synth_cache *cache, const struct placement_case *c,
                         const struct reduction_clock *clock, struct error *e);

/*
 * All programs of one matrix and order, by rising time, equal ones as they were found.
 */
struct timed_program {
	struct program program;
	double time_s;
};
enum status placement_programs(struct timed_program **out, int64_t *n, struct arena *a,
                               const struct matrix *m, enum order order,
                               struct synth_cache *cache, const struct placement_case *c,
                               const struct reduction_clock *clock, struct error *e);

#endif
