/*
 * The layouts that plans of `best` may go by, looked at from both ends or all there are, the
 * nearest first. Private to models/planner/best/.
 */
#ifndef SHARDSIM_PLANNER_BEST_LOOK_H
#define SHARDSIM_PLANNER_BEST_LOOK_H

#include "base/heap.h"
#include "planner/best/hops.h"

/*
 * The number of layouts that are looked at. Of 2,352 pairs on x=2,y=3,z=4 no more are closed
 * with 1,000 layouts; all are looked at where there are no more, as those of 8 devices over
 * digits.
 */
enum { VIAS_MAX = 400 };

/* A step from or to a layout. */
struct leg_of_via {
	double lacks_bytes; /* what some device receives in it */
	double least_s;     /* what it may be taken to need */
	struct hop hop;     /* the cheapest that is known; INFINITY: none is */
};

struct via {
	struct type type;
	struct leg_of_via in, out;
	uint64_t rank; /* vias_rank() where it was asked for; else 0 */
};

/* Two layouts in a row, and what the three steps may take. */
struct way {
	double least_s;
	uint64_t rank[2]; /* of both */
	int first, second;
};

struct vias {
	struct best_pool *pool;
	struct script ends; /* an exchange from source to target */
	struct types_between types;
	struct arena *arena;
	struct keys known;
	struct heap open; /* by rising vias_least_s() */
	LIST(struct way) way;
	double slack, one_share, two_share;
	bool more;      /* these shares are of work beyond what was done before */
	int64_t before; /* the work from which they count */
	bool has_all;   /* all types there are are looked at */
	bool only_all;  /* nothing is looked at unless all are */
	bool portable;  /* there are no exchanges */
	struct hops hops;
	int n;
	struct via via[VIAS_MAX];
};

/* Returns what the steps to a layout and from there may be taken to need. */
double vias_least_s(const struct via *via);

/* Returns what some device receives in a step between two types. */
double vias_lacks_bytes(const struct vias *vias, const struct type *before,
                        const struct type *after);

/* Returns what no step is below in which some device receives so many bytes. */
double vias_bytes_s(const struct vias *vias, double bytes);

/* Returns what a plan must be cheaper than. */
double vias_most_s(const struct vias *vias);

/*
 * Returns what is not told apart of dearer steps: nothing has such a step, but for the dear
 * ways on few devices.
 */
double vias_far_s(const struct vias *vias);

/*
 * Returns a number for the exchanges to a layout and from there, not 0. Where the work ends
 * before all layouts are tried, it shall not count in which order the dimensions are.
 */
uint64_t vias_rank(struct vias *vias, struct via *via);

/* Finds how many times its bound a step may be taken to need. */
void vias_find_slack(struct vias *vias);

/* Looks at all types there are, or else at those around both ends. */
void vias_look_first(struct vias *vias);

/*
 * Takes the nearest layout that was not taken yet, and looks at those around it unless all
 * are; NULL: there is none.
 */
struct via *vias_next(struct vias *vias);

#endif
