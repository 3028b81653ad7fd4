/*
 * How far two orders agree: measured times against simulated ones. Spearman's
 * coefficient is in summary.h.
 */
#ifndef SHARDSIM_STAT_RANK_H
#define SHARDSIM_STAT_RANK_H

#include <stddef.h>
#include <stdint.h>

/* The n(n-1)/2 pairs of places of two samples. Values are tied if they are equal. */
struct pair_counts {
	int64_t pairs;
	int64_t concordant;     /* ordered alike */
	int64_t inversions;     /* ordered the other way: discordant pairs */
	int64_t tied_x, tied_y; /* ties of x, of y; of both are in both */
};

/*
 * Counts the pairs, in O(n^2). A NaN is ordered with nothing: its pairs count in
 * `pairs` only.
 */
struct pair_counts stat_pairs(const double *x, const double *y, size_t n);

/*
 * Returns Kendall's rank correlation tau-b (Kendall 1945; Hollander and Wolfe 1999,
 * 8.1):
 *   (concordant - inversions) / sqrt((pairs - tied_x)(pairs - tied_y))
 * NaN for n < 2, a sample without variation, or one that holds a NaN.
 */
double stat_kendall(const double *x, const double *y, size_t n);

/*
 * Returns the place of value i from below, from 1: one more than there are values
 * smaller by more than the share `within` of it. Equal values share the first place of
 * theirs, so a program is among the k fastest if its place is at most k. NaN are never
 * smaller; the place of a NaN is n + 1.
 */
size_t stat_place(const double *x, size_t n, size_t i, double within);

#endif
