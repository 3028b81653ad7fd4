#include "validate/plot.h"

#include "base/arena.h"
#include "text/figure.h"
#include "text/gnuplot.h"
#include "text/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL_ROWS = 4 };

/* Rows that were run, sorted; those of a system follow each other, and of a curve. */
struct plotted {
	int64_t n;
	const struct prediction **row;
	const char **system, **collective; /* of panels; of all panels, each once */
	size_t nsystems, ncollectives;
};

static int by_curve(const void *a, const void *b)
{
	const struct measured *x = (*(const struct prediction *const *)a)->row;
	const struct measured *y = (*(const struct prediction *const *)b)->row;
	int order = order_compare(x->system, y->system);

	if (!order)
		order = strcmp(x->collective, y->collective);
	if (!order)
		order = (x->devices > y->devices) - (x->devices < y->devices);
	if (!order)
		order = (x->bytes > y->bytes) - (x->bytes < y->bytes);
	return order ? order : (x->at.line > y->at.line) - (x->at.line < y->at.line);
}

static bool same_system(const struct prediction *a, const struct prediction *b)
{
	return strcmp(a->row->system, b->row->system) == 0;
}

static bool same_curve(const struct prediction *a, const struct prediction *b)
{
	return same_system(a, b) && a->row->devices == b->row->devices &&
	       strcmp(a->row->collective, b->row->collective) == 0;
}

/* Returns the end of the rows from `first` on that agree with that one. */
static int64_t run_end(const struct plotted *p, int64_t first,
                       bool (*same)(const struct prediction *, const struct prediction *))
{
	int64_t end = first;

	while (end < p->n && same(p->row[first], p->row[end]))
		end++;
	return end;
}

/* Returns whether there are enough rows for a panel, and not all of one size. */
static bool is_panel(const struct plotted *p, int64_t first, int64_t end)
{
	bool sizes = false;

	for (int64_t i = first; i < end; i++)
		sizes |= p->row[i]->row->bytes != p->row[first]->row->bytes;
	return sizes && end - first >= PANEL_ROWS;
}

/* Writes the data of one curve; a simulated curve has every size once. */
static void write_data(FILE *out, const struct plotted *p, int64_t i, int64_t end,
                       bool simulated)
{
	int64_t last = -1;

	for (; i < end; i++) {
		const struct prediction *row = p->row[i];

		if (simulated && row->row->bytes == last)
			continue;
		last = row->row->bytes;
		fprintf(out, "%lld %.6g\n", (long long)last,
		        1e6 * (simulated ? row->time_s : row->row->time_s));
	}
	fputs("e\n", out);
}

/* The powers of ten between which all of a panel's sizes and times are. */
struct range {
	double lo, hi;
};

static void range_add(struct range *r, double value)
{
	r->lo = fmin(r->lo, pow(10, floor(log10(value))));
	r->hi = fmax(r->hi, pow(10, ceil(log10(value))));
}

/* Returns where a value is between both ends, from 0 to 1. */
static double part_of(const struct range *r, double value)
{
	return log(value / r->lo) / log(r->hi / r->lo);
}

/* The number of devices, beside the end of a curve. */
struct end {
	int32_t devices;
	double x, y; /* parts of the panel's width and height */
};

static int compare_ends(const void *left, const void *right)
{
	const struct end *a = left, *b = right;

	return a->y != b->y ? (a->y > b->y) - (a->y < b->y)
	                    : (a->devices > b->devices) - (a->devices < b->devices);
}

/* Writes the numbers of devices; those that would cover each other are pushed apart. */
static void write_ends(FILE *out, struct end *end, size_t n)
{
	const double line = 13.0 / FIGURE_PLOT_HEIGHT;
	size_t kept = 0;

	qsort(end, n, sizeof(*end), compare_ends);
	for (size_t i = 0; i < n; i++) {
		double next = kept ? end[kept - 1].y + line : 0;

		if (kept && end[i].y < next && end[i].devices == end[kept - 1].devices)
			continue;
		end[kept] = end[i];
		end[kept].y = fmax(end[i].y, next);
		kept++;
	}
	fputs("unset label\n", out);
	for (size_t i = kept; i-- > 0;) {
		end[i].y = fmin(end[i].y, i + 1 < kept ? end[i + 1].y - line : 1);
		fprintf(out, "set label '%d' at graph %.4f,%.4f left font ',10' front\n",
		        (int)end[i].devices, (end[i].x > 0.8 ? 1 : end[i].x) + 0.025,
		        end[i].y);
	}
}

/* Writes the axes of a panel, and the ends of its curves. */
static void write_axes(FILE *out, const struct plotted *p, int64_t first, int64_t last)
{
	struct range x = {INFINITY, 0}, y = x;
	struct end *end = xmalloc((size_t)(last - first), sizeof(*end));
	size_t n = 0;

	for (int64_t i = first; i < last; i++) {
		range_add(&x, (double)p->row[i]->row->bytes);
		range_add(&y, 1e6 * p->row[i]->time_s);
		range_add(&y, 1e6 * p->row[i]->row->time_s);
	}
	fprintf(out, "set xrange [%g:%g]\nset yrange [%g:%g]\n", x.lo, x.hi, y.lo, y.hi);
	for (int64_t i = first, next; i < last; i = next) {
		const struct measured *m;

		next = run_end(p, i, same_curve);
		m = p->row[next - 1]->row;
		end[n++] = (struct end){m->devices, part_of(&x, (double)m->bytes),
		                        part_of(&y, 1e6 * p->row[next - 1]->time_s)};
	}
	write_ends(out, end, n);
	free(end);
}

static size_t style_of(const struct plotted *p, int64_t i)
{
	size_t style = 0;

	while (strcmp(p->collective[style], p->row[i]->row->collective) != 0)
		style++;
	return style;
}

static void write_panel(FILE *out, const struct plotted *p, int64_t first, int64_t end)
{
	const char *comma = "plot ";

	write_axes(out, p, first, end);
	for (int64_t i = first; i < end; i = run_end(p, i, same_curve)) {
		fprintf(out, "%s'-' using 1:2", comma);
		figure_style(out, "lines", style_of(p, i));
		fputs(", '-' using 1:2", out);
		figure_style(out, "points", style_of(p, i));
		comma = ", ";
	}
	fputc('\n', out);
	for (int64_t i = first; i < end; i = run_end(p, i, same_curve)) {
		write_data(out, p, i, run_end(p, i, same_curve), true);
		write_data(out, p, i, run_end(p, i, same_curve), false);
	}
}

static void write_plot(FILE *out, const char *terminal, const void *self)
{
	const struct plotted *p = self;
	const struct figure f = {
		.title = "Simulated times (lines) and measured ones (markers), with "
			 "the number of devices at the end of each line",
		.legend = p->collective,
		.nlegend = p->ncollectives,
		.panel = p->system,
		.npanels = p->nsystems};
	size_t panel = 0;

	figure_begin(out, terminal, &f);
	fputs("set logscale xy\nset xlabel 'bytes'\nset ylabel 'microseconds'\n"
	      "set format xy '10^{%T}'\n",
	      out);
	for (int64_t i = 0, end; i < p->n; i = end) {
		end = run_end(p, i, same_system);
		if (!is_panel(p, i, end))
			continue;
		figure_panel(out, &f, panel++);
		write_panel(out, p, i, end);
	}
	figure_end(out, &f);
}

/* Lists the systems that have a panel and their collectives, each once. */
static void find_names(struct plotted *p)
{
	for (int64_t i = 0, end; i < p->n; i = end) {
		end = run_end(p, i, same_system);
		if (!is_panel(p, i, end))
			continue;
		p->system[p->nsystems++] = p->row[i]->row->system;
		for (; i < end; i++) {
			const char *name = p->row[i]->row->collective;
			size_t k = 0;

			while (k < p->ncollectives && strcmp(p->collective[k], name) != 0)
				k++;
			if (k == p->ncollectives)
				p->collective[p->ncollectives++] = name;
		}
	}
	if (p->ncollectives)
		qsort(p->collective, p->ncollectives, sizeof(*p->collective),
		      order_names);
}

enum status validate_plot(const char *path, const struct validation *v, struct error *e)
{
	struct plotted p = {0};
	struct arena *a;
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);

	if (gnuplot_check(path, e) != OK)
		return e->code;
	a = arena_new();
	p.row = arena_alloc(a, (size_t)n, sizeof(*p.row));
	p.system = arena_alloc(a, (size_t)n, sizeof(*p.system));
	p.collective = arena_alloc(a, (size_t)n, sizeof(*p.collective));
	for (int64_t i = 0; i < n; i++)
		if (!isnan(row[i].time_s))
			p.row[p.n++] = &row[i];
	if (p.n)
		qsort(p.row, (size_t)p.n, sizeof(*p.row), by_curve);
	find_names(&p);
	if (p.nsystems)
		gnuplot_draw(path, write_plot, &p, e);
	else
		error_set(e, E_RANGE, (struct where){.file = path},
		          "no system with %d timings or more to draw", (int)PANEL_ROWS);
	arena_free(a);
	return e->code;
}
