/*
 * The timings of a fit: which they are, and how they are foretold. Private to sim/fit/.
 */
#ifndef SHARDSIM_SIM_FIT_ROWS_H
#define SHARDSIM_SIM_FIT_ROWS_H

#include "fit/family.h"

struct fitting {
	struct validation *v;
	const struct prediction *row; /* the rows of the validation */
	/* [nall] which rows are the family's and have a prediction; outliers from n on */
	int64_t *number;
	size_t n, nall;
	int nfigures;
	struct figure_use *use[FIT_FIGURES_MAX];
	struct figure_prior prior[FIT_FIGURES_MAX];
	const char *without; /* a set that is left out, or NULL */
	bool log;            /* of one machine, whose own constants are wanted */
	double start[FIT_FIGURES_MAX]; /* where the fit that was taken started */
};

/* Some of the rows: of a set (NULL for all), from `least` bytes on and of fewer than `below`. */
struct rows_of {
	const char *set;
	int64_t least, below; /* below 0: any more */
	bool outliers;        /* these as well */
};

/*
 * Finds the rows of the family that have a prediction. In a log nothing is known of other
 * runs, so none of its rows counts as an outlier.
 */
enum status rows_find(struct fitting *f, struct arena *a, const char *family,
                      struct error *e);

/*
 * Returns the geometric mean of the error factors of some rows, with the machines as they are,
 * and stores their number in *n.
 */
double rows_error(const struct fitting *f, struct rows_of of, size_t *n,
                  struct arena *a);

/* Lists the sets of the rows, in order of first appearance, and returns their number. */
int rows_sets(struct left_out_set **out, const struct fitting *f, struct arena *a);

/*
 * Adds to the fit how the rows of a set (NULL for all) are foretold, with the machines as they
 * are.
 */
void rows_residuals(struct family_fit *out, const struct fitting *f, const char *set);

#endif
