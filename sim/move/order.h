/*
 * What the arrays of a move hold together, and the order that keeps the most of it low.
 *
 * Devices that hold alike parts of everything are one *site*. A call is what is started at
 * once: an array, or several in a batch. Before it is moved a site holds its source, and
 * afterwards its target, and still the source unless that is given back; while it moves,
 * `live` bytes, with the source in them. A *wave* is calls that are in flight together; the
 * next begins when all of them have ended. What a wave holds counts as if all its calls
 * were at their worst at once.
 */
#ifndef SHARDSIM_SIM_MOVE_ORDER_H
#define SHARDSIM_SIM_MOVE_ORDER_H

#include "base/arena.h"
#include "base/list.h"

#include <stdbool.h>
#include <stdint.h>

/* Bits that say what a site has of a call. */
enum { SITE_FROM = 1, SITE_TO = 2, SITE_KINDS = 4 };

struct order_call {
	const uint8_t *on; /* [nsites] bits */
	double source, target;
	double live[SITE_KINDS]; /* by the bits of a site */
};

struct order_case {
	int32_t nsites, ncalls;
	const struct order_call *call; /* [ncalls], kinds of calls */
	bool free_source;
	int64_t concurrent; /* most calls of a wave */
	double limit;       /* of what a site holds; <= 0: none */
};

/* So many calls of a kind; and waves of such runs, so many alike after each other. */
struct order_run {
	int32_t call;
	int64_t count;
};
struct order_wave {
	int64_t first; /* of its runs */
	int32_t nruns;
	int64_t repeats;
	double peak; /* most that a site holds during one of them */
};

struct order_waves {
	LIST(struct order_run) run;
	LIST(struct order_wave) wave;
	double peak; /* of all waves; what is held before and after is in it */
	double before,
		after; /* most that a site holds before the first, after the last */
};

/*
 * Makes waves of the calls in the given order: each takes the next calls as long as there
 * are no more than `concurrent` and they stay within the limit; one is always taken. The
 * memory is the arena's.
 */
void order_waves(struct order_waves *out, const struct order_case *c,
                 const struct order_run *run, int64_t nruns, struct arena *a);

/*
 * Orders to choose from, as runs of the same calls: the given one first; at each kind of
 * site first those that leave less behind, the smallest rise first, then the others, the
 * largest fall behind their peak first, which is the best order where one site decides
 * (Abdel-Wahab and Kameda, SIAM J. Comput. 7 (1978) 1-11); the call next that raises the
 * most that any site holds least; the best of these with single runs moved to other places
 * as long as that helps; and, with several calls at once, each of these with
 * calls on different sites alternating.
 */
enum { ORDERS_MAX = 12 };
struct orders {
	int n;
	const char *name[ORDERS_MAX];
	struct order_run *run[ORDERS_MAX];
	int64_t nruns[ORDERS_MAX];
};
void orders_of(struct orders *out, const struct order_case *c,
               const struct order_run *given, int64_t ngiven, struct arena *a);

#endif
