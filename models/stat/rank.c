#include "stat/rank.h"

#include <math.h>

struct pair_counts stat_pairs(const double *x, const double *y, size_t n)
{
	struct pair_counts c = {0};

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++) {
			int by_x = (x[i] > x[j]) - (x[i] < x[j]);
			int by_y = (y[i] > y[j]) - (y[i] < y[j]);

			c.pairs++;
			c.tied_x += x[i] == x[j];
			c.tied_y += y[i] == y[j];
			c.concordant += by_x * by_y > 0;
			c.inversions += by_x * by_y < 0;
		}
	return c;
}

double stat_kendall(const double *x, const double *y, size_t n)
{
	struct pair_counts c = stat_pairs(x, y, n);

	for (size_t i = 0; i < n; i++)
		if (isnan(x[i]) || isnan(y[i]))
			return NAN;
	if (c.tied_x == c.pairs || c.tied_y == c.pairs)
		return NAN;
	return (double)(c.concordant - c.inversions) /
	       (sqrt((double)(c.pairs - c.tied_x)) * sqrt((double)(c.pairs - c.tied_y)));
}

size_t stat_place(const double *x, size_t n, size_t i, double within)
{
	size_t place = 1;

	if (isnan(x[i]))
		return n + 1;
	for (size_t j = 0; j < n; j++)
		place += x[j] < x[i] - within * fabs(x[i]);
	return place;
}
