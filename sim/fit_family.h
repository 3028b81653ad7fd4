/*
 * The few free constants of a family, fitted to published timings, with leave-one-set-out
 * cross-validation.
 */
#ifndef SHARDSIM_SIM_FIT_FAMILY_H
#define SHARDSIM_SIM_FIT_FAMILY_H

#include "validate.h"

enum { FIT_FIGURES_MAX = 8 }; /* free constants of a family, no more */

struct fitted {
	const char *figure;      /* "launch_s", "nvlink.bandwidth", ... */
	double start, value, se; /* se: relative standard error, NaN unknown */
};

/* One set of timings left out of the fit and then predicted. */
struct left_out_set {
	const char *set;
	size_t n;
	double error; /* geometric-mean error factor of its rows */
};

struct family_fit {
	const char *family;
	size_t n; /* rows with a prediction */
	int nfigures;
	struct fitted figure[FIT_FIGURES_MAX];
	double before, after; /* geometric-mean error factors */
	int nsets;
	struct left_out_set *set; /* [nsets]; none where there is only one set */
	bool converged;
};

/*
 * Fits `figures` (NULL-ended, at most FIT_FIGURES_MAX) of the family to its rows of the
 * validation, by least squares on log time with soft weights (stat/fit.h), from the values
 * in families.yaml. The validation's machines end with the fitted values. E_INFEASIBLE:
 * no rows of the family; errors of figures that it does not have.
 */
enum status family_fit(struct family_fit *out, struct validation *v, struct arena *a,
                       const char *family, const char *const *figures, struct error *e);

/* The value of a figure in families.yaml, or where a fit starts if it has none. */
enum status family_figure(double *out, struct arena *a, const char *family,
                          const char *figure, struct error *e);

/*
 * Appends the family's entry of families.yaml with the fitted figures in place, each with
 * a source that says so: file, sets, rows and standard error.
 */
enum status family_fit_entry(struct text *out, const struct family_fit *f,
                             const char *timings, struct arena *a, struct error *e);

#endif
