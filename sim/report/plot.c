#include "report/plot.h"
#include "report/select.h"

#include "text/gnuplot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One curve: the speedups of a planner on a platform. */
struct curve {
	const char *platform, *planner;
	size_t n, capacity;
	double *speedup;
};

struct curves {
	struct arena *arena;
	size_t n, capacity;
	struct curve *curve;
};

static void *grow(struct arena *a, const void *old, size_t n, size_t *capacity,
                  size_t size)
{
	void *out;

	*capacity = *capacity ? 2 * *capacity : 16;
	out = arena_alloc(a, *capacity, size);
	if (n)
		memcpy(out, old, n * size);
	return out;
}

static struct curve *curve_of(struct curves *c, const struct row *r)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->curve[i].platform, r->platform) == 0 &&
		    strcmp(c->curve[i].planner, r->planner) == 0)
			return &c->curve[i];
	if (c->n == c->capacity)
		c->curve =
			grow(c->arena, c->curve, c->n, &c->capacity, sizeof(*c->curve));
	c->curve[c->n] = (struct curve){.platform = r->platform, .planner = r->planner};
	return &c->curve[c->n++];
}

static bool timed(const struct row *r)
{
	return r->status == OUTCOME_OK && r->time_s > 0;
}

/* Rows come sorted by scenario, platform, planner: partners stand close together. */
static const struct row *partner(const struct row *rows, size_t n, size_t i,
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

static int rising(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int by_platform(const void *a, const void *b)
{
	const struct curve *x = a, *y = b;
	int order = strcmp(x->platform, y->platform);

	return order ? order : strcmp(x->planner, y->planner);
}

static void gather(struct curves *c, const struct row *rows, size_t n,
                   const struct report_options *o, const char *baseline,
                   const char *clock)
{
	for (size_t i = 0; i < n; i++) {
		const struct row *base;
		struct curve *curve;

		if (strcmp(rows[i].clock, clock) != 0 || !timed(&rows[i]) ||
		    !report_family(o, &rows[i]) ||
		    strcmp(rows[i].planner, baseline) == 0)
			continue;
		base = partner(rows, n, i, baseline);
		if (!base || !timed(base))
			continue;
		curve = curve_of(c, &rows[i]);
		if (curve->n == curve->capacity)
			curve->speedup = grow(c->arena, curve->speedup, curve->n,
			                      &curve->capacity, sizeof(double));
		curve->speedup[curve->n++] = base->time_s / rows[i].time_s;
	}
	for (size_t i = 0; i < c->n; i++)
		qsort(c->curve[i].speedup, c->curve[i].n, sizeof(double), rising);
	if (c->n)
		qsort(c->curve, c->n, sizeof(*c->curve), by_platform);
}

static size_t curves_of_platform(const struct curves *c, size_t first)
{
	size_t n = 1;

	while (first + n < c->n &&
	       strcmp(c->curve[first].platform, c->curve[first + n].platform) == 0)
		n++;
	return n;
}

/* Are all speedups of the panel 1 as they are printed? gnuplot finds no range then. */
static bool is_flat(const struct curves *c, size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++)
		for (size_t k = 0; k < c->curve[i].n; k++)
			if (fabs(c->curve[i].speedup[k] - 1) > 1e-5)
				return false;
	return true;
}

/* One panel: a gnuplot `plot` of data that follow on the same stream. */
static void write_panel(FILE *out, const struct curves *c, size_t first, size_t n)
{
	bool flat = is_flat(c, first, n);

	fputs(flat ? "set yrange [0.5:2]\n" : "", out);
	fputs("set title ", out);
	gnuplot_string(out, c->curve[first].platform);
	fputs(" noenhanced\nplot 1 with lines lc rgb '#999999' notitle", out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, ", '-' using 1:2 with steps lw 2 lc rgb '%s' title ",
		        gnuplot_colour(i));
		gnuplot_string(out, c->curve[first + i].planner);
		fputs(" noenhanced", out);
	}
	fprintf(out, "\n");
	for (size_t i = first; i < first + n; i++) {
		for (size_t k = 0; k < c->curve[i].n; k++)
			fprintf(out, "%.6g %.6g\n",
			        100.0 * (double)(k + 1) / (double)c->curve[i].n,
			        c->curve[i].speedup[k]);
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

	for (size_t i = 0; i < c->n; i += curves_of_platform(c, i))
		panels++;
	gnuplot_panels(out, terminal, figure->title, panels, 3);
	fputs("set logscale y\nset grid\nset key outside right top\n"
	      "set xrange [0:100]\n"
	      "set xlabel 'share of scenarios, %'\nset ylabel 'speedup'\n",
	      out);
	for (size_t i = 0; i < c->n; i += curves_of_platform(c, i))
		write_panel(out, c, i, curves_of_platform(c, i));
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
		gather(&c, rows, n, o, baseline, clock);
		if (c.n == 0)
			error_set(e, E_RANGE, (struct where){.file = path},
			          "nothing to compare with %s under clock %s", baseline,
			          clock);
		else
			gnuplot_draw(path, write_plot, &figure, e);
	}
	arena_free(c.arena);
	return e->code;
}
