#include "report/data.h"

#include "text/csv.h"

#include <math.h>
#include <string.h>

/*
 * All tables are one rectangle, so that any reader of CSV takes it: `section` says
 * which table a line is of, and fields that table does not have are empty.
 */
/* clang-format off */
#define FIELD_LIST(X) \
	X(SECTION, "section") X(PLATFORM, "platform") X(CLOCK, "clock") \
	X(PLANNER, "planner") X(BASELINE, "baseline") X(FAMILY, "family") X(N, "n") \
	X(SPEEDUP, "speedup") X(LOW, "speedup_low") X(HIGH, "speedup_high") \
	X(LEAST, "speedup_min") X(LARGEST, "speedup_max") X(WINS, "wins") \
	X(TIES, "ties") X(LOSSES, "losses") X(P, "p") X(MEMORY_N, "memory_n") \
	X(MEMORY, "memory_ratio") X(REMAT_N, "remat_n") X(REMAT, "speedup_remat") \
	X(REST, "speedup_rest") X(GAIN, "gain_remat") X(STATUS, "status") \
	X(ROWS, "rows") X(REASON, "reason") X(EXAMPLE, "example") \
	X(PLANNING_MEDIAN, "planning_median_s") X(PLANNING_LARGEST, "planning_max_s") \
	X(BOUND_N, "bound_n") X(BOUND, "times_bound") \
	X(BOUND_FIRST, "times_bound_min") X(BOUND_Q25, "times_bound_q25") \
	X(BOUND_MEDIAN, "times_bound_median") X(BOUND_Q75, "times_bound_q75") \
	X(BOUND_Q95, "times_bound_q95") X(BOUND_LAST, "times_bound_max") \
	X(TIME, "time_s") X(BASELINE_TIME, "baseline_time_s") X(SOLVED, "solved") \
	X(SCENARIOS, "scenarios") X(BYTES_N, "bytes_n") X(BYTES, "times_recv_bound") \
	X(BYTES_HIGH, "times_recv_bound_q95") X(BYTES_LARGEST, "times_recv_bound_max") \
	X(CROSSING, "crossing") X(KIND, "kind") X(MEDIAN, "speedup_median") \
	X(CASES, "cases") X(BASELINE_OVER, "baseline_over_memory") \
	X(OVER, "over_memory") X(CANNOT, "cannot") \
	X(SURE_WINS, "sure_wins") X(SURE_TIES, "sure_ties") X(SURE_LOSSES, "sure_losses")
/* clang-format on */

#define FIELD_NUMBER(number, name) number,
#define FIELD_NAME(number, name) name,
enum field { FIELD_LIST(FIELD_NUMBER) FIELDS };
static const char *const field_names[FIELDS] = {FIELD_LIST(FIELD_NAME)};

/* The quantiles of report_quantiles are the fields from BOUND_FIRST on. */
_Static_assert(BOUND_LAST == BOUND_FIRST + REPORT_QUANTILES - 1,
               "a field per quantile");

/* A record under way. */
struct line {
	char number[FIELDS][32];
	const char *text[FIELDS]; /* NULL: the number */
};

static void set_count(struct line *l, enum field f, size_t count)
{
	snprintf(l->number[f], sizeof(l->number[f]), "%zu", count);
}

/* Sets them where some intervals are known. */
static void set_sure(struct line *l, const struct report_sure *s)
{
	if (s->wins + s->ties + s->losses == 0)
		return;
	set_count(l, SURE_WINS, s->wins);
	set_count(l, SURE_TIES, s->ties);
	set_count(l, SURE_LOSSES, s->losses);
}

static void set_real(struct line *l, enum field f, double value)
{
	if (!isnan(value))
		snprintf(l->number[f], sizeof(l->number[f]), "%.9g", value);
}

/* Begins a record with what most have. */
static struct line start_line(const struct report *r, const char *section,
                              const char *platform, const char *clock,
                              const char *planner)
{
	struct line l = {0};

	l.text[SECTION] = section;
	l.text[PLATFORM] = platform;
	l.text[CLOCK] = clock;
	l.text[PLANNER] = planner;
	l.text[BASELINE] = r->baseline;
	return l;
}

static struct line start_kind(const struct report *r, const char *section,
                              enum report_kind kind, const char *platform,
                              const char *clock, const char *planner)
{
	struct line l = start_line(r, section, platform, clock, planner);

	l.text[KIND] = report_kind_name(kind);
	return l;
}

static void finish_line(FILE *out, const struct line *l)
{
	for (int f = 0; f < FIELDS; f++)
		csv_put(out, l->text[f] ? l->text[f] : l->number[f], f == 0);
	fputs("\r\n", out);
}

static void write_comparison(FILE *out, const struct report *r, const char *section,
                             const struct report_line *s)
{
	struct line l =
		start_kind(r, section, s->kind, s->platform, s->clock, s->planner);

	l.text[FAMILY] = s->family;
	set_real(&l, MEDIAN, s->speedup.median);
	if (strcmp(section, "first") == 0)
		l.text[CASES] = s->without ? "without rematerialization" : "all";
	if (l.text[CASES] && !s->without) {
		set_count(&l, BASELINE_OVER, s->baseline_over);
		set_count(&l, OVER, s->over);
	}
	set_count(&l, N, s->speedup.n);
	set_real(&l, SPEEDUP, s->speedup.geomean);
	set_real(&l, LOW, s->interval.lo);
	set_real(&l, HIGH, s->interval.hi);
	set_real(&l, LEAST, s->speedup.min);
	set_real(&l, LARGEST, s->speedup.max);
	set_count(&l, WINS, s->wins);
	set_count(&l, TIES, s->ties);
	set_count(&l, LOSSES, s->losses);
	set_sure(&l, &s->sure);
	set_real(&l, P, s->test.p);
	set_count(&l, MEMORY_N, s->memory_n);
	set_real(&l, MEMORY, s->memory);
	set_count(&l, BOUND_N, s->bound_n);
	set_real(&l, BOUND, s->bound);
	finish_line(out, &l);
}

/* Writes the row's planner over the column's, which is the baseline here. */
static void write_cell(FILE *out, const struct report *r, const struct report_matrix *m,
                       size_t row, size_t column)
{
	const struct report_cell *c = &m->cell[row * m->nplanners + column];
	struct line l = start_kind(r, "matrix", m->kind, m->platform, m->clock,
	                           m->planner[row]);

	l.text[BASELINE] = m->planner[column];
	set_count(&l, N, c->n);
	set_real(&l, SPEEDUP, c->speedup);
	set_count(&l, MEMORY_N, c->memory_n);
	set_real(&l, MEMORY, c->memory);
	finish_line(out, &l);
}

/* Writes each planner over the cases that all solve. */
static void write_same(FILE *out, const struct report *r, const struct report_same *s)
{
	for (size_t p = 0; p < s->nplanners; p++) {
		struct line l = start_kind(r, "same", s->kind, s->platform, s->clock,
		                           s->planner[p]);

		set_count(&l, N, s->n);
		set_real(&l, SPEEDUP, s->speedup[p]);
		set_count(&l, SCENARIOS, s->all);
		set_count(&l, CANNOT, s->cannot[p]);
		finish_line(out, &l);
	}
}

/* Writes where scenarios of a machine ran: the platform is its example. */
static void write_ran(FILE *out, const struct report *r, const struct report_ran *p)
{
	struct line l = start_line(r, "machine", p->machine, NULL, NULL);

	l.text[BASELINE] = NULL;
	l.text[EXAMPLE] = p->platform;
	set_count(&l, SCENARIOS, p->scenarios);
	finish_line(out, &l);
}

static void write_matrix(FILE *out, const struct report *r,
                         const struct report_matrix *m)
{
	for (size_t i = 0; i < m->nplanners; i++)
		for (size_t k = 0; k < m->nplanners; k++)
			if (i != k)
				write_cell(out, r, m, i, k);
}

static void write_bound(FILE *out, const struct report *r, const struct report_bound *b)
{
	struct line l =
		start_kind(r, "bound", b->kind, b->platform, b->clock, b->planner);

	l.text[BASELINE] = NULL;
	set_count(&l, BOUND_N, b->n);
	set_real(&l, BOUND, b->mean);
	for (int q = 0; q < REPORT_QUANTILES; q++)
		set_real(&l, (enum field)(BOUND_FIRST + q), b->quantile[q]);
	finish_line(out, &l);
}

static void write_bytes(FILE *out, const struct report *r, const struct report_bytes *b)
{
	struct line l =
		start_kind(r, "bytes", b->kind, b->platform, b->clock, b->planner);

	l.text[BASELINE] = NULL;
	set_count(&l, SOLVED, b->solved);
	set_count(&l, SCENARIOS, b->all);
	set_count(&l, BYTES_N, b->n);
	set_real(&l, BYTES, b->mean);
	set_real(&l, BYTES_HIGH, b->high);
	set_real(&l, BYTES_LARGEST, b->max);
	finish_line(out, &l);
}

/* Writes `best` over the fastest of the others, and then its losses. */
static void write_best(FILE *out, const struct report *r, const struct report_best *b)
{
	struct line l = start_kind(r, "best", b->kind, b->platform, b->clock, "best");

	l.text[BASELINE] = "fastest other";
	set_count(&l, N, b->n);
	set_real(&l, SPEEDUP, b->gain);
	set_count(&l, WINS, b->wins);
	set_count(&l, TIES, b->ties);
	set_count(&l, LOSSES, b->losses);
	set_sure(&l, &b->sure);
	set_count(&l, ROWS, b->nlosses);
	l.text[REASON] = "losses above 1 %";
	finish_line(out, &l);
	for (size_t i = 0; i < b->nlosses; i++) {
		const struct report_loss *loss = &r->loss[b->first_loss + i];

		l = start_kind(r, "loss", b->kind, b->platform, b->clock, "best");
		l.text[BASELINE] = loss->rival;
		l.text[EXAMPLE] = loss->scenario;
		set_real(&l, TIME, loss->best_s);
		set_real(&l, BASELINE_TIME, loss->rival_s);
		l.text[REASON] = loss->cause;
		finish_line(out, &l);
	}
}

/* Writes in how many cases it is sure which planner is fastest. */
static void write_winner(FILE *out, const struct report *r,
                         const struct report_winner *w)
{
	struct line l = start_kind(r, "winner", w->kind, w->platform, w->clock, NULL);

	l.text[BASELINE] = NULL;
	set_count(&l, N, w->n);
	set_count(&l, TIES, w->tied);
	set_count(&l, SURE_WINS, w->certain);
	finish_line(out, &l);
}

/*
 * Writes how far flow is from another clock: that is the baseline here, and its time the
 * one that flow's divides.
 */
static void write_apart(FILE *out, const struct report *r, const struct report_apart *p)
{
	struct line l =
		start_kind(r, "clocks", report_kind(p->worst), row_machine(p->worst),
	                   p->worst->clock, p->worst->planner);

	l.text[BASELINE] = p->worst_other->clock;
	l.text[CASES] = report_apart_exchanges(p) ? "with exchange" : "without exchange";
	set_count(&l, N, p->n);
	set_real(&l, SPEEDUP, 1 / p->mean);
	set_real(&l, LEAST, 1 / p->largest);
	set_real(&l, LARGEST, 1 / p->least);
	set_count(&l, ROWS, p->apart);
	l.text[REASON] = "more than 10 % apart";
	l.text[EXAMPLE] = p->worst->scenario;
	set_real(&l, TIME, p->worst->time_s);
	set_real(&l, BASELINE_TIME, p->worst_other->time_s);
	finish_line(out, &l);
}

/* Prints which figure of a curve has what value, and what the others are. */
static const char *point_text(char *out, size_t size, const struct report_curve *c,
                              const char *value)
{
	snprintf(out, size, "%s=%s%s%s", c->key, value, *c->others ? " " : "",
	         c->others);
	return out;
}

static void write_curve(FILE *out, const struct report *r, const struct report_curve *c)
{
	char figures[512];

	for (size_t i = 0; i < c->npoints; i++) {
		const struct curve_point *point = &c->point[i];

		for (int p = 0; p < c->nplanners; p++) {
			struct line l = start_line(r, "curve", c->platform, c->clock,
			                           c->planner[p]);

			l.text[REASON] =
				point_text(figures, sizeof(figures), c, point->value);
			l.text[EXAMPLE] = c->scenario;
			set_count(&l, N, c->compared[p] ? c->n : 0);
			set_real(&l, SPEEDUP, point->speedup[p]);
			if (p == point->fastest)
				set_count(&l, WINS, point->fastest_n);
			set_count(&l, SCENARIOS, c->nscenarios);
			finish_line(out, &l);
		}
	}
}

/* Writes the planner after a change over the one before it; or the plans of best. */
static void write_change(FILE *out, const struct report *r,
                         const struct report_change *c)
{
	struct line l = start_line(r, c->plan ? "plan-change" : "change",
	                           c->curve->platform, c->curve->clock, c->after);
	char figures[512], value[200];

	snprintf(value, sizeof(value), "%s..%s", c->low, c->high);
	l.text[BASELINE] = c->before;
	l.text[REASON] = point_text(figures, sizeof(figures), c->curve, value);
	l.text[EXAMPLE] = c->scenario;
	set_real(&l, CROSSING, c->at);
	finish_line(out, &l);
}

static void write_origin(FILE *out, const struct report *r,
                         const struct report_origin *o)
{
	struct line l =
		start_kind(r, "origin", o->kind, o->platform, o->clock, o->planner);

	set_count(&l, N, o->n);
	set_count(&l, REMAT_N, o->remat_n);
	set_real(&l, REMAT, o->remat);
	set_real(&l, REST, o->rest);
	set_real(&l, GAIN, o->gain);
	finish_line(out, &l);
}

static void write_left(FILE *out, const struct report *r, const struct report_left *f)
{
	struct line l = start_line(r, "left-out", f->platform, NULL, f->planner);

	l.text[STATUS] = outcome_name(f->status);
	l.text[REASON] = f->reason;
	l.text[EXAMPLE] = f->example;
	set_count(&l, ROWS, f->rows);
	finish_line(out, &l);
}

static void write_planning(FILE *out, const struct report *r,
                           const struct report_planning *p)
{
	struct line l =
		start_kind(r, "planning", p->kind, p->platform, p->clock, p->planner);

	set_count(&l, N, p->planning_s.n);
	set_real(&l, PLANNING_MEDIAN, p->planning_s.median);
	set_real(&l, PLANNING_LARGEST, p->planning_s.max);
	finish_line(out, &l);
}

/* Writes how many rows became what, so that a reader can check that none is missing. */
static void write_rows(FILE *out, const struct report *r, const char *what, size_t rows)
{
	struct line l = start_line(r, "rows", NULL, NULL, NULL);

	l.text[REASON] = what;
	set_count(&l, ROWS, rows);
	finish_line(out, &l);
}

void report_csv(FILE *out, const struct report *r)
{
	for (int f = 0; f < FIELDS; f++)
		csv_put(out, field_names[f], f == 0);
	fputs("\r\n", out);
	for (size_t i = 0; i < r->nfirst; i++)
		write_comparison(out, r, "first", &r->first[i]);
	for (size_t i = 0; i < r->nsame; i++)
		write_same(out, r, &r->same[i]);
	for (size_t i = 0; i < r->nran; i++)
		write_ran(out, r, &r->ran[i]);
	for (size_t i = 0; i < r->nlines; i++)
		write_comparison(out, r, r->line[i].family ? "family" : "total",
		                 &r->line[i]);
	for (size_t i = 0; i < r->nbests; i++)
		write_best(out, r, &r->best[i]);
	for (size_t i = 0; i < r->nwinners; i++)
		write_winner(out, r, &r->winner[i]);
	for (size_t i = 0; i < r->nmatrices; i++)
		write_matrix(out, r, &r->matrix[i]);
	for (size_t i = 0; i < r->nbounds; i++)
		write_bound(out, r, &r->bound[i]);
	for (size_t i = 0; i < r->nbytes; i++)
		write_bytes(out, r, &r->bytes[i]);
	for (size_t i = 0; i < r->naparts; i++)
		write_apart(out, r, &r->apart[i]);
	for (size_t i = 0; i < r->curves.ncurves; i++)
		write_curve(out, r, &r->curves.curve[i]);
	for (size_t i = 0; i < r->curves.nchanges; i++)
		write_change(out, r, &r->curves.change[i]);
	for (size_t i = 0; i < r->norigins; i++)
		write_origin(out, r, &r->origin[i]);
	for (size_t i = 0; i < r->nplannings; i++)
		write_planning(out, r, &r->planning[i]);
	for (size_t i = 0; i < r->nlefts; i++)
		write_left(out, r, &r->left[i]);
	write_rows(out, r, "all", r->all);
	write_rows(out, r, "compared", r->compared);
	write_rows(out, r, "baseline compared with", r->references);
	write_rows(out, r, "left out", r->left_out);
	write_rows(out, r, "other clocks", r->other_clocks);
	write_rows(out, r, "faster than the bound", r->faults);
}
