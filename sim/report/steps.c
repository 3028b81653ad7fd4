/* The report of a sweep of training steps. */
#include "report/steps.h"

#include "report/data.h"
#include "report/html.h"
#include "text/csv.h"
#include "text/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double ratio_of(const struct step_group *g, const struct row *r)
{
	return g->baseline ? g->baseline->time_s / r->time_s : NAN;
}

/* --- words ------------------------------------------------------------------------------ */

/* Returns between which times the step's is. */
static const char *sure_text(struct arena *a, const struct row *r)
{
	return isnan(r->low_s) ? "-"
	                       : arena_printf(a, "%s to %s", words_time(a, r->low_s),
	                                      words_time(a, r->high_s));
}

static void group_table(const struct pen *pen, const struct step_group *g)
{
	static const char *const head[] = {"step of", "devices", "time",    "80 % sure",
	                                   "ratio",   "MFU",     "compute", "exposed",
	                                   "bubble",  "other",   "memory",  "status"};
	struct arena *a = pen->arena;
	struct pen_table t = words_table(
		a, arena_printf(a, "%s on %s", g->row[0]->family, g->row[0]->platform),
		"lrrrrrrrrrrl", head, g->n);

	t.name = "steps";
	t.place = arena_printf(a, "%s-%s", g->row[0]->family, g->row[0]->platform);
	for (size_t i = 0; i < g->n; i++) {
		const struct row *r = g->row[i];
		const char **cell = words_row(&t);

		cell[0] = r->scenario;
		cell[1] = r->devices < 0 ? "-" : words_count(a, (size_t)r->devices);
		cell[2] = words_time(a, r->time_s);
		cell[3] = sure_text(a, r);
		cell[4] = words_ratio(a, ratio_of(g, r));
		cell[5] = words_percent(a, r->mfu);
		cell[6] = words_time(a, r->compute_s);
		cell[7] = words_time(a, r->exposed_s);
		cell[8] = words_time(a, r->bubble_s);
		cell[9] = words_time(a, r->other_s);
		cell[10] = words_bytes(
			a, r->peak_live_bytes < 0 ? -1 : (double)r->peak_live_bytes);
		cell[11] = r->status == OUTCOME_OK
		                   ? "ok"
		                   : arena_printf(a, "%s: %s", outcome_name(r->status),
		                                  r->message);
	}
	pen->table(pen, &t);
}

/* The fastest of each family on each machine. */
static void fastest_table(const struct pen *pen, const struct row **row, size_t n,
                          const char *baseline)
{
	static const char *const head[] = {"family", "machine", "fastest", "devices",
	                                   "time",   "ratio",   "MFU",     "memory",
	                                   "ok",     "of"};
	struct arena *a = pen->arena;
	struct pen_table t = words_table(a, "The fastest steps", "lllrrrrrrr", head, n);
	struct step_group g;

	t.name = "fastest";
	for (size_t i = 0; i < n;) {
		const struct row *r;
		const char **cell;
		size_t good = 0;

		i = step_group_take(&g, row, i, n, baseline);
		for (size_t k = 0; k < g.n; k++)
			good += g.row[k]->status == OUTCOME_OK;
		r = g.row[0];
		cell = words_row(&t);
		cell[0] = r->family;
		cell[1] = r->platform;
		cell[2] = good ? r->scenario : "none";
		cell[3] = good ? words_count(a, (size_t)r->devices) : "-";
		cell[4] = words_time(a, r->time_s);
		cell[5] = words_ratio(a, ratio_of(&g, r));
		cell[6] = words_percent(a, r->mfu);
		cell[7] = words_bytes(a, good ? (double)r->peak_live_bytes : -1);
		cell[8] = words_count(a, good);
		cell[9] = words_count(a, g.n);
	}
	pen->table(pen, &t);
}

static void write_words(const struct pen *pen, const struct row **row, size_t n,
                        const struct report_options *o)
{
	const char *callers = report_callers(pen->arena, row, n);
	struct step_group g;

	pen->heading(pen, 1, "Training steps");
	if (o->unfinished)
		pen->paragraph(pen, o->unfinished);
	if (callers)
		pen->paragraph(pen, callers);
	pen->paragraph(
		pen,
		arena_printf(
			pen->arena,
			"A ratio is the time of %s on the same machine over that of "
			"the row. Of five measured steps four are to lie between "
			"the times of 80 %% sure (platforms/README.md).",
			o->baseline ? o->baseline : "the fastest of the family"));
	fastest_table(pen, row, n, o->baseline);
	for (size_t i = 0; i < n;) {
		i = step_group_take(&g, row, i, n, o->baseline);
		pen->heading(pen, 2,
		             arena_printf(pen->arena, "%s on %s", g.row[0]->family,
		                          g.row[0]->platform));
		if (o->format == REPORT_HTML)
			step_bars_html(pen->out, pen->arena, &g);
		group_table(pen, &g);
	}
}

/* --- CSV -------------------------------------------------------------------------------- */

static void csv_number(FILE *out, double x)
{
	fprintf(out, isnan(x) ? "," : ",%.9g", x);
}

static void write_csv(FILE *out, const struct row **row, size_t n, const char *baseline)
{
	struct step_group g;

	fprintf(out, "family,platform,scenario,model,parallel,status,message,devices,"
	             "time_s,low_s,high_s,ratio,mfu,compute_s,exposed_s,bubble_s,other_"
	             "s,peak_bytes"
	             "\r\n");
	for (size_t i = 0; i < n;) {
		i = step_group_take(&g, row, i, n, baseline);
		for (size_t k = 0; k < g.n; k++) {
			const struct row *r = g.row[k];
			const char *const text[] = {
				r->family, r->platform, r->scenario,
				r->model,  r->parallel, outcome_name(r->status),
				r->message};
			const double number[] = {r->devices < 0 ? NAN
			                                        : (double)r->devices,
			                         r->time_s,
			                         r->low_s,
			                         r->high_s,
			                         ratio_of(&g, r),
			                         r->mfu,
			                         r->compute_s,
			                         r->exposed_s,
			                         r->bubble_s,
			                         r->other_s};

			for (size_t c = 0; c < sizeof(text) / sizeof(*text); c++)
				csv_put(out, text[c], c == 0);
			for (size_t c = 0; c < sizeof(number) / sizeof(*number); c++)
				csv_number(out, number[c]);
			if (r->peak_live_bytes < 0)
				fprintf(out, ",\r\n");
			else
				fprintf(out, ",%lld\r\n", (long long)r->peak_live_bytes);
		}
	}
}

/* What other reports have an option for, and steps have not. */
static enum status check_steps(const struct report_options *o, struct error *e)
{
	const struct {
		const char *option, *text;
		bool given;
		const char *why;
	} wrong[] = {
		{"--test", o->test_word, o->test_word, "of steps nothing is tested"},
		{"--clock", o->clock_list, o->clock_list, "steps have no clocks"},
		{"--planner", o->planner_list, o->planner_list, "steps have no planners"},
		{"--timing", NULL, o->timing, "steps have no planning times"},
		{"--details", NULL, o->details, "steps always have all tables"},
		{"--families", NULL, o->families, "steps always have all families"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (wrong[i].given)
			return error_set(
				e, E_INFEASIBLE,
				wrong[i].text
					? where_option(wrong[i].option, wrong[i].text)
					: (struct where){.file = wrong[i].option},
				"%s", wrong[i].why);
	return OK;
}

enum status report_steps(FILE *out, struct arena *a, const struct row *rows, size_t n,
                         const struct report_options *o, struct error *e)
{
	struct pen_choice chosen = {.name = o->table};
	const struct row **row;
	struct pen pen;

	if (check_steps(o, e) != OK)
		return e->code;
	row = step_rows(&n, a, rows, n, o, e);
	if (!row)
		return e->code;
	if (o->format == REPORT_CSV) {
		write_csv(out, row, n, o->baseline);
		return OK;
	}
	if (o->format == REPORT_HTML) {
		pen = pen_html(out, a);
		html_begin(out, a, o, arena_printf(a, "Training steps of %zu rows.", n));
		fputs("<main>\n", out);
		write_words(&pen, row, n, o);
		html_end(out);
		return OK;
	}
	pen = o->format == REPORT_TEX ? pen_tex(out, a) : pen_md(out, a);
	pen.choice = o->table ? &chosen : NULL;
	write_words(&pen, row, n, o);
	if (o->table && !chosen.taken)
		return error_set(e, E_RANGE, where_option("--table", o->table),
		                 "no such table, expected fastest or steps");
	return OK;
}
