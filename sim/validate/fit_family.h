/*
 * The few free constants of a family, fitted to published timings, with leave-one-set-out
 * cross-validation.
 */
#ifndef SHARDSIM_SIM_VALIDATE_FIT_FAMILY_H
#define SHARDSIM_SIM_VALIDATE_FIT_FAMILY_H

#include "validate/validate.h"

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
 * What is known of a constant before any timing: its logarithm is normal around that of
 * `value`, with the standard deviation log(factor); above `value`, where `above` is not 0,
 * log(above).
 */
struct figure_prior {
	double value, factor, above;
};

/*
 * Of a figure of a family; fit_entry.c has the table with the sources. Bandwidths: the
 * family's documented peak times the share that is usually reached. Errors: no such
 * family, no such figure, one that is not to be fitted.
 */
enum status family_prior(struct figure_prior *out, struct arena *a, const char *family,
                         const char *figure, struct error *e);

/*
 * Is it open in families.yaml: not given, or with a source that begins with "fitted"?
 * Bandwidths that are documented are better left alone. True of unknown families.
 */
bool family_open(const char *family, const char *figure, struct arena *a);

/* What families.yaml says of it; 0 where it says nothing. */
enum status family_figure(double *out, struct arena *a, const char *family,
                          const char *figure, struct error *e);

/*
 * Fits `figures` (NULL-ended, at most FIT_FIGURES_MAX) of the family to its rows of the
 * validation, by least squares on log time with soft weights (stat/fit.h) and the priors
 * above, from whose values it starts: what families.yaml says of the constants does not
 * matter. Figures that no row depends on keep it and are left out. The validation's machines end with the fitted values. E_INFEASIBLE:
 * no rows of the family; errors of figures that it does not have.
 */
enum status family_fit(struct family_fit *out, struct validation *v, struct arena *a,
                       const char *family, const char *const *figures, struct error *e);

/*
 * Appends the family's entry of families.yaml with the fitted figures in place, each with
 * a source that says so: `timings`, the name of the file or files, sets, rows and
 * standard error.
 */
enum status family_fit_entry(struct text *out, const struct family_fit *f,
                             const char *timings, struct arena *a, struct error *e);

#endif
