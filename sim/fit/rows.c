#include "fit/rows.h"

#include "stat/summary.h"

#include <math.h>
#include <string.h>

enum status rows_find(struct fitting *f, struct arena *a, const char *family,
                      struct error *e)
{
	int64_t n;

	f->row = validation_rows(f->v, &n);
	f->number = arena_alloc(a, (size_t)n, sizeof(*f->number));
	for (int outliers = 0; outliers < 2; outliers++) {
		for (int64_t i = 0; i < n; i++) {
			const struct prediction *p = &f->row[i];

			if (!p->family || strcmp(p->family, family) != 0 ||
			    (p->outlier && !f->log) != outliers)
				continue;
			validation_row(f->v, i);
			if (!isnan(p->time_s))
				f->number[f->nall++] = i;
		}
		if (!outliers)
			f->n = f->nall;
	}
	if (f->n)
		return OK;
	return error_set(e, E_INFEASIBLE, (struct where){0},
	                 "no timings of family %s to fit to", family);
}

double rows_error(const struct fitting *f, struct rows_of of, size_t *n, struct arena *a)
{
	double *error = arena_alloc(a, f->nall, sizeof(*error));

	*n = 0;
	for (size_t i = 0; i < (of.outliers ? f->nall : f->n); i++) {
		const struct prediction *p = &f->row[f->number[i]];

		if (p->row->bytes < of.least || (of.below && p->row->bytes >= of.below) ||
		    (of.set && strcmp(p->row->set, of.set) != 0))
			continue;
		validation_row(f->v, f->number[i]);
		error[(*n)++] = prediction_error(p);
	}
	return stat_geomean(error, *n);
}

int rows_sets(struct left_out_set **out, const struct fitting *f, struct arena *a)
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

void rows_residuals(struct family_fit *out, const struct fitting *f, const char *set)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct prediction *p = &f->row[f->number[i]];

		if (set && strcmp(p->row->set, set) != 0)
			continue;
		validation_row(f->v, f->number[i]);
		out->residual[out->nresiduals++] = (struct fit_residual){
			.row = p, .e = log(p->row->time_s / p->time_s)};
	}
}
