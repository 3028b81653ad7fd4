/*
 * How far simulated times are from measured ones: an error is a factor, exp |log(simulated /
 * measured)|, the mean geometric.
 */
#ifndef SHARDSIM_SIM_VALIDATE_FACTORS_H
#define SHARDSIM_SIM_VALIDATE_FACTORS_H

#include "text/words.h"

struct factors {
	size_t n;
	double error, least, most; /* least, most: of simulated / measured */
	double tau;                /* Kendall's of the two times */
};

/* Returns those of n pairs; all NaN without any. */
struct factors factors_of(const double *measured, const double *simulated, size_t n);

/* Returns exp |log(simulated / measured)|; NaN where there is no simulated time. */
double factor_error(double simulated, double measured);

/* Returns a factor as cells have it, "-" for NaN. */
const char *factor_text(struct arena *a, double x);

/* Adds the row `name, n, error, least, most, tau` to a table of six columns. */
void factors_row(struct pen_table *table, struct arena *a, const char *name,
                 const struct factors *f);

#endif
