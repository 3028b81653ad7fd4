#include "report/plot_panel.h"
#include "report/select.h"
#include "report/text.h"
#include "text/figure.h"
#include "text/gnuplot.h"

#include <math.h>
#include <string.h>

bool plot_draws(const struct plot *p, const struct report_curve *c, int planner)
{
	return c->compared[planner] && strcmp(c->planner[planner], p->baseline) != 0;
}

static size_t style_of(const struct plot *p, const char *planner)
{
	return names_find(p->planner, p->nplanners, planner);
}

/*
 * Stores at most `capacity` values to mark on an axis of speedups, and returns how many:
 * round ones of a logarithmic axis, or in a narrow range those in equal steps.
 */
static int speedup_ticks(double *tick, int capacity, const struct html_axis *y)
{
	static const double steps[] = {0.001, 0.002, 0.005, 0.01, 0.02,
	                               0.05,  0.1,   0.2,   0.5,  1};
	const size_t last = sizeof(steps) / sizeof(steps[0]) - 1;
	int n = html_ticks(tick, capacity, y);
	size_t i = 0;

	if (n >= 3)
		return n;
	while (i < last && y->hi - y->lo > 6 * steps[i])
		i++;
	n = 0;
	for (double k = ceil(y->lo / steps[i]); k * steps[i] <= y->hi && n < capacity;
	     k++)
		tick[n++] = k * steps[i];
	return n;
}

/* Writes the axis of speedups, which all panels share. */
static void write_speedups(FILE *out, const struct plot *p)
{
	double tick[40];
	int n = speedup_ticks(tick, 40, &p->y);

	fprintf(out,
	        "set logscale y\nset yrange [%.6g:%.6g]\nset ylabel 'speedup'\n"
	        "set ytics (",
	        p->y.lo, p->y.hi);
	for (int i = 0; i < n; i++)
		fprintf(out, "%s'%.6g' %.6g", i ? ", " : "", tick[i], tick[i]);
	fputs(")\n", out);
}

/* --- shares ------------------------------------------------------------------------- */

/* Writes the speedup of every share of scenarios, and a few places for markers. */
static void write_share(FILE *out, const struct plot *p, const struct plot_share *s)
{
	enum { MARKS = 5 };
	int64_t n = s->speedup.n;
	size_t style = style_of(p, s->planner);

	fprintf(out, "$s%zu << EOD\n0 %.6g\n", style, s->speedup.at[0]);
	for (int64_t k = 0; k < n; k++)
		fprintf(out, "%.6g %.6g\n", 100.0 * (double)(k + 1) / (double)n,
		        s->speedup.at[k]);
	fprintf(out, "EOD\n$m%zu << EOD\n", style);
	/* Curves that coincide have their markers side by side. */
	for (int i = 0; i < MARKS; i++) {
		double part = (i + ((double)style + 0.5) / (double)p->nplanners) / MARKS;

		fprintf(out, "%.6g %.6g\n", 100 * part,
		        s->speedup.at[(int64_t)(part * (double)n)]);
	}
	fputs("EOD\n", out);
}

void plot_shares(FILE *out, const struct plot *p, const struct plot_panel *panel)
{
	write_speedups(out, p);
	fputs("unset logscale x\nset xrange [0:100]\nset xtics 0,20 norotate\n"
	      "set xlabel 'share of scenarios, %'\n",
	      out);
	for (int64_t i = 0; i < panel->nshares; i++)
		write_share(out, p, &panel->share[i]);
	fputs("plot 1 with lines lc rgb '#777777' lw 0.7 notitle", out);
	for (int64_t i = 0; i < panel->nshares; i++) {
		size_t style = style_of(p, panel->share[i].planner);

		fprintf(out, ", $s%zu using 1:2", style);
		figure_style(out, "fsteps", style);
		fprintf(out, ", $m%zu using 1:2", style);
		figure_style(out, "points", style);
	}
	fputc('\n', out);
}

/* --- curves ------------------------------------------------------------------------- */

/* Has the figure numbers above zero, which differ? Then they are on a logarithmic axis. */
static bool is_numeric(const struct report_curve *c)
{
	return c->point[0].x > 0 && c->point[c->npoints - 1].x > c->point[0].x;
}

static double point_x(const struct report_curve *c, size_t i)
{
	return is_numeric(c) ? c->point[i].x : (double)(i + 1);
}

/* Returns where point i is between the ends of the axis, in pixels. */
static double pixel_of(const struct report_curve *c, size_t i)
{
	double last = (double)(c->npoints - 1);
	double part = is_numeric(c)
	                      ? log(c->point[i].x / c->point[0].x) /
	                                log(c->point[c->npoints - 1].x / c->point[0].x)
	                      : (double)i / last;

	return part * FIGURE_PLOT_WIDTH;
}

/* Returns the unit that all points have behind a space, "GB/s"; NULL if there is none. */
static const char *common_unit(struct arena *a, const struct report_curve *c)
{
	const char *unit = NULL;

	for (size_t i = 0; i < c->npoints; i++) {
		const char *space = strrchr(report_curve_value(a, c, i), ' ');

		if (!space || (unit && strcmp(space + 1, unit) != 0))
			return NULL;
		unit = space + 1;
	}
	return unit;
}

/* Writes the figure's axis, with the values of points as long as they have room. */
static void write_figures(FILE *out, struct arena *a, const struct report_curve *c)
{
	const char *unit = common_unit(a, c), *comma = "";
	double free = -FIGURE_PLOT_WIDTH;

	fprintf(out, "%s logscale x\n", is_numeric(c) ? "set" : "unset");
	fprintf(out, "set xrange [%.9g:%.9g]\nset xlabel ", point_x(c, 0),
	        point_x(c, c->npoints - 1));
	gnuplot_string(out, unit ? arena_printf(a, "%s, %s", c->key, unit) : c->key);
	fputs(" noenhanced\nset xtics (", out);
	for (size_t i = 0; i < c->npoints; i++) {
		const char *text = report_curve_value(a, c, i);
		int length = (int)(unit ? strcspn(text, " ") : strlen(text));
		double half = FIGURE_CHARACTER * (length + 1) / 2.0;

		if (pixel_of(c, i) - half < free)
			length = 0;
		else
			free = pixel_of(c, i) + half;
		fputs(comma, out);
		gnuplot_part(out, text, (size_t)length);
		fprintf(out, " %.9g", point_x(c, i));
		comma = ", ";
	}
	fputs(") noenhanced\n", out);
}

void plot_curve(FILE *out, struct arena *a, const struct plot *p,
                const struct report_curve *c)
{
	write_speedups(out, p);
	write_figures(out, a, c);
	for (int k = 0; c->n && k < c->nplanners; k++) {
		if (!plot_draws(p, c, k))
			continue;
		fprintf(out, "$s%zu << EOD\n", style_of(p, c->planner[k]));
		for (size_t i = 0; i < c->npoints; i++)
			fprintf(out, "%.9g %.6g\n", point_x(c, i),
			        c->point[i].speedup[k]);
		fputs("EOD\n", out);
	}
	fputs("plot 1 with lines lc rgb '#777777' lw 0.7 notitle", out);
	for (int k = 0; c->n && k < c->nplanners; k++) {
		if (!plot_draws(p, c, k))
			continue;
		fprintf(out, ", $s%zu using 1:2", style_of(p, c->planner[k]));
		figure_style(out, "linespoints", style_of(p, c->planner[k]));
	}
	fputc('\n', out);
}
