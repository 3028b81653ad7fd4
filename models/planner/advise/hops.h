/*
 * The layouts that a chain may go by, as numbers, and what a compiler needs from one to
 * another. Private to models/planner/advise/.
 */
#ifndef SHARDSIM_PLANNER_ADVISE_HOPS_H
#define SHARDSIM_PLANNER_ADVISE_HOPS_H

#include "base/keys.h"
#include "planner/advise/advise.h"
#include "planner/between.h"

/* The numbers of the ends. */
enum { STOP_FROM, STOP_TO, STOP_FIRST_BETWEEN };

/* The most layouts between that are looked at; with 64, 1 point less is closed (hops.c). */
enum { STOPS_MAX = 256 };

struct stop {
	struct layout layout;
	int side; /* 0: on the source's mesh, 1: on the target's */
	bool typed;
	struct type type; /* of that side's pieces, if it is typed */
	int sub_axes;     /* parts of axes in it */
	/* What the hops from the source and to the target cost at least, and cost. */
	double least_in, least_out, in, out; /* INFINITY: not known, or none */
};

/* What a compiler needs from one layout to another; `can` is false where it cannot. */
struct hop {
	bool can;
	struct price price;
	int64_t peak_live_bytes;
};

struct hops {
	const struct problem *problem;
	const struct planner *compiler;
	const struct prices *prices;
	int held;        /* first dimensions that stay as they are */
	bool mesh_order; /* layouts are whole axes in the order of the mesh */
	/*
	 * The pieces that say both ends, on side 0. Where there are none each side has those
	 * of its own end, or none (its problem is NULL).
	 */
	bool two_sides;
	struct types_between side[2];
	int64_t source_bytes;
	struct arena *arena, *scratch;
	struct keys known, priced;
	LIST(struct hop) hop; /* of `priced` */
	int nstops;
	struct stop *stop;  /* [STOPS_MAX] */
	int64_t work, most; /* done and allowed, in hops of a small mesh */
};

void hops_start(struct hops *h, const struct advise_ask *ask);
void hops_end(struct hops *h);

/*
 * Returns the number of a layout of this side, a new one if it has none; -1 where it may
 * not be gone by, or there are too many. *fresh says whether it is new.
 */
int hops_stop(struct hops *h, const struct layout *l, int side, bool *fresh);

/* Calls `visit` with the number of each new layout near this one. */
void hops_look_around(struct hops *h, int stop, void (*visit)(void *self, int stop),
                      void *self);

/* Returns a cost that no hop is below, as far as it is known. */
double hops_least(const struct hops *h, int from, int to);

/* Returns what the compiler needs for a hop. */
const struct hop *hops_price(struct hops *h, int from, int to);

/* Makes the problem of a hop. */
struct problem *hops_problem(const struct hops *h, int from, int to, struct arena *a);

#endif
