#include "validate/program/factors.h"

#include "stat/rank.h"

#include <math.h>

double factor_error(double simulated, double measured)
{
	return exp(fabs(log(simulated / measured)));
}

struct factors factors_of(const double *measured, const double *simulated, size_t n)
{
	struct factors f = {.n = n, .least = INFINITY};

	if (!n)
		return (struct factors){0, NAN, NAN, NAN, NAN};
	for (size_t i = 0; i < n; i++) {
		double ratio = simulated[i] / measured[i];

		f.error += fabs(log(ratio));
		f.least = fmin(f.least, ratio);
		f.most = fmax(f.most, ratio);
	}
	f.error = exp(f.error / (double)n);
	f.tau = stat_kendall(measured, simulated, n);
	return f;
}

const char *factor_text(struct arena *a, double x)
{
	return isnan(x) ? "-" : arena_printf(a, "%.3f", x);
}

void factors_row(struct pen_table *table, struct arena *a, const char *name,
                 const struct factors *f)
{
	const char **cell = words_row(table);

	cell[0] = name;
	cell[1] = words_count(a, f->n);
	cell[2] = factor_text(a, f->error);
	cell[3] = factor_text(a, f->least);
	cell[4] = factor_text(a, f->most);
	cell[5] = factor_text(a, f->tau);
}
