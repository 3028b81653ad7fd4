/*
 * Tests of paired samples: is the median of the differences zero?
 *
 * Both take the differences d (for ratios of times: their logarithms), drop those that
 * are zero, and give the two-sided p value. An empty sample or one with a NaN has p
 * NaN; where all differences are zero nothing speaks against equality and p is 1.
 */
#ifndef SHARDSIM_STAT_PAIRED_H
#define SHARDSIM_STAT_PAIRED_H

#include <stdbool.h>
#include <stddef.h>

struct paired {
	size_t n;         /* differences that are not zero */
	double statistic; /* Wilcoxon: rank sum of the positive ones; sign: how many */
	double p;
	bool exact; /* from the exact distribution, not the normal approximation */
};

/*
 * Wilcoxon's signed-rank test (Wilcoxon 1945; Hollander and Wolfe 1999, 3.1). Without
 * ties among |d| and for n <= PAIRED_EXACT the exact distribution, else the normal
 * approximation with variance n(n+1)(2n+1)/24 - sum(t^3 - t)/48 over groups of t ties,
 * and a continuity correction of 1/2.
 */
enum { PAIRED_EXACT = 50 };
struct paired paired_wilcoxon(const double *d, size_t n);

/* Tests the signs: of n the positive ones are binomial with 1/2. It is always exact. */
struct paired paired_sign(const double *d, size_t n);

#endif
