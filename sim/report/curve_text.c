/* Curves and changes in words and tables. */
#include "report/curve.h"
#include "report/text.h"
#include "text/words.h"

#include "base/units.h"
#include "suite/varied.h"

#include <math.h>
#include <string.h>

/* How many are shown; the CSV has all. */
enum { CURVES_SHOWN = 40, CHANGES_SHOWN = 50 };

/* Prints a figure of the curve in words: "37.5 GB/s"; the arena's. */
static const char *figure_words(struct arena *a, const char *key, double x)
{
	struct text t = {0};

	switch (varied_unit(key)) {
	case VARIED_BYTES:
		units_print_bytes(&t, x);
		break;
	case VARIED_RATE:
		units_print_rate(&t, x);
		break;
	case VARIED_TIME:
		units_print_time(&t, x);
		break;
	case VARIED_TEXT:
	case VARIED_COUNT:
		text_printf(&t, "%.4g", x);
		break;
	}
	return text_take(&t, a);
}

const char *report_curve_value(struct arena *a, const struct report_curve *c, size_t i)
{
	const struct curve_point *point = &c->point[i];

	return varied_unit(c->key) == VARIED_TEXT || isnan(point->x)
	               ? point->value
	               : figure_words(a, c->key, point->x);
}

const char *report_curve_title(struct arena *a, const struct report_curve *c)
{
	return arena_printf(a, "%s of %s, clock %s%s%s", c->key, c->platform, c->clock,
	                    *c->others ? ", " : "", c->others);
}

const char *report_curve_scope(struct arena *a, const struct report_curve *c)
{
	struct text t = {0};
	const char *before = "; not compared: ";

	if (c->scenario)
		text_printf(&t, "%s", c->scenario);
	else
		text_printf(&t, "n = %zu", c->n);
	if (!c->scenario && c->n < c->nscenarios)
		text_printf(&t, ", %zu left out", c->nscenarios - c->n);
	for (int p = 0; p < c->nplanners; p++) {
		if (c->compared[p])
			continue;
		text_printf(&t, "%s%s", before, c->planner[p]);
		if (c->solved[p])
			text_printf(&t, " (%zu of %zu)", c->solved[p], c->nscenarios);
		before = ", ";
	}
	return text_take(&t, a);
}

/* Has the planner a column: is it compared, and not the baseline? */
static bool is_shown(const struct report *r, const struct report_curve *c, int p)
{
	return c->compared[p] && strcmp(c->planner[p], r->baseline) != 0;
}

static void write_points(struct pen_table *t, struct arena *a, const struct report *r,
                         const struct report_curve *c)
{
	for (size_t i = 0; i < c->npoints; i++) {
		const struct curve_point *point = &c->point[i];
		const char **cell = words_row(t);
		size_t column = 4;

		cell[0] = point->value;
		cell[1] = point->fastest < 0 ? "-" : c->planner[point->fastest];
		cell[2] = arena_printf(a, "%zu/%zu", point->fastest_n, point->timed_n);
		cell[3] = arena_printf(a, "%zu of %zu", c->n, c->nscenarios);
		for (int p = 0; p < c->nplanners; p++)
			if (is_shown(r, c, p))
				cell[column++] = words_ratio(a, point->speedup[p]);
	}
}

static void write_curve(const struct pen *pen, const struct report *r,
                        const struct report_curve *c)
{
	struct arena *a = pen->arena;
	const char **head = arena_alloc(a, (size_t)c->nplanners + 4, sizeof(*head));
	char *align = arena_alloc(a, (size_t)c->nplanners + 5, 1);
	const char *title = report_curve_title(a, c);
	size_t columns = 4;
	struct pen_table t;

	memcpy(align, "rlrr", 4);
	head[0] = c->key;
	head[1] = "fastest but best";
	head[2] = "in";
	head[3] = "n";
	for (int p = 0; p < c->nplanners; p++) {
		if (!is_shown(r, c, p))
			continue;
		align[columns] = 'r';
		head[columns++] = c->planner[p];
	}
	t = words_table(a, arena_printf(a, "Speedup over %s by %s", r->baseline, title),
	                align, head, c->npoints);
	write_points(&t, a, r, c);
	pen->heading(pen, 3, title);
	pen->paragraph(pen, arena_printf(a, "%s %s.",
	                                 c->scenario ? "Scenario" : "Scenarios:",
	                                 report_curve_scope(a, c)));
	t.name = "curve";
	t.place = title;
	pen->table(pen, &t);
}

static void write_changes(const struct pen *pen, const struct report_curves *curves,
                          bool plan)
{
	static const char *const head[] = {"platform", "clock", "figure", "others",
	                                   "scenario", "from",  "to",     "about",
	                                   "before",   "after"};
	struct arena *a = pen->arena;
	const char *caption = plan ? "Where the plan of best changes"
	                           : "Where the fastest planner changes";
	struct pen_table t = words_table(a, caption, "llllllllll", head, CHANGES_SHOWN);
	size_t all = 0;

	for (size_t i = 0; i < curves->nchanges; i++) {
		const struct report_change *c = &curves->change[i];
		const char **cell;

		if (c->plan != plan || all++ >= CHANGES_SHOWN)
			continue;
		cell = words_row(&t);
		cell[0] = c->curve->platform;
		cell[1] = c->curve->clock;
		cell[2] = c->curve->key;
		cell[3] = *c->curve->others ? c->curve->others : "-";
		cell[4] = c->scenario;
		cell[5] = c->low;
		cell[6] = c->high;
		cell[7] = isnan(c->at) ? "-" : figure_words(a, c->curve->key, c->at);
		cell[8] = c->before;
		cell[9] = c->after;
	}
	if (all == 0 && plan)
		return;
	pen->heading(pen, 3, caption);
	if (all == 0)
		pen->paragraph(pen, "Nowhere.");
	if (all > t.rows)
		pen->paragraph(pen, arena_printf(a,
		                                 "The first %zu of %zu; --format csv "
		                                 "has all.",
		                                 t.rows, all));
	if (all) {
		t.name = plan ? "plan-changes" : "changes";
		pen->table(pen, &t);
	}
}

void report_curves_text(const struct pen *pen, const struct report *r)
{
	const struct report_curves *curves = &r->curves;
	struct arena *a = pen->arena;

	if (curves->ncurves == 0)
		return;
	pen->heading(pen, 2, "Varied figures");
	pen->paragraph(
		pen,
		arena_printf(
			a,
			"Along each figure that was varied, the others being equal: "
			"geometric means of the speedups over %s, all over the same n "
			"scenarios: those where it and each planner shown have times "
			"above zero at every point. The other scenarios are left out. "
			"A planner that has such times in so few scenarios that less "
			"than half of n would be left with it is not compared, and "
			"does "
			"not make n less. Fastest but best is the planner "
			"other than best that is the fastest in most scenarios, left "
			"out or not, with how many of those that have a time. Planners "
			"within 1e-6 of the fastest are as fast; the fastest changes "
			"where none of them stays so. About is where the two times "
			"cross if each is a power of the figure in between.",
			r->baseline));
	if (curves->ncurves > CURVES_SHOWN)
		pen->paragraph(pen, arena_printf(a,
		                                 "The first %d of %zu curves; --format "
		                                 "csv has all.",
		                                 CURVES_SHOWN, curves->ncurves));
	for (size_t i = 0; i < curves->ncurves && i < CURVES_SHOWN; i++)
		write_curve(pen, r, &curves->curve[i]);
	write_changes(pen, curves, false);
	write_changes(pen, curves, true);
}
