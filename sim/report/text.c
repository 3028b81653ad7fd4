#include "report/text.h"
#include "report/data.h"
#include "text/order.h"
#include "text/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The figures of a report in words and tables, for either pen. */

static const char *p_text(struct arena *a, double p)
{
	if (isnan(p))
		return "-";
	if (p < 1e-300)
		return "<1e-300";
	return arena_printf(a, p < 0.001 ? "%.1e" : "%.3f", p);
}

/* Fills in the ten cells that every comparison has behind its names. */
static void comparison_cells(struct arena *a, const char **cell,
                             const struct report_line *l)
{
	const char *memory = words_ratio(a, l->memory);
	const char *bound = words_ratio(a, l->bound);

	if (l->memory_n && l->memory_n != l->speedup.n)
		memory = arena_printf(a, "%s (%zu)", memory, l->memory_n);
	if (l->bound_n && l->bound_n != l->speedup.n)
		bound = arena_printf(a, "%s (%zu)", bound, l->bound_n);
	*cell++ = words_count(a, l->speedup.n);
	*cell++ = words_ratio(a, l->speedup.geomean);
	*cell++ = isnan(l->interval.lo)
	                  ? "-"
	                  : arena_printf(a, "[%s, %s]", words_ratio(a, l->interval.lo),
	                                 words_ratio(a, l->interval.hi));
	*cell++ = words_ratio(a, l->speedup.min);
	*cell++ = words_ratio(a, l->speedup.max);
	*cell++ = arena_printf(a, "%zu/%zu/%zu", l->wins, l->ties, l->losses);
	*cell++ = report_sure_text(&l->sure, a);
	*cell++ = p_text(a, l->test.p);
	*cell++ = memory;
	*cell = bound;
}

/* Returns what the heads of comparison_cells() mean. */
static const char *comparison_note(struct arena *a, const struct report *r)
{
	return arena_printf(
		a,
		"n: scenarios. 95 %% interval: bootstrap, of the geometric "
		"mean. w/t/l: wins, ties (within 1e-6 relative), losses; sure: where "
		"times whose intervals overlap are ties. p: "
		"Wilcoxon's, two-sided. memory: peak live bytes of %s over "
		"the planner's. x bound: mean time over the lower bound.",
		r->baseline);
}

static void write_totals(const struct pen *pen, const struct report *r)
{
	static const char *const head[] = {
		"kind", "machine", "clock", "planner", "n", "speedup", "95 % interval",
		"min",  "max",     "w/t/l", "sure",    "p", "memory",  "x bound"};
	struct arena *a = pen->arena;
	const char *caption =
		arena_printf(a, "Speedup over %s, all families", r->baseline);
	struct pen_table t = words_table(a, caption, "llllrrrrrrrrrr", head, r->nlines);

	for (size_t i = 0; i < r->nlines; i++) {
		const struct report_line *l = &r->line[i];
		const char **cell;

		if (l->family)
			continue;
		cell = words_row(&t);
		cell[0] = report_kind_name(l->kind);
		cell[1] = l->platform;
		cell[2] = l->clock;
		cell[3] = l->planner;
		comparison_cells(a, cell + 4, l);
	}
	t.name = "all";
	t.note = comparison_note(a, r);
	pen->table(pen, &t);
}

/* A family, and how many cases its planners have to compare. */
struct family {
	const char *name;
	size_t cases;
};

static int compare_families(const void *a, const void *b)
{
	return order_compare(((const struct family *)a)->name,
	                     ((const struct family *)b)->name);
}

/*
 * Returns the distinct families of lines [first, end) in byte order with the cases of all
 * their planners, and stores their number in *n.
 */
static struct family *list_families(size_t *n, const struct report *r, size_t first,
                                    size_t end, struct arena *a)
{
	struct family *f = arena_alloc(a, end - first, sizeof(*f));
	size_t all = 0;

	for (; first < end; first++)
		if (r->line[first].family)
			f[all++] = (struct family){r->line[first].family,
			                           r->line[first].speedup.n};
	qsort(f, all, sizeof(*f), compare_families);
	*n = 0;
	for (size_t i = 0; i < all; i++)
		if (*n && compare_families(&f[*n - 1], &f[i]) == 0)
			f[*n - 1].cases += f[i].cases;
		else
			f[(*n)++] = f[i];
	return f;
}

/* Has the family cases to compare? The line of all families (NULL) always counts. */
static bool has_cases(const struct family *f, size_t n, const char *name)
{
	const struct family key = {.name = name};
	const struct family *found =
		name ? bsearch(&key, f, n, sizeof(*f), compare_families) : NULL;

	return !found || found->cases > 0;
}

/* Names the families in which there is nothing to compare. */
static void write_absent(const struct pen *pen, const struct family *f, size_t n)
{
	struct text names = {0};

	for (size_t i = 0; i < n; i++)
		if (f[i].cases == 0)
			text_printf(&names, "%s%s", names.length ? ", " : "", f[i].name);
	if (names.length)
		pen->paragraph(pen, arena_printf(pen->arena,
		                                 "No planner has a case to compare in: "
		                                 "%s.",
		                                 names.s));
	text_free(&names);
}

/* Writes the table of one platform and clock, whose lines are [first, end). */
static void write_families(const struct pen *pen, const struct report *r, size_t first,
                           size_t end)
{
	static const char *const head[] = {
		"planner", "family", "n",    "speedup", "95 % interval", "min",
		"max",     "w/t/l",  "sure", "p",       "memory",        "x bound"};
	const struct report_line *l = &r->line[first];
	struct arena *a = pen->arena;
	const char *place = arena_printf(a, "%s, clock %s, %s", l->platform, l->clock,
	                                 report_kind_name(l->kind));
	const char *caption =
		arena_printf(a, "Speedup over %s on %s", r->baseline, place);
	struct pen_table t = words_table(a, caption, "llrrrrrrrrrr", head, end - first);
	size_t nfamilies;
	struct family *family = list_families(&nfamilies, r, first, end, a);

	for (size_t i = first; i < end; i++) {
		const char **cell;

		l = &r->line[i];
		if (!has_cases(family, nfamilies, l->family))
			continue;
		cell = words_row(&t);
		cell[0] = l->planner;
		cell[1] = l->family ? l->family : "(all)";
		comparison_cells(a, cell + 2, l);
	}
	pen->heading(pen, 2, place);
	t.name = "families";
	t.note = comparison_note(a, r);
	t.place = place;
	pen->table(pen, &t);
	if (r->line[first].members)
		pen->paragraph(pen, arena_printf(a,
		                                 "Families of one or two scenarios are "
		                                 "one line, %s: %s. --families shows "
		                                 "each.",
		                                 REPORT_OTHERS, r->line[first].members));
	write_absent(pen, family, nfamilies);
}

/* Says what a reader must know before any figure. */
static void write_start(const struct pen *pen, const struct report *r)
{
	struct arena *a = pen->arena;

	pen->heading(pen, 1, arena_printf(a, "Speedup over %s", r->baseline));
	if (r->unfinished)
		pen->paragraph(pen, arena_printf(a, "WARNING: %s.", r->unfinished));
	if (r->faults)
		pen->paragraph(
			pen,
			arena_printf(
				a,
				"WARNING: %zu of the rows %s faster than the lower "
				"bound, which is a fault of shardsim: for example "
				"%s on %s by %s, clock %s.",
				r->faults, r->faults == 1 ? "is" : "are",
				r->faulty->scenario, r->faulty->platform,
				r->faulty->planner, r->faulty->clock));
	if (r->pattern)
		pen->paragraph(pen, arena_printf(a, "Only families that match %s.",
		                                 r->pattern));
	if (r->callers)
		pen->paragraph(pen, r->callers);
	if (r->norigins == 0)
		pen->paragraph(pen, "There is no other planner to compare with it.");
	else
		report_sentences_text(pen, r);
}

void report_totals_text(const struct pen *pen, const struct report *r)
{
	struct arena *a = pen->arena;

	write_start(pen, r);
	if (r->norigins == 0)
		return;
	report_first_text(pen, r);
	report_machines_text(pen, r);
	pen->heading(pen, 2, "All planners");
	pen->paragraph(
		pen,
		arena_printf(
			a,
			"The same of every planner and clock, over all cases; p is "
			"the two-sided one of %s on the logarithms of the "
			"speedups; x bound is the mean of the planner's time over "
			"the lower bound, where that is above zero.",
			r->test));
	write_totals(pen, r);
	if (!r->families)
		pen->paragraph(pen,
		               arena_printf(a,
		                            "There are up to %zu families; --families "
		                            "shows the speedups of each.",
		                            r->nfamilies));
}

void report_families_text(const struct pen *pen, const struct report *r)
{
	size_t end;

	for (size_t i = 0; r->families && i < r->nlines; i = end) {
		for (end = i + 1; end < r->nlines; end++)
			if (r->line[i].kind != r->line[end].kind ||
			    strcmp(r->line[i].platform, r->line[end].platform) != 0 ||
			    strcmp(r->line[i].clock, r->line[end].clock) != 0)
				break;
		write_families(pen, r, i, end);
	}
}

void report_origins_text(const struct pen *pen, const struct report *r)
{
	static const char *const head[] = {"kind",    "machine",     "clock", "planner",
	                                   "n",       "remat.",      "share", "with",
	                                   "without", "part of gain"};
	struct arena *a = pen->arena;
	struct pen_table t = words_table(a, "Where the gain comes from", "llllrrrrrr",
	                                 head, r->norigins);

	if (r->norigins == 0)
		return;
	for (size_t i = 0; i < r->norigins; i++) {
		const struct report_origin *o = &r->origin[i];
		const char **cell = words_row(&t);

		*cell++ = report_kind_name(o->kind);
		*cell++ = o->platform;
		*cell++ = o->clock;
		*cell++ = o->planner;
		*cell++ = words_count(a, o->n);
		*cell++ = words_count(a, o->remat_n);
		*cell++ = words_percent(a, o->share);
		*cell++ = words_ratio(a, o->remat);
		*cell++ = words_ratio(a, o->rest);
		*cell++ = words_percent(a, o->gain);
	}
	pen->heading(pen, 2, "Where the gain comes from");
	pen->paragraph(
		pen,
		arena_printf(
			a,
			"In remat. of the n scenarios the plan of %s has a full "
			"rematerialization: a device holds the whole array on the "
			"way, although neither end is replicated. With and without "
			"are the mean speedups over these scenarios and over the "
			"others; the part of gain is theirs of the sum of the "
			"logarithms of all speedups (above 100 %% where the others "
			"lose).",
			r->baseline));
	t.name = "origins";
	pen->table(pen, &t);
}

void report_plannings_text(const struct pen *pen, const struct report *r)
{
	static const char *const head[] = {"kind", "machine",  "clock", "planner",
	                                   "n",    "median s", "max s"};
	struct arena *a = pen->arena;
	struct pen_table t = words_table(a, "Planning times, wall clock", "llllrrr",
	                                 head, r->nplannings);

	if (r->nplannings == 0)
		return;
	for (size_t i = 0; i < r->nplannings; i++) {
		const struct report_planning *p = &r->planning[i];
		const char **cell = words_row(&t);
		bool known = p->planning_s.n && !isnan(p->planning_s.median);

		*cell++ = report_kind_name(p->kind);
		*cell++ = p->platform;
		*cell++ = p->clock;
		*cell++ = p->planner;
		*cell++ = words_count(a, p->planning_s.n);
		*cell++ = known ? arena_printf(a, "%.3e", p->planning_s.median) : "-";
		*cell++ = known ? arena_printf(a, "%.3e", p->planning_s.max) : "-";
	}
	pen->heading(pen, 2, "Planning time");
	t.name = "planning";
	pen->table(pen, &t);
}

void report_left_text(const struct pen *pen, const struct report *r)
{
	static const char *const head[] = {"planner", "machine", "status", "rows",
	                                   "reason"};
	struct arena *a = pen->arena;
	struct pen_table t = words_table(a, "Rows left out of the speedups", "lllrp",
	                                 head, r->nlefts);

	for (size_t i = 0; i < r->nlefts; i++) {
		const struct report_left *l = &r->left[i];
		const char **cell = words_row(&t);

		cell[0] = l->planner;
		cell[1] = l->platform;
		cell[2] = outcome_name(l->status);
		cell[3] = words_count(a, l->rows);
		cell[4] = l->reason;
	}
	pen->heading(pen, 2, "Left out");
	pen->paragraph(
		pen,
		arena_printf(
			a,
			"Of %zu rows %zu are compared, %zu are those of %s they are "
			"compared with, %zu are left out, and %zu are of clocks not "
			"asked for.%s",
			r->all, r->compared, r->references, r->baseline, r->left_out,
			r->other_clocks,
			r->nlefts ? " Reasons that differ only in their numbers are "
				    "one, with # for the numbers."
				  : ""));
	if (r->nlefts) {
		t.name = "left-out";
		pen->table(pen, &t);
	}
}

/* How many rows were left out for a reason. */
struct cause {
	const char *reason;
	size_t rows;
};

static int compare_reasons(const void *left, const void *right)
{
	const struct cause *a = left, *b = right;

	return strcmp(a->reason, b->reason);
}

static int compare_causes(const void *left, const void *right)
{
	const struct cause *a = left, *b = right;

	if (a->rows != b->rows)
		return a->rows < b->rows ? 1 : -1;
	return compare_reasons(left, right);
}

/* Names in one line for which reasons most rows were left out. */
static void write_causes(const struct pen *pen, const struct report *r)
{
	enum { LINE = 88, LAST = sizeof(", 10 more reasons.") - 1 };
	struct arena *a = pen->arena;
	struct cause *c = arena_alloc(a, r->nlefts + 1, sizeof(*c));
	const char *line, *longer;
	size_t n = 0, shown = 0;

	for (size_t i = 0; i < r->nlefts; i++)
		c[i] = (struct cause){r->left[i].reason, r->left[i].rows};
	qsort(c, r->nlefts, sizeof(*c), compare_reasons);
	for (size_t i = 0; i < r->nlefts; i++)
		if (n && compare_reasons(&c[n - 1], &c[i]) == 0)
			c[n - 1].rows += c[i].rows;
		else
			c[n++] = c[i];
	qsort(c, n, sizeof(*c), compare_causes);
	line = arena_printf(a, "Left out: %zu of %zu rows", r->left_out, r->all);
	for (; shown < n; shown++) {
		longer = arena_printf(a, "%s%s %s (%zu)", line, shown ? "," : ":",
		                      c[shown].reason, c[shown].rows);
		if (shown && strlen(longer) + LAST > LINE)
			break;
		line = longer;
	}
	if (shown < n)
		line = arena_printf(a, "%s, %zu more reason%s", line, n - shown,
		                    n - shown == 1 ? "" : "s");
	pen->paragraph(pen, arena_printf(a, "%s.", line));
}

/* The summary of one sweep fits on a screen. */
static void write_summary(const struct pen *pen, const struct report *r)
{
	write_start(pen, r);
	report_brief_text(pen, r);
	report_hidden_text(pen, r);
	report_apart_sentence(pen, r);
	write_causes(pen, r);
}

void report_text(const struct pen *pen, const struct report *r)
{
	if (pen->choice)
		report_brief_text(pen, r);
	if (!r->details && !pen->choice) {
		write_summary(pen, r);
		return;
	}
	report_totals_text(pen, r);
	report_families_text(pen, r);
	report_rivals_text(pen, r);
	report_apart_text(pen, r);
	report_curves_text(pen, r);
	report_origins_text(pen, r);
	report_plannings_text(pen, r);
	report_left_text(pen, r);
}

void report_md(FILE *out, struct arena *a, const struct report *r,
               struct pen_choice *choice)
{
	struct pen pen = pen_md(out, a);

	pen.choice = choice;
	report_text(&pen, r);
	if (!r->details)
		pen.paragraph(&pen,
		              "--details has intervals, extremes, memory, families, "
		              "bounds and all that was left out.");
}
