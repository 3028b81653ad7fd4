#include "price/curve.h"

#include <math.h>
#include <string.h>

/* By how much seconds may be wrong between points, in parts of them. */
static const double EXACT = 1e-12;

/* The number of points of no more bytes. */
static int64_t below(const struct curve *c, double bytes)
{
	int64_t low = 0, high = c->point.n;

	while (low < high) {
		int64_t mid = (low + high) / 2;

		if (c->point.at[mid].bytes <= bytes)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* How far between two points so many bytes are. */
static double share(const struct curve_point *x, const struct curve_point *y,
                    double bytes)
{
	return (bytes - x->bytes) / (y->bytes - x->bytes);
}

double curve_s(const struct curve *c, double bytes)
{
	int64_t n = below(c, bytes);
	const struct curve_point *p;

	if (!n)
		return -1;
	p = c->point.at + n - 1;
	if (p->bytes == bytes)
		return p->s;
	if (!p->straight)
		return -1;
	return p->s + share(p, p + 1, bytes) * (p[1].s - p->s);
}

/*
 * Joins three points that follow each other if they are on a line. Between two of them a convex curve
 * is below the line by no more than what it is in the middle one, over the share of the way that the
 * other two are apart.
 */
static void join(struct curve_point *p)
{
	double part = share(p, p + 2, p[1].bytes);
	double below_s = fabs(p[0].s + part * (p[2].s - p[0].s) - p[1].s);

	if (below_s <= EXACT * (1 - part) * p[0].s && below_s <= EXACT * part * p[1].s)
		p[0].straight = p[1].straight = true;
}

void curve_add(struct curve *c, struct arena *a, double bytes, double s, bool convex)
{
	int64_t n = below(c, bytes);
	struct curve_point *p;

	list_reserve(&c->point, a, 1);
	p = c->point.at + n;
	memmove(p + 1, p, (size_t)(c->point.n++ - n) * sizeof(*p));
	*p = (struct curve_point){bytes, s, n && p[-1].straight};
	for (int64_t i = n - 2; i <= n && convex; i++)
		if (i >= 0 && i + 2 < c->point.n)
			join(c->point.at + i);
}
