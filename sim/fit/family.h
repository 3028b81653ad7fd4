/*
 * The few free constants of a family, fitted to published timings, with leave-one-set-out
 * cross-validation.
 */
#ifndef SHARDSIM_SIM_FIT_FAMILY_H
#define SHARDSIM_SIM_FIT_FAMILY_H

#include "validate/validate.h"

enum { FIT_FIGURES_MAX = 8 };     /* most free constants of a family */
enum { FIT_LARGE = 1024 * 1024 }; /* bytes from which bandwidths make a time */

struct fitted {
	const char *figure;      /* "launch_s", "nvlink.bandwidth", ... */
	double start, value, se; /* se: the relative standard error, NaN if unknown */
	double peak;             /* documented, of a bandwidth of a log; else 0 */
	bool idle; /* a log's bandwidth: a tenth more or less changes no timing by 1 % */
	bool held; /* at the end of its range, which the timings alone would leave */
	struct figure_use *use; /* what sets it in the machines of the validation */
};

/* A set of timings that was left out of the fit and then predicted. */
struct left_out_set {
	const char *set;
	size_t n;
	double error; /* geometric-mean error factor of its rows */
	size_t nall;  /* the same with the outliers */
	double all_error;
};

/* A timing and how it was foretold without its set. */
struct fit_residual {
	const struct prediction *row;
	double e; /* ln(measured / time) */
};

struct family_fit {
	const char *family;
	size_t n; /* rows with a prediction that are no outliers; in a log, all */
	int nfigures;
	struct fitted figure[FIT_FIGURES_MAX];
	double before, after;             /* geometric means of error factors */
	size_t nlarge;                    /* rows of FIT_LARGE bytes or more */
	double large_before, large_after; /* the same of these */
	int nsets;
	struct left_out_set *set; /* [nsets]; of a log, names alone where there is one */
	struct fit_residual *residual; /* [n], set after set; none of a log of one */
	size_t nresiduals;
	bool converged;
	/* Of a log: other constants that explain it about as well, or NULL. */
	const struct family_fit *rival;
};

/*
 * What is known of a constant before any timing. Its logarithm is distributed normally
 * around that of `value`, with the standard deviation log(factor), or above `value`
 * with log(above) if `above` is not 0. It is not below `low` nor, if that is not 0, above
 * `high`: what is physically possible, so that no constant stands for another mechanism.
 */
struct figure_prior {
	double value, factor, above, low, high;
};

/*
 * Stores the prior of a family's figure; fit_entry.c has the table with the sources.
 * For a bandwidth it is the family's documented peak times the share that is usually
 * reached. It is an error if there is no such family or figure, or if the figure cannot
 * be fitted.
 */
enum status family_prior(struct figure_prior *out, struct arena *a, const char *family,
                         const char *figure, struct error *e);

/* Stores the documented peak of a bandwidth, 0 where there is none. */
enum status family_peak(double *out, struct arena *a, const char *family,
                        const char *figure, struct error *e);

/*
 * Returns whether a figure is open in families.yaml: it is not given, or its source
 * begins with "fitted". Documented bandwidths are better left alone. Figures of unknown
 * families are open.
 */
bool family_open(const char *family, const char *figure, struct arena *a);

/*
 * Returns whether a figure of families.yaml is another's: its source begins with "as ". A
 * fit of published timings leaves it so.
 */
bool family_borrows(const char *family, const char *figure, struct arena *a);

/* Stores the value of a figure in families.yaml, 0 where it is not given. */
enum status family_figure(double *out, struct arena *a, const char *family,
                          const char *figure, struct error *e);

/*
 * Fits `figures` (NULL-ended, at most FIT_FIGURES_MAX) of the family to its rows of the
 * validation that are no outliers, by least squares on log time with soft weights (stat/fit.h) and the
 * priors above, from whose values it starts. The values in families.yaml do not matter,
 * except that figures on which no row depends, and then those with a standard error above a
 * half, the worst first, keep them and are left out. The
 * validation's machines end with the fitted values. It is an E_INFEASIBLE if there are
 * no rows of the family, and an error if it lacks a figure.
 *
 * `log` says that the rows are of the one machine whose constants are wanted: priors
 * then count little, since other machines of the family do not matter, and a figure is
 * left out unless a row depends on it well: a tenth more of it, or half of a bandwidth,
 * changes some time by 1 % or 10 %. The fit then starts from each bandwidth's prior and
 * from half of it, in all combinations, and the end with the least error is taken, since
 * which of two links is the slow one is not found by small steps. `rival` is the best of
 * the other ends within 3 % of that error, if a bandwidth that limits either differs by
 * a tenth; it has the bandwidths that limit it alone.
 */
enum status family_fit(struct family_fit *out, struct validation *v, struct arena *a,
                       const char *family, const char *const *figures, bool log,
                       struct error *e);

/* Returns whether a figure is the bandwidth of a link. */
bool figure_is_bandwidth(const char *figure);

/* Returns whether two values of a bandwidth differ by more than a tenth. */
bool bandwidths_apart(double a, double b);

/* Appends "FIGURE=VALUE,..." of the fit, as it stands behind a shape in braces. */
void family_fit_settings(struct text *out, const struct family_fit *f);

/*
 * Appends the family's entry of families.yaml with the fitted figures in place. The
 * source of each says that it was fitted, to which `timings` (names of files), sets and
 * number of rows, and with which standard error.
 */
enum status family_fit_entry(struct text *out, const struct family_fit *f,
                             const char *timings, struct arena *a, struct error *e);

#endif
