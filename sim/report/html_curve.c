/* Matrices with tints, and curves over varied figures. */
#include "report/html.h"
#include "report/text.h"
#include "text/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- matrices ----------------------------------------------------------------------- */

/* Blue where the row's planner is better, ochre where the column's is. */
static const char *tint(struct arena *a, double ratio)
{
	double strength = fmin(fabs(log(ratio)) / log(4), 1) * 0.55;

	if (!(ratio > 0) || strength < 0.005)
		return "";
	return arena_printf(a, " style=\"background:rgba(%s,%.2f)\"",
	                    ratio > 1 ? "59,110,165" : "217,140,44", strength);
}

static void write_matrix(const struct page *p, const struct report_matrix *m,
                         bool memory)
{
	struct arena *a = p->arena;
	FILE *out = p->out;
	size_t n = m->nplanners;

	fprintf(out,
	        "<div class=\"scroll\" tabindex=\"0\"><table class=\"matrix\">\n"
	        "<caption>%s, clock %s, %s: %s</caption><thead><tr><th>planner</th>",
	        html_escape(a, m->platform), html_escape(a, m->clock),
	        report_kind_name(m->kind), memory ? "memory" : "time");
	for (size_t i = 0; i < n; i++)
		fprintf(out, "<th class=\"r\">%s</th>", html_escape(a, m->planner[i]));
	fputs("</tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "<tr><th scope=\"row\">%s</th>",
		        html_escape(a, m->planner[i]));
		for (size_t k = 0; k < n; k++) {
			const struct report_cell *c = &m->cell[i * n + k];
			double ratio = memory ? c->memory : c->speedup;

			if (i == k)
				fputs("<td></td>", out);
			else
				fprintf(out, "<td class=\"r\" title=\"n %zu\"%s>%s</td>",
				        memory ? c->memory_n : c->n, tint(a, ratio),
				        words_ratio(a, ratio));
		}
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

void html_matrices(const struct page *p)
{
	const struct report *r = p->report;

	if (r->nmatrices == 0)
		return;
	p->pen.heading(&p->pen, 2, "Planner against planner");
	p->pen.paragraph(
		&p->pen,
		"Geometric means of the time (the peak_live_bytes) of the column's "
		"planner divided by that of the row's, over the scenarios where both "
		"are ok and the times are above zero: above 1, blue, the row's planner "
		"is better.");
	for (size_t i = 0; i < r->nmatrices && i < HTML_PLACES; i++) {
		write_matrix(p, &r->matrix[i], false);
		write_matrix(p, &r->matrix[i], true);
	}
	if (r->nmatrices > HTML_PLACES)
		fprintf(p->out,
		        "<p class=\"note\">The first %d platforms and clocks; --format "
		        "csv has all %zu.</p>\n",
		        HTML_PLACES, r->nmatrices);
}

/* --- curves ------------------------------------------------------------------------- */

enum {
	LEFT = 60,
	RIGHT = 600,
	WIDTH = 800,
	TOP = 26,
	BOTTOM = 266,
	LABEL = 14,
	COLOURS = 10
};

/* A curve as it is drawn. */
struct plot {
	const struct page *page;
	const struct report_curve *curve;
	struct html_axis x, y; /* x: lo NaN where points are only counted */
};

static double point_x(const struct plot *t, size_t i)
{
	size_t n = t->curve->npoints;

	if (isnan(t->x.lo))
		return LEFT + (RIGHT - LEFT) * (double)i / (double)(n - 1);
	return html_at(&t->x, t->curve->point[i].x);
}

static bool is_drawn(const struct plot *t, int planner)
{
	return t->curve->compared[planner] &&
	       strcmp(t->curve->planner[planner], t->page->report->baseline) != 0;
}

/* Makes the ends of an axis hold all that is drawn of a curve. */
static void hold_curve(struct html_axis *y, const struct plot *t)
{
	const struct report_curve *c = t->curve;

	for (size_t i = 0; i < c->npoints; i++)
		for (int k = 0; k < c->nplanners; k++)
			if (is_drawn(t, k)) {
				y->lo = fmin(y->lo, c->point[i].speedup[k]);
				y->hi = fmax(y->hi, c->point[i].speedup[k]);
			}
}

static void set_axes(struct plot *t, const struct html_axis *y)
{
	const struct report_curve *c = t->curve;

	t->x = (struct html_axis){c->point[0].x, c->point[c->npoints - 1].x, LEFT,
	                          RIGHT};
	if (!(t->x.lo > 0) || !(t->x.hi > t->x.lo))
		t->x.lo = NAN;
	t->y = (struct html_axis){y->lo / 1.1, y->hi * 1.1, BOTTOM, TOP};
}

static void draw_axes(const struct plot *t)
{
	const struct report_curve *c = t->curve;
	struct arena *a = t->page->arena;
	FILE *out = t->page->out;
	double tick[40];
	int n = html_ticks(tick, 40, &t->y);
	size_t every = 1 + (c->npoints - 1) / 8;

	for (int i = 0; i < n; i++)
		fprintf(out,
		        "<path class=\"%s\" d=\"M%d %.1fH%d\"/><text x=\"%d\" "
		        "y=\"%.1f\" class=\"name\">%.6g</text>\n",
		        tick[i] == 1 ? "one" : "grid", LEFT, html_at(&t->y, tick[i]),
		        RIGHT, LEFT - 8, html_at(&t->y, tick[i]) + 4, tick[i]);
	for (size_t i = 0; i < c->npoints; i++) {
		double x = point_x(t, i);

		fprintf(out, "<path class=\"grid\" d=\"M%.1f %dv5\"/>", x, BOTTOM);
		if (i % every == 0)
			fprintf(out,
			        "<text x=\"%.1f\" y=\"%d\" class=\"tick\">%s</text>\n",
			        x, BOTTOM + 19, html_escape(a, c->point[i].value));
	}
	fprintf(out, "<text x=\"%d\" y=\"%d\" class=\"tick\">%s</text>\n",
	        (LEFT + RIGHT) / 2, BOTTOM + 37, html_escape(a, c->key));
	fprintf(out, "<text x=\"%d\" y=\"%d\">speedup</text>\n", 4, TOP - 12);
}

/* A label at the right end of a line; they are pushed apart. */
struct label {
	const char *text;
	int colour;
	double y;
};

static int compare_labels(const void *left, const void *right)
{
	const struct label *a = left, *b = right;

	if (a->y != b->y)
		return a->y < b->y ? -1 : 1;
	return a->colour - b->colour;
}

static void draw_labels(const struct plot *t, struct label *label, int n)
{
	FILE *out = t->page->out;
	double y[CURVE_PLANNERS_MAX], room = fmax(BOTTOM, TOP + LABEL * (n - 1));

	qsort(label, (size_t)n, sizeof(*label), compare_labels);
	for (int i = 0; i < n; i++)
		y[i] = i ? fmax(label[i].y, y[i - 1] + LABEL) : label[i].y;
	for (int i = n; i-- > 0; room = y[i] - LABEL)
		y[i] = fmin(y[i], room);
	for (int i = 0; i < n; i++)
		fprintf(out,
		        "<path class=\"lead\" d=\"M%d %.1fL%d %.1f\"/><text x=\"%d\" "
		        "y=\"%.1f\" class=\"t%d\">%s</text>\n",
		        RIGHT + 2, label[i].y, RIGHT + 20, y[i], RIGHT + 24, y[i] + 4,
		        label[i].colour, html_escape(t->page->arena, label[i].text));
}

static void draw_lines(const struct plot *t)
{
	const struct report_curve *c = t->curve;
	struct arena *a = t->page->arena;
	FILE *out = t->page->out;
	struct label label[CURVE_PLANNERS_MAX];
	int n = 0;

	for (int k = 0; k < c->nplanners; k++) {
		if (!is_drawn(t, k))
			continue;
		fprintf(out, "<path class=\"line l%d\" d=\"", n % COLOURS);
		for (size_t i = 0; i < c->npoints; i++)
			fprintf(out, "%c%.1f %.1f", i ? 'L' : 'M', point_x(t, i),
			        html_at(&t->y, c->point[i].speedup[k]));
		fputs("\"/>\n", out);
		for (size_t i = 0; i < c->npoints; i++)
			fprintf(out,
			        "<circle class=\"d%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\">"
			        "<title>%s at %s: %s</title></circle>\n",
			        n % COLOURS, point_x(t, i),
			        html_at(&t->y, c->point[i].speedup[k]),
			        html_escape(a, c->planner[k]),
			        html_escape(a, c->point[i].value),
			        words_ratio(a, c->point[i].speedup[k]));
		label[n] = (struct label){
			c->planner[k], n % COLOURS,
			html_at(&t->y, c->point[c->npoints - 1].speedup[k])};
		n++;
	}
	draw_labels(t, label, n);
}

/* Where the planner other than best that is fastest in most scenarios changes. */
static void draw_changes(const struct plot *t)
{
	const struct report_curve *c = t->curve;
	FILE *out = t->page->out;

	for (size_t i = 1; i < c->npoints; i++) {
		int before = c->point[i - 1].fastest, after = c->point[i].fastest;
		double x = (point_x(t, i - 1) + point_x(t, i)) / 2;

		if (before < 0 || after < 0 || before == after)
			continue;
		fprintf(out,
		        "<path class=\"change\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" "
		        "y=\"%d\" class=\"tick\">%s → %s</text>\n",
		        x, TOP, BOTTOM, x, TOP - 6,
		        html_escape(t->page->arena, c->planner[before]),
		        html_escape(t->page->arena, c->planner[after]));
	}
}

static void draw_curve(const struct page *p, const struct report_curve *c,
                       const struct html_axis *y)
{
	struct plot t = {.page = p, .curve = c};
	struct arena *a = p->arena;
	const char *title = html_escape(a, report_curve_title(a, c));
	int lines = 0;

	for (int k = 0; k < c->nplanners; k++)
		lines += is_drawn(&t, k);
	if (lines == 0 || c->n == 0)
		return;
	set_axes(&t, y);
	fprintf(p->out, "<figure><figcaption>%s<small> %s</small></figcaption>\n", title,
	        html_escape(a, arena_printf(a, "%s %s",
	                                    c->scenario ? "scenario" : "scenarios:",
	                                    report_curve_scope(a, c))));
	fprintf(p->out,
	        "<div class=\"scroll\" tabindex=\"0\"><svg viewBox=\"0 0 %d %d\" "
	        "role=\"img\" aria-label=\"Speedup by %s\"><title>Speedup by "
	        "%s</title>\n",
	        WIDTH,
	        BOTTOM + 46 > TOP + LABEL * (lines + 1) ? BOTTOM + 46
	                                                : TOP + LABEL * (lines + 1),
	        title, title);
	draw_axes(&t);
	draw_changes(&t);
	draw_lines(&t);
	fputs("</svg></div></figure>\n", p->out);
}

void html_curves(const struct page *p)
{
	const struct report_curves *curves = &p->report->curves;
	struct html_axis y = {.lo = 1, .hi = 1};

	report_curves_text(&p->pen, p->report);
	if (curves->ncurves == 0)
		return;
	p->pen.heading(&p->pen, 3, "Curves");
	p->pen.paragraph(&p->pen,
	                 "Dashed lines stand between the points where the planner "
	                 "other than best that is fastest in most scenarios changes. "
	                 "All curves have the same scale of speedups.");
	for (size_t i = 0; i < curves->ncurves && i < HTML_CURVES; i++)
		hold_curve(&y, &(struct plot){.page = p, .curve = &curves->curve[i]});
	for (size_t i = 0; i < curves->ncurves && i < HTML_CURVES; i++)
		draw_curve(p, &curves->curve[i], &y);
	if (curves->ncurves > HTML_CURVES)
		fprintf(p->out, "<p class=\"note\">The first %d of %zu curves.</p>\n",
		        HTML_CURVES, curves->ncurves);
}
