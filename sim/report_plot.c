#include "report_plot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
		c->curve = grow(c->arena, c->curve, c->n, &c->capacity, sizeof(*c->curve));
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
                   const char *baseline, const char *clock)
{
	for (size_t i = 0; i < n; i++) {
		const struct row *base;
		struct curve *curve;

		if (strcmp(rows[i].clock, clock) != 0 || !timed(&rows[i]) ||
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

/* One panel: a gnuplot `plot` of data that follow on the same stream. */
static void write_panel(FILE *out, const struct curves *c, size_t first, size_t n)
{
	fprintf(out, "set title \"%s\"\nplot 1 with lines lc rgb '#999999' notitle",
	        c->curve[first].platform);
	for (size_t i = 0; i < n; i++)
		fprintf(out, ", '-' using 1:2 with steps lw 2 lc %zu title \"%s\"", i + 1,
		        c->curve[first + i].planner);
	fprintf(out, "\n");
	for (size_t i = first; i < first + n; i++) {
		for (size_t k = 0; k < c->curve[i].n; k++)
			fprintf(out, "%.6g %.6g\n",
			        100.0 * (double)(k + 1) / (double)c->curve[i].n,
			        c->curve[i].speedup[k]);
		fprintf(out, "e\n");
	}
}

static void write_plot(FILE *out, const struct curves *c, const char *terminal,
                       const char *path, const char *baseline, const char *clock)
{
	size_t panels = 0, columns, rows;

	for (size_t i = 0; i < c->n; i += curves_of_platform(c, i))
		panels++;
	columns = panels < 3 ? panels : 3;
	rows = (panels + columns - 1) / columns;
	fprintf(out, "set encoding utf8\nset terminal %s size ", terminal);
	if (strcmp(terminal, "svg") == 0)
		fprintf(out, "%zu,%zu font 'sans,12' background rgb 'white'\n",
		        360 * columns, 300 * rows + 40);
	else
		fprintf(out, "%zucm,%zucm font 'sans,10'\n", 9 * columns, 8 * rows + 1);
	fprintf(out,
	        "set output '%s'\nset multiplot layout %zu,%zu title "
	        "\"Speedup over %s, clock %s\"\n"
	        "set logscale y\nset grid\nset key top left noenhanced\n"
	        "set title noenhanced\nset xrange [0:100]\n"
	        "set xlabel 'share of scenarios, %%'\nset ylabel 'speedup'\n",
	        path, rows, columns, baseline, clock);
	for (size_t i = 0; i < c->n; i += curves_of_platform(c, i))
		write_panel(out, c, i, curves_of_platform(c, i));
	fprintf(out, "unset multiplot\nset output\n");
}

/* gnuplot writes beside the target, which gets the whole plot or none. */
static enum status run_gnuplot(const struct curves *c, const char *terminal,
                               const char *path, const char *baseline,
                               const char *clock, struct error *e)
{
	char *part = arena_printf(c->arena, "%s.part", path);
	FILE *out = popen("gnuplot", "w");
	bool ok = out != NULL;

	if (out) {
		write_plot(out, c, terminal, part, baseline, clock);
		ok = pclose(out) == 0;
	}
	if (ok && rename(part, path) == 0)
		return OK;
	unlink(part);
	return error_set(e, E_IO, (struct where){.file = path},
	                 ok ? "cannot write the plot" : "gnuplot failed");
}

enum status report_plot(const char *path, struct store *store,
                        const struct report_options *o, struct error *e)
{
	const char *ending = strrchr(path, '.');
	const char *baseline = o->baseline ? o->baseline : "xla-2021";
	const char *clock = o->clocks && o->clocks[0] ? o->clocks[0] : "model";
	const char *terminal = !ending                      ? NULL
	                       : strcmp(ending, ".svg") == 0 ? "svg"
	                       : strcmp(ending, ".pdf") == 0 ? "pdfcairo"
	                                                     : NULL;
	struct curves c = {.arena = arena_new()};
	struct row *rows;
	size_t n;

	if (!terminal || strpbrk(path, "'\n\\"))
		error_set(e, E_SYNTAX, (struct where){.file = path},
		          "expected a file name that ends in .svg or .pdf");
	else if (store_rows(store, c.arena, &rows, &n, e) == OK) {
		gather(&c, rows, n, baseline, clock);
		if (c.n == 0)
			error_set(e, E_RANGE, (struct where){.file = path},
			          "nothing to compare with %s under clock %s", baseline,
			          clock);
		else
			run_gnuplot(&c, terminal, path, baseline, clock, e);
	}
	arena_free(c.arena);
	return e->code;
}
