#include "report/plot.h"
#include "report/select.h"

#include "base/list.h"
#include "text/gnuplot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The speedups of a planner on a platform. */
struct curve {
	const char *platform, *planner;
	LIST(double) speedup;
};

struct curves {
	struct arena *arena;
	LIST(struct curve) list;
};

/* Returns the curve of the row's platform and planner, which may be a new one. */
static struct curve *curve_of(struct curves *c, const struct row *r)
{
	struct curve *new;

	for (int64_t i = 0; i < c->list.n; i++)
		if (strcmp(c->list.at[i].platform, r->platform) == 0 &&
		    strcmp(c->list.at[i].planner, r->planner) == 0)
			return &c->list.at[i];
	new = list_add(&c->list, c->arena);
	*new = (struct curve){.platform = r->platform, .planner = r->planner};
	return new;
}

/*
 * Returns the baseline's row for row i, or NULL. Rows are sorted by scenario, platform and
 * planner, so that it stands close by.
 */
static const struct row *find_partner(const struct row *rows, size_t n, size_t i,
                                      const char *baseline)
{
	size_t k = i;

	while (k > 0 && strcmp(rows[k - 1].scenario, rows[i].scenario) == 0 &&
	       strcmp(rows[k - 1].platform, rows[i].platform) == 0)
		k--;
	for (; k < n && strcmp(rows[k].scenario, rows[i].scenario) == 0 &&
	       strcmp(rows[k].platform, rows[i].platform) == 0;
	     k++)
		if (strcmp(rows[k].planner, baseline) == 0 &&
		    strcmp(rows[k].clock, rows[i].clock) == 0)
			return &rows[k];
	return NULL;
}

static int compare_speedups(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int compare_curves(const void *a, const void *b)
{
	const struct curve *x = a, *y = b;
	int order = strcmp(x->platform, y->platform);

	return order ? order : strcmp(x->planner, y->planner);
}

/* Collects the speedups of all rows of one clock, sorted by platform and planner. */
static void gather_curves(struct curves *c, const struct row *rows, size_t n,
                          const struct report_options *o, const char *baseline,
                          const char *clock)
{
	for (size_t i = 0; i < n; i++) {
		const struct row *base;
		struct curve *curve;

		if (strcmp(rows[i].clock, clock) != 0 || !report_moves(&rows[i]) ||
		    !report_family(o, &rows[i]) ||
		    strcmp(rows[i].planner, baseline) == 0)
			continue;
		base = find_partner(rows, n, i, baseline);
		if (!base || !report_moves(base))
			continue;
		curve = curve_of(c, &rows[i]);
		*list_add(&curve->speedup, c->arena) = base->time_s / rows[i].time_s;
	}
	for (int64_t i = 0; i < c->list.n; i++)
		qsort(c->list.at[i].speedup.at, (size_t)c->list.at[i].speedup.n,
		      sizeof(double), compare_speedups);
	if (c->list.n)
		qsort(c->list.at, (size_t)c->list.n, sizeof(*c->list.at),
		      compare_curves);
}

/* Returns how many curves from `first` on are of one platform. */
static int64_t curves_of_platform(const struct curves *c, int64_t first)
{
	int64_t n = 1;

	while (first + n < c->list.n &&
	       strcmp(c->list.at[first].platform, c->list.at[first + n].platform) == 0)
		n++;
	return n;
}

/* Are all speedups of the panel 1 as they are printed? gnuplot finds no range then. */
static bool is_flat(const struct curve *curve, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		for (int64_t k = 0; k < curve[i].speedup.n; k++)
			if (fabs(curve[i].speedup.at[k] - 1) > 1e-5)
				return false;
	return true;
}

/* Writes one panel: a gnuplot `plot` of data that follow on the same stream. */
static void write_panel(FILE *out, const struct curve *curve, int64_t n)
{
	bool flat = is_flat(curve, n);

	fputs(flat ? "set yrange [0.5:2]\n" : "", out);
	fputs("set title ", out);
	gnuplot_string(out, curve->platform);
	fputs(" noenhanced\nplot 1 with lines lc rgb '#999999' notitle", out);
	for (int64_t i = 0; i < n; i++) {
		fprintf(out, ", '-' using 1:2 with steps lw 2 lc rgb '%s' title ",
		        gnuplot_colour((size_t)i));
		gnuplot_string(out, curve[i].planner);
		fputs(" noenhanced", out);
	}
	fprintf(out, "\n");
	for (int64_t i = 0; i < n; i++) {
		for (int64_t k = 0; k < curve[i].speedup.n; k++)
			fprintf(out, "%.6g %.6g\n",
			        100.0 * (double)(k + 1) / (double)curve[i].speedup.n,
			        curve[i].speedup.at[k]);
		fprintf(out, "e\n");
	}
	fputs(flat ? "set yrange [*:*]\n" : "", out);
}

/* What is drawn. */
struct figure {
	const struct curves *curves;
	const char *title;
};

static void write_plot(FILE *out, const char *terminal, const void *self)
{
	const struct figure *figure = self;
	const struct curves *c = figure->curves;
	size_t panels = 0;

	for (int64_t i = 0; i < c->list.n; i += curves_of_platform(c, i))
		panels++;
	gnuplot_panels(out, terminal, figure->title, panels, 3);
	fputs("set logscale y\nset grid\nset key outside right top\n"
	      "set xrange [0:100]\n"
	      "set xlabel 'share of scenarios, %'\nset ylabel 'speedup'\n",
	      out);
	for (int64_t i = 0; i < c->list.n; i += curves_of_platform(c, i))
		write_panel(out, &c->list.at[i], curves_of_platform(c, i));
	gnuplot_end(out);
}

enum status report_plot(const char *path, struct store *store,
                        const struct report_options *o, struct error *e)
{
	const char *baseline = o->baseline ? o->baseline : "xla-2021";
	const char *clock = o->clocks && o->clocks[0] ? o->clocks[0] : "model";
	struct curves c = {.arena = arena_new()};
	struct figure figure = {.curves = &c};
	struct row *rows;
	size_t n;

	figure.title =
		arena_printf(c.arena, "Speedup over %s, clock %s", baseline, clock);
	if (gnuplot_check(path, e) == OK &&
	    store_rows(store, c.arena, &rows, &n, e) == OK) {
		gather_curves(&c, rows, n, o, baseline, clock);
		if (c.list.n == 0)
			error_set(e, E_RANGE, (struct where){.file = path},
			          "nothing to compare with %s under clock %s", baseline,
			          clock);
		else
			gnuplot_draw(path, write_plot, &figure, e);
	}
	arena_free(c.arena);
	return e->code;
}
