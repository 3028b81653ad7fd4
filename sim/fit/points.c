#include "fit/points.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pairs of a set and a part that a family needs for as much weight as all families. */
static const double SHRINK = 5;

/* The share of points that intervals are to hold. */
static const double HELD = 0.8;

static bool same_pair(const struct point *a, const struct point *b)
{
	return !strcmp(a->family, b->family) && !strcmp(a->set, b->set) &&
	       !strcmp(a->part, b->part);
}

static int by_error(const void *a, const void *b)
{
	double x = ((const struct point *)a)->e, y = ((const struct point *)b)->e;

	return (x > y) - (x < y);
}

/* Adds up what the points of each cluster weigh. */
static void weigh_clusters(struct points *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct point *q = &p->at[i];

		q->cluster_weight = 0;
		for (size_t k = 0; k < p->n; k++)
			if (!strcmp(q->cluster, p->at[k].cluster))
				q->cluster_weight += p->at[k].weight;
	}
}

void points_weigh(struct points *p)
{
	qsort(p->at, p->n, sizeof(*p->at), by_error);
	p->mean = xmalloc(p->n + 1, sizeof(*p->mean));
	for (size_t i = 0; i < p->n; i++) {
		const struct point *q = &p->at[i];
		double same = 0, sum = 0, n = 0;
		size_t first = p->n;

		for (size_t k = 0; k < p->n; k++) {
			same += same_pair(q, &p->at[k]);
			if (strcmp(p->at[k].set, q->set) != 0 ||
			    strcmp(p->at[k].family, q->family) != 0)
				continue;
			first = first < p->n ? first : k;
			sum += p->at[k].e;
			n++;
		}
		p->at[i].weight = 1 / same;
		if (first == i)
			p->mean[p->nsets++] = (struct set_mean){
				q->family, q->cluster, q->set, sum / n * (sum / n)};
	}
	weigh_clusters(p);
}

void points_free(struct points *p)
{
	xfree(p->at);
	xfree(p->mean);
	*p = (struct points){0};
}

/* Returns whether the cluster counts as there. */
static bool is_there(const struct points *p, const char *cluster)
{
	for (int k = 0; k < 2; k++)
		if (p->without[k] && !strcmp(cluster, p->without[k]))
			return false;
	return true;
}

bool points_is_of(const struct points *p, size_t i, struct which which)
{
	const struct point *q = &p->at[i];

	return (!which.family || !strcmp(q->family, which.family)) &&
	       (!which.kind || !strcmp(q->kind, which.kind)) && is_there(p, q->cluster);
}

/* Returns the quantiles of some of the points, which are sorted; pairs 0 if there are none. */
static struct width quantiles_of(const struct points *p, struct which which)
{
	struct width w = {0};
	double below = 0, least = NAN, most = NAN;

	for (size_t i = 0; i < p->n; i++)
		if (points_is_of(p, i, which))
			w.pairs += p->at[i].weight;
	for (size_t i = 0; i < p->n; i++) {
		if (!points_is_of(p, i, which))
			continue;
		below += p->at[i].weight;
		if (isnan(least) && below >= 0.1 * w.pairs * (1 - 1e-12))
			least = p->at[i].e;
		if (isnan(most) && below >= 0.9 * w.pairs * (1 - 1e-12))
			most = p->at[i].e;
	}
	if (w.pairs > 0) {
		w.low = fmax(0, -least);
		w.high = fmax(0, most);
	}
	return w;
}

/* Draws a width to that of more points. */
static struct width drawn(struct width w, const struct width *to)
{
	double share = w.pairs / (w.pairs + SHRINK);

	w.low = share * w.low + (1 - share) * to->low;
	w.high = share * w.high + (1 - share) * to->high;
	return w;
}

/*
 * Returns the quantiles of a family, drawn to those of all, or of one of its kinds, drawn to
 * the family's.
 */
static struct width width_of(const struct points *p, struct which which)
{
	struct width all = quantiles_of(p, (struct which){0}), family, one;

	if (!which.family)
		return all;
	family = quantiles_of(p, (struct which){.family = which.family});
	family = drawn(family, &all);
	if (!which.kind)
		return family;
	one = quantiles_of(p, which);
	return drawn(one, &family);
}

/*
 * Returns the root mean square of the means of sets, of a family drawn to that of all; where
 * there is none of the family, or NULL, sqrt(2) of it.
 */
static double spread_of(const struct points *p, const char *family)
{
	double all = 0, sets = 0, own = 0, n = 0;

	for (size_t i = 0; i < p->nsets; i++) {
		const struct set_mean *m = &p->mean[i];

		if (!is_there(p, m->cluster))
			continue;
		all += m->square;
		sets++;
		if (family && !strcmp(m->family, family)) {
			own += m->square;
			n++;
		}
	}
	all = sets > 0 ? all / sets : 0;
	return n > 0 ? sqrt((own + SHRINK * all) / (n + SHRINK)) : sqrt(2 * all);
}

struct width points_width(const struct points *p, struct which which, double times)
{
	struct width w = width_of(p, which);
	double between = 1.28 * times * spread_of(p, which.family);

	w.low = hypot(w.low, between);
	w.high = hypot(w.high, between);
	return w;
}

/* Returns how many half-widths that clusters other than its own make the point is off; 1 if none. */
static double off_by(const struct points *p, size_t i, const struct width *others)
{
	double e = p->at[i].e, h = e < 0 ? others->low : others->high;

	return h > 0 ? fabs(e) / h : 1;
}

/*
 * Stores in each point's error how many half-widths, made without its cluster, it is off. Points
 * that do not count are left alone.
 */
static void off_all(struct point *off, const struct points *p)
{
	bool *done = xmalloc(p->n + 1, sizeof(*done));
	struct points others = *p;

	memset(done, 0, p->n);
	for (size_t i = 0; i < p->n; i++) {
		struct which which = {p->at[i].family, p->at[i].kind};
		struct width w;

		if (done[i] || !is_there(p, p->at[i].cluster))
			continue;
		others.without[1] = p->at[i].cluster;
		w = points_width(&others, which, 1);
		for (size_t k = i; k < p->n; k++)
			if (same_pair(&p->at[i], &p->at[k])) {
				off[k].e = off_by(p, k, &w);
				done[k] = true;
			}
	}
	xfree(done);
}

double points_scale(const struct points *p)
{
	struct point *off = xmalloc(p->n + 1, sizeof(*off));
	double below = 0, all = 0, scale = 1;
	size_t n = 0;

	memcpy(off, p->at, p->n * sizeof(*off));
	off_all(off, p);
	for (size_t i = 0; i < p->n; i++)
		if (is_there(p, off[i].cluster)) {
			off[i].weight /= off[i].cluster_weight;
			all += off[i].weight;
			off[n++] = off[i];
		}
	qsort(off, n, sizeof(*off), by_error);
	for (size_t i = 0; i < n && below < HELD * all * (1 - 1e-12); i++) {
		below += off[i].weight;
		scale = off[i].e;
	}
	xfree(off);
	return scale;
}

/* Returns whether some point counts as there. */
static bool any_there(const struct points *p)
{
	for (size_t i = 0; i < p->nsets; i++)
		if (is_there(p, p->mean[i].cluster))
			return true;
	return false;
}

void points_held(struct held *out, const struct points *p, bool held_out)
{
	struct points others = *p;

	for (size_t k = 0; k < p->nsets; k++) {
		double scale;

		others.without[0] = p->mean[k].cluster;
		others.without[1] = NULL;
		if (!any_there(&others))
			continue;
		scale = points_scale(&others);
		for (size_t i = 0; i < p->n; i++) {
			const struct point *q = &p->at[i];
			struct width w;

			if (strcmp(q->set, p->mean[k].set) != 0 ||
			    strcmp(q->family, p->mean[k].family) != 0 ||
			    (held_out && !q->held_out))
				continue;
			w = points_width(&others, (struct which){q->family, q->kind}, 1);
			out->pairs += q->weight;
			out->in += q->weight * (off_by(p, i, &w) <= scale);
		}
	}
}
