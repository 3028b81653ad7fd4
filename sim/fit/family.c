#include "fit/family.h"

#include "facts/families.h"
#include "fit/rows.h"
#include "stat/fit.h"

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

/* What a row of a log must change by; and the slower link that is tried, and its change. */
static const double LOG_CHANGE = 0.01, LOG_SLOWER = 0.5, LOG_SLOWER_CHANGE = 0.1;

/* A relative standard error above which a family's timings do not tell a constant. */
static const double UNSURE = 0.5;

/*
 * The share by which the error of a later start must be less to be taken, and that by
 * which it may be more to be named; and the share that makes two bandwidths different.
 */
static const double RIVAL_BETTER = 0.001, RIVAL_AS_GOOD = 0.03, APART = 0.1;

/* The end of a fit. */
struct ended {
	double start[FIT_FIGURES_MAX], x[FIT_FIGURES_MAX], se[FIT_FIGURES_MAX], after;
	bool limits[FIT_FIGURES_MAX]; /* a bandwidth on which rows depend upward */
	bool converged;
};

static bool counts(const struct fitting *f, int64_t row)
{
	return !f->without || strcmp(f->row[row].row->set, f->without) != 0;
}

/* Returns the value that is nearest to x in the range. */
static double in_range(const struct figure_prior *p, double x)
{
	return p->high > 0 ? fmin(fmax(x, p->low), p->high) : x;
}

static void set_all(const struct fitting *f, const double *x)
{
	for (int i = 0; i < f->nfigures; i++)
		validation_set(f->v, f->use[i], in_range(&f->prior[i], x[i]));
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

/*
 * Fits without each set in turn and predicts it; the only one of a family from priors, but of
 * a log, which is one set.
 */
static void cross_validate(struct family_fit *out, struct fitting *f, struct arena *a)
{
	double x[FIT_FIGURES_MAX], se[FIT_FIGURES_MAX];
	struct rows_of of = {0};

	out->nsets = rows_sets(&out->set, f, a);
	out->residual = arena_alloc(a, f->n, sizeof(*out->residual));
	for (int k = 0; k < out->nsets && !(f->log && out->nsets == 1); k++) {
		f->without = out->set[k].set;
		for (int i = 0; i < f->nfigures; i++)
			x[i] = f->start[i];
		fit_rows(f, x, se);
		set_all(f, x);
		of.set = f->without;
		out->set[k].error = rows_error(f, of, &out->set[k].n, a);
		of.outliers = true;
		out->set[k].all_error = rows_error(f, of, &out->set[k].nall, a);
		of.outliers = false;
		rows_residuals(out, f, out->set[k].set);
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
 * Returns whether `factor` times the figure changes some row's logarithm of time by more
 * than `least`. It is at `value` before and after, where the times are `start_s`.
 */
static bool changes(struct fitting *f, int figure, double value, double factor,
                    double least, const double *start_s, struct arena *a)
{
	double *time_s = arena_alloc(a, f->n, sizeof(*time_s));
	bool found = false;

	validation_set(f->v, f->use[figure], factor * value);
	times(time_s, f);
	validation_set(f->v, f->use[figure], value);
	for (size_t i = 0; i < f->n; i++)
		found |= fabs(log(time_s[i] / start_s[i])) > least;
	return found;
}

/*
 * Returns whether the figure can be told: a tenth more changes some row by a
 * five-hundredth, or in a log by a hundredth. A link that is not the slowest on its way
 * matters when it is slower alone, so a log's bandwidth is tried at half as well.
 */
static bool matters(struct fitting *f, int figure, const char *name,
                    const double *start_s, struct arena *a)
{
	double value = f->prior[figure].value;

	return changes(f, figure, value, 1.1, f->log ? LOG_CHANGE : 0.002, start_s, a) ||
	       (f->log && figure_is_bandwidth(name) &&
	        changes(f, figure, value, LOG_SLOWER, LOG_SLOWER_CHANGE, start_s, a));
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

		if (!matters(f, i, out->figure[i].figure, start_s, a)) {
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

/*
 * Drops the figure that the timings tell least, if they do not tell it within half of its
 * value; it keeps the family's own. Stores whether it did.
 */
static enum status unsure_drop(bool *dropped, struct fitting *f, struct family_fit *out,
                               struct arena *a, struct error *e)
{
	int worst = -1;
	double value;

	*dropped = false;
	for (int i = 0; i < f->nfigures && !f->log; i++)
		if (out->figure[i].se > UNSURE &&
		    (worst < 0 || out->figure[i].se > out->figure[worst].se))
			worst = i;
	if (worst < 0 || f->nfigures == 1)
		return OK;
	if (family_figure(&value, a, out->family, out->figure[worst].figure, e) != OK)
		return e->code;
	/* What the family does not give has nothing to go back to. */
	if (value == 0)
		return OK;
	validation_set(f->v, f->use[worst], value);
	f->nfigures--;
	for (int i = worst; i < f->nfigures; i++) {
		f->use[i] = f->use[i + 1];
		f->prior[i] = f->prior[i + 1];
		out->figure[i] = out->figure[i + 1];
	}
	out->nfigures = f->nfigures;
	*dropped = true;
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
		if (f->log && figure_is_bandwidth(g->figure))
			*prior = (struct figure_prior){.value = prior->value,
			                               .factor = LOG_BANDWIDTH_FACTOR};
		/* A machine of one's own may be what no family is. */
		if (f->log)
			prior->low = prior->high = 0;
		g->start = prior->value;
		if (validation_figure(&f->use[f->nfigures], f->v, out->family,
		                      g->figure, g->start, e) != OK)
			return e->code;
	}
	return OK;
}

bool figure_is_bandwidth(const char *figure)
{
	return strstr(figure, ".bandwidth") != NULL;
}

/* --- starts ----------------------------------------------------------------------- */

/*
 * Fits from the priors' values, but from half of those bandwidths whose bit is set. The
 * bits count bandwidths.
 */
static void fit_from(struct ended *out, struct fitting *f, const struct family_fit *fit,
                     unsigned halved, struct arena *a)
{
	double *time_s = arena_alloc(a, f->n, sizeof(*time_s));
	size_t n;

	*out = (struct ended){0};
	for (int i = 0; i < f->nfigures; i++) {
		out->start[i] = fit->figure[i].start;
		if (figure_is_bandwidth(fit->figure[i].figure)) {
			out->start[i] *= halved & 1 ? LOG_SLOWER : 1;
			halved >>= 1;
		}
		out->x[i] = out->start[i];
	}
	out->converged = fit_rows(f, out->x, out->se).converged;
	set_all(f, out->x);
	out->after = rows_error(f, (struct rows_of){0}, &n, a);
	times(time_s, f);
	for (int i = 0; i < f->nfigures; i++)
		out->limits[i] = f->log && figure_is_bandwidth(fit->figure[i].figure) &&
		                 changes(f, i, out->x[i], 1.1, LOG_CHANGE, time_s, a);
}

bool bandwidths_apart(double a, double b)
{
	return fabs(log(a / b)) > APART;
}

/* Returns whether two ends blame different links, or one link differently. */
static bool apart(const struct ended *a, const struct ended *b, int nfigures)
{
	for (int i = 0; i < nfigures; i++)
		if ((a->limits[i] || b->limits[i]) && bandwidths_apart(a->x[i], b->x[i]))
			return true;
	return false;
}

/* Stores the end in the fit, and of a log which bandwidths rows do not depend on. */
static void end_take(struct family_fit *out, struct fitting *f, const struct ended *end,
                     struct arena *a)
{
	double *time_s = arena_alloc(a, f->n, sizeof(*time_s));

	set_all(f, end->x);
	times(time_s, f);
	out->after = end->after;
	out->converged = end->converged;
	for (int i = 0; i < f->nfigures; i++) {
		struct fitted *g = &out->figure[i];

		g->value = in_range(&f->prior[i], end->x[i]);
		g->held = g->value != end->x[i];
		g->se = g->held ? NAN : end->se[i];
		g->idle = f->log && figure_is_bandwidth(g->figure) && !end->limits[i] &&
		          !changes(f, i, end->x[i], 1 / 1.1, LOG_CHANGE, time_s, a);
	}
}

/* Returns whether the end has no bandwidth above the documented peak. */
static bool below_peaks(const struct family_fit *fit, const struct ended *end,
                        struct arena *a)
{
	for (int i = 0; i < fit->nfigures; i++) {
		struct error e = {0};
		double peak;

		if (figure_is_bandwidth(fit->figure[i].figure) &&
		    family_peak(&peak, a, fit->family, fit->figure[i].figure, &e) == OK &&
		    peak > 0 && end->x[i] > peak)
			return false;
	}
	return true;
}

/* Makes a fit of an end, with those bandwidths alone that limit it. */
static struct family_fit *rival_make(struct fitting *f, const struct family_fit *fit,
                                     const struct ended *end, struct arena *a)
{
	struct family_fit *out = arena_alloc(a, 1, sizeof(*out));
	int kept = 0;

	*out = *fit;
	out->rival = NULL;
	end_take(out, f, end, a);
	for (int i = 0; i < out->nfigures; i++)
		if (end->limits[i] || !figure_is_bandwidth(out->figure[i].figure))
			out->figure[kept++] = out->figure[i];
	out->nfigures = kept;
	return out;
}

/*
 * Fits from several starts where a log has bandwidths, since a link that is not the
 * slowest shows no slope; takes the end with the least error, and the best of those that
 * are as good and say something else. The first start counts where ends are equal.
 */
static void fit_best(struct family_fit *out, struct fitting *f, struct arena *a)
{
	unsigned starts = 1;
	struct ended *end;
	const struct ended *best, *rival = NULL;

	for (int i = 0; f->log && i < f->nfigures; i++)
		starts <<= figure_is_bandwidth(out->figure[i].figure);
	best = end = arena_alloc(a, starts, sizeof(*end));
	for (unsigned k = 0; k < starts; k++) {
		fit_from(&end[k], f, out, k, a);
		if (end[k].converged &&
		    (!best->converged || end[k].after < best->after * (1 - RIVAL_BETTER)))
			best = &end[k];
	}
	for (unsigned k = 0; k < starts; k++)
		if (end[k].converged && apart(&end[k], best, f->nfigures) &&
		    end[k].after < best->after * (1 + RIVAL_AS_GOOD) &&
		    below_peaks(out, &end[k], a) &&
		    (!rival || end[k].after < rival->after))
			rival = &end[k];
	if (rival)
		out->rival = rival_make(f, out, rival, a);
	end_take(out, f, best, a);
	for (int i = 0; i < f->nfigures; i++)
		f->start[i] = best->start[i];
}

enum status family_fit(struct family_fit *out, struct validation *v, struct arena *a,
                       const char *family, const char *const *figures, bool log,
                       struct error *e)
{
	const struct rows_of all = {0}, large = {.least = FIT_LARGE};
	struct fitting f = {.v = v, .log = log};
	bool again;

	*out = (struct family_fit){.family = family};
	if (rows_find(&f, a, family, e) != OK)
		return e->code;
	out->before = rows_error(&f, all, &out->n, a);
	out->large_before = rows_error(&f, large, &out->nlarge, a);
	if (figures_open(&f, out, a, figures, e) != OK)
		return e->code;
	validation_prepare(v, family);
	if (figures_keep(&f, out, a, e) != OK)
		return e->code;
	out->nfigures = f.nfigures;
	do {
		fit_best(out, &f, a);
		if (unsure_drop(&again, &f, out, a, e) != OK)
			return e->code;
	} while (again);
	cross_validate(out, &f, a);
	for (int i = 0; i < f.nfigures; i++) {
		out->figure[i].use = f.use[i];
		validation_set(v, f.use[i], out->figure[i].value);
	}
	out->after = rows_error(&f, all, &out->n, a);
	out->large_after = rows_error(&f, large, &out->nlarge, a);
	return OK;
}
