#include "validate/ways.h"

#include "base/list.h"
#include "collective/nccl.h"
#include "collective/nccl_data.h"
#include "stat/summary.h"
#include "text/words.h"

#include <math.h>
#include <string.h>

/*
 * By how much two measured times of an order differ at least, and by how much two modelled
 * ones of one time at most.
 */
static const double APART = 0.01, EQUAL = 1e-9;

/* A row that may be one of a pair. */
struct timing {
	const struct prediction *p;
	const struct groups *groups;
	const char *caller, *way;
};

/* What is found on the way. */
struct found {
	struct arena *arena;
	LIST(struct ways_pairs) pairs;
	LIST(double) apart; /* two reports of one way of one job */
};

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/*
 * Lists the rows that have times, are no outliers and tell who called, and returns how many there
 * are.
 */
static int64_t timings(struct timing **out, const struct validation *v, struct arena *a)
{
	int64_t n, count = 0;
	const struct prediction *row = validation_rows(v, &n);

	*out = arena_alloc(a, (size_t)n + 1, sizeof(**out));
	for (int64_t i = 0; i < n; i++) {
		struct timing *t = &(*out)[count];
		const struct machine *m;
		const char *algorithm, *protocol;

		if (isnan(row[i].time_s) || row[i].outlier || row[i].entry->untold)
			continue;
		t->p = &row[i];
		m = validation_machine(v, i, &t->groups);
		algorithm = nccl_asks_tuner(m) ? NULL : m->forced.algorithm;
		protocol = m->forced.protocol;
		t->caller = nccl_callers[m->launch].name;
		t->way = arena_printf(a, "%s%s%s%s%s", t->caller, algorithm ? ", " : "",
		                      algorithm ? algorithm : "", protocol ? ", " : "",
		                      protocol ? protocol : "");
		count++;
	}
	return count;
}

static bool same_devices(const struct groups *g, const struct groups *h)
{
	return g->ngroups == h->ngroups && g->size == h->size &&
	       !memcmp(g->ids, h->ids,
	               (size_t)g->ngroups * (size_t)g->size * sizeof(*g->ids));
}

static bool same_settings(const struct mapping_entry *m, const struct mapping_entry *o)
{
	if (m->nsettings != o->nsettings)
		return false;
	for (int i = 0; i < m->nsettings; i++)
		if (!same(m->setting[i], o->setting[i]))
			return false;
	return true;
}

static bool same_job(const struct timing *t, const struct timing *u)
{
	const struct measured *a = t->p->row, *b = u->p->row;

	return a->bytes == b->bytes && a->in_place == b->in_place &&
	       a->one_pair == b->one_pair && same(a->collective, b->collective) &&
	       same(t->p->platform, u->p->platform) &&
	       same_settings(t->p->entry, u->p->entry) &&
	       same_devices(t->groups, u->groups);
}

/* Returns whether both are of one set, or their sources of one page, which lines may follow. */
static bool one_report(const struct measured *a, const struct measured *b)
{
	size_t page = strcspn(a->source, "#");

	if (same(a->set, b->set))
		return true;
	return memchr(a->source, '/', page) && page == strcspn(b->source, "#") &&
	       !memcmp(a->source, b->source, page);
}

/*
 * Returns whether the model does the same for both, by the same caller or by callers who make no
 * difference there.
 */
static bool same_run(const struct timing *t, const struct timing *u)
{
	bool callers = same(t->caller, u->caller) ||
	               fabs(log(t->p->time_s / u->p->time_s)) < EQUAL;

	return callers && same(t->p->algorithm, u->p->algorithm) &&
	       same(t->p->protocol, u->p->protocol);
}

/* Returns the counts of the pairs that are like this one, of which `t` is named first. */
static struct ways_pairs *counts_of(struct found *f, const struct timing *t,
                                    const struct timing *u)
{
	struct ways_pairs key = {.platform = t->p->platform,
	                         .collective = t->p->row->collective,
	                         .first = t->way,
	                         .second = u->way,
	                         .one_report = one_report(t->p->row, u->p->row)};

	for (int64_t i = 0; i < f->pairs.n; i++) {
		struct ways_pairs *p = &f->pairs.at[i];

		if (p->one_report == key.one_report && same(p->platform, key.platform) &&
		    same(p->collective, key.collective) && same(p->first, key.first) &&
		    same(p->second, key.second))
			return p;
	}
	*list_add(&f->pairs, f->arena) = key;
	return &f->pairs.at[f->pairs.n - 1];
}

static void pair_count(struct found *f, const struct timing *t, const struct timing *u)
{
	double measured = log(t->p->row->time_s / u->p->row->time_s);
	double modelled = log(t->p->time_s / u->p->time_s);
	bool alike = measured * modelled > 0;
	struct ways_pairs *pairs;

	if (fabs(measured) < APART)
		return;
	pairs = counts_of(f, t, u);
	if (same_run(t, u))
		pairs->same_run++;
	else if (!pairs->one_report && fabs(measured) < WAYS_NEAR)
		*(alike ? &pairs->near_alike : &pairs->near_otherwise) += 1;
	else if (fabs(modelled) < EQUAL)
		pairs->tied++;
	else
		*(alike ? &pairs->alike : &pairs->otherwise) += 1;
}

/* Counts two timings of a job: of two ways, or of one by two reports. */
static void timings_compare(struct found *f, const struct timing *t,
                            const struct timing *u)
{
	const struct measured *a = t->p->row, *b = u->p->row;
	int order = strcmp(t->way, u->way);

	if (order < 0)
		pair_count(f, t, u);
	else if (order > 0)
		pair_count(f, u, t);
	else if (!one_report(a, b))
		*list_add(&f->apart, f->arena) = fabs(log(a->time_s / b->time_s));
}

void ways_find(struct ways *out, const struct validation *v, struct arena *a)
{
	struct found f = {.arena = a};
	struct timing *t;
	int64_t n = timings(&t, v, a);

	for (int64_t i = 0; i < n; i++)
		for (int64_t k = 0; k < i; k++)
			if (same_job(&t[i], &t[k]))
				timings_compare(&f, &t[i], &t[k]);
	*out = (struct ways){
		.pairs = arena_alloc(a, (size_t)f.pairs.n + 1, sizeof(*out->pairs)),
		.twice = f.apart.n,
		.noise = stat_quantile(f.apart.at, (size_t)f.apart.n, 0.5)};
	for (int of_two = 0; of_two < 2; of_two++)
		for (int64_t i = 0; i < f.pairs.n; i++)
			if (f.pairs.at[i].one_report == !of_two)
				out->pairs[out->n++] = f.pairs.at[i];
}

/* --- tau --------------------------------------------------------------------------- */

static double tau(int64_t alike, int64_t otherwise, int64_t tied)
{
	if (!(alike + otherwise + tied))
		return NAN;
	return (double)(alike - otherwise) / (double)(alike + otherwise + tied);
}

double ways_tau(const struct ways_pairs *p)
{
	return tau(p->alike, p->otherwise, p->tied);
}

double ways_tau_of_all(const struct ways_pairs *p)
{
	return tau(p->alike + p->near_alike,
	           p->otherwise + p->near_otherwise + p->same_run + p->tied, 0);
}

void ways_add(struct ways_pairs *sum, const struct ways_pairs *p)
{
	sum->alike += p->alike;
	sum->otherwise += p->otherwise;
	sum->same_run += p->same_run;
	sum->near_alike += p->near_alike;
	sum->near_otherwise += p->near_otherwise;
	sum->tied += p->tied;
}

/* --- words ------------------------------------------------------------------------- */

static const char *tau_words(struct arena *a, double x)
{
	return isnan(x) ? "-" : arena_printf(a, "%.2f", x);
}

static void row_fill(struct pen_table *t, struct arena *a, const struct ways_pairs *p,
                     const char *reports)
{
	const char **cell = words_row(t);
	int64_t near = p->near_alike + p->near_otherwise,
		order = p->alike + p->otherwise + p->tied;

	cell[0] = p->platform;
	cell[1] = p->collective;
	cell[2] = p->first;
	cell[3] = p->second;
	cell[4] = reports;
	cell[5] = words_count(a, (size_t)(order + near + p->same_run));
	cell[6] = words_count(a, (size_t)p->same_run);
	cell[7] = words_count(a, (size_t)near);
	cell[8] = words_count(a, (size_t)order);
	cell[9] = order ? words_count(a, (size_t)p->alike) : "-";
	cell[10] = order ? words_count(a, (size_t)p->tied) : "-";
	cell[11] = tau_words(a, ways_tau(p));
	cell[12] = tau_words(a, ways_tau_of_all(p));
}

static struct pen_table ways_table(const struct ways *w, struct arena *a)
{
	static const char *const head[] = {"platform",
	                                   "collective",
	                                   "way A",
	                                   "way B",
	                                   "reports",
	                                   "pairs",
	                                   "equal by model",
	                                   "near",
	                                   "compared",
	                                   "same order",
	                                   "tied",
	                                   "tau",
	                                   "tau, equal times as wrong"};
	struct pen_table t = words_table(a, "Ways of one job in their order",
	                                 "lllllrrrrrrrr", head, (size_t)w->n + 2);
	struct ways_pairs one = {"all", "", "", "", true, 0, 0, 0, 0, 0, 0}, all = one;

	for (int64_t i = 0; i < w->n; i++) {
		const struct ways_pairs *p = &w->pairs[i];

		row_fill(&t, a, p, p->one_report ? "one" : "two");
		ways_add(&all, p);
		if (p->one_report)
			ways_add(&one, p);
	}
	if (w->pairs[0].one_report)
		row_fill(&t, a, &one, "one");
	row_fill(&t, a, &all, "any");
	return t;
}

void ways_words(const struct pen *pen, const struct validation *v)
{
	struct ways w;
	struct pen_table t;

	ways_find(&w, v, pen->arena);
	if (!w.n)
		return;
	t = ways_table(&w, pen->arena);
	pen->heading(pen, 2, "Order of ways");
	pen->paragraph(
		pen,
		"Does the model rank two ways of doing one job as the measurements "
		"do? A job is a collective of some bytes on some devices, in "
		"place or not; its ways are callers and forced algorithms. Each "
		"two that were measured are a pair, but for times within 1 % and "
		"for reports that do not tell who called.");
	pen->paragraph(
		pen,
		arena_printf(
			pen->arena,
			"Two kinds of pairs are not compared. Equal by model are those "
			"of which the model picks for one way what the other forces, "
			"or whose callers make no difference to it: one way measured "
			"twice, if the library picked the same. Near "
			"are times of two reports that differ by less than %.1f %%, no "
			"more than those of one way do. Kendall's tau is of the "
			"compared pairs those in the same order less those in the "
			"other, over all; the tied, two ways with one time by the "
			"model, are in neither. The last column is that of all pairs, "
			"where times that are equal by model are an order that was "
			"missed.",
			100 * WAYS_NEAR));
	if (w.twice)
		pen->paragraph(pen,
		               arena_printf(pen->arena,
		                            "Here two reports of one way of one job "
		                            "differ by %.1f %% in the median of %lld.",
		                            100 * expm1(w.noise), (long long)w.twice));
	pen->table(pen, &t);
}
