#include "fit/intervals.h"

#include "measure/likely.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pairs of set and collective that a family needs for as much weight as all families. */
static const double SHRINK = 5;

/* The share of timings that intervals are to hold. */
static const double HELD = 0.8;

/* A timing of the class that is summed up. */
struct point {
	const char *family, *set, *collective;
	double e, weight;
};

struct points {
	size_t n;
	struct point *at;
	const char *without; /* a set that counts as not there, or NULL */
};

/* Some of the points: of a family and a collective, NULL for all. */
struct which {
	const char *family, *collective;
};

/* Half-widths below and above, and the pairs they are made of. */
struct width {
	double low, high, pairs;
};

static bool same_pair(const struct point *a, const struct point *b)
{
	return !strcmp(a->family, b->family) && !strcmp(a->set, b->set) &&
	       !strcmp(a->collective, b->collective);
}

static int by_error(const void *a, const void *b)
{
	double x = ((const struct point *)a)->e, y = ((const struct point *)b)->e;

	return (x > y) - (x < y);
}

/* Lists the timings of a class, by their error, with all pairs of equal weight. */
static struct points points_of(const struct validation *v, const struct family_fit *fit,
                               int n, int size_class, bool several)
{
	struct points p = {0};
	size_t most = 0;

	for (int i = 0; i < n; i++)
		most += fit[i].nresiduals;
	p.at = xmalloc(most + 1, sizeof(*p.at));
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < fit[i].nresiduals; k++) {
			const struct fit_residual *r = &fit[i].residual[k];
			const struct measured *m = r->row->row;

			if (validation_class(m->bytes) != size_class ||
			    validation_several(v, r->row) != several)
				continue;
			p.at[p.n++] = (struct point){fit[i].family, m->set,
			                             m->collective, r->e, 0};
		}
	for (size_t i = 0; i < p.n; i++) {
		double same = 0;

		for (size_t k = 0; k < p.n; k++)
			same += same_pair(&p.at[i], &p.at[k]);
		p.at[i].weight = 1 / same;
	}
	qsort(p.at, p.n, sizeof(*p.at), by_error);
	return p;
}

static bool is_of(const struct points *p, size_t i, struct which which)
{
	const struct point *q = &p->at[i];

	return (!which.family || !strcmp(q->family, which.family)) &&
	       (!which.collective || !strcmp(q->collective, which.collective)) &&
	       (!p->without || strcmp(q->set, p->without) != 0);
}

/* Returns the quantiles of some of the points, which are sorted; pairs 0 if there are none. */
static struct width quantiles_of(const struct points *p, struct which which)
{
	struct width w = {0};
	double below = 0, least = NAN, most = NAN;

	for (size_t i = 0; i < p->n; i++)
		if (is_of(p, i, which))
			w.pairs += p->at[i].weight;
	for (size_t i = 0; i < p->n; i++) {
		if (!is_of(p, i, which))
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

/* Draws a width to that of more timings. */
static struct width drawn(struct width w, const struct width *to)
{
	double share = w.pairs / (w.pairs + SHRINK);

	w.low = share * w.low + (1 - share) * to->low;
	w.high = share * w.high + (1 - share) * to->high;
	return w;
}

/*
 * Returns the quantiles of a family, drawn to those of all, or of one of its collectives,
 * drawn to the family's.
 */
static struct width width_of(const struct points *p, struct which which)
{
	struct width all = quantiles_of(p, (struct which){0}), family, one;

	if (!which.family)
		return all;
	family = quantiles_of(p, (struct which){.family = which.family});
	family = drawn(family, &all);
	if (!which.collective)
		return family;
	one = quantiles_of(p, which);
	return drawn(one, &family);
}

/* Returns the root mean square of the means of sets. */
static double spread_between(const struct points *p)
{
	double squares = 0, sets = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct point *set = &p->at[i];
		double sum = 0, n = 0;
		size_t first = p->n;

		if (!is_of(p, i, (struct which){0}))
			continue;
		for (size_t k = 0; k < p->n; k++) {
			if (strcmp(p->at[k].set, set->set) != 0 ||
			    strcmp(p->at[k].family, set->family) != 0)
				continue;
			first = first < p->n ? first : k;
			sum += p->at[k].e;
			n++;
		}
		if (first < i)
			continue;
		squares += sum / n * (sum / n);
		sets++;
	}
	return sets > 0 ? sqrt(squares / sets) : 0;
}

/* Returns how much further sets of a family spread of which there are so many pairs. */
static double unknown(double pairs)
{
	return pairs > 0 ? 1 : sqrt(2);
}

/*
 * Returns by how much of the spread between other sets a timing lies beyond the quantiles
 * that other sets make; 0 inside them, 1 where there are none.
 */
static double beyond(const struct points *p, size_t i)
{
	struct points others = {p->n, p->at, p->at[i].set};
	struct which family = {p->at[i].family, NULL};
	struct width w =
		width_of(&others, (struct which){p->at[i].family, p->at[i].collective});
	double e = p->at[i].e, h = e < 0 ? w.low : w.high;
	double tau =
		spread_between(&others) * unknown(quantiles_of(&others, family).pairs);

	if (tau == 0)
		return 1;
	return fabs(e) > h ? sqrt(e * e - h * h) / (1.28 * tau) : 0;
}

/*
 * Returns the share of the spread between sets that quantiles lack: the least with which
 * the intervals that other sets make hold HELD of the timings, all pairs of equal weight, and
 * of one pair more.
 */
static double share_of(const struct points *p)
{
	struct point *lack = xmalloc(p->n + 1, sizeof(*lack));
	double below = 0, pairs = 0, share = 0, held;

	for (size_t i = 0; i < p->n; i++) {
		lack[i] = p->at[i];
		lack[i].e = beyond(p, i);
		pairs += lack[i].weight;
	}
	held = fmin(HELD * (pairs + 1) / fmax(pairs, 1), 1);
	qsort(lack, p->n, sizeof(*lack), by_error);
	for (size_t i = 0; i < p->n && below < held * pairs * (1 - 1e-12); i++) {
		below += lack[i].weight;
		share = lack[i].e;
	}
	xfree(lack);
	return share;
}

static void row_print(struct text *out, const char *family, const char *collective,
                      int64_t from_bytes, bool several, const struct width *w,
                      double tau)
{
	double between = 1.28 * tau;

	text_printf(out, "%s,%s,%lld,%s,%.0f,%.4f,%.4f\n", family, collective,
	            (long long)from_bytes, several ? "several" : "one", w->pairs,
	            exp(-hypot(w->low, between)), exp(hypot(w->high, between)));
}

/* Returns whether no point before this one has its family and, if asked, collective. */
static bool is_first(const struct points *p, size_t i, bool collective)
{
	struct which which = {p->at[i].family, collective ? p->at[i].collective : NULL};

	for (size_t k = 0; k < i; k++)
		if (is_of(p, k, which))
			return false;
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct point *x = a, *y = b;
	int order = strcmp(x->family, y->family);

	return order ? order : strcmp(x->collective, y->collective);
}

/*
 * Prints what a family's sends over a network are sure to where no timings say it and their
 * cost is another family's.
 */
static void sends_print(struct text *out, const struct points *p, const char *family,
                        int64_t from_bytes, double tau)
{
	static const char *const name[] = {"all-to-all", "permute"};
	struct arena *a = arena_new();

	for (int i = 0; i < 2 && family_borrows(family, "net_send_s", a); i++) {
		struct which which = {family, name[i]};
		struct width w = width_of(p, which);

		if (quantiles_of(p, which).pairs > 0)
			continue;
		w.pairs = 0;
		row_print(out, family, name[i], from_bytes, true, &w, unknown(0) * tau);
	}
	arena_free(a);
}

/* Prints a class: all families, each family, and its collectives, by name. */
static void class_print(struct text *out, const struct points *p, int64_t from_bytes,
                        bool several)
{
	struct width w = width_of(p, (struct which){0});
	double tau = share_of(p) * spread_between(p);
	struct points named = {p->n, xmalloc(p->n + 1, sizeof(*named.at)), NULL};

	memcpy(named.at, p->at, p->n * sizeof(*named.at));
	qsort(named.at, named.n, sizeof(*named.at), by_name);
	row_print(out, "*", "*", from_bytes, several, &w, unknown(0) * tau);
	for (size_t i = 0; i < named.n; i++) {
		const struct point *q = &named.at[i];

		w = width_of(p, (struct which){q->family, NULL});
		if (is_first(&named, i, false)) {
			row_print(out, q->family, "*", from_bytes, several, &w, tau);
			if (several)
				sends_print(out, p, q->family, from_bytes, tau);
		}
		w = width_of(p, (struct which){q->family, q->collective});
		if (is_first(&named, i, true))
			row_print(out, q->family, q->collective, from_bytes, several,
			          &w, tau);
	}
	xfree(named.at);
}

void intervals_print(struct text *out, const struct validation *v,
                     const struct family_fit *fit, int n, const char *command)
{
	text_printf(out,
	            "# Between which factors of a simulated time four timings of five "
	            "lie\n# (sim/fit/intervals.h). Written by `%s`.\n"
	            "family,collective,from_bytes,nodes,pairs,low,high\n",
	            command);
	for (int several = 0; several < 2; several++)
		for (int c = 0; c < VALIDATION_CLASSES; c++) {
			struct points p = points_of(v, fit, n, c, several);

			if (p.n)
				class_print(out, &p, validation_class_from(c), several);
			xfree(p.at);
		}
}
