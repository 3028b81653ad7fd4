#include "place/with.h"

#include "place/place.h"
#include "place/placing.h"
#include "placement/program.h"
#include "plan/plan_text.h"
#include "planner/best/best.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ------------------------------------------------------------------------- */

static enum status add_scenario(struct workload *workload, const struct scenario *sc,
                                struct arena *a, struct error *e)
{
	const struct problem_text *t = &sc->text;
	struct mesh mesh;

	if (!t->mesh || t->to_mesh || t->devices || t->to_devices)
		return error_set(e, E_TYPE, sc->at,
		                 "a workload's scenarios have one mesh and no devices");
	if (mesh_parse(&mesh, a, t->mesh, t->mesh_at, e) != OK)
		return e->code;
	if (mesh.naxes > MATRIX_AXES_MAX)
		return error_set(e, E_RANGE, t->mesh_at, "more than %d axes",
		                 MATRIX_AXES_MAX);
	if (!workload->nscenarios)
		workload->mesh = mesh;
	if (!mesh_same_axes(&mesh, &workload->mesh))
		return error_set(e, E_TYPE, t->mesh_at,
		                 "another mesh than '%.60s' of scenario '%.60s': the "
		                 "scenarios of family %.40s are one workload",
		                 workload->scenario[0]->text.mesh,
		                 workload->scenario[0]->name, workload->family);
	workload->scenario[workload->nscenarios++] = sc;
	return OK;
}

int32_t workloads_need(const struct suite *suite, struct arena *a)
{
	int32_t most = 0;

	for (int32_t i = 0; i < suite->n; i++) {
		const struct problem_text *t = &suite->scenario[i].text;
		struct error ignored = {0};
		struct mesh mesh;

		if (!t->mesh ||
		    mesh_parse(&mesh, a, t->mesh, t->mesh_at, &ignored) != OK)
			return 0;
		most = mesh.ndevices > most ? mesh.ndevices : most;
	}
	return most;
}

enum status workloads_of(struct workload **out, int *n, struct arena *a,
                         const struct suite *suite, const struct hierarchy *levels,
                         const struct machine *m, struct error *e)
{
	size_t most = (size_t)suite->n;

	*out = arena_alloc(a, most, sizeof(**out));
	*n = 0;
	for (int32_t i = 0; i < suite->n; i++) {
		const struct scenario *sc = &suite->scenario[i];
		struct workload *workload = *out;

		while (workload < *out + *n && strcmp(workload->family, sc->family) != 0)
			workload++;
		if (workload == *out + *n) {
			*workload = (struct workload){.family = sc->family};
			workload->scenario =
				arena_alloc(a, most, sizeof(const struct scenario *));
			++*n;
		}
		if (add_scenario(workload, sc, a, e) != OK)
			return e->code;
	}
	for (int i = 0; i < *n; i++) {
		struct workload *workload = &(*out)[i];
		struct where at = workload->scenario[0]->at;
		int32_t ndevices = workload->mesh.ndevices;

		if (levels)
			workload->hierarchy = *levels;
		else if (placing_hierarchy(&workload->hierarchy, m, ndevices, at, e) !=
		         OK)
			return e->code;
		if (ndevices != workload->hierarchy.ndevices || ndevices > m->ndevices)
			return error_set(
				e, E_TYPE, at, "%d devices, the hierarchy %d and %s %d",
				(int)ndevices, (int)workload->hierarchy.ndevices,
				m->name, (int)m->ndevices);
		workload->position = placing_take(&workload->hierarchy, m, a);
	}
	return OK;
}

/* --- timing -------------------------------------------------------------------------- */

/* Returns the axes that a scenario sums over, where that is all it does; else 0. */
static uint32_t summed(const struct problem *p)
{
	struct layout before = p->from;
	const struct part *part;
	uint32_t axes = 0;
	int n;

	if (p->from.kind != LAYOUT_AXES || p->to.kind != LAYOUT_AXES || p->to.nunreduced)
		return 0;
	part = layout_parts(&p->from, p->from.rank, &n);
	for (int i = 0; i < n; i++) {
		if (part[i].size != p->mesh.axis[part[i].axis].size)
			return 0;
		axes |= 1u << part[i].axis;
	}
	before.nunreduced = 0;
	return layout_same_tiles(&before, &p->mesh, &p->to, &p->to_mesh) ? axes : 0;
}

static enum status no_time(const struct scenario *sc, const char *why, struct error *e)
{
	return error_set(e, E_INFEASIBLE, sc->at, "scenario '%.60s': %.200s", sc->name,
	                 why);
}

/* One workload in one placement on a bench. */
struct timing {
	struct workload *workload;
	struct bench *bench;
	struct place_model *model;
	struct synth_cache *cache;
	bool all_clocks;     /* all clocks of the bench time it, not only its prices */
	struct text refusal; /* why a clock refused the scenario at hand, else empty */
	struct arena *arena; /* what it holds lasts */
	struct error *error;
};

/* Times the program by all clocks of the bench. */
static enum status time_program(struct work_time *out, struct timing *t,
                                const struct placement_case *c, const struct placed *p,
                                struct arena *a)
{
	struct reduction r;
	struct space space;

	placed_space(&space, a, c, p);
	reduction_of(&r, a, &space, &p->best);
	text_free(&t->refusal);
	for (int k = 0; k < t->bench->nclocks && t->error->code == OK; k++)
		out->time_s[k] = place_seconds(NULL, t->bench, k, &r, c->payload_bytes,
		                               &t->refusal, c->at, t->error);
	return t->error->code;
}

/* Finds the fastest program, and takes it if it is faster than `*best_s`. */
static enum status try_program(struct work_time *out, double *best_s, struct timing *t,
                               const struct matrix *m, const struct problem *p,
                               const struct scenario *sc, struct arena *a)
{
	struct placement_case c = {
		.hierarchy = t->workload->hierarchy,
		.axes = t->workload->mesh,
		.reduce = summed(p),
		.limit = PROGRAM_STEPS,
		.orders = 1u << ORDER_ROW | 1u << ORDER_LEVEL,
		.at = sc->at,
	};
	struct reduction_clock clock = place_model_clock(t->model);
	struct text words = {0};
	struct placed placed;
	struct space space;
	enum status status;

	c.payload_bytes = (double)dtype_bytes(
		p->array.dtype, layout_local_elements(&p->from, &p->padded));
	status = placement_of(&placed, m, t->cache, &c, &clock, t->error);
	if (status != OK || placed.best_s >= *best_s * (1 - 1e-12))
		return status;
	*best_s = placed.best_s;
	placed_space(&space, a, &c, &placed);
	program_print(&words, &placed.best, &space.tree);
	out->plan = text_take(&words, t->arena);
	return t->all_clocks ? time_program(out, t, &c, &placed, a) : OK;
}

static enum status time_plan(struct work_time *out, double *best_s, struct timing *t,
                             struct problem *p, const struct scenario *sc,
                             struct arena *a)
{
	struct bench *b = t->bench;
	struct measurement m;
	struct text line = {0};

	bench_place(b, p);
	measure_plan(&m, b, p, &planner_best, a);
	if (m.status != OUTCOME_OK)
		return no_time(sc, m.message, t->error);
	*best_s = b->prices.plan(b->prices.self, m.plan).cost;
	for (int k = 0; k < b->nclocks && t->all_clocks; k++) {
		measure_time(&m, b, k, a);
		if (m.status == OUTCOME_FAILED)
			return no_time(sc, m.message, t->error);
		out->time_s[k] = m.time_s[k];
		if (m.clock_message[k] && !t->refusal.length)
			text_printf(&t->refusal, "%s", m.clock_message[k]);
	}
	plan_print_line(&line, m.plan);
	out->plan = line.s ? text_take(&line, t->arena) : "nothing";
	return OK;
}

/* Returns the devices of a hierarchy in order, as `--devices` reads them. */
static const char *in_order(const struct hierarchy *h, struct arena *a)
{
	struct text list = {0};

	if (!h->on)
		return arena_printf(a, "0-%d", (int)h->ndevices - 1);
	for (int32_t d = 0; d < h->ndevices; d++)
		text_printf(&list, "%s%d", d ? "," : "", (int)h->on[d]);
	return text_take(&list, a);
}

static enum status time_placement(struct work_placement *placement, struct timing *t)
{
	const struct workload *work = t->workload;
	struct work_time *time =
		arena_alloc(t->arena, (size_t)work->nscenarios, sizeof(*time));
	struct arena *a = arena_new();

	placement->time = time;
	placement->total_s = 0;
	placement->message = "";
	for (int i = 0; i < work->nscenarios && t->error->code == OK; i++) {
		const struct scenario *sc = work->scenario[i];
		struct problem_text text = sc->text;
		struct problem p;
		double best_s = 0;

		arena_reset(a);
		text_free(&t->refusal);
		text.devices = placement->matrix ? placing_devices(placement->matrix,
		                                                   &work->hierarchy, a)
		                                 : in_order(&work->hierarchy, a);
		if (problem_make(&p, a, &text, t->error) != OK ||
		    time_plan(&time[i], &best_s, t, &p, sc, a) != OK ||
		    (placement->matrix && summed(&p) &&
		     try_program(&time[i], &best_s, t, placement->matrix, &p, sc, a) !=
		             OK))
			break;
		if (t->refusal.length && !*placement->message)
			placement->message = arena_printf(t->arena, "scenario '%s': %s",
			                                  sc->name, t->refusal.s);
		placement->total_s += sc->weight * best_s;
		for (int k = 0; k < t->bench->nclocks; k++)
			placement->clock_total_s[k] += sc->weight * time[i].time_s[k];
	}
	bench_place(t->bench,
	            &(struct problem){.ndevices = t->bench->machine->ndevices});
	text_free(&t->refusal);
	arena_free(a);
	return t->error->code;
}

static bool is_row_major(const struct matrix *m, struct arena *a)
{
	const int32_t *devices = matrix_devices(m, a);

	for (int32_t d = 0; d < matrix_ndevices(m); d++)
		if (devices[d] != d)
			return false;
	return true;
}

static int by_total(const void *a, const void *b)
{
	const struct work_placement *x = a, *y = b;

	if (fabs(x->total_s - y->total_s) > 1e-12 * x->total_s)
		return x->total_s < y->total_s ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Lists all matrices as placements, and row-major order where none gives it. */
static enum status list_placements(struct workload *workload, struct arena *a,
                                   struct error *e)
{
	struct matrix *matrix;
	bool found = false;
	int64_t n;

	if (matrices_of(&matrix, &n, a, &workload->hierarchy, &workload->mesh,
	                workload->scenario[0]->at, e) != OK)
		return e->code;
	workload->placement =
		arena_alloc(a, (size_t)n + 1, sizeof(*workload->placement));
	for (int64_t i = 0; i < n; i++) {
		workload->placement[i] = (struct work_placement){
			.matrix = &matrix[i],
			.number = i,
			.row_major = is_row_major(&matrix[i], a),
		};
		found |= workload->placement[i].row_major;
	}
	if (!found) {
		workload->placement[n] =
			(struct work_placement){.number = n, .row_major = true};
		n++;
	}
	workload->nplacements = n;
	return OK;
}

/* Times all placements by the model, and those shown by all clocks. */
static void time_placements(struct workload *workload, struct timing *t)
{
	int64_t n = workload->nplacements;

	for (int64_t i = 0; i < n; i++)
		if (time_placement(&workload->placement[i], t) != OK)
			return;
	qsort(workload->placement, (size_t)n, sizeof(*workload->placement), by_total);
	workload->best = &workload->placement[0];
	workload->worst = &workload->placement[n - 1];
	t->all_clocks = true;
	for (int64_t i = 0; i < n; i++) {
		struct work_placement *p = &workload->placement[i];

		if (p->row_major)
			workload->row_major = p;
		if ((p->row_major || i == 0 || i == n - 1) && time_placement(p, t) != OK)
			return;
	}
}

enum status workload_run(struct workload *workload, struct bench *b, struct arena *a,
                         struct error *e)
{
	struct synth_cache cache = {.arena = a};
	struct timing t = {.workload = workload,
	                   .bench = b,
	                   .cache = &cache,
	                   .arena = a,
	                   .error = e};

	if (list_placements(workload, a, e) != OK)
		return e->code;
	t.model = place_model_new(b);
	time_placements(workload, &t);
	place_model_free(t.model);
	return e->code;
}
