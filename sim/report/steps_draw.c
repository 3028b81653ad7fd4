/* Times of training steps as bars: in the page, and in a plot by gnuplot. */
#include "report/html.h"
#include "report/plot.h"
#include "report/steps.h"
#include "text/figure.h"
#include "text/gnuplot.h"
#include "text/words.h"

#include <math.h>

const char *const step_part_names[STEP_PARTS] = {"compute", "exposed", "bubble",
                                                 "other"};

double step_part_s(const struct row *r, int part)
{
	const double s[STEP_PARTS] = {r->compute_s, r->exposed_s, r->bubble_s,
	                              r->other_s};

	return isnan(s[part]) ? 0 : s[part];
}

/* Returns how many of a group's steps have a time: they stand first. */
static size_t timed(const struct step_group *g)
{
	size_t n = 0;

	while (n < g->n && !isnan(g->row[n]->time_s))
		n++;
	return n;
}

/* --- the page --------------------------------------------------------------------------- */

enum { NAMES = 300, WIDTH = 860, ROW = 18, BAR = 12, HEAD = 20 };

static void bar_html(FILE *out, struct arena *a, const struct row *r, int y,
                     double scale)
{
	double x = NAMES;

	fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
	        NAMES - 6, y + BAR - 2, html_escape(a, r->scenario));
	for (int k = 0; k < STEP_PARTS; k++) {
		double s = step_part_s(r, k);

		if (s <= 0)
			continue;
		fprintf(out,
		        "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" "
		        "fill=\"%s\"><title>%s: %s</title></rect>\n",
		        x, y, s * scale, BAR, figure_colour((size_t)k),
		        step_part_names[k], words_time(a, s));
		x += s * scale;
	}
}

void step_bars_html(FILE *out, struct arena *a, const struct step_group *g)
{
	size_t n = timed(g);
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		double s = 0;

		for (int k = 0; k < STEP_PARTS; k++)
			s += step_part_s(g->row[i], k);
		most = fmax(most, s);
	}
	if (!(most > 0))
		return;
	fprintf(out,
	        "<svg viewBox=\"0 0 %d %d\" role=\"img\" font-size=\"11\" "
	        "fill=\"currentColor\">\n",
	        WIDTH, HEAD + ROW * (int)n);
	for (int k = 0; k < STEP_PARTS; k++)
		fprintf(out,
		        "<rect x=\"%d\" y=\"2\" width=\"%d\" height=\"%d\" "
		        "fill=\"%s\"/><text x=\"%d\" y=\"12\">%s</text>\n",
		        NAMES + 100 * k, BAR, BAR, figure_colour((size_t)k),
		        NAMES + 100 * k + BAR + 5, step_part_names[k]);
	for (size_t i = 0; i < n; i++)
		bar_html(out, a, g->row[i], HEAD + ROW * (int)i,
		         (WIDTH - NAMES - 4) / most);
	fputs("</svg>\n", out);
}

/* --- the plot --------------------------------------------------------------------------- */

struct drawing {
	const char *heading;
	struct step_group group[PLOT_PANELS];
	const char *title[PLOT_PANELS];
	size_t n;
};

/* Each part as a bar from zero to where it ends, the last part first. */
static void panel(FILE *out, const struct step_group *g)
{
	size_t n = timed(g);

	fputs("$steps << EOD\n", out);
	for (size_t i = 0; i < n; i++) {
		double s = 0;

		fprintf(out, "%zu", i + 1);
		for (int k = 0; k < STEP_PARTS; k++)
			fprintf(out, " %.6g", s += step_part_s(g->row[i], k));
		fputc('\n', out);
	}
	fprintf(out,
	        "EOD\nunset logscale\nset xrange [0.4:%zu.6]\nset yrange [0:*]\n"
	        "set format y '%%g'\nset xtics 1,%zu norotate\nset ytics auto\n"
	        "set ylabel 'seconds of a step'\nset xlabel 'steps, the fastest "
	        "first'\n"
	        "set boxwidth 0.8\nset style fill solid border rgb 'white'\nplot ",
	        n, 1 + n / 20);
	for (int k = STEP_PARTS; k-- > 0;)
		fprintf(out, "$steps using 1:%d with boxes lc rgb '%s' notitle%s",
		        k + 2, figure_colour((size_t)k), k ? ", " : "\n");
}

static void write_plot(FILE *out, const char *terminal, const void *self)
{
	const struct drawing *d = self;
	const struct figure f = {.title = d->heading,
	                         .legend = step_part_names,
	                         .nlegend = STEP_PARTS,
	                         .bars = true,
	                         .plain = true,
	                         .panel = d->title,
	                         .npanels = d->n};

	figure_begin(out, terminal, &f);
	for (size_t i = 0; i < d->n; i++) {
		figure_panel(out, &f, i);
		panel(out, &d->group[i]);
	}
	figure_end(out, &f);
}

enum status step_plot(const char *path, struct arena *a, const struct row *rows,
                      size_t n, const struct report_options *o, struct error *e)
{
	struct drawing d = {.heading = "Training steps"};
	const struct row **row = step_rows(&n, a, rows, n, o, e);
	size_t all = 0;

	for (size_t i = 0; row && i < n;) {
		struct step_group g;

		i = step_group_take(&g, row, i, n, o->baseline);
		if (!timed(&g))
			continue;
		all++;
		if (d.n == PLOT_PANELS)
			continue;
		d.group[d.n] = g;
		d.title[d.n++] = arena_printf(a, "%s on %s", g.row[0]->family,
		                              g.row[0]->platform);
	}
	if (!row)
		return e->code;
	if (!d.n)
		return error_set(e, E_RANGE, (struct where){.file = path},
		                 "no step has a time");
	if (all > d.n)
		d.heading = arena_printf(a, "%s: the first %zu panels of %zu",
		                         d.heading, d.n, all);
	return gnuplot_draw(path, write_plot, &d, e);
}
