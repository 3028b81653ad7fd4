#include "validate/fit_family.h"

#include "facts/families.h"
#include "stat/fit.h"
#include "stat/summary.h"

#include <math.h>
#include <string.h>

/* Residuals beyond 20 % weigh less: single odd timings are common in published logs. */
static const double FIT_SCALE = 0.2;

/*
 * The priors count as much as so many timings with a residual of FIT_SCALE each. That
 * is little against a sweep over sizes, and decides where no timing depends on the
 * constant.
 */
static const double PRIOR_WEIGHT = 1;

/* The same where one machine's own log is fitted, and the factor of its bandwidths. */
static const double LOG_PRIOR_WEIGHT = 0.1, LOG_BANDWIDTH_FACTOR = 1.5;

struct fitting {
	struct validation *v;
	const struct prediction *row; /* the rows of the validation */
	size_t n;
	int64_t *number; /* [n]: which rows are the family's and have a prediction */
	int nfigures;
	struct figure_use *use[FIT_FIGURES_MAX];
	struct figure_prior prior[FIT_FIGURES_MAX];
	const char *without; /* a set that is left out, or NULL */
	bool log;            /* of one machine, whose own constants are wanted */
};

static bool counts(const struct fitting *f, int64_t row)
{
	return !f->without || strcmp(f->row[row].row->set, f->without) != 0;
}

static void set_all(const struct fitting *f, const double *x)
{
	for (int i = 0; i < f->nfigures; i++)
		validation_set(f->v, f->use[i], x[i]);
}

/* Returns how many standard deviations the value is off the prior's. */
static double prior_deviation(const struct figure_prior *p, double x)
{
	double factor = x > p->value && p->above > 0 ? p->above : p->factor;

	return log(x / p->value) / log(factor);
}

static bool residuals(void *self, const double *x, double *residual)
{
	const struct fitting *f = self;
	double weight = f->log ? LOG_PRIOR_WEIGHT : PRIOR_WEIGHT;
	size_t n = 0;

	set_all(f, x);
	for (size_t i = 0; i < f->n; i++) {
		const struct prediction *p = &f->row[f->number[i]];

		if (!counts(f, f->number[i]))
			continue;
		validation_row(f->v, f->number[i]);
		if (isnan(p->time_s))
			return false;
		residual[n++] = log(p->time_s / p->row->time_s);
	}
	for (int i = 0; i < f->nfigures; i++)
		residual[n++] =
			sqrt(weight) * FIT_SCALE * prior_deviation(&f->prior[i], x[i]);
	return true;
}

/*
 * Returns the geometric mean of the error factors of the rows of a set (NULL for all)
 * with the machines as they are, and stores the number of rows in *n.
 */
static double error_of(const struct fitting *f, const char *set, size_t *n,
                       struct arena *a)
{
	double *error = arena_alloc(a, f->n, sizeof(*error));

	*n = 0;
	for (size_t i = 0; i < f->n; i++) {
		const struct prediction *p = &f->row[f->number[i]];

		if (set && strcmp(p->row->set, set) != 0)
			continue;
		validation_row(f->v, f->number[i]);
		error[(*n)++] = prediction_error(p);
	}
	return stat_geomean(error, *n);
}

static struct fit fit_rows(struct fitting *f, double *x, double *se)
{
	struct fit_model m = {.p = (size_t)f->nfigures,
	                      .residuals = residuals,
	                      .self = f,
	                      .scale = FIT_SCALE};

	for (size_t i = 0; i < f->n; i++)
		m.n += counts(f, f->number[i]);
	m.n += (size_t)f->nfigures;
	return fit_run(&m, x, se);
}

/* Finds the rows of the family that have a prediction. */
static enum status rows_find(struct fitting *f, struct arena *a, const char *family,
                             struct error *e)
{
	int64_t n;

	f->row = validation_rows(f->v, &n);
	f->number = arena_alloc(a, (size_t)n, sizeof(*f->number));
	for (int64_t i = 0; i < n; i++) {
		const struct prediction *p = &f->row[i];

		if (!p->family || strcmp(p->family, family) != 0)
			continue;
		validation_row(f->v, i);
		if (!isnan(p->time_s))
			f->number[f->n++] = i;
	}
	if (f->n)
		return OK;
	return error_set(e, E_INFEASIBLE, (struct where){0},
	                 "no timings of family %s to fit to", family);
}

/*
 * Lists the sets of the rows, in order of first appearance, and returns their number.
 */
static int sets_find(struct left_out_set **out, const struct fitting *f, struct arena *a)
{
	int n = 0;

	*out = arena_alloc(a, f->n, sizeof(**out));
	for (size_t i = 0; i < f->n; i++) {
		const char *set = f->row[f->number[i]].row->set;
		int k = 0;

		while (k < n && strcmp((*out)[k].set, set) != 0)
			k++;
		if (k == n)
			(*out)[n++].set = set;
	}
	return n;
}

/* Fits without each set in turn and predicts it. */
static void cross_validate(struct family_fit *out, struct fitting *f, struct arena *a)
{
	double x[FIT_FIGURES_MAX], se[FIT_FIGURES_MAX];

	out->nsets = sets_find(&out->set, f, a);
	for (int k = 0; k < out->nsets && out->nsets > 1; k++) {
		f->without = out->set[k].set;
		for (int i = 0; i < f->nfigures; i++)
			x[i] = out->figure[i].start;
		fit_rows(f, x, se);
		set_all(f, x);
		out->set[k].error = error_of(f, out->set[k].set, &out->set[k].n, a);
	}
	f->without = NULL;
}

/* Stores the times of all rows with the machines as they are. */
static void times(double *time_s, const struct fitting *f)
{
	for (size_t i = 0; i < f->n; i++) {
		validation_row(f->v, f->number[i]);
		time_s[i] = f->row[f->number[i]].time_s;
	}
}

/*
 * Returns whether a tenth more of the figure changes some row's time by a
 * five-hundredth, or in a log by a hundredth.
 */
static bool matters(struct fitting *f, int figure, const double *start_s,
                    struct arena *a)
{
	double *time_s = arena_alloc(a, f->n, sizeof(*time_s));
	bool found = false;

	validation_set(f->v, f->use[figure], 1.1 * f->prior[figure].value);
	times(time_s, f);
	validation_set(f->v, f->use[figure], f->prior[figure].value);
	for (size_t i = 0; i < f->n; i++)
		found |= fabs(log(time_s[i] / start_s[i])) > (f->log ? 0.01 : 0.002);
	return found;
}

/* Drops figures that no row depends on; these keep the family's own values. */
static enum status figures_keep(struct fitting *f, struct family_fit *out,
                                struct arena *a, struct error *e)
{
	double *start_s = arena_alloc(a, f->n, sizeof(*start_s));
	int kept = 0;

	times(start_s, f);
	for (int i = 0; i < f->nfigures; i++) {
		double before = out->figure[i].start;

		if (!matters(f, i, start_s, a)) {
			if (family_figure(&before, a, out->family,
			                  out->figure[i].figure, e) != OK)
				return e->code;
			validation_set(f->v, f->use[i], before);
			continue;
		}
		f->use[kept] = f->use[i];
		f->prior[kept] = f->prior[i];
		out->figure[kept++] = out->figure[i];
	}
	f->nfigures = kept;
	return OK;
}

/* Takes the figures that are asked for, and sets them to the values of their priors. */
static enum status figures_open(struct fitting *f, struct family_fit *out,
                                struct arena *a, const char *const *figures,
                                struct error *e)
{
	for (; figures[f->nfigures]; f->nfigures++) {
		struct fitted *g = &out->figure[f->nfigures];
		struct figure_prior *prior = &f->prior[f->nfigures];

		if (f->nfigures == FIT_FIGURES_MAX)
			return error_set(e, E_RANGE, (struct where){0},
			                 "more than %d constants to fit",
			                 (int)FIT_FIGURES_MAX);
		g->figure = figures[f->nfigures];
		if (family_prior(prior, a, out->family, g->figure, e) != OK)
			return e->code;
		if (f->log && strstr(g->figure, ".bandwidth"))
			*prior = (struct figure_prior){prior->value,
			                               LOG_BANDWIDTH_FACTOR, 0};
		g->start = prior->value;
		if (validation_figure(&f->use[f->nfigures], f->v, out->family,
		                      g->figure, g->start, e) != OK)
			return e->code;
	}
	return OK;
}

enum status family_fit(struct family_fit *out, struct validation *v, struct arena *a,
                       const char *family, const char *const *figures, bool log,
                       struct error *e)
{
	struct fitting f = {.v = v, .log = log};
	double x[FIT_FIGURES_MAX], se[FIT_FIGURES_MAX];

	*out = (struct family_fit){.family = family};
	if (rows_find(&f, a, family, e) != OK)
		return e->code;
	out->before = error_of(&f, NULL, &out->n, a);
	if (figures_open(&f, out, a, figures, e) != OK)
		return e->code;
	validation_prepare(v, family);
	if (figures_keep(&f, out, a, e) != OK)
		return e->code;
	out->nfigures = f.nfigures;
	for (int i = 0; i < f.nfigures; i++)
		x[i] = out->figure[i].start;
	out->converged = fit_rows(&f, x, se).converged;
	for (int i = 0; i < f.nfigures; i++) {
		out->figure[i].value = x[i];
		out->figure[i].se = se[i];
	}
	cross_validate(out, &f, a);
	set_all(&f, x);
	out->after = error_of(&f, NULL, &out->n, a);
	return OK;
}
