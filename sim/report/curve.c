#include "report/curve.h"
#include "report/data.h"
#include "report/select.h"
#include "text/order.h"

#include "base/list.h"
#include "suite/varied.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One row seen along one of its figures. */
struct sighting {
	const struct row *row;
	const char *key, *value, *others;
	double x;
};

/* What is found, in the arena. */
struct findings {
	struct arena *arena;
	struct report_curve *curve;
	size_t ncurves;
	LIST(struct report_change) change;
};

/* The times of a curve: [scenario][planner][point], NaN where there is none. */
struct grid {
	struct report_curve *curve;
	const char **scenario; /* [nscenarios] in byte order */
	double *time_s;
	const struct row **best; /* [scenario][point]: rows of `best`, or NULL */
	int baseline, own; /* numbers of the baseline and of `best`, -1 if not there */
};

static int compare_values(const struct sighting *a, const struct sighting *b)
{
	if (isnan(a->x) || isnan(b->x) || a->x == b->x)
		return order_compare(a->value, b->value);
	return a->x < b->x ? -1 : 1;
}

static int compare_curves(const struct sighting *a, const struct sighting *b)
{
	int order = order_compare(a->row->base_platform, b->row->base_platform);

	if (order == 0)
		order = strcmp(a->row->clock, b->row->clock);
	if (order == 0)
		order = strcmp(a->key, b->key);
	return order ? order : order_compare(a->others, b->others);
}

static int compare_sightings(const void *left, const void *right)
{
	const struct sighting *a = left, *b = right;
	int order = compare_curves(a, b);

	if (order == 0)
		order = compare_values(a, b);
	if (order == 0)
		order = strcmp(a->row->base_scenario, b->row->base_scenario);
	return order ? order : strcmp(a->row->planner, b->row->planner);
}

/* --- sightings ---------------------------------------------------------------------- */

/* Returns the figures without the one at `skip`, which has `length` bytes. */
static const char *other_figures(struct arena *a, const char *varied, const char *skip,
                                 size_t length)
{
	size_t before = (size_t)(skip - varied);
	const char *rest = skip + length;

	if (before > 0)
		before--; /* the space */
	else
		rest += *rest == ' ';
	return arena_printf(a, "%.*s%s", (int)before, varied, rest);
}

/* Adds a sighting for each figure of the row; returns the place behind the last. */
static struct sighting *add_sightings(struct arena *a, struct sighting *out,
                                      const struct row *r)
{
	for (const char *p = r->varied; *p; p += *p == ' ') {
		size_t length = strcspn(p, " "), key = strcspn(p, "= ");

		if (key < length) {
			*out = (struct sighting){
				.row = r,
				.key = arena_strndup(a, p, key),
				.value = arena_strndup(a, p + key + 1, length - key - 1),
				.others = other_figures(a, r->varied, p, length),
			};
			out->x = varied_value(varied_unit(out->key), out->value);
			out++;
		}
		p += length;
	}
	return out;
}

static size_t count_figures(const struct row *r)
{
	size_t n = 0;

	for (const char *p = r->varied; *p; p++)
		n += *p == '=';
	return n;
}

/* --- one curve ---------------------------------------------------------------------- */

/* Finds the scenarios, planners and points of n sightings of one curve. */
static void name_parts(struct grid *g, struct arena *a, const struct sighting *e,
                       size_t n)
{
	struct report_curve *c = g->curve;

	g->scenario = arena_alloc(a, n, sizeof(*g->scenario));
	c->planner = arena_alloc(a, n, sizeof(*c->planner));
	c->point = arena_alloc(a, n, sizeof(*c->point));
	for (size_t i = 0; i < n; i++) {
		g->scenario[i] = e[i].row->base_scenario;
		c->planner[i] = e[i].row->planner;
		if (i == 0 || compare_values(&e[i - 1], &e[i]) != 0)
			c->point[c->npoints++] = (struct curve_point){
				.value = e[i].value, .x = e[i].x, .fastest = -1};
	}
	c->nscenarios = names_distinct(g->scenario, n);
	c->nplanners = (int)names_distinct(c->planner, n);
	if (c->nplanners > CURVE_PLANNERS_MAX)
		c->nplanners = CURVE_PLANNERS_MAX;
	c->scenario = c->nscenarios == 1 ? g->scenario[0] : NULL;
}

static double *time_at(const struct grid *g, size_t scenario, int planner, size_t point)
{
	const struct report_curve *c = g->curve;

	return &g->time_s[(scenario * (size_t)c->nplanners + (size_t)planner) * c->npoints +
	                  point];
}

static int find_planner(const struct report_curve *c, const char *name)
{
	size_t n = (size_t)c->nplanners, i = names_find(c->planner, n, name);

	return i < n ? (int)i : -1;
}

static void fill_times(struct grid *g, struct arena *a, const struct sighting *e,
                       size_t n)
{
	struct report_curve *c = g->curve;
	size_t cells = c->nscenarios * (size_t)c->nplanners * c->npoints, point = 0;

	g->time_s = arena_alloc(a, cells, sizeof(*g->time_s));
	g->best = arena_alloc(a, c->nscenarios * c->npoints, sizeof(*g->best));
	for (size_t i = 0; i < cells; i++)
		g->time_s[i] = NAN;
	for (size_t i = 0; i < n; i++) {
		const struct row *r = e[i].row;
		size_t s = names_find(g->scenario, c->nscenarios, r->base_scenario);
		int p = find_planner(c, r->planner);

		point += i > 0 && compare_values(&e[i - 1], &e[i]) != 0;
		if (p < 0 || !report_timed(r))
			continue;
		*time_at(g, s, p, point) = r->time_s;
		if (p == g->own)
			g->best[s * c->npoints + point] = r;
	}
}

/* Are both the planner's and the baseline's times above zero at every point? */
static bool is_compared(const struct grid *g, size_t scenario, int planner)
{
	for (size_t i = 0; i < g->curve->npoints; i++)
		if (!(*time_at(g, scenario, planner, i) > 0) ||
		    !(*time_at(g, scenario, g->baseline, i) > 0))
			return false;
	return true;
}

/* Counts the scenarios of each planner, and stores which they are in [planner][scenario]. */
static void fill_solved(const struct grid *g, bool *solves)
{
	struct report_curve *c = g->curve;

	for (int p = 0; p < c->nplanners; p++)
		for (size_t s = 0; g->baseline >= 0 && s < c->nscenarios; s++) {
			bool *one = &solves[(size_t)p * c->nscenarios + s];

			*one = is_compared(g, s, p);
			c->solved[p] += *one;
		}
}

/* Returns the planner that solves most of those that were not taken, -1 if there is none. */
static int next_planner(const struct report_curve *c, const bool *taken)
{
	int next = -1;

	for (int p = 0; p < c->nplanners; p++)
		if (!taken[p] && c->solved[p] &&
		    (next < 0 || c->solved[p] > c->solved[next]))
			next = p;
	return next;
}

/*
 * Chooses which planners are compared, and makes `common` the scenarios that all of these
 * solve: the means are over them. A planner that can do little would leave little of what
 * the others are compared in.
 */
static void fill_compared(const struct grid *g, struct arena *a, bool *common)
{
	struct report_curve *c = g->curve;
	size_t n = c->nscenarios;
	bool *solves = arena_alloc(a, (size_t)c->nplanners * n, sizeof(*solves));
	bool *taken = arena_alloc(a, (size_t)c->nplanners, sizeof(*taken));

	c->solved = arena_alloc(a, (size_t)c->nplanners, sizeof(*c->solved));
	c->compared = arena_alloc(a, (size_t)c->nplanners, sizeof(*c->compared));
	fill_solved(g, solves);
	for (int p = g->baseline; p >= 0; p = next_planner(c, taken)) {
		const bool *own = solves + (size_t)p * n;
		size_t left = 0;

		taken[p] = true;
		for (size_t s = 0; s < n; s++)
			left += own[s] && (p == g->baseline || common[s]);
		if (left == 0 || 2 * left < c->n)
			continue;
		for (size_t s = 0; s < n; s++)
			common[s] = own[s] && (p == g->baseline || common[s]);
		c->n = left;
		c->compared[p] = true;
	}
}

static void fill_speedups(const struct grid *g, struct arena *a)
{
	struct report_curve *c = g->curve;
	size_t planners = (size_t)c->nplanners;
	double *mean = arena_alloc(a, planners * c->npoints, sizeof(*mean));
	bool *common = arena_alloc(a, c->nscenarios, sizeof(*common));

	fill_compared(g, a, common);
	for (size_t i = 0; i < c->npoints; i++) {
		c->point[i].speedup = mean + i * planners;
		for (int p = 0; p < c->nplanners; p++) {
			double sum = 0;

			for (size_t s = 0; s < c->nscenarios; s++)
				if (common[s])
					sum += log(*time_at(g, s, g->baseline, i) /
					           *time_at(g, s, p, i));
			mean[i * planners + (size_t)p] =
				c->n && c->compared[p] ? exp(sum / (double)c->n) : NAN;
		}
	}
}

/* Returns the planners other than best that are as fast as the fastest, as bits. */
static uint64_t fastest_of(const struct grid *g, size_t scenario, size_t point)
{
	double least = INFINITY;
	uint64_t set = 0;

	for (int p = 0; p < g->curve->nplanners; p++)
		if (p != g->own)
			least = fmin(least, *time_at(g, scenario, p, point));
	for (int p = 0; p < g->curve->nplanners; p++) {
		double time_s = *time_at(g, scenario, p, point);

		if (p != g->own && time_s <= least * (1 + REPORT_TIE))
			set |= UINT64_C(1) << p;
	}
	return set;
}

static void fill_fastest(const struct grid *g)
{
	struct report_curve *c = g->curve;

	for (size_t i = 0; i < c->npoints; i++) {
		struct curve_point *point = &c->point[i];
		size_t count[CURVE_PLANNERS_MAX] = {0};
		int last = i ? c->point[i - 1].fastest : -1;

		for (size_t s = 0; s < c->nscenarios; s++) {
			uint64_t set = fastest_of(g, s, i);

			point->timed_n += set != 0;
			for (; set; set &= set - 1)
				count[__builtin_ctzll(set)]++;
		}
		for (int p = 0; p < c->nplanners; p++) {
			if (count[p] < point->fastest_n || count[p] == 0 ||
			    (count[p] == point->fastest_n && p != last))
				continue;
			point->fastest = p;
			point->fastest_n = count[p];
		}
	}
}

/* --- changes ------------------------------------------------------------------------ */

static const char *names_of(struct arena *a, const struct report_curve *c, uint64_t set)
{
	struct text t = {0};

	for (; set; set &= set - 1)
		text_printf(&t, "%s%s", t.length ? ", " : "",
		            c->planner[__builtin_ctzll(set)]);
	return text_take(&t, a);
}

/*
 * Returns where planner p, the faster one at `point` - 1, becomes slower than q: the time
 * of each is taken for a power of the figure in between.
 */
static double crossing(const struct grid *g, size_t scenario, size_t point, int p, int q)
{
	const struct curve_point *low = &g->curve->point[point - 1], *high = low + 1;
	double before = log(*time_at(g, scenario, p, point - 1) /
	                    *time_at(g, scenario, q, point - 1));
	double after =
		log(*time_at(g, scenario, p, point) / *time_at(g, scenario, q, point));

	if (!(low->x > 0) || !(high->x > low->x) || !(before <= 0) || !(after > 0))
		return NAN;
	return low->x * pow(high->x / low->x, -before / (after - before));
}

/* A planner stays as long as it is among the fastest: ties are no changes. */
static void find_changes(struct findings *f, const struct grid *g, size_t scenario)
{
	const struct report_curve *c = g->curve;
	uint64_t staying = 0;

	for (size_t i = 0; i < c->npoints; i++) {
		uint64_t now = fastest_of(g, scenario, i);

		if (!now) {
			staying = 0;
			continue;
		}
		if (staying && !(staying & now))
			*list_add(&f->change, f->arena) = (struct report_change){
				.curve = c,
				.scenario = g->scenario[scenario],
				.low = c->point[i - 1].value,
				.high = c->point[i].value,
				.at = crossing(g, scenario, i, __builtin_ctzll(staying),
			                       __builtin_ctzll(now)),
				.before = names_of(f->arena, c, staying),
				.after = names_of(f->arena, c, now),
			};
		staying = staying & now ? staying & now : now;
	}
}

/* Are two plans the same but for numbers, which sizes change? */
static bool same_plan(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			a += strspn(a, "0123456789");
			b += strspn(b, "0123456789");
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return *a == *b;
}

static void find_plan_changes(struct findings *f, const struct grid *g, size_t scenario)
{
	const struct report_curve *c = g->curve;
	const struct row *const *best = &g->best[scenario * c->npoints];

	for (size_t i = 1; i < c->npoints; i++) {
		if (!best[i - 1] || !best[i] ||
		    same_plan(best[i - 1]->steps, best[i]->steps))
			continue;
		*list_add(&f->change, f->arena) = (struct report_change){
			.curve = c,
			.scenario = g->scenario[scenario],
			.low = c->point[i - 1].value,
			.high = c->point[i].value,
			.at = NAN,
			.before = best[i - 1]->steps,
			.after = best[i]->steps,
			.plan = true,
		};
	}
}

/* Adds the curve of n sightings, unless they have one value only. */
static void add_curve(struct findings *f, const char *baseline,
                      const struct sighting *e, size_t n)
{
	struct report_curve *c = &f->curve[f->ncurves];
	struct grid g = {.curve = c};

	if (compare_values(&e[0], &e[n - 1]) == 0)
		return;
	f->ncurves++;
	*c = (struct report_curve){.platform = e->row->base_platform,
	                           .clock = e->row->clock,
	                           .key = e->key,
	                           .others = e->others};
	name_parts(&g, f->arena, e, n);
	g.baseline = find_planner(c, baseline);
	g.own = find_planner(c, "best");
	fill_times(&g, f->arena, e, n);
	fill_speedups(&g, f->arena);
	fill_fastest(&g);
	for (size_t s = 0; s < c->nscenarios; s++) {
		find_changes(f, &g, s);
		if (g.own >= 0)
			find_plan_changes(f, &g, s);
	}
}

struct report_curves report_curves(struct arena *a, const char *baseline,
                                   const struct row *const *rows, size_t n)
{
	struct findings found = {.arena = a};
	struct sighting *seen, *last;
	size_t figures = 0, nseen, end;

	for (size_t i = 0; i < n; i++)
		figures += count_figures(rows[i]);
	if (figures == 0)
		return (struct report_curves){0};
	last = seen = xmalloc(figures, sizeof(*seen));
	for (size_t i = 0; i < n; i++)
		last = add_sightings(a, last, rows[i]);
	nseen = (size_t)(last - seen);
	qsort(seen, nseen, sizeof(*seen), compare_sightings);
	found.curve = arena_alloc(a, nseen, sizeof(*found.curve));
	for (size_t i = 0; i < nseen; i = end) {
		for (end = i + 1; end < nseen; end++)
			if (compare_curves(&seen[i], &seen[end]) != 0)
				break;
		add_curve(&found, baseline, seen + i, end - i);
	}
	free(seen);
	return (struct report_curves){found.curve, found.change.at, found.ncurves,
	                              (size_t)found.change.n};
}
