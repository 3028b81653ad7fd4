/*
 * The types that A* goes through (spec redistribution.md 10.1, 10.8): every prime digit
 * of the mesh cuts one digit of the array, or replicates, or is unreduced where the
 * source is.
 *
 * The array's dimensions are split so that source and target cut every digit by one prime
 * at most. A prime that neither of them uses, or that is unreduced in the source, gets a
 * digit of its own, those of small strides first, as long as there are few types: it may
 * be sliced, or scattered, on the way.
 */
#ifndef SHARDSIM_PLANNER_BEST_TYPES_H
#define SHARDSIM_PLANNER_BEST_TYPES_H

#include "planner/best/script.h"

enum { TYPES_PRIMES_MAX = 12, TYPES_MAX = 256 };

/* Where a prime is: a digit of the view, or one of these. */
enum { AT_NONE = -1, AT_SUM = -2 };

/* Its places by prime. */
struct types_state {
	int8_t at[TYPES_PRIMES_MAX];
};

struct types {
	struct script ends; /* the source and the target over the digits; no steps */
	int nprimes;
	struct part prime[TYPES_PRIMES_MAX];
	int n, from, to; /* number of types; those of the source and the target */
	struct types_state state[TYPES_MAX];
	double tile_bytes[TYPES_MAX];
};

/*
 * The types of a problem whose tiles are within its memory limit. False where source and
 * target have no common digits, or more than `most` (<= TYPES_MAX) types between them.
 */
bool types_make(struct types *out, const struct problem *p, int most, struct arena *a);

/* The layout of a type over the digits. */
struct layout types_layout(const struct types *t, int state);

/*
 * The collective that leads from one type to another in one step, its moves in the
 * arena. False where it takes an exchange. An exchange is possible wherever
 * types_exchange() says so.
 */
bool types_collective(struct script_step *out, const struct types *t, int before,
                      int after, struct arena *a);
bool types_exchange(const struct types *t, int before, int after);

/*
 * Bytes that some device must receive to get from one type to another; 0 where sums are
 * left to be made, of which this is not known.
 */
double types_received(const struct types *t, int before, int after);

#endif
