/*
 * Fits of a few positive constants to many measurements, by non-linear least squares on
 * logarithms: GSL's trust region (Levenberg-Marquardt) behind our names.
 *
 * The model is a function of the constants, given by its residuals log(model_i /
 * measured_i). Constants are positive and searched by their logarithms, so that none
 * turns negative and a factor counts alike up and down. Residuals beyond `scale` weigh
 * less (soft L1: weight 1 / sqrt(1 + (r / scale)^2), reweighted until it settles), so
 * that a few odd measurements do not bend the rest.
 */
#ifndef SHARDSIM_STAT_FIT_H
#define SHARDSIM_STAT_FIT_H

#include <stdbool.h>
#include <stddef.h>

struct fit_model {
	size_t n, p; /* measurements, constants */
	/*
	 * Fill residual[0..n) for constants x[0..p), all > 0; false if the model has no
	 * answer for them (the fit then stops with converged false).
	 */
	bool (*residuals)(void *self, const double *x, double *residual);
	void *self;
	double scale; /* of the soft L1 loss; 0: plain least squares */
};

struct fit {
	bool converged;
	double rms; /* of the residuals, unweighted */
	int iterations;
};

enum { FIT_CONSTANTS_MAX = 16 };

/*
 * Fits from the start x[0..p), which gets the best constants found; se[0..p) their
 * relative standard errors (of the logarithms: 0.1 means about 10 %) from the
 * covariance at the end times the residual variance; NaN where a constant has no
 * influence or n <= p. Deterministic. p = 0 only measures the residuals. p at most
 * FIT_CONSTANTS_MAX.
 */
struct fit fit_run(const struct fit_model *m, double *x, double *se);

#endif
