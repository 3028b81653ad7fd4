/* Planners among themselves: against each other, the bound, and `best` against all. */
#include "report/data.h"
#include "report/select.h"

#include "base/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double report_quantiles[REPORT_QUANTILES] = {0, 0.25, 0.5, 0.75, 0.95, 1};

/* A time that is less than its bound by more than this part of it is a fault. */
#define FAULT 1e-9

/* What is compared, and what was found so far. */
struct rivals {
	struct arena *arena;
	const struct row **row; /* all, by place, scenario and planner */
	size_t n;
	LIST(struct report_matrix) matrix;
	LIST(struct report_bound) bound;
	LIST(struct report_bytes) bytes;
	LIST(struct report_best) best;
	LIST(struct report_winner) winner;
	LIST(struct report_loss) loss;
};

/* The rows of one kind, machine and clock, by scenario. */
struct place {
	const struct row **row;
	size_t n;
};

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = *(const struct row *const *)left;
	const struct row *b = *(const struct row *const *)right;
	int order = report_compare_places(a, b);

	if (order == 0)
		order = report_compare_cases(a, b);
	return order ? order : strcmp(a->planner, b->planner);
}

/* --- planner against planner -------------------------------------------------------- */

/* Finds the distinct planners of the place, in byte order. */
static void find_planners(struct report_matrix *m, struct arena *a,
                          const struct place *place)
{
	m->planner = arena_alloc(a, place->n, sizeof(*m->planner));
	for (size_t i = 0; i < place->n; i++)
		m->planner[i] = place->row[i]->planner;
	m->nplanners = names_distinct(m->planner, place->n);
}

/* Adds two rows of one scenario to both their cells, which sum logarithms at first. */
static void add_pair(struct report_matrix *m, const struct row *r, const struct row *s)
{
	size_t i = names_find(m->planner, m->nplanners, r->planner);
	size_t k = names_find(m->planner, m->nplanners, s->planner);
	struct report_cell *over = &m->cell[i * m->nplanners + k];
	struct report_cell *under = &m->cell[k * m->nplanners + i];

	if (report_moves(r) && report_moves(s)) {
		double log_ratio = log(s->time_s / r->time_s);

		over->n++;
		under->n++;
		over->speedup += log_ratio;
		under->speedup -= log_ratio;
	}
	if (r->status == OUTCOME_OK && s->status == OUTCOME_OK &&
	    r->peak_live_bytes > 0 && s->peak_live_bytes > 0) {
		double log_ratio =
			log((double)s->peak_live_bytes / (double)r->peak_live_bytes);

		over->memory_n++;
		under->memory_n++;
		over->memory += log_ratio;
		under->memory -= log_ratio;
	}
}

static void finish_cells(struct report_matrix *m)
{
	for (size_t i = 0; i < m->nplanners * m->nplanners; i++) {
		struct report_cell *c = &m->cell[i];

		c->speedup = c->n ? exp(c->speedup / (double)c->n) : NAN;
		c->memory = c->memory_n ? exp(c->memory / (double)c->memory_n) : NAN;
	}
}

/* Returns the end of the case that begins with row `first`. */
static size_t scenario_end(const struct place *place, size_t first)
{
	size_t end = first + 1;

	while (end < place->n &&
	       report_compare_cases(place->row[first], place->row[end]) == 0)
		end++;
	return end;
}

static void add_matrix(struct rivals *g, const struct place *place)
{
	struct report_matrix m = {.kind = report_kind(place->row[0]),
	                          .platform = row_machine(place->row[0]),
	                          .clock = place->row[0]->clock};
	size_t end;

	find_planners(&m, g->arena, place);
	if (m.nplanners < 2)
		return;
	m.cell = arena_alloc(g->arena, m.nplanners * m.nplanners, sizeof(*m.cell));
	for (size_t i = 0; i < place->n; i = end) {
		end = scenario_end(place, i);
		for (size_t k = i; k < end; k++)
			for (size_t l = k + 1; l < end; l++)
				add_pair(&m, place->row[k], place->row[l]);
	}
	finish_cells(&m);
	*list_add(&g->matrix, g->arena) = m;
}

/* --- time over bound ---------------------------------------------------------------- */

static void add_bound(struct rivals *g, const struct place *place, const char *planner,
                      double *ratio)
{
	struct report_bound b = {.kind = report_kind(place->row[0]),
	                         .platform = row_machine(place->row[0]),
	                         .clock = place->row[0]->clock,
	                         .planner = planner};

	for (size_t i = 0; i < place->n; i++) {
		const struct row *row = place->row[i];

		if (report_moves(row) && row->bound_s > 0 &&
		    strcmp(row->planner, planner) == 0)
			ratio[b.n++] = row->time_s / row->bound_s;
	}
	if (b.n == 0)
		return;
	b.mean = stat_geomean(ratio, b.n);
	stat_quantiles(b.quantile, ratio, b.n, report_quantiles, REPORT_QUANTILES);
	*list_add(&g->bound, g->arena) = b;
}

/* Returns in how many scenarios some planner has a plan. */
static size_t count_solved(const struct place *place)
{
	size_t solved = 0, end;

	for (size_t i = 0; i < place->n; i = end) {
		bool ok = false;

		end = scenario_end(place, i);
		for (size_t k = i; k < end; k++)
			ok |= place->row[k]->status == OUTCOME_OK;
		solved += ok;
	}
	return solved;
}

static void add_bytes(struct rivals *g, const struct place *place, const char *planner,
                      size_t all, double *ratio)
{
	static const double p[] = {0.95, 1};
	struct report_bytes b = {.kind = report_kind(place->row[0]),
	                         .platform = row_machine(place->row[0]),
	                         .clock = place->row[0]->clock,
	                         .planner = planner,
	                         .all = all};
	double quantile[2];

	for (size_t i = 0; i < place->n; i++) {
		const struct row *row = place->row[i];

		if (row->status != OUTCOME_OK || strcmp(row->planner, planner) != 0)
			continue;
		b.solved++;
		if (row->recv_bytes > 0 && row->recv_bound_bytes > 0)
			ratio[b.n++] =
				(double)row->recv_bytes / (double)row->recv_bound_bytes;
	}
	b.mean = stat_geomean(ratio, b.n);
	stat_quantiles(quantile, ratio, b.n, p, 2);
	b.high = quantile[0];
	b.max = quantile[1];
	*list_add(&g->bytes, g->arena) = b;
}

static void add_bounds(struct rivals *g, const struct place *place)
{
	struct report_matrix m = {0};
	double *ratio = xmalloc(place->n, sizeof(*ratio));
	size_t all = count_solved(place);

	find_planners(&m, g->arena, place);
	for (size_t i = 0; i < m.nplanners; i++) {
		add_bound(g, place, m.planner[i], ratio);
		if (all)
			add_bytes(g, place, m.planner[i], all, ratio);
	}
	free(ratio);
}

static void find_faults(struct report *r, const struct place *place)
{
	for (size_t i = 0; i < place->n; i++) {
		const struct row *row = place->row[i];

		if (!report_timed(row) || !(row->time_s < row->bound_s * (1 - FAULT)))
			continue;
		if (r->faults++ == 0)
			r->faulty = row;
	}
}

/* --- best --------------------------------------------------------------------------- */

static int compare_losses(const void *left, const void *right)
{
	const struct report_loss *a = left, *b = right;
	double x = a->best_s / a->rival_s, y = b->best_s / b->rival_s;

	return x != y ? (x < y) - (x > y) : strcmp(a->scenario, b->scenario);
}

/* Returns the row of the same plan on clock `model`, or NULL if there is none. */
static const struct row *on_model(const struct rivals *g, const struct row *r)
{
	struct row key = *r;
	const struct row *wanted = &key, **found;

	key.clock = "model";
	found = bsearch(&wanted, g->row, g->n, sizeof(*g->row), compare_rows);
	return found ? *found : NULL;
}

/* Counts a win, tie or loss of `best` against the fastest of the others. */
static void compare_best(struct rivals *g, struct report_best *b,
                         const struct row *best, const struct row *rival)
{
	double ratio = rival->time_s / best->time_s; /* zero and infinity are ratios */

	b->n++;
	b->exchanges += strstr(best->steps, "exchange") != NULL;
	if (ratio > 0 && !isinf(ratio)) {
		b->gain += log(ratio);
		b->gain_n++;
	}
	if (fabs(ratio - 1) <= REPORT_TIE)
		b->ties++;
	else if (ratio > 1)
		b->wins++;
	else
		b->losses++;
	report_sure_count(&b->sure, best, rival);
	if (best->time_s <= rival->time_s * (1 + REPORT_LOSS))
		return;
	*list_add(&g->loss, g->arena) = (struct report_loss){
		.platform = row_machine(best),
		.clock = best->clock,
		.scenario = best->scenario,
		.rival = rival->planner,
		.best_s = best->time_s,
		.rival_s = rival->time_s,
		.cause = report_cause(g->arena, best, on_model(g, best), rival,
	                              on_model(g, rival)),
	};
	b->nlosses++;
}

static void add_best(struct rivals *g, const struct place *place)
{
	struct report_best b = {.kind = report_kind(place->row[0]),
	                        .platform = row_machine(place->row[0]),
	                        .clock = place->row[0]->clock,
	                        .first_loss = (size_t)g->loss.n};
	size_t end;

	for (size_t i = 0; i < place->n; i = end) {
		const struct row *best = NULL, *rival = NULL;

		end = scenario_end(place, i);
		for (size_t k = i; k < end; k++) {
			const struct row *row = place->row[k];

			if (!report_timed(row))
				continue;
			if (strcmp(row->planner, "best") == 0)
				best = row;
			else if (strcmp(row->planner, "best-portable") != 0 &&
			         (!rival || row->time_s < rival->time_s))
				rival = row;
		}
		if (best && rival && (report_moves(best) || report_moves(rival)))
			compare_best(g, &b, best, rival);
	}
	if (b.n == 0)
		return;
	b.gain = b.gain_n ? exp(b.gain / (double)b.gain_n) : NAN;
	if (b.nlosses)
		qsort(g->loss.at + b.first_loss, b.nlosses, sizeof(*g->loss.at),
		      compare_losses);
	*list_add(&g->best, g->arena) = b;
}

/* --- winners ------------------------------------------------------------------------ */

static bool tied(const struct row *r, const struct row *fastest)
{
	return r->time_s - fastest->time_s <= REPORT_TIE * fastest->time_s;
}

/* Lists the rows of a case that compete, and returns how many there are. */
static size_t find_rivals(const struct row **out, const struct row *const *row, size_t n)
{
	bool best = false;
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		best |= report_timed(row[i]) && strcmp(row[i]->planner, "best") == 0;
	for (size_t i = 0; i < n; i++)
		if (report_timed(row[i]) &&
		    !(best && strcmp(row[i]->planner, "best-portable") == 0))
			out[count++] = row[i];
	return count;
}

/* Counts a case of n rows. */
static void count_winner(struct report_winner *w, const struct row *const *row, size_t n)
{
	const struct row *fastest = NULL;
	bool known = true, moves = false, certain = true;
	size_t slower = 0;

	for (size_t i = 0; i < n; i++) {
		known &= !isnan(row[i]->low_s);
		moves |= report_moves(row[i]);
		if (!fastest || row[i]->time_s < fastest->time_s)
			fastest = row[i];
	}
	if (n < 2 || !moves)
		return;
	for (size_t i = 0; i < n; i++) {
		if (tied(row[i], fastest))
			continue;
		slower++;
		certain &= fastest->high_s < row[i]->low_s;
	}
	w->n++;
	w->tied += slower == 0;
	w->unknown += slower > 0 && !known;
	w->certain += slower > 0 && known && certain;
}

static void add_winner(struct rivals *g, const struct place *place)
{
	struct report_winner w = {.kind = report_kind(place->row[0]),
	                          .platform = row_machine(place->row[0]),
	                          .clock = place->row[0]->clock};
	const struct row **rival = xmalloc(place->n, sizeof(*rival));
	size_t end;

	for (size_t i = 0; i < place->n; i = end) {
		end = scenario_end(place, i);
		count_winner(&w, rival, find_rivals(rival, place->row + i, end - i));
	}
	free(rival);
	if (w.n)
		*list_add(&g->winner, g->arena) = w;
}

void report_rivals(struct report *r, struct arena *a, const struct row **rows, size_t n)
{
	struct rivals g = {.arena = a, .row = rows, .n = n};
	size_t end;

	qsort(rows, n, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < n; i = end) {
		struct place place = {rows + i, 0};

		for (end = i + 1; end < n; end++)
			if (report_compare_places(rows[i], rows[end]) != 0)
				break;
		place.n = end - i;
		add_matrix(&g, &place);
		add_bounds(&g, &place);
		add_best(&g, &place);
		add_winner(&g, &place);
		find_faults(r, &place);
	}
	r->matrix = g.matrix.at;
	r->nmatrices = (size_t)g.matrix.n;
	r->bound = g.bound.at;
	r->nbounds = (size_t)g.bound.n;
	r->bytes = g.bytes.at;
	r->nbytes = (size_t)g.bytes.n;
	r->best = g.best.at;
	r->nbests = (size_t)g.best.n;
	r->winner = g.winner.at;
	r->nwinners = (size_t)g.winner.n;
	r->loss = g.loss.at;
	r->nlosses = (size_t)g.loss.n;
}
