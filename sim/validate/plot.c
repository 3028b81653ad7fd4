#include "validate/plot.h"

#include "text/gnuplot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL_ROWS = 4, COLUMNS = 4 };

/* Rows that were run, sorted; those of a system follow each other, and of a curve. */
struct plotted {
	int64_t n;
	const struct prediction **row;
};

static int by_curve(const void *a, const void *b)
{
	const struct measured *x = (*(const struct prediction *const *)a)->row;
	const struct measured *y = (*(const struct prediction *const *)b)->row;
	int order = strcmp(x->system, y->system);

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

static size_t panels_count(const struct plotted *p)
{
	size_t n = 0;

	for (int64_t i = 0, end; i < p->n; i = end) {
		end = run_end(p, i, same_system);
		n += is_panel(p, i, end);
	}
	return n;
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

static void write_panel(FILE *out, const struct plotted *p, int64_t first, int64_t end)
{
	const char *comma = "plot ";
	size_t colour = 0;

	fputs("set title ", out);
	gnuplot_string(out, p->row[first]->row->system);
	fputs(" noenhanced\n", out);
	for (int64_t i = first; i < end; i = run_end(p, i, same_curve)) {
		const struct measured *m = p->row[i]->row;

		fprintf(out,
		        "%s'-' using 1:2 with linespoints pt 2 ps 0.4 lc rgb '%s' "
		        "title "
		        "'%s, %d' noenhanced, '-' using 1:2 with points pt 7 ps 0.5 lc "
		        "rgb '%s' notitle",
		        comma, gnuplot_colour(colour), m->collective, (int)m->devices,
		        gnuplot_colour(colour));
		comma = ", ";
		colour++;
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

	gnuplot_panels(out, terminal,
	               "Simulated times (lines) and measured ones (dots); collective "
	               "and number of devices",
	               panels_count(p), COLUMNS);
	fputs("set logscale xy\nset grid\nset key outside right top font ',9' samplen "
	      "1\n"
	      "set xlabel 'bytes'\nset ylabel 'microseconds'\n"
	      "set format xy '10^{%T}'\n",
	      out);
	for (int64_t i = 0, end; i < p->n; i = end) {
		end = run_end(p, i, same_system);
		if (is_panel(p, i, end))
			write_panel(out, p, i, end);
	}
	gnuplot_end(out);
}

enum status validate_plot(const char *path, const struct validation *v, struct error *e)
{
	struct plotted p = {0};
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);

	if (gnuplot_check(path, e) != OK)
		return e->code;
	p.row = xmalloc((size_t)n + 1, sizeof(*p.row));
	for (int64_t i = 0; i < n; i++)
		if (!isnan(row[i].time_s))
			p.row[p.n++] = &row[i];
	qsort(p.row, (size_t)p.n, sizeof(*p.row), by_curve);
	if (panels_count(&p))
		gnuplot_draw(path, write_plot, &p, e);
	else
		error_set(e, E_RANGE, (struct where){.file = path},
		          "no system with %d timings or more to draw", (int)PANEL_ROWS);
	free(p.row);
	return e->code;
}
