#include "validate/plans.h"

#include "base/input.h"
#include "measure/choose.h"
#include "measure/clocks.h"
#include "plan/position.h"
#include "text/csv.h"
#include "validate/measured.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum column { ARRAY, MESH, TO_MESH, FROM, TO, PLANNER, RANKS, MEASURED_S, COLUMNS };

static const char *const columns[COLUMNS] = {
	"array", "mesh", "to_mesh", "from", "to", "planner", "ranks", "measured_s"};

bool plan_timings_are(const char *path)
{
	return csv_names(path, columns[TO_MESH], columns[MEASURED_S]);
}

/* --- reading -------------------------------------------------------------------------- */

static enum status number_read(double *out, const struct csv *t, int64_t row,
                               int column, struct error *e)
{
	const char *text = csv_field(t, row, column);
	char *end = NULL;

	*out = isdigit((unsigned char)*text) ? strtod(text, &end) : -1;
	if (*out > 0 && isfinite(*out) && end && !*end)
		return OK;
	return error_set(e, E_SYNTAX, csv_where_field(t, row, column),
	                 "%s '%s', expected a number above 0", t->column[column], text);
}

/* Stores a text of the problem and its place; an empty one is not given. */
static void text_read(const char **out, struct where *at, const struct csv *t,
                      int64_t row, int column)
{
	const char *text = csv_field(t, row, column);

	*out = *text ? text : NULL;
	*at = csv_where_field(t, row, column);
	at->source = NULL;
}

static enum status row_read(struct plan_timing *r, const struct csv *t, int64_t row,
                            const int *column, struct error *e)
{
	double ranks;

	*r = (struct plan_timing){.planner = csv_field(t, row, column[PLANNER]),
	                          .at = csv_where(t, row),
	                          .time_s = NAN};
	text_read(&r->problem.array, &r->problem.array_at, t, row, column[ARRAY]);
	text_read(&r->problem.mesh, &r->problem.mesh_at, t, row, column[MESH]);
	text_read(&r->problem.to_mesh, &r->problem.to_mesh_at, t, row, column[TO_MESH]);
	text_read(&r->problem.from, &r->problem.from_at, t, row, column[FROM]);
	text_read(&r->problem.to, &r->problem.to_at, t, row, column[TO]);
	if (number_read(&ranks, t, row, column[RANKS], e) != OK ||
	    number_read(&r->measured_s, t, row, column[MEASURED_S], e) != OK)
		return e->code;
	if (!r->problem.array || !r->problem.from || !r->problem.to ||
	    ranks != floor(ranks) || ranks > MESH_DEVICES_MAX)
		return error_set(
			e, E_SYNTAX, r->at,
			"expected an array, two layouts and a number of ranks");
	r->ranks = (int32_t)ranks;
	return OK;
}

static enum status file_read(struct plan_timings *out, struct arena *a,
                             const char *path, struct error *e)
{
	const char *name = arena_strdup(a, path), *text = input_text(a, name, e);
	int column[COLUMNS];
	struct csv t;

	if (!text || csv_read(&t, a, name, text, e) != OK ||
	    csv_columns(column, &t, columns, COLUMNS, COLUMNS, e) != OK)
		return e->code;
	out->row = arena_grow(a, out->row, (size_t)out->n, (size_t)(out->n + t.nrows),
	                      sizeof(*out->row));
	for (int64_t i = 0; i < t.nrows; i++) {
		/* The header of the next program's output. */
		if (strcmp(csv_field(&t, i, column[ARRAY]), columns[ARRAY]) == 0)
			continue;
		if (row_read(&out->row[out->n], &t, i, column, e) != OK)
			return e->code;
		out->n++;
	}
	return OK;
}

enum status plan_timings_read(struct plan_timings *out, struct arena *a,
                              const char *const *path, int n, struct error *e)
{
	*out = (struct plan_timings){0};
	for (int i = 0; i < n; i++)
		if (measured_once(path, i, e) != OK ||
		    file_read(out, a, path[i], e) != OK)
			return e->code;
	if (!out->n)
		error_set(e, E_SYNTAX, (struct where){.file = path[0]},
		          "has no timings");
	return e->code;
}

/* --- simulating ----------------------------------------------------------------------- */

/* What is open while a row is simulated. */
struct run {
	struct arena *arena;
	struct clocks clocks;
	struct bench bench;
};

static enum status run_open(struct run *run, const struct problem *p,
                            const char *platform, const char *const *set, int nset,
                            struct error *e)
{
	int model = clock_find("model", strlen("model"));
	struct family_size size;

	if (platform_sized(platform)) {
		if (platform_size(&size, run->arena, platform, set, nset,
		                  position_needs(p), e) != OK)
			return e->code;
		platform = size.spec;
	}
	if (clocks_open(&run->clocks, run->arena, platform, set, nset, &model, 1, e) !=
	    OK)
		return e->code;
	bench_init(&run->bench, run->clocks.platform->machine);
	clocks_bench(&run->clocks, &run->bench, model);
	return OK;
}

static enum status row_run(struct plan_timing *r, struct run *run, struct arena *keep,
                           const char *platform, const char *const *set, int nset,
                           struct error *e)
{
	const struct planner **planner;
	struct measurement m;
	struct problem p;
	int n;

	if (problem_make(&p, run->arena, &r->problem, e) != OK)
		return e->code;
	if (choose_planners(&planner, &n, run->arena, r->planner, e) != OK || n > 1) {
		e->code = OK;
		return error_set(e, E_TYPE, r->at,
		                 "the planner '%s', expected the name of one",
		                 r->planner);
	}
	if (p.ndevices != r->ranks)
		return error_set(e, E_TYPE, r->at, "%d ranks for a mesh of %d devices",
		                 (int)r->ranks, (int)p.ndevices);
	if (run_open(run, &p, platform, set, nset, e) != OK)
		return e->code;
	bench_place(&run->bench, &p);
	measure_plan(&m, &run->bench, &p, planner[0], run->arena);
	measure_time(&m, &run->bench, 0, run->arena);
	r->time_s = m.time_s[0];
	if (m.status != OUTCOME_OK || isnan(r->time_s))
		r->left_out = arena_printf(keep, "%s%s%s", outcome_name(m.status),
		                           *m.message ? ": " : "", m.message);
	else if (r->time_s <= 0)
		r->left_out = "nothing is sent";
	return OK;
}

enum status plan_timings_run(struct plan_timings *t, struct arena *a,
                             const char *platform, const char *const *set, int nset,
                             struct error *e)
{
	t->platform = platform;
	for (int64_t i = 0; i < t->n && e->code == OK; i++) {
		struct run run = {.arena = arena_new()};

		row_run(&t->row[i], &run, a, platform, set, nset, e);
		bench_free(&run.bench);
		clocks_free(&run.clocks);
		arena_free(run.arena);
	}
	return e->code;
}
