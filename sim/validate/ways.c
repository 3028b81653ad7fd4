#include "validate/ways.h"

#include "collective/nccl.h"
#include "text/words.h"

#include <math.h>
#include <string.h>

/* By how much two measured times of an order differ at least. */
static const double APART = 0.01;

struct ways {
	struct ways_pairs *pairs;
	int n;
};

static const char *way_of(const struct validation *v, int64_t row, struct arena *a)
{
	const struct groups *g;
	const struct machine *m = validation_machine(v, row, &g);
	const char *algorithm = m->forced.algorithm, *protocol = m->forced.protocol;

	return arena_printf(a, "%s%s%s%s%s", nccl_callers[m->launch].name,
	                    algorithm ? ", " : "", algorithm ? algorithm : "",
	                    protocol ? ", " : "", protocol ? protocol : "");
}

static bool same(const char *a, const char *b)
{
	return !strcmp(a, b);
}

static bool same_job(const struct prediction *p, const struct prediction *q)
{
	return p->row->bytes == q->row->bytes && p->row->devices == q->row->devices &&
	       p->row->groups == q->row->groups &&
	       same(p->row->collective, q->row->collective) &&
	       same(p->platform, q->platform);
}

/* Counts a pair of rows, of which the way of the first is named first. */
static void pair_count(struct ways *w, const struct prediction *p, const char *first,
                       const struct prediction *q, const char *second)
{
	double measured = log(p->row->time_s / q->row->time_s);
	double simulated = log(p->time_s / q->time_s);
	int i = 0;

	if (fabs(measured) < APART)
		return;
	while (i < w->n &&
	       !(same(w->pairs[i].platform, p->platform) &&
	         same(w->pairs[i].collective, p->row->collective) &&
	         same(w->pairs[i].first, first) && same(w->pairs[i].second, second)))
		i++;
	if (i == w->n)
		w->pairs[w->n++] = (struct ways_pairs){
			p->platform, p->row->collective, first, second, 0, 0};
	if (measured * simulated > 0)
		w->pairs[i].alike++;
	else
		w->pairs[i].otherwise++;
}

int ways_find(struct ways_pairs **out, const struct validation *v, struct arena *a)
{
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);
	const char **way = arena_alloc(a, (size_t)n + 1, sizeof(*way));
	struct ways w = {.pairs = arena_alloc(a, (size_t)n + 1, sizeof(*w.pairs))};

	for (int64_t i = 0; i < n; i++) {
		if (isnan(row[i].time_s) || row[i].outlier)
			continue;
		way[i] = way_of(v, i, a);
		for (int64_t k = 0; k < i; k++)
			if (way[k] && !same(way[i], way[k]) &&
			    same_job(&row[i], &row[k])) {
				bool turn = strcmp(way[i], way[k]) < 0;
				int64_t x = turn ? i : k, y = turn ? k : i;

				pair_count(&w, &row[x], way[x], &row[y], way[y]);
			}
	}
	*out = w.pairs;
	return w.n;
}

static void row_fill(struct pen_table *t, struct arena *a, const struct ways_pairs *p)
{
	const char **cell = words_row(t);
	double pairs = (double)(p->alike + p->otherwise);

	cell[0] = p->platform;
	cell[1] = p->collective;
	cell[2] = p->first;
	cell[3] = p->second;
	cell[4] = words_count(a, (size_t)pairs);
	cell[5] = words_count(a, (size_t)p->alike);
	cell[6] = arena_printf(a, "%.2f", (double)(p->alike - p->otherwise) / pairs);
}

void ways_words(const struct pen *pen, const struct validation *v)
{
	static const char *const head[] = {"platform", "collective", "one way",
	                                   "another",  "pairs",      "ordered alike",
	                                   "tau"};
	struct ways_pairs *pairs, all = {"all", "", "", "", 0, 0};
	int n = ways_find(&pairs, v, pen->arena);
	struct pen_table t = words_table(pen->arena, "Ways of one job in their order",
	                                 "llllrrr", head, (size_t)n + 1);

	if (!n)
		return;
	for (int i = 0; i < n; i++) {
		row_fill(&t, pen->arena, &pairs[i]);
		all.alike += pairs[i].alike;
		all.otherwise += pairs[i].otherwise;
	}
	row_fill(&t, pen->arena, &all);
	pen->heading(pen, 2, "Order of ways");
	pen->paragraph(
		pen, "Where one job was measured in several ways, by other callers or "
		     "with a forced algorithm, each two are ordered by measured and "
		     "by simulated times. Kendall's tau is the pairs ordered alike "
		     "less the others, over both; times within 1 % have no order.");
	pen->table(pen, &t);
}
