/*
 * Errors of times of one class, and the half-widths of intervals that are made of them by the
 * rule of fit/intervals.h. Private to sim/fit.
 */
#ifndef SHARDSIM_SIM_FIT_POINTS_H
#define SHARDSIM_SIM_FIT_POINTS_H

#include <stdbool.h>
#include <stddef.h>

/* A time that was foretold. */
struct point {
	const char *family;
	const char *cluster; /* whose sets have something in common that others have not */
	const char *set;
	const char *part; /* of the set, which weighs the same as each other one */
	const char *kind; /* for half-widths of one kind of a family; NULL: there are none */
	double e;         /* ln(measured / foretold) */
	bool held_out;                 /* no constant was ever fitted to it */
	double weight, cluster_weight; /* its own and of its cluster: points_weigh() */
};

/* The mean of the errors of a set, squared. */
struct set_mean {
	const char *family, *cluster, *set;
	double square;
};

struct points {
	size_t n, nsets;
	struct point *at;
	struct set_mean *mean;  /* [nsets] */
	const char *without[2]; /* clusters that count as not there, or NULL */
};

/* Some of the points: of a family and a kind, NULL for all. */
struct which {
	const char *family, *kind;
};

/* Half-widths below and above, and the pairs of a set and a part they are made of. */
struct width {
	double low, high, pairs;
};

/* Times of clusters that were left out of everything: pairs, and how many are held. */
struct held {
	double pairs, in;
};

/* Sorts the points, weighs every pair alike, and finds the means of sets. */
void points_weigh(struct points *p);

void points_free(struct points *p);

/* Returns whether the point is of these, and its cluster counts as there. */
bool points_is_of(const struct points *p, size_t i, struct which which);

/*
 * Returns half-widths with the spread between sets, `times` that of the family, and how many
 * pairs these points are.
 */
struct width points_width(const struct points *p, struct which which, double times);

/*
 * Returns the factor on half-widths with which those that other clusters make hold four of five
 * of the points, all clusters of equal weight, and in each all pairs.
 */
double points_scale(const struct points *p);

/* Adds the points of a class that has several clusters, or only those held out. */
void points_held(struct held *out, const struct points *p, bool held_out);

#endif
