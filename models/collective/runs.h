/*
 * Groups of a torus as products of runs along its axes: what the torus algorithms
 * (bidir_ring.c, line.c, torus.c) work on, and the rounds they lay along one run.
 *
 * A run is a full wrapped axis (a ring) or a contiguous part of an axis (a line), also
 * one that passes over the wrap. A *line of devices* fixes all coordinates but one. The
 * order of the group does not matter: collectives do not care who is whose neighbour, so
 * devices are visited in the order of the torus.
 *
 * Where cables are missing (struct fabric), a ring that lacks one is a line that begins
 * behind it, or behind the gap that most of its lines of devices have; messages over
 * others that are missing take their real routes, round them.
 *
 * A whole twisted torus (struct fabric) is a product of runs in several ways, one for
 * each axis: that axis as a ring of 2n, which for a short one leads through two of its
 * lines; the other short axes as lines of n, the other long ones as rings of 2n, but one
 * of them as a line of n where a short axis is the ring.
 */
#ifndef SHARDSIM_COLLECTIVE_RUNS_H
#define SHARDSIM_COLLECTIVE_RUNS_H

#include "array/machine.h"
#include "collective/schedule.h"
#include "plan/plan.h"

struct run {
	int axis;
	bool ring;
	int32_t first;  /* coordinate of its first device */
	int32_t length; /* >= 2, of a ring >= 3 */
};

struct runs {
	const struct machine *machine;
	int fabric;
	int32_t domain;
	int32_t corner; /* place with the first coordinate of every run */
	int32_t nth;    /* where devices share ports: which of each they are */
	bool twisted;   /* a whole twisted torus */
	int n;
	struct run run[TORUS_AXES_MAX]; /* by rising axis */
	int32_t stride[TORUS_AXES_MAX]; /* of each run's axis, in places */
};

/*
 * Finds the runs of n >= 2 distinct devices; returns false if they are no product of
 * runs of a torus.
 */
bool runs_find(struct runs *out, const struct machine *m, const int32_t *ids, int32_t n);

/* Returns of a twisted torus the product in which run number `ring` is a ring of 2n. */
struct runs runs_twisted(const struct runs *g, int ring);

/* Returns whether all groups have runs, exactly one each, of the kind asked for. */
bool runs_single(const struct machine *m, const struct groups *g, bool ring);

/*
 * Returns whether a collective goes along runs. A broadcast or a reduce does not; nor
 * does an all-to-all where cables are missing, which is faster over the shortest ways.
 */
bool runs_carry(const struct machine *m, enum op op, const struct groups *g);

/*
 * Returns the number of lines of devices along run `r`: the product of the other
 * lengths.
 */
int32_t runs_lines(const struct runs *g, int r);

/* Writes the devices of line number `line` along run `r` to `ids`, in axis order. */
void runs_line(int32_t *ids, const struct runs *g, int r, int32_t line);

/*
 * Returns the one-way bytes per second of run `r`: of the link that leaves its first
 * device.
 */
double runs_bandwidth_Bps(const struct runs *g, int r);

/*
 * One collective along run `r`, in all lines of devices at once, each a task: append
 * round number `round` of `rounds` to the open round. `bytes` as in struct algorithm.
 * A ring's steps are spread over the `rounds` rounds (merged into one task where there
 * is one), and a line's, of which it has line_rounds() and so many rounds or more: what a
 * device passes on in a round has come in an earlier one.
 * Op: all-gather, reduce-scatter or all-to-all.
 */
struct leg {
	enum op op;
	int run;
	double bytes;
};

void bidir_ring_round(struct schedule *out, const struct runs *g, const struct leg *leg,
                      int32_t round, int32_t rounds);
void line_round(struct schedule *out, const struct runs *g, const struct leg *leg,
                int32_t round, int32_t rounds);
int32_t line_rounds(enum op op, int32_t length);

/*
 * Appends a message of `bytes` from each of n devices to each other to the open task,
 * over the fabrics that join them.
 */
void all_pairs(struct schedule *out, const struct machine *m, const int32_t *ids,
               int32_t n, double bytes);

#endif
