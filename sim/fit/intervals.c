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

/* The mean of the errors of a set, squared. */
struct set_mean {
	const char *family, *set;
	double square;
};

struct points {
	size_t n, nsets;
	struct point *at;
	struct set_mean *mean;  /* [nsets] */
	const char *without[2]; /* sets that count as not there, or NULL */
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

/* Gives every pair of a set and a collective the same weight, and finds the means of sets. */
static void points_weigh(struct points *p)
{
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
			p->mean[p->nsets++] = (struct set_mean){q->family, q->set,
			                                        sum / n * (sum / n)};
	}
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
	qsort(p.at, p.n, sizeof(*p.at), by_error);
	points_weigh(&p);
	return p;
}

/* Returns whether the set counts as there. */
static bool is_there(const struct points *p, const char *set)
{
	for (int k = 0; k < 2; k++)
		if (p->without[k] && !strcmp(set, p->without[k]))
			return false;
	return true;
}

static bool is_of(const struct points *p, size_t i, struct which which)
{
	const struct point *q = &p->at[i];

	return (!which.family || !strcmp(q->family, which.family)) &&
	       (!which.collective || !strcmp(q->collective, which.collective)) &&
	       is_there(p, q->set);
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

/*
 * Returns the root mean square of the means of sets, of a family drawn to that of all; where
 * there is none of the family, or NULL, sqrt(2) of it.
 */
static double spread_of(const struct points *p, const char *family)
{
	double all = 0, sets = 0, own = 0, n = 0;

	for (size_t i = 0; i < p->nsets; i++) {
		const struct set_mean *m = &p->mean[i];

		if (!is_there(p, m->set))
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

/* Returns half-widths with the spread between sets, `times` that of the family. */
static struct width wide_of(const struct points *p, struct which which, double times)
{
	struct width w = width_of(p, which);
	double between = 1.28 * times * spread_of(p, which.family);

	w.low = hypot(w.low, between);
	w.high = hypot(w.high, between);
	return w;
}

/* Returns how many half-widths that sets other than its own make the timing is off; 1 if none. */
static double off_by(const struct points *p, size_t i, const struct width *others)
{
	double e = p->at[i].e, h = e < 0 ? others->low : others->high;

	return h > 0 ? fabs(e) / h : 1;
}

/*
 * Stores in each point's error how many half-widths, made without its set, it is off. Points
 * that do not count are left alone.
 */
static void off_all(struct point *off, const struct points *p)
{
	bool *done = xmalloc(p->n + 1, sizeof(*done));
	struct points others = *p;

	memset(done, 0, p->n);
	for (size_t i = 0; i < p->n; i++) {
		struct which which = {p->at[i].family, p->at[i].collective};
		struct width w;

		if (done[i] || !is_there(p, p->at[i].set))
			continue;
		others.without[1] = p->at[i].set;
		w = wide_of(&others, which, 1);
		for (size_t k = i; k < p->n; k++)
			if (same_pair(&p->at[i], &p->at[k])) {
				off[k].e = off_by(p, k, &w);
				done[k] = true;
			}
	}
	xfree(done);
}

/*
 * Returns the factor on half-widths with which those that other sets make hold HELD of the
 * timings, all pairs of equal weight.
 */
static double scale_of(const struct points *p)
{
	struct point *off = xmalloc(p->n + 1, sizeof(*off));
	double below = 0, pairs = 0, scale = 1;
	size_t n = 0;

	memcpy(off, p->at, p->n * sizeof(*off));
	off_all(off, p);
	for (size_t i = 0; i < p->n; i++)
		if (is_there(p, off[i].set)) {
			pairs += off[i].weight;
			off[n++] = off[i];
		}
	qsort(off, n, sizeof(*off), by_error);
	for (size_t i = 0; i < n && below < HELD * pairs * (1 - 1e-12); i++) {
		below += off[i].weight;
		scale = off[i].e;
	}
	xfree(off);
	return scale;
}

/* Timings of sets that were left out of everything: pairs, and how many are held. */
struct held {
	double pairs, in;
};

/* Adds those of a class that has several. */
static void held_add(struct held *out, const struct points *p)
{
	struct points others = *p;

	for (size_t k = 0; k < p->nsets && p->nsets > 1; k++) {
		double scale;

		others.without[0] = p->mean[k].set;
		others.without[1] = NULL;
		scale = scale_of(&others);
		for (size_t i = 0; i < p->n; i++) {
			const struct point *q = &p->at[i];
			struct width w;

			if (strcmp(q->set, p->mean[k].set) != 0 ||
			    strcmp(q->family, p->mean[k].family) != 0)
				continue;
			w = wide_of(&others, (struct which){q->family, q->collective},
			            1);
			out->pairs += q->weight;
			out->in += q->weight * (off_by(p, i, &w) <= scale);
		}
	}
}

static void row_print(struct text *out, const char *family, const char *collective,
                      int64_t from_bytes, bool several, const struct width *w,
                      double scale)
{
	text_printf(out, "%s,%s,%lld,%s,%.0f,%.4f,%.4f\n", family, collective,
	            (long long)from_bytes, several ? "several" : "one", w->pairs,
	            exp(-scale * w->low), exp(scale * w->high));
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
                        int64_t from_bytes, double scale)
{
	static const char *const name[] = {"all-to-all", "permute"};
	struct arena *a = arena_new();

	for (int i = 0; i < 2 && family_borrows(family, "net_send_s", a); i++) {
		struct which which = {family, name[i]};
		struct width w = wide_of(p, which, sqrt(2));

		if (quantiles_of(p, which).pairs > 0)
			continue;
		w.pairs = 0;
		row_print(out, family, name[i], from_bytes, true, &w, scale);
	}
	arena_free(a);
}

/* Prints a class: all families, each family, and its collectives, by name. */
static void class_print(struct text *out, const struct points *p, int64_t from_bytes,
                        bool several)
{
	struct width w = wide_of(p, (struct which){0}, 1);
	double scale = scale_of(p);
	struct points named = {.n = p->n, .at = xmalloc(p->n + 1, sizeof(*named.at))};

	memcpy(named.at, p->at, p->n * sizeof(*named.at));
	qsort(named.at, named.n, sizeof(*named.at), by_name);
	row_print(out, "*", "*", from_bytes, several, &w, scale);
	for (size_t i = 0; i < named.n; i++) {
		const struct point *q = &named.at[i];

		w = wide_of(p, (struct which){q->family, NULL}, 1);
		if (is_first(&named, i, false)) {
			row_print(out, q->family, "*", from_bytes, several, &w, scale);
			if (several)
				sends_print(out, p, q->family, from_bytes, scale);
		}
		w = wide_of(p, (struct which){q->family, q->collective}, 1);
		if (is_first(&named, i, true))
			row_print(out, q->family, q->collective, from_bytes, several,
			          &w, scale);
	}
	xfree(named.at);
}

/* Says how many timings such intervals hold of sets that they are not made of. */
static void held_print(struct text *out, const struct held held[2])
{
	static const char *const sizes[] = {"below 1 MiB", "from 1 MiB on"};

	for (int large = 0; large < 2; large++)
		if (held[large].pairs > 0)
			text_printf(out,
			            "# Of %.0f pairs of a set and a collective %s they "
			            "hold "
			            "%.1f %%, without the set.\n",
			            held[large].pairs, sizes[large],
			            100 * held[large].in / held[large].pairs);
}

void intervals_print(struct text *out, const struct validation *v,
                     const struct family_fit *fit, int n, const char *command)
{
	struct held held[2] = {{0, 0}};
	struct text rows = {0};

	for (int several = 0; several < 2; several++)
		for (int c = 0; c < VALIDATION_CLASSES; c++) {
			struct points p = points_of(v, fit, n, c, several);
			int64_t from_bytes = validation_class_from(c);

			if (p.n)
				class_print(&rows, &p, from_bytes, several);
			held_add(&held[from_bytes >= FIT_LARGE], &p);
			xfree(p.at);
			xfree(p.mean);
		}
	text_printf(out,
	            "# Between which factors of a simulated time four timings of five "
	            "lie\n# (sim/fit/intervals.h). Written by `%s`.\n",
	            command);
	held_print(out, held);
	text_printf(out, "family,collective,from_bytes,nodes,pairs,low,high\n%s",
	            rows.s ? rows.s : "");
	text_free(&rows);
}
