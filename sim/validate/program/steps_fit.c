#include "validate/program/steps.h"

#include "stat/fit.h"

#include <math.h>
#include <string.h>

const enum tuning_key step_constants[STEP_CONSTANTS] = {
	TUNING_MATMUL_SHARE, TUNING_TORCH_ATTENTION_SHARE, TUNING_CONTENTION,
	TUNING_EAGER_STEP_S, TUNING_EXPERTS_BPS,           TUNING_EXPERTS_NODES_BPS,
};

/* Residuals beyond this factor weigh less: a row that is not understood bends no rest. */
static const double SOFT = 0.1;

/* A time depends on a constant of whose term a tenth more changes it by a part in a thousand. */
static const double DEPENDS = 0.01;

/* Rows that constants are fitted to, and which constants these are. */
struct fitting {
	const struct step_table *t;
	const struct step_fit *of;
	double own[STEP_CONSTANTS]; /* of the family */
	int free[STEP_CONSTANTS], nfree;
};

static bool in_family(const struct measured_step *s, const struct step_fit *f)
{
	return !isnan(s->time_s) && !strcmp(s->family, f->family);
}

static bool left_out(const struct measured_step *s, const struct step_fit *f)
{
	if (f->held == HELD_SCALE)
		return !strcmp(step_scale(s->devices), f->scale);
	return !strcmp(s->set, f->set) &&
	       (f->held == HELD_SET || !strcmp(s->name, f->name));
}

const char *step_scale(int64_t devices)
{
	return devices <= 8     ? "up to 8"
	       : devices <= 64  ? "9 to 64"
	       : devices <= 512 ? "65 to 512"
	                        : "more than 512";
}

double step_constant_term(int k, double value)
{
	switch (step_constants[k]) {
	case TUNING_CONTENTION:
	case TUNING_EAGER_STEP_S:
		return value;
	default:
		return 1 / value;
	}
}

static bool depends(const struct measured_step *s, int k)
{
	return s->own[k] > 0 && fabs(s->slope[k] * step_constant_term(k, s->own[k])) >
	                                DEPENDS * s->time_s;
}

/* Times are straight in the terms of the constants. */
static bool residuals(void *self, const double *x, double *residual)
{
	const struct fitting *f = self;
	size_t n = 0;

	for (int64_t i = 0; i < f->t->n; i++) {
		const struct measured_step *s = &f->t->row[i];
		double time_s = s->time_s;

		if (!in_family(s, f->of) || left_out(s, f->of))
			continue;
		for (int k = 0; k < f->nfree; k++)
			time_s += s->slope[f->free[k]] *
			          (step_constant_term(f->free[k], x[k]) -
			           step_constant_term(f->free[k], f->own[f->free[k]]));
		if (!(time_s > 0))
			return false;
		residual[n++] = log(time_s / s->measured_s);
	}
	return true;
}

/* Counts rows, and finds which constants rows depend on. */
static void look_at_rows(struct fitting *f, struct step_fit *out)
{
	for (int k = 0; k < STEP_CONSTANTS; k++) {
		bool fitted = false;

		for (int64_t i = 0; i < f->t->n; i++) {
			const struct measured_step *s = &f->t->row[i];

			if (!in_family(s, out) || !depends(s, k))
				continue;
			*(left_out(s, out) ? &out->kept[k] : &fitted) = true;
		}
		out->kept[k] = out->kept[k] && !fitted;
		if (fitted)
			f->free[f->nfree++] = k;
	}
	for (int64_t i = 0; i < f->t->n; i++)
		if (in_family(&f->t->row[i], out))
			++*(left_out(&f->t->row[i], out) ? &out->n : &out->others);
}

/* Fits from the family's own values; false if there are too few other rows. */
static bool fit(struct step_fit *out, const struct step_table *t,
                const struct measured_step *s, enum step_held held)
{
	struct fitting f = {.t = t, .of = out};
	struct fit_model m = {.residuals = residuals, .self = &f, .scale = SOFT};
	double x[STEP_CONSTANTS], se[STEP_CONSTANTS];

	*out = (struct step_fit){.held = held,
	                         .family = s->family,
	                         .set = s->set,
	                         .name = s->name,
	                         .scale = step_scale(s->devices)};
	look_at_rows(&f, out);
	memcpy(f.own, s->own, sizeof(f.own));
	memcpy(out->value, s->own, sizeof(out->value));
	m.n = out->others;
	m.p = (size_t)f.nfree;
	for (int k = 0; k < f.nfree; k++)
		x[k] = f.own[f.free[k]];
	if (m.n <= m.p || !fit_run(&m, x, se).converged)
		return false;
	for (int k = 0; k < f.nfree; k++)
		out->value[f.free[k]] = x[k];
	return true;
}

bool step_fit_tells(const struct step_fit *f, const struct measured_step *s)
{
	for (int k = 0; k < STEP_CONSTANTS; k++)
		if (f->kept[k] && depends(s, k))
			return false;
	return true;
}

const struct step_fit *step_table_fit_of(const struct step_table *t,
                                         const struct measured_step *s,
                                         enum step_held held)
{
	for (int64_t i = 0; i < t->fit.n; i++) {
		const struct step_fit *f = &t->fit.at[i];

		if (f->held == held && in_family(s, f) && left_out(s, f))
			return f;
	}
	return NULL;
}

void step_table_fit(struct step_table *t, struct arena *a)
{
	struct step_fit one;

	for (int held = 0; held < STEP_HELD; held++)
		for (int64_t i = 0; i < t->n; i++) {
			const struct measured_step *s = &t->row[i];

			if (!isnan(s->time_s) &&
			    !step_table_fit_of(t, s, (enum step_held)held) &&
			    fit(&one, t, s, (enum step_held)held))
				*list_add(&t->fit, a) = one;
		}
}
