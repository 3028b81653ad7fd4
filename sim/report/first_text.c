/* The first tables of a report: one kind of problem each, and planners on the same cases. */
#include "report/text.h"
#include "text/words.h"

#include <math.h>
#include <string.h>

/* What the kinds are called in headings. */
static const char *const headings[REPORT_KINDS] = {
	[KIND_REAL] = "Real scenarios",
	[KIND_RANDOM] = "Random problems",
	[KIND_LAYOUTS] = "Pairs of layouts",
};

/* Tables with a column for each machine have at most so many of them. */
enum { MACHINES_MAX = 6 };

/* The least and the largest of figures that are known. */
struct range {
	double low, high;
	size_t n;
};

static void range_add(struct range *r, double x)
{
	if (isnan(x))
		return;
	r->low = r->n && r->low < x ? r->low : x;
	r->high = r->n && r->high > x ? r->high : x;
	r->n++;
}

/* Prints "1.23", or "1.23 to 4.5" where the two differ as printed. */
static const char *ratios_text(struct arena *a, const struct range *r)
{
	const char *low = arena_printf(a, "%.2f", r->low);
	const char *high = arena_printf(a, "%.2f", r->high);

	return strcmp(low, high) == 0 ? low : arena_printf(a, "%s to %s", low, high);
}

static const char *counts_text(struct arena *a, const struct range *r)
{
	return r->low < r->high ? arena_printf(a, "%.0f to %.0f", r->low, r->high)
	                        : arena_printf(a, "%.0f", r->low);
}

/* Is the line one of all cases of the kind that has any to compare? */
static bool has_mean(const struct report_line *l, enum report_kind kind)
{
	return l->kind == kind && !l->without && l->speedup.n > 0;
}

/* --- sentences ---------------------------------------------------------------------- */

/* Says on one kind of problem how much faster each planner is, over all machines. */
static void write_sentence(const struct pen *pen, const struct report *r,
                           enum report_kind kind)
{
	struct arena *a = pen->arena;
	struct range n = {0}, machines = {0};
	struct text t = {0};

	for (size_t p = 0; p < r->nshown; p++) {
		struct range mean = {0};

		for (size_t i = 0; i < r->nfirst; i++) {
			const struct report_line *l = &r->first[i];

			if (!has_mean(l, kind) || strcmp(l->planner, r->shown[p]) != 0)
				continue;
			range_add(&n, (double)l->speedup.n);
			range_add(&mean, l->speedup.geomean);
		}
		range_add(&machines, (double)mean.n);
		if (!mean.n)
			continue;
		if (t.length)
			text_printf(&t, ", %s %s", r->shown[p], ratios_text(a, &mean));
		else
			text_printf(&t, "%s is %s times as fast as %s", r->shown[p],
			            ratios_text(a, &mean), r->baseline);
	}
	if (t.length)
		pen->paragraph(
			pen,
			arena_printf(
				a, "%s: geometric means over %s %s%s, clock %s.", t.s,
				counts_text(a, &n), report_kind_noun(kind, n.high > 1),
				machines.high > 1 ? arena_printf(a,
		                                                 " on each of %.0f "
		                                                 "machines",
		                                                 machines.high)
						  : "",
				r->clock));
	text_free(&t);
}

void report_sentences_text(const struct pen *pen, const struct report *r)
{
	for (int kind = 0; kind < REPORT_KINDS; kind++) {
		write_sentence(pen, r, (enum report_kind)kind);
		report_winners_text(pen, r, (enum report_kind)kind);
	}
}

/* --- the brief table ---------------------------------------------------------------- */

/* Returns the line of all cases of that machine and planner, or NULL. */
static const struct report_line *
find_line(const struct report *r, const struct report_line *at, const char *planner)
{
	for (size_t i = 0; i < r->nfirst; i++) {
		const struct report_line *l = &r->first[i];

		if (has_mean(l, at->kind) && strcmp(l->platform, at->platform) == 0 &&
		    strcmp(l->planner, planner) == 0)
			return l;
	}
	return NULL;
}

/* Fills in the row of the machine that `at` is of. */
static void write_machine(struct pen_table *t, struct arena *a, const struct report *r,
                          const struct report_line *at)
{
	struct range n = {0};
	const char **cell = words_row(t);

	for (size_t p = 0; p < r->nshown; p++) {
		const struct report_line *l = find_line(r, at, r->shown[p]);

		cell[2 + p] = "-";
		if (!l)
			continue;
		range_add(&n, (double)l->speedup.n);
		cell[2 + p] = arena_printf(a, "%.2f (%.2f)", l->speedup.geomean,
		                           l->speedup.median);
	}
	cell[0] = at->platform;
	cell[1] = n.n ? counts_text(a, &n) : "0";
}

static void write_brief(const struct pen *pen, const struct report *r,
                        enum report_kind kind)
{
	struct arena *a = pen->arena;
	const char **head = arena_alloc(a, r->nshown + 2, sizeof(*head));
	char *align = arena_alloc(a, r->nshown + 3, 1);
	struct pen_table t;
	const char *last = "";

	memset(align, 'r', r->nshown + 2);
	align[0] = 'l';
	head[0] = "machine";
	head[1] = "n";
	memcpy(head + 2, r->shown, r->nshown * sizeof(*head));
	t = words_table(a,
	                arena_printf(a,
	                             "Speedup over %s, %s, clock %s: geometric mean "
	                             "(median)",
	                             r->baseline, report_kind_noun(kind, true), r->clock),
	                align, head, r->nfirst);
	for (size_t i = 0; i < r->nfirst; i++) {
		if (r->first[i].kind != kind || strcmp(r->first[i].platform, last) == 0)
			continue;
		last = r->first[i].platform;
		write_machine(&t, a, r, &r->first[i]);
	}
	if (t.rows == 0)
		return;
	pen->heading(pen, 2, t.caption);
	t.name = "summary";
	t.place = report_kind_name(kind);
	pen->table(pen, &t);
}

void report_brief_text(const struct pen *pen, const struct report *r)
{
	for (int kind = 0; kind < REPORT_KINDS; kind++)
		write_brief(pen, r, (enum report_kind)kind);
}

void report_hidden_text(const struct pen *pen, const struct report *r)
{
	const char *hidden = report_hidden(r, pen->arena);

	if (hidden)
		pen->paragraph(pen, arena_printf(pen->arena, "Not shown: %s.", hidden));
}

/* --- the first tables --------------------------------------------------------------- */

static void write_line(struct pen_table *t, struct arena *a, const struct report_line *l)
{
	const char **cell = words_row(t);
	const struct summary *s = &l->speedup;

	cell[0] = l->platform;
	cell[1] = l->planner;
	cell[2] = l->without ? "not remat." : "all";
	cell[3] = words_count(a, s->n);
	cell[4] = words_ratio(a, s->geomean);
	cell[5] = isnan(l->interval.lo)
	                  ? "-"
	                  : arena_printf(a, "[%s, %s]", words_ratio(a, l->interval.lo),
	                                 words_ratio(a, l->interval.hi));
	cell[6] = words_ratio(a, s->median);
	cell[7] = words_ratio(a, s->min);
	cell[8] = words_ratio(a, s->max);
	cell[9] = arena_printf(a, "%zu/%zu/%zu", l->wins, l->ties, l->losses);
	cell[10] = words_percent(a, s->n ? (double)l->ties / (double)s->n : NAN);
	cell[11] = report_sure_text(&l->sure, a);
	cell[12] = l->memory_n && l->memory_n != s->n
	                   ? arena_printf(a, "%s (%zu)", words_ratio(a, l->memory),
	                                  l->memory_n)
	                   : words_ratio(a, l->memory);
	cell[13] =
		l->without ? "" : arena_printf(a, "%zu/%zu", l->baseline_over, l->over);
}

static bool has_paper(const struct report *r)
{
	return strcmp(r->baseline, "xla-2021") == 0;
}

/* Adds what the paper says of its planner, of which it gives two figures. */
static void write_paper(struct pen_table *t, struct arena *a)
{
	const char **cell = words_row(t);

	for (size_t c = 0; c < t->columns; c++)
		cell[c] = "";
	cell[0] = "arXiv 2112.01075";
	cell[1] = "its own";
	cell[2] = "its own";
	cell[4] = words_ratio(a, REPORT_PAPER_MEAN);
	cell[8] = words_ratio(a, REPORT_PAPER_MAX);
}

static void write_first(const struct pen *pen, const struct report *r,
                        enum report_kind kind)
{
	static const char *const head[] = {"machine", "planner",       "cases",  "n",
	                                   "speedup", "95 % interval", "median", "min",
	                                   "max",     "w/t/l",         "ties",   "sure",
	                                   "memory",  "unfit"};
	struct arena *a = pen->arena;
	struct pen_table t =
		words_table(a,
	                    arena_printf(a, "%s: speedup over %s, clock %s",
	                                 headings[kind], r->baseline, r->clock),
	                    "lllrrrrrrrrrrr", head, r->nfirst + 1);

	for (size_t i = 0; i < r->nfirst; i++)
		if (r->first[i].kind == kind)
			write_line(&t, a, &r->first[i]);
	if (t.rows == 0)
		return;
	if (kind == KIND_REAL && has_paper(r))
		write_paper(&t, a);
	pen->heading(pen, 2, t.caption);
	t.name = "speedup";
	t.place = report_kind_name(kind);
	t.note = arena_printf(
		a,
		"not remat.: the cases in which %s does not rematerialize fully. n: "
		"scenarios. 95 %% interval: bootstrap, of the geometric mean. w/t/l: "
		"wins, "
		"ties (within 1e-6 relative), losses; sure: where times whose "
		"intervals overlap are ties. memory: peak live bytes of %s "
		"over "
		"the planner's. unfit: cases in no mean, as a plan exceeds the memory "
		"of "
		"the device: that of %s / that of the planner alone.",
		r->baseline, r->baseline, r->baseline);
	pen->table(pen, &t);
}

/* What synth's lines of real scenarios say together; counts are over all machines. */
struct differences {
	struct range with_all, without, median;
	size_t n, without_n, ties, above, above_remat;
};

static struct differences find_differences(const struct report *r)
{
	struct differences d = {0};

	for (size_t i = 0; i < r->nfirst; i++) {
		const struct report_line *l = &r->first[i];

		if (l->kind != KIND_REAL || strcmp(l->planner, "synth") != 0)
			continue;
		range_add(l->without ? &d.without : &d.with_all, l->speedup.geomean);
		if (l->without) {
			d.without_n += l->speedup.n;
			continue;
		}
		range_add(&d.median, l->speedup.median);
		d.n += l->speedup.n;
		d.ties += l->ties;
		d.above += l->above;
		d.above_remat += l->above_remat;
	}
	return d;
}

/* Says why the figures of synth are not those of the paper, from the rows. */
static void write_differences(const struct pen *pen, const struct report *r)
{
	struct arena *a = pen->arena;
	struct differences d = find_differences(r);

	if (!has_paper(r) || d.n == 0)
		return;
	pen->paragraph(
		pen,
		arena_printf(
			a,
			"The abstract of arXiv 2112.01075 gives its synthesizer, after "
			"which synth is made, a geometric mean of %.2f and at most "
			"%.1f over XLA's partitioner of its day; it names neither the "
			"machine nor the problems. synth's means here, %s, differ for "
			"these reasons. The problems are not the paper's. In %zu of "
			"%zu "
			"cases (each scenario on each machine) xla-2021 rematerializes "
			"fully; without these the means are %s; %s. A mean is not what "
			"to expect of one scenario: in %.0f %% of the cases both take "
			"equally long, and medians are %s. Times are simulated, not "
			"measured: launches, links and local copies are in them, and "
			"nothing else that a system does.",
			REPORT_PAPER_MEAN, REPORT_PAPER_MAX,
			ratios_text(a, &d.with_all), d.n - d.without_n, d.n,
			d.without.n ? ratios_text(a, &d.without) : "unknown",
			d.above ? arena_printf(
					  a, "of the cases above %.1f (%zu) %zu are such",
					  REPORT_PAPER_MAX, d.above, d.above_remat)
				: "none is above the paper's largest",
			100 * (double)d.ties / (double)d.n, ratios_text(a, &d.median)));
}

/* --- planners on the same cases ----------------------------------------------------- */

/* Fills in the column of one machine: all planners' speedups and what they cannot do. */
static void fill_same(struct pen_table *t, struct arena *a, size_t column,
                      const struct report_same *s)
{
	t->cell[column] = arena_printf(a, "%zu of %zu", s->n, s->all);
	for (size_t row = 1; row < t->rows; row++) {
		const char **cell = t->cell + row * t->columns;

		for (size_t p = 0; p < s->nplanners; p++)
			if (strcmp(s->planner[p], cell[0]) == 0)
				cell[column] = arena_printf(
					a, "%s (%zu)", words_ratio(a, s->speedup[p]),
					s->cannot[p]);
	}
}

/* Writes the table of n machines, which may have different planners. */
static void write_same(const struct pen *pen, const struct report *r,
                       const struct report_same *const *same, size_t n, bool headed)
{
	struct arena *a = pen->arena;
	const char *head[MACHINES_MAX + 1] = {"planner"};
	char align[MACHINES_MAX + 2] = "l";
	size_t most = 1;
	struct pen_table t;

	for (size_t m = 0; m < n; m++) {
		head[m + 1] = same[m]->platform;
		align[m + 1] = 'r';
		align[m + 2] = '\0';
		most += same[m]->nplanners;
	}
	t = words_table(a,
	                arena_printf(a, "Planners on the same %s, clock %s",
	                             report_kind_noun(same[0]->kind, true), r->clock),
	                align, head, most);
	words_row(&t)[0] = "n";
	for (size_t m = 0; m < n; m++)
		for (size_t p = 0; p < same[m]->nplanners; p++) {
			size_t row = 1;

			while (row < t.rows && strcmp(t.cell[row * t.columns],
			                              same[m]->planner[p]) != 0)
				row++;
			if (row == t.rows)
				words_row(&t)[0] = same[m]->planner[p];
		}
	for (size_t i = 0; i < t.rows * t.columns; i++)
		t.cell[i] = t.cell[i] ? t.cell[i] : "-";
	for (size_t m = 0; m < n; m++)
		fill_same(&t, a, m + 1, same[m]);
	if (headed)
		pen->heading(pen, 2, t.caption);
	t.name = "same";
	t.place = arena_printf(a, "%s %s", report_kind_name(same[0]->kind), head[1]);
	pen->table(pen, &t);
}

/* Writes the tables of all kinds, and behind them what their cells are. */
static void write_sames(const struct pen *pen, const struct report *r)
{
	const struct report_same *same[MACHINES_MAX];
	size_t n = 0;
	bool headed = true; /* the first table of a kind */

	for (size_t i = 0; i < r->nsame; i++) {
		const struct report_same *s = &r->same[i];

		if (strcmp(s->clock, r->clock) != 0)
			continue;
		if (n == MACHINES_MAX || (n && s->kind != same[0]->kind)) {
			write_same(pen, r, same, n, headed);
			headed = s->kind != same[0]->kind;
			n = 0;
		}
		same[n++] = s;
	}
	if (n == 0)
		return;
	write_same(pen, r, same, n, headed);
	pen->paragraph(
		pen,
		arena_printf(
			pen->arena,
			"On the same cases each cell is the geometric mean of the "
			"time of %s divided by the planner's, over the n cases that "
			"all planners of the machine solve in times above zero; in "
			"brackets is how many cases the planner does not solve, of "
			"those that some planner solves. The line n has both counts.",
			r->baseline));
}

void report_first_text(const struct pen *pen, const struct report *r)
{
	struct arena *a = pen->arena;

	pen->paragraph(
		pen,
		arena_printf(
			a,
			"Speedup is the time of %s divided by the planner's, memory "
			"its "
			"peak_live_bytes divided by the planner's: above 1 the planner "
			"is better. Both are geometric means over the n scenarios "
			"where "
			"both are ok and both times are above zero; a figure with a "
			"count is over that many of them. The interval is a 95 %% "
			"bootstrap interval of the mean speedup (%d resamples, seed "
			"%d); w/t/l are wins, ties (within 1e-6 relative) and losses, "
			"and sure is the same where times that their intervals (80 %%) "
			"do not part are ties. "
			"Cases are all, or those in which %s does not rematerialize "
			"fully: no device holds the whole array on the way unless an "
			"end is replicated. Unfit counts the cases that are in no mean "
			"because a plan does not fit into the memory of the device: "
			"that of %s / that of the planner alone.",
			r->baseline, REPORT_RESAMPLES, REPORT_SEED, r->baseline,
			r->baseline));
	for (int kind = 0; kind < REPORT_KINDS; kind++) {
		write_first(pen, r, (enum report_kind)kind);
		if (kind == KIND_REAL)
			write_differences(pen, r);
	}
	report_hidden_text(pen, r);
	write_sames(pen, r);
}
