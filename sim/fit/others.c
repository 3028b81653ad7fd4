#include "fit/others.h"

#include "fit/rows.h"
#include "stat/summary.h"

#include <math.h>
#include <string.h>

static const struct rows_of sizes[LEFT_OUT_SIZES] = {
	{.least = FIT_LARGE},
	{.least = 64 * 1024, .below = FIT_LARGE},
	{.below = 64 * 1024}};

/* Returns what is foretold of a figure of fit `own` without the timings of its family. */
static double middle_of_others(const struct family_fit *fit, int n, int own, int figure)
{
	const struct fitted *g = &fit[own].figure[figure];
	double sum = 0;
	int others = 0;

	if (figure_is_bandwidth(g->figure))
		return g->start;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < fit[i].nfigures && i != own; k++)
			if (!strcmp(fit[i].figure[k].figure, g->figure)) {
				sum += log(fit[i].figure[k].value);
				others++;
			}
	return others ? exp(sum / others) : g->start;
}

enum status families_left_out(struct left_out_family *out, struct validation *v,
                              const struct family_fit *fit, int n, struct arena *a,
                              struct error *e)
{
	for (int i = 0; i < n; i++) {
		struct fitting f = {.v = v};

		if (rows_find(&f, a, fit[i].family, e) != OK)
			return e->code;
		out[i].family = fit[i].family;
		for (int k = 0; k < fit[i].nfigures; k++)
			validation_set(v, fit[i].figure[k].use,
			               middle_of_others(fit, n, i, k));
		for (int k = 0; k < LEFT_OUT_SIZES; k++)
			out[i].error[k] = rows_error(&f, sizes[k], &out[i].n[k], a);
		for (int k = 0; k < fit[i].nfigures; k++)
			validation_set(v, fit[i].figure[k].use, fit[i].figure[k].value);
	}
	return OK;
}
