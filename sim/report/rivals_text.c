#include "report/text.h"
#include "text/words.h"

#include <math.h>
#include <string.h>

/* Losses of one platform and clock that are shown one by one; the CSV has all. */
enum { LOSSES_SHOWN = 50 };

static void write_losses(const struct pen *pen, const struct report *r)
{
	static const char *const head[] = {"machine",  "clock", "scenario", "planner",
	                                   "its time", "best",  "ratio",    "cause"};
	struct arena *a = pen->arena;
	struct pen_table t = words_table(a, "Losses of best above 1 %", "llllrrrl",
	                                 head, r->nlosses);

	for (size_t i = 0; i < r->nbests; i++) {
		const struct report_best *b = &r->best[i];

		for (size_t k = 0; k < b->nlosses && k < LOSSES_SHOWN; k++) {
			const struct report_loss *l = &r->loss[b->first_loss + k];
			const char **cell = words_row(&t);

			cell[0] = l->platform;
			cell[1] = l->clock;
			cell[2] = l->scenario;
			cell[3] = l->rival;
			cell[4] = words_time(a, l->rival_s);
			cell[5] = words_time(a, l->best_s);
			cell[6] = words_ratio(a, l->best_s / l->rival_s);
			cell[7] = l->cause;
		}
	}
	pen->heading(pen, 3, t.caption);
	pen->paragraph(
		pen,
		"best takes what is cheapest under model. Another clock may differ "
		"on steps in which devices send unequal shares or by unequal "
		"routes: model charges the busiest link, fluid and simgrid let "
		"tasks share links, and each waits for its slowest flow. The cause "
		"says how "
		"many times its time under model each of the two plans takes.");
	if (t.rows < r->nlosses)
		pen->paragraph(pen, arena_printf(a,
		                                 "The %d largest of each platform and "
		                                 "clock; --format csv has all %zu.",
		                                 LOSSES_SHOWN, r->nlosses));
	t.name = "losses";
	pen->table(pen, &t);
}

void report_best_text(const struct pen *pen, const struct report *r)
{
	static const char *const head[] = {"kind",    "machine", "clock", "n",
	                                   "fastest", "w/t/l",   "sure",  "gain",
	                                   "> 1 %",   "exchange"};
	struct arena *a = pen->arena;
	struct pen_table t = words_table(a, "best against the fastest of the others",
	                                 "lllrrrrrrr", head, r->nbests);

	if (r->nbests == 0)
		return;
	for (size_t i = 0; i < r->nbests; i++) {
		const struct report_best *b = &r->best[i];
		const char **cell = words_row(&t);

		*cell++ = report_kind_name(b->kind);
		*cell++ = b->platform;
		*cell++ = b->clock;
		*cell++ = words_count(a, b->n);
		*cell++ = words_percent(a, (double)b->wins / (double)b->n);
		*cell++ = arena_printf(a, "%zu/%zu/%zu", b->wins, b->ties, b->losses);
		*cell++ = report_sure_text(&b->sure, a);
		*cell++ = words_ratio(a, b->gain);
		*cell++ = words_count(a, b->nlosses);
		*cell++ = words_percent(a, (double)b->exchanges / (double)b->n);
	}
	t.note = "fastest: share of cases in which best is faster than all others. "
		 "w/t/l: "
		 "wins, ties (within 1e-6 relative), losses; sure: where times whose "
		 "intervals overlap are ties. gain: geometric mean of "
		 "the "
		 "time of the fastest other over best's. > 1 %: losses by more. "
		 "exchange: "
		 "share of plans of best that hold one.";
	pen->heading(pen, 2, "The planner best");
	pen->paragraph(
		pen,
		"Over the n scenarios that best and another planner solve and "
		"that take time: the share in which best is faster than every "
		"other planner, its wins, ties and losses against the fastest "
		"of them (a tie within 1e-6 relative), the same where times that "
		"their intervals do not part are ties (sure), the geometric mean of "
		"the fastest one's time over best's, and how many losses are "
		"above 1 %. exchange is the share of best's plans that exchange "
		"boxes, which programs for XLA cannot say; best-portable, which is "
		"best without such steps, is not among the others. That best loses "
		"nothing "
		"under model holds by construction: it takes the cheapest of the "
		"others' plans and its own by that clock.");
	t.name = "best";
	pen->table(pen, &t);
	if (r->nlosses)
		write_losses(pen, r);
}

/* Says over how many scenarios the cells are: "n = 7", or "n = 3 to 7". */
static const char *counts_text(struct arena *a, const struct report_matrix *m,
                               bool memory)
{
	size_t least = SIZE_MAX, most = 0;

	for (size_t i = 0; i < m->nplanners * m->nplanners; i++) {
		size_t n = memory ? m->cell[i].memory_n : m->cell[i].n;

		if (i % (m->nplanners + 1) == 0) /* the diagonal */
			continue;
		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	return least == most ? arena_printf(a, "n = %zu", most)
	                     : arena_printf(a, "n = %zu to %zu", least, most);
}

static void write_matrix(const struct pen *pen, const struct report_matrix *m,
                         bool memory)
{
	struct arena *a = pen->arena;
	size_t n = m->nplanners;
	const char **head = arena_alloc(a, n + 1, sizeof(*head));
	char *align = arena_alloc(a, n + 2, 1);
	const char *caption = arena_printf(
		a, "%s%s%s, %s: %s, %s", m->platform, memory ? "" : ", clock ",
		memory ? "" : m->clock, report_kind_name(m->kind),
		memory ? "memory" : "time", counts_text(a, m, memory));
	struct pen_table t;

	memset(align, 'r', n + 1);
	align[0] = 'l';
	head[0] = "planner";
	for (size_t i = 0; i < n; i++)
		head[i + 1] = words_count(a, i + 1);
	t = words_table(a, arena_printf(a, "Planner against planner, %s", caption),
	                align, head, n);
	for (size_t i = 0; i < n; i++) {
		const char **cell = words_row(&t);

		cell[0] = arena_printf(a, "%zu %s", i + 1, m->planner[i]);
		for (size_t k = 0; k < n; k++) {
			const struct report_cell *c = &m->cell[i * n + k];

			cell[k + 1] =
				i == k ? ""
				       : words_ratio(a, memory ? c->memory : c->speedup);
		}
	}
	pen->heading(pen, 3, caption);
	t.name = "matrix";
	t.place = arena_printf(a, "%s %s %s %s", m->platform, m->clock,
	                       report_kind_name(m->kind), memory ? "memory" : "time");
	pen->table(pen, &t);
}

/* Do two matrices say the same of memory? Mostly: plans are the same for every clock. */
static bool same_memory(const struct report_matrix *a, const struct report_matrix *b)
{
	if (a->kind != b->kind || strcmp(a->platform, b->platform) != 0 ||
	    a->nplanners != b->nplanners)
		return false;
	for (size_t i = 0; i < a->nplanners; i++)
		if (strcmp(a->planner[i], b->planner[i]) != 0)
			return false;
	for (size_t i = 0; i < a->nplanners * a->nplanners; i++)
		if (a->cell[i].memory_n != b->cell[i].memory_n ||
		    !(a->cell[i].memory == b->cell[i].memory || a->cell[i].memory_n == 0))
			return false;
	return true;
}

static void write_matrices(const struct pen *pen, const struct report *r)
{
	if (r->nmatrices == 0)
		return;
	pen->heading(pen, 2, "Planner against planner");
	pen->paragraph(
		pen,
		"Geometric means of the time (the peak_live_bytes) of the column's "
		"planner divided by that of the row's, over the n scenarios where "
		"both are ok and the times are above zero (the bytes known): above "
		"1 the row's planner is better. Columns have the numbers of the "
		"rows. Where n differs, --format csv has it for each pair; a memory "
		"matrix that is that of the clock before is not repeated.");
	for (size_t i = 0; i < r->nmatrices; i++) {
		const struct report_matrix *m = &r->matrix[i];

		write_matrix(pen, m, false);
		if (i == 0 || !same_memory(m - 1, m))
			write_matrix(pen, m, true);
	}
}

void report_bounds_text(const struct pen *pen, const struct report *r)
{
	static const char *const head[] = {"kind",   "machine", "clock", "planner",
	                                   "n",      "mean",    "min",   "25 %",
	                                   "median", "75 %",    "95 %",  "max"};
	struct arena *a = pen->arena;
	struct pen_table t = words_table(a, "Time over the lower bound", "llllrrrrrrrr",
	                                 head, r->nbounds);

	if (r->nbounds == 0)
		return;
	for (size_t i = 0; i < r->nbounds; i++) {
		const struct report_bound *b = &r->bound[i];
		const char **cell = words_row(&t);

		*cell++ = report_kind_name(b->kind);
		*cell++ = b->platform;
		*cell++ = b->clock;
		*cell++ = b->planner;
		*cell++ = words_count(a, b->n);
		*cell++ = words_ratio(a, b->mean);
		for (size_t q = 0; q < REPORT_QUANTILES; q++)
			*cell++ = words_ratio(a, b->quantile[q]);
	}
	pen->heading(pen, 2, t.caption);
	pen->paragraph(
		pen, "How many times the lower bound a plan takes: the geometric mean "
		     "and the quantiles over the planner's n scenarios that are ok and "
		     "whose time and bound are above zero.");
	t.name = "bounds";
	pen->table(pen, &t);
}

void report_bytes_text(const struct pen *pen, const struct report *r)
{
	static const char *const head[] = {"kind",    "machine", "clock",
	                                   "planner", "solved",  "n",
	                                   "mean",    "95 %",    "max"};
	struct arena *a = pen->arena;
	struct pen_table t = words_table(a, "Received bytes over the bytes lacked",
	                                 "llllrrrrr", head, r->nbytes);
	size_t known = 0;

	for (size_t i = 0; i < r->nbytes; i++) {
		const struct report_bytes *b = &r->bytes[i];
		const char **cell = words_row(&t);

		*cell++ = report_kind_name(b->kind);
		*cell++ = b->platform;
		*cell++ = b->clock;
		*cell++ = b->planner;
		*cell++ = words_percent(a, (double)b->solved / (double)b->all);
		*cell++ = words_count(a, b->n);
		*cell++ = words_ratio(a, b->mean);
		*cell++ = words_ratio(a, b->high);
		*cell++ = words_ratio(a, b->max);
		known += b->n;
	}
	if (known == 0)
		return;
	pen->heading(pen, 2, t.caption);
	pen->paragraph(
		pen, "The share that each planner solves of the scenarios that some "
		     "planner solves, and what the busiest device receives over what "
		     "one lacks at most: the geometric mean, the 95 % quantile and the "
		     "maximum over the n scenarios where both are above zero.");
	t.name = "bytes";
	pen->table(pen, &t);
}

/* --- winners ------------------------------------------------------------------------ */

static const char *winners_text(struct arena *a, const struct report_winner *sum,
                                const char *names)
{
	const char *tied =
		sum->tied ? arena_printf(a, "; in %zu all take equally long", sum->tied)
			  : "";

	if (sum->unknown && sum->unknown + sum->tied == sum->n)
		return arena_printf(
			a,
			"Two or more planners solve %zu %s. No intervals (80 %%) are "
			"known of their times, so in none it is certain which is "
			"fastest%s.",
			sum->n, names, tied);
	return arena_printf(
		a,
		"Two or more planners solve %zu %s. In %zu it is certain which is "
		"fastest: its interval (80 %%) ends before those of all slower ones "
		"begin%s%s.",
		sum->n, names, sum->certain, tied,
		sum->unknown
			? arena_printf(a, "; in %zu no interval is known", sum->unknown)
			: "");
}

void report_winners_text(const struct pen *pen, const struct report *r,
                         enum report_kind kind)
{
	struct arena *a = pen->arena;
	struct report_winner sum = {0};
	size_t machines = 0;
	const char *names;

	for (size_t i = 0; i < r->nwinners; i++) {
		const struct report_winner *w = &r->winner[i];

		if (w->kind != kind || strcmp(w->clock, r->clock) != 0)
			continue;
		sum.n += w->n;
		sum.tied += w->tied;
		sum.unknown += w->unknown;
		sum.certain += w->certain;
		machines++;
	}
	if (!sum.n)
		return;
	names = report_kind_noun(kind, machines == 1 && sum.n > 1);
	if (machines > 1)
		names = arena_printf(a, "cases (each %s on each machine)", names);
	pen->paragraph(pen, winners_text(a, &sum, names));
}

void report_rivals_text(const struct pen *pen, const struct report *r)
{
	report_best_text(pen, r);
	write_matrices(pen, r);
	report_bounds_text(pen, r);
	report_bytes_text(pen, r);
}
