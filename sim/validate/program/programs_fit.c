#include "validate/program/programs.h"

#include "stat/fit.h"

#include <math.h>
#include <string.h>

const enum tuning_key program_constants[PROGRAM_CONSTANTS] = {
	TUNING_F32_SHARE, TUNING_MEMORY_SHARE, TUNING_KERNEL_S};

/* Residuals beyond this factor weigh less: a program that is not understood bends no rest. */
static const double SOFT = 0.1;

/* Rows that constants are fitted to. */
struct fitting {
	const struct program_table *t;
	const char *family, *model; /* the model's rows are left out; NULL: none */
};

static bool counts(const struct measured_program *p)
{
	return p->kernels && !p->outlier;
}

static bool takes_part(const struct fitting *f, const struct measured_program *p)
{
	return counts(p) && !strcmp(p->family, f->family) &&
	       (!f->model || strcmp(p->model, f->model) != 0);
}

static void set(struct machine *m, const double *x)
{
	for (int k = 0; k < PROGRAM_CONSTANTS; k++)
		m->tuning.value[program_constants[k]] = x[k];
}

/* Seconds of a row with other constants; the machine has its own again afterwards. */
static double with(const struct measured_program *p, const double *x)
{
	struct tuning own = p->machine->tuning;
	double s;

	set(p->machine, x);
	s = kernel_list_s(p->kernels, p->machine);
	p->machine->tuning = own;
	return s;
}

static bool residuals(void *self, const double *x, double *residual)
{
	const struct fitting *f = self;
	size_t n = 0;

	for (int64_t i = 0; i < f->t->n; i++)
		if (takes_part(f, &f->t->row[i]))
			residual[n++] =
				log(with(&f->t->row[i], x) / f->t->row[i].measured_s);
	return true;
}

/* Fits from the family's own constants; false if there are too few rows. */
static bool fit(struct program_fit *out, const struct fitting *f)
{
	struct fit_model m = {.p = PROGRAM_CONSTANTS,
	                      .residuals = residuals,
	                      .self = (void *)f,
	                      .scale = SOFT};
	double se[PROGRAM_CONSTANTS];
	const struct machine *start = NULL;

	*out = (struct program_fit){f->family, f->model, 0, {0}};
	for (int64_t i = 0; i < f->t->n; i++) {
		const struct measured_program *p = &f->t->row[i];

		if (takes_part(f, p)) {
			m.n++;
			start = p->machine;
		}
		out->n += counts(p) && !strcmp(p->family, f->family) &&
		          (!f->model || !strcmp(p->model, f->model));
	}
	for (int k = 0; start && k < PROGRAM_CONSTANTS; k++) {
		out->value[k] = start->tuning.value[program_constants[k]];
		if (!(out->value[k] > 0))
			return false;
	}
	return m.n > PROGRAM_CONSTANTS && fit_run(&m, out->value, se).converged;
}

static bool seen(const struct program_table *t, const char *family, const char *model)
{
	for (int64_t i = 0; i < t->fit.n; i++)
		if (!strcmp(t->fit.at[i].family, family) && t->fit.at[i].model &&
		    !strcmp(t->fit.at[i].model, model))
			return true;
	return false;
}

/* The models of one family, each left out once, and then none. */
static void hold_out(struct program_table *t, const char *family, struct arena *a)
{
	struct program_fit one;

	for (int64_t i = 0; i < t->n; i++) {
		const char *model = t->row[i].model;

		if (!counts(&t->row[i]) || strcmp(t->row[i].family, family) != 0 ||
		    seen(t, family, model) ||
		    !fit(&one, &(struct fitting){t, family, model}))
			continue;
		*list_add(&t->fit, a) = one;
		for (int64_t k = 0; k < t->n; k++) {
			struct measured_program *p = &t->row[k];

			if (p->kernels && !strcmp(p->family, family) &&
			    !strcmp(p->model, model))
				p->held_out_s = with(p, one.value);
		}
	}
	if (fit(&one, &(struct fitting){t, family, NULL}))
		*list_add(&t->fit, a) = one;
}

void program_table_hold_out(struct program_table *t, struct arena *a)
{
	for (int64_t i = 0; i < t->n; i++) {
		int64_t k = 0;

		while (k < i && (!t->row[k].kernels ||
		                 strcmp(t->row[k].family, t->row[i].family) != 0))
			k++;
		if (k == i && t->row[i].kernels)
			hold_out(t, t->row[i].family, a);
	}
}
