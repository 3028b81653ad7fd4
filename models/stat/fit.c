#include "stat/fit.h"

#include "base/arena.h"
#include "base/assert.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>

#include <math.h>
#include <stdlib.h>

enum { REWEIGHTINGS = 8, STEPS_MAX = 60 };

/* Steps of a derivative in log space: prices that depend on a choice have kinks. */
static const double DERIVATIVE_STEP = 1e-4;

struct run {
	const struct fit_model *model;
	double *x;        /* [p] */
	double *residual; /* [n] */
};

static int evaluate(const gsl_vector *logs, void *params, gsl_vector *f)
{
	struct run *r = params;

	for (size_t i = 0; i < r->model->p; i++)
		r->x[i] = exp(gsl_vector_get(logs, i));
	if (!r->model->residuals(r->model->self, r->x, r->residual))
		return GSL_EBADFUNC;
	for (size_t i = 0; i < r->model->n; i++) {
		if (!isfinite(r->residual[i]))
			return GSL_EBADFUNC;
		gsl_vector_set(f, i, r->residual[i]);
	}
	return GSL_SUCCESS;
}

static double root_mean_square(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] * x[i];
	return n ? sqrt(sum / (double)n) : 0;
}

/*
 * Finds the relative standard errors: the square root of the covariance's diagonal
 * times the variance.
 */
static void standard_errors(double *se, gsl_multifit_nlinear_workspace *w, size_t n,
                            size_t p)
{
	gsl_matrix *covariance = gsl_matrix_alloc(p, p);
	gsl_vector *f = gsl_multifit_nlinear_residual(w);
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += gsl_vector_get(f, i) * gsl_vector_get(f, i);
	gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(w), 0, covariance);
	for (size_t i = 0; i < p; i++) {
		double c = gsl_matrix_get(covariance, i, i);

		se[i] = c > 0 && n > p ? sqrt(c * sum / (double)(n - p)) : NAN;
	}
	gsl_matrix_free(covariance);
}

static void reweigh(gsl_vector *weights, const struct run *r)
{
	for (size_t i = 0; i < r->model->n; i++) {
		double u = r->model->scale > 0 ? r->residual[i] / r->model->scale : 0;

		gsl_vector_set(weights, i, 1 / sqrt(1 + u * u));
	}
}

/* Fits once, weighted, from `at`, which gets the end. */
static int solve(gsl_multifit_nlinear_workspace *w, gsl_multifit_nlinear_fdf *fdf,
                 gsl_vector *at, const gsl_vector *weights, struct fit *out)
{
	int info, status = gsl_multifit_nlinear_winit(at, weights, fdf, w);

	if (status == GSL_SUCCESS)
		status = gsl_multifit_nlinear_driver(STEPS_MAX, 1e-7, 1e-10, 1e-12,
		                                     NULL, NULL, &info, w);
	/* No further progress at a kink of the model is an end as well. */
	if (status == GSL_ENOPROG || status == GSL_EMAXITER)
		status = GSL_SUCCESS;
	if (status == GSL_SUCCESS) {
		gsl_vector_memcpy(at, gsl_multifit_nlinear_position(w));
		out->iterations += (int)gsl_multifit_nlinear_niter(w);
	}
	return status;
}

static struct fit fit_constants(struct run *r, double *se)
{
	size_t n = r->model->n, p = r->model->p;
	gsl_multifit_nlinear_parameters parameters =
		gsl_multifit_nlinear_default_parameters();
	gsl_multifit_nlinear_fdf fdf = {.f = evaluate, .n = n, .p = p, .params = r};
	gsl_multifit_nlinear_workspace *w;
	gsl_vector *at = gsl_vector_alloc(p), *weights = gsl_vector_alloc(n);
	gsl_vector *f = gsl_vector_alloc(n);
	struct fit out = {0};

	parameters.h_df = DERIVATIVE_STEP;
	w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &parameters, n, p);
	for (size_t i = 0; i < p; i++)
		gsl_vector_set(at, i, log(r->x[i]));
	out.converged = evaluate(at, r, f) == GSL_SUCCESS;
	for (int k = 0; out.converged && k < (r->model->scale > 0 ? REWEIGHTINGS : 1);
	     k++) {
		reweigh(weights, r);
		out.converged = solve(w, &fdf, at, weights, &out) == GSL_SUCCESS &&
		                evaluate(at, r, f) == GSL_SUCCESS;
	}
	if (out.converged) {
		standard_errors(se, w, n, p);
		out.rms = root_mean_square(r->residual, n);
	}
	gsl_vector_free(f);
	gsl_vector_free(weights);
	gsl_vector_free(at);
	gsl_multifit_nlinear_free(w);
	return out;
}

struct fit fit_run(const struct fit_model *m, double *x, double *se)
{
	struct run r = {.model = m, .x = x};
	gsl_error_handler_t *handler;
	struct fit out = {.rms = NAN};

	assert(m->p <= FIT_CONSTANTS_MAX);
	r.residual = xmalloc(m->n ? m->n : 1, sizeof(*r.residual));
	for (size_t i = 0; i < m->p; i++) {
		assert(x[i] > 0);
		se[i] = NAN;
	}
	if (m->p == 0 || m->n < m->p) {
		out.converged = m->p == 0 && m->residuals(m->self, x, r.residual);
		if (out.converged)
			out.rms = root_mean_square(r.residual, m->n);
	} else {
		handler = gsl_set_error_handler_off();
		out = fit_constants(&r, se);
		gsl_set_error_handler(handler);
	}
	xfree(r.residual);
	return out;
}
