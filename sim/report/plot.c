#include "report/plot.h"
#include "report/data.h"
#include "report/plot_panel.h"
#include "report/select.h"
#include "report/steps.h"

#include "system/file.h"
#include "text/figure.h"
#include "text/gnuplot.h"
#include "text/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A plot as it is made, in the arena. */
struct drawing {
	struct arena *arena;
	const char *clock;
	struct plot plot;
	struct report_curves curves;
	LIST(struct plot_share) share;
	LIST(struct plot_panel) panel;
	LIST(const char *) title, planner; /* of panels; of lines, also repeated */
	int64_t all;                       /* panels, also those that are not drawn */
	const char *heading;
};

/* --- shares ------------------------------------------------------------------------- */

/* Returns the share of the row's machine and planner, which may be a new one. */
static struct plot_share *share_of(struct drawing *d, const struct row *r)
{
	struct plot_share *new;

	for (int64_t i = 0; i < d->share.n; i++)
		if (strcmp(d->share.at[i].machine, row_machine(r)) == 0 &&
		    strcmp(d->share.at[i].planner, r->planner) == 0)
			return &d->share.at[i];
	new = list_add(&d->share, d->arena);
	*new = (struct plot_share){.machine = row_machine(r), .planner = r->planner};
	return new;
}

static bool same_case(const struct row *a, const struct row *b)
{
	return strcmp(a->scenario, b->scenario) == 0 &&
	       strcmp(a->platform, b->platform) == 0;
}

/*
 * Returns the baseline's row for row i, or NULL. Rows are sorted by scenario and platform,
 * so that it stands close by.
 */
static const struct row *find_partner(const struct row *const *rows, size_t n, size_t i,
                                      const char *baseline)
{
	size_t k = i;

	while (k > 0 && same_case(rows[k - 1], rows[i]))
		k--;
	for (; k < n && same_case(rows[k], rows[i]); k++)
		if (strcmp(rows[k]->planner, baseline) == 0 &&
		    strcmp(row_machine(rows[k]), row_machine(rows[i])) == 0)
			return rows[k];
	return NULL;
}

static int compare_speedups(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int compare_shares(const void *a, const void *b)
{
	const struct plot_share *x = a, *y = b;
	int order = order_compare(x->machine, y->machine);

	return order ? order : order_compare(x->planner, y->planner);
}

/* Collects the speedups of rows, those that are points of a curve excepted. */
static void gather_shares(struct drawing *d, const struct row *const *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct row *base;

		if (!report_moves(rows[i]) || (d->curves.ncurves && *rows[i]->varied) ||
		    strcmp(rows[i]->planner, d->plot.baseline) == 0)
			continue;
		base = find_partner(rows, n, i, d->plot.baseline);
		if (base && report_moves(base))
			*list_add(&share_of(d, rows[i])->speedup, d->arena) =
				base->time_s / rows[i]->time_s;
	}
	for (int64_t i = 0; i < d->share.n; i++)
		qsort(d->share.at[i].speedup.at, (size_t)d->share.at[i].speedup.n,
		      sizeof(double), compare_speedups);
	if (d->share.n)
		qsort(d->share.at, (size_t)d->share.n, sizeof(*d->share.at),
		      compare_shares);
}

/* --- panels ------------------------------------------------------------------------- */

static void add_panel(struct drawing *d, struct plot_panel panel, const char *title)
{
	if (d->all++ >= PLOT_PANELS)
		return;
	*list_add(&d->panel, d->arena) = panel;
	*list_add(&d->title, d->arena) = title;
}

/* Makes the scale, and the legend, hold a line. */
static void add_line(struct drawing *d, const char *planner, double low, double high)
{
	*list_add(&d->planner, d->arena) = planner;
	d->plot.y.lo = fmin(d->plot.y.lo, low);
	d->plot.y.hi = fmax(d->plot.y.hi, high);
}

static void add_shares(struct drawing *d)
{
	int64_t end;

	for (int64_t i = 0; i < d->share.n; i = end) {
		const struct plot_share *first = &d->share.at[i];
		int64_t least = first->speedup.n, most = least;

		for (end = i; end < d->share.n; end++) {
			const struct plot_share *s = &d->share.at[end];

			if (strcmp(s->machine, first->machine) != 0)
				break;
			least = s->speedup.n < least ? s->speedup.n : least;
			most = s->speedup.n > most ? s->speedup.n : most;
			add_line(d, s->planner, s->speedup.at[0],
			         s->speedup.at[s->speedup.n - 1]);
		}
		add_panel(d, (struct plot_panel){.share = first, .nshares = end - i},
		          least < most ? arena_printf(d->arena, "%s, n = %lld to %lld",
		                                      first->machine, (long long)least,
		                                      (long long)most)
		                       : arena_printf(d->arena, "%s, n = %lld",
		                                      first->machine, (long long)most));
	}
}

/* Returns the title of a curve's panel; the clock is the same in all. */
static const char *curve_title(struct arena *a, const struct report_curve *c)
{
	return arena_printf(a, "%s of %s, %s%s%s", c->key, c->platform, c->others,
	                    *c->others ? ", " : "", report_curve_scope(a, c));
}

static void add_curves(struct drawing *d)
{
	for (size_t i = 0; i < d->curves.ncurves; i++) {
		const struct report_curve *c = &d->curves.curve[i];
		bool drawn = false;

		for (int k = 0; k < c->nplanners; k++) {
			if (!plot_draws(&d->plot, c, k))
				continue;
			drawn = true;
			for (size_t point = 0; c->n && point < c->npoints; point++)
				add_line(d, c->planner[k], c->point[point].speedup[k],
				         c->point[point].speedup[k]);
		}
		if (drawn)
			add_panel(d, (struct plot_panel){.curve = c},
			          curve_title(d->arena, c));
	}
}

/* --- the plot ----------------------------------------------------------------------- */

static void write_plot(FILE *out, const char *terminal, const void *self)
{
	const struct drawing *d = self;
	const struct figure f = {.title = d->heading,
	                         .plain = true,
	                         .legend = d->plot.planner,
	                         .nlegend = d->plot.nplanners,
	                         .panel = d->title.at,
	                         .npanels = (size_t)d->panel.n};

	figure_begin(out, terminal, &f);
	for (size_t i = 0; i < f.npanels; i++) {
		const struct plot_panel *panel = &d->panel.at[i];

		figure_panel(out, &f, i);
		if (panel->curve)
			plot_curve(out, d->arena, &d->plot, panel->curve);
		else
			plot_shares(out, &d->plot, panel);
	}
	figure_end(out, &f);
}

/* Leaves room around what is drawn, and some scale where all of it is 1. */
static void set_scale(struct html_axis *y)
{
	double room = fmax(pow(y->hi / y->lo, 0.04), 1.02);

	if (y->hi / y->lo < 1 + 1e-5) {
		*y = (struct html_axis){.lo = 0.5, .hi = 2};
		return;
	}
	y->lo /= room;
	y->hi *= room;
}

static enum status draw(struct drawing *d, const char *path, const struct row *rows,
                        size_t n, const struct report_options *o, struct error *e)
{
	const struct row **used = arena_alloc(d->arena, n, sizeof(*used));
	enum report_kind kind = KIND_LAYOUTS;
	size_t nall = 0, nused = 0;

	if (report_check(rows, n, d->plot.baseline, o, e) != OK)
		return e->code;
	for (size_t i = 0; i < n; i++)
		if (report_family(o, &rows[i]) &&
		    (report_asked(o, rows[i].planner) ||
		     strcmp(rows[i].planner, d->plot.baseline) == 0))
			used[nall++] = &rows[i];
	d->clock = report_clock(used, nall, d->plot.baseline, o);
	/* Kinds are in no figure together: the first that there is, real ones if any. */
	for (size_t i = 0; i < nall; i++)
		if (report_kind(used[i]) < kind)
			kind = report_kind(used[i]);
	for (size_t i = 0; i < nall; i++)
		if (strcmp(used[i]->clock, d->clock) == 0 && report_kind(used[i]) == kind)
			used[nused++] = used[i];
	d->curves = report_curves(d->arena, d->plot.baseline, used, nused);
	gather_shares(d, used, nused);
	add_shares(d);
	add_curves(d);
	if (d->planner.n == 0)
		return error_set(e, E_RANGE, (struct where){.file = path},
		                 "nothing to compare with %s under clock %s",
		                 d->plot.baseline, d->clock);
	d->plot.planner = d->planner.at;
	d->plot.nplanners = names_distinct(d->planner.at, (size_t)d->planner.n);
	set_scale(&d->plot.y);
	d->heading =
		arena_printf(d->arena, "Speedup over %s, %s, clock %s",
	                     d->plot.baseline, report_kind_noun(kind, true), d->clock);
	if (d->all > d->panel.n)
		d->heading = arena_printf(d->arena, "%s: the first %lld panels of %lld",
		                          d->heading, (long long)d->panel.n,
		                          (long long)d->all);
	return gnuplot_draw(path, write_plot, d, e);
}

enum status report_plot(const char *path, struct store *store,
                        const struct report_options *o, struct error *e)
{
	struct drawing d = {.arena = arena_new(),
	                    .plot = {.baseline = o->baseline ? o->baseline : "xla-2021",
	                             .y = {.lo = 1, .hi = 1}}};
	struct row *rows;
	size_t n;

	if (gnuplot_check(path, e) == OK && file_check(path, e) == OK &&
	    store_rows(store, d.arena, &rows, &n, e) == OK) {
		if (report_of_steps(rows, n))
			step_plot(path, d.arena, rows, n, o, e);
		else
			draw(&d, path, rows, n, o, e);
	}
	arena_free(d.arena);
	return e->code;
}
