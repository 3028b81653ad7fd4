#include "validate/program/factors.h"
#include "validate/program/sharded.h"

#include "text/csv.h"

#include <math.h>
#include <string.h>

/* Configurations of one model on one machine. */
struct group {
	const struct sharded_step *first;
	struct factors all, kept; /* kept: without outliers */
	size_t slower;      /* those of which ours is slower than what was published */
	double least, most; /* ours over the published */
};

static bool same_group(const struct sharded_step *a, const struct sharded_step *b)
{
	return !b->left_out && !strcmp(a->job->set, b->job->set) &&
	       !strcmp(a->job->name, b->job->name) &&
	       !strcmp(a->job->platform, b->job->platform);
}

static bool is_first(const struct sharded_table *t, int64_t row)
{
	for (int64_t i = 0; i < row; i++)
		if (same_group(&t->row[row], &t->row[i]))
			return false;
	return !t->row[row].left_out;
}

/* Factors of its configurations, with outliers or without. */
static struct factors factors_in(const struct sharded_table *t,
                                 const struct sharded_step *first, bool outliers,
                                 struct arena *a)
{
	double *measured = arena_alloc(a, (size_t)t->n, sizeof(*measured));
	double *simulated = arena_alloc(a, (size_t)t->n, sizeof(*simulated));
	size_t n = 0;

	for (int64_t i = 0; i < t->n; i++) {
		const struct sharded_step *s = &t->row[i];

		if (!same_group(first, s) || (s->faster && !outliers))
			continue;
		measured[n] = s->measured_s;
		simulated[n++] = s->expert_s;
	}
	return factors_of(measured, simulated, n);
}

static struct group group_of(const struct sharded_table *t, int64_t row, struct arena *a)
{
	struct group g = {.first = &t->row[row], .least = INFINITY};

	for (int64_t i = row; i < t->n; i++) {
		const struct sharded_step *s = &t->row[i];
		double ratio = s->ours_s / s->expert_s;

		if (!same_group(g.first, s))
			continue;
		g.slower += !(ratio <= 1 + 1e-9);
		g.least = fmin(g.least, ratio);
		g.most = fmax(g.most, ratio);
	}
	g.all = factors_in(t, g.first, true, a);
	g.kept = factors_in(t, g.first, false, a);
	return g;
}

static void add_group(struct pen_table *t, struct arena *a, const struct group *g)
{
	const char **cell = words_row(t);

	cell[0] = g->first->job->name;
	cell[1] = g->first->job->platform;
	cell[2] = words_count(a, g->all.n);
	cell[3] = words_count(a, g->all.n - g->kept.n);
	cell[4] = factor_text(a, g->kept.tau);
	cell[5] = factor_text(a, g->all.tau);
	cell[6] = factor_text(a, g->all.error);
	cell[7] = factor_text(a, g->least);
	cell[8] = factor_text(a, g->most);
}

/* How many groups are put in their order, and how well the worst of them. */
struct order {
	size_t ordered, unordered, equal;
	double least_tau;
};

/* What all groups come to; `alone` have one configuration. */
struct sum {
	size_t expressed, slower, alone, outliers;
	struct order all, kept; /* kept: without outliers */
	double least, most;     /* ours over the published of all */
};

/* Equal up to rounding. */
static const double TAU = .8 - 1e-9;

static void add_order(struct order *o, double tau)
{
	o->equal += isnan(tau);
	o->ordered += tau >= TAU;
	o->unordered += tau < TAU;
	o->least_tau = fmin(o->least_tau, tau);
}

static void add_sum(struct sum *s, const struct group *g)
{
	s->expressed += g->all.n;
	s->outliers += g->all.n - g->kept.n;
	s->slower += g->slower;
	s->least = fmin(s->least, g->least);
	s->most = fmax(s->most, g->most);
	if (g->all.n < 2) {
		s->alone++;
		return;
	}
	add_order(&s->all, g->all.tau);
	add_order(&s->kept, g->kept.tau);
}

/* What it is with outliers; nothing if there are none. */
static const char *outliers_text(struct arena *a, const struct sum *s)
{
	if (!s->outliers)
		return "";
	return arena_printf(
		a,
		" That is without %zu outliers, which took more than %g times as long "
		"as a configuration of their model and machine that computes no less; "
		"with them it is %zu, and the least %s.",
		s->outliers, STEP_OUTLIER, s->all.ordered,
		factor_text(a, s->all.least_tau));
}

static const char *sum_text(struct arena *a, const struct sum *s)
{
	size_t several = s->kept.ordered + s->kept.unordered;

	return arena_printf(
		a,
		"%zu configurations of models on machines can be said as tactics. "
		"%zu models on a machine have several that differ here, and in %zu "
		"of them simulated times have the order of the measured ones with a "
		"Kendall's tau of at least 0.8; the least is %s.%s %zu more have "
		"several that are one here, as they differ in how kernels are "
		"launched, and %zu have one. What the search finds that starts from "
		"the published layout takes %s to %s of its time, and is slower "
		"than it for %zu. Error is the mean factor, exp |log(simulated / "
		"measured)|: nothing overlaps here. Memory is not limited, as it is "
		"known that these ran.",
		s->expressed, several, s->kept.ordered,
		factor_text(a, several ? s->kept.least_tau : NAN), outliers_text(a, s),
		s->kept.equal, s->alone, factor_text(a, s->expressed ? s->least : NAN),
		factor_text(a, s->expressed ? s->most : NAN), s->slower);
}

static void write_groups(const struct pen *pen, const struct sharded_table *t)
{
	static const char *const head[] = {"model",
	                                   "machine",
	                                   "configurations",
	                                   "outliers",
	                                   "tau",
	                                   "tau with outliers",
	                                   "error",
	                                   "ours / published, least",
	                                   "most"};
	struct arena *a = pen->arena;
	struct pen_table table = words_table(a, "Published configurations as shardings",
	                                     "llrrrrrrr", head, (size_t)t->n);
	struct sum sum = {.all.least_tau = INFINITY,
	                  .kept.least_tau = INFINITY,
	                  .least = INFINITY};

	for (int64_t i = 0; i < t->n; i++) {
		struct group g;

		if (!is_first(t, i))
			continue;
		g = group_of(t, i, a);
		add_sum(&sum, &g);
		if (g.all.n > 1)
			add_group(&table, a, &g);
	}
	table.name = "published";
	pen->paragraph(pen, sum_text(a, &sum));
	if (table.rows)
		pen->table(pen, &table);
}

static const char *sequences(struct arena *a, const struct sharded_step *s)
{
	return arena_printf(a, "%lld of %lld tokens",
	                    (long long)s->job->model.train.global_batch,
	                    (long long)s->job->model.train.seq);
}

static void write_outliers(const struct pen *pen, const struct sharded_table *t)
{
	static const char *const head[] = {
		"model", "machine", "sequences", "took", "no less to compute",
		"took",  "factor"};
	struct arena *a = pen->arena;
	struct pen_table table = words_table(a, "Outliers of published steps",
	                                     "lllrlrr", head, (size_t)t->n);

	for (int64_t i = 0; i < t->n; i++) {
		const struct sharded_step *s = &t->row[i];
		const char **cell;

		if (!s->faster || s->left_out)
			continue;
		cell = words_row(&table);
		cell[0] = s->job->name;
		cell[1] = s->job->platform;
		cell[2] = sequences(a, s);
		cell[3] = words_time(a, s->measured_s);
		cell[4] = sequences(a, s->faster);
		cell[5] = words_time(a, s->faster->measured_s);
		cell[6] = factor_text(a, s->measured_s / s->faster->measured_s);
	}
	table.name = "outliers";
	if (!table.rows)
		return;
	pen->heading(pen, 3, "Outliers");
	pen->table(pen, &table);
}

static void write_left_out(const struct pen *pen, const struct sharded_table *t)
{
	static const char *const head[] = {"why", "configurations", "rows"};
	struct arena *a = pen->arena;
	struct pen_table table =
		words_table(a, "Rows that no sharding says", "prr", head, (size_t)t->n);

	for (int64_t i = 0; i < t->n; i++) {
		const char **cell, *why = t->row[i].left_out;
		size_t n = 0, rows = 0;
		bool first = why != NULL;

		for (int64_t k = 0; k < t->n && first; k++) {
			if (!t->row[k].left_out || strcmp(t->row[k].left_out, why) != 0)
				continue;
			first = k >= i;
			n++;
			rows += t->row[k].n;
		}
		if (!first)
			continue;
		cell = words_row(&table);
		cell[0] = why;
		cell[1] = words_count(a, n);
		cell[2] = words_count(a, rows);
	}
	table.name = "unsaid";
	if (!table.rows)
		return;
	pen->heading(pen, 3, "What no sharding says");
	pen->table(pen, &table);
}

void sharded_table_words(const struct pen *pen, const struct sharded_table *t)
{
	pen->heading(pen, 2, "Published configurations as shardings");
	write_groups(pen, t);
	write_outliers(pen, t);
	write_left_out(pen, t);
}

static void put_number(FILE *out, double x)
{
	if (isnan(x))
		fprintf(out, ",");
	else
		fprintf(out, ",%.9g", x);
}

void sharded_table_csv(FILE *out, const struct sharded_table *t)
{
	fprintf(out,
	        "set,name,platform,rows,mesh,tactics,measured_s,published_s,ours_s,"
	        "evaluations,left_out,outlier\n");
	for (int64_t i = 0; i < t->n; i++) {
		const struct sharded_step *s = &t->row[i];

		csv_put(out, s->job->set, true);
		csv_put(out, s->job->name, false);
		csv_put(out, s->job->platform, false);
		fprintf(out, ",%zu", s->n);
		csv_put(out, s->mesh, false);
		csv_put(out, s->tactics, false);
		put_number(out, s->measured_s);
		put_number(out, s->expert_s);
		put_number(out, s->ours_s);
		fprintf(out, ",%lld", (long long)s->evaluations);
		csv_put(out, s->left_out ? s->left_out : "", false);
		fprintf(out, ",%s\n", s->faster ? "true" : "false");
	}
}
