#include "place/place.h"

#include "base/units.h"
#include "bound/bound.h"
#include "measure/library.h"
#include "placement/program.h"
#include "plan/plan_json.h"
#include "text/columns.h"
#include "text/words.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct place_model {
	const struct bench *bench;
	struct arena *scratch;
	struct memo *memo;
};

static double step_s(void *self, const struct reduction_step *step, double held_bytes,
                     struct text *why)
{
	struct place_model *m = self;
	struct lowered lowered;
	char message[200] = "";
	double s;

	arena_reset(m->scratch);
	if (!reduction_lower(&lowered, m->scratch, m->bench->machine, step, held_bytes,
	                     why))
		return -1;
	s = model_clock(m->bench->model, &lowered.schedule, message, sizeof(message));
	if (s < 0) {
		text_printf(why, "%s", message);
		return s;
	}
	return s + lowered.launch_s + lowered.local_s;
}

struct place_model *place_model_new(const struct bench *b)
{
	struct place_model *m = xmalloc(1, sizeof(*m));

	*m = (struct place_model){.bench = b, .scratch = arena_new()};
	m->memo = memo_new((struct reduction_clock){step_s, m});
	return m;
}

void place_model_free(struct place_model *m)
{
	if (!m)
		return;
	memo_free(m->memo);
	arena_free(m->scratch);
	free(m);
}

struct reduction_clock place_model_clock(struct place_model *m)
{
	return memo_clock(m->memo);
}

double place_seconds(struct step_time *times, const struct bench *b, int clock,
                     const struct reduction *r, double payload_bytes,
                     struct text *refusal, struct where at, struct error *e)
{
	struct reduction_steps of = {r, b->machine, payload_bytes};
	struct steps steps = steps_of_reduction(&of);
	char message[256] = "";
	double s = bench_seconds(times, b, clock, &steps, message, sizeof(message));

	if (s == CLOCK_REFUSED_S && refusal) {
		if (!refusal->length)
			text_printf(refusal, "%s: %s", b->clock[clock]->name, message);
		return NAN;
	}
	if (s < 0)
		error_set(e, E_INFEASIBLE, at, "%s: %s", b->clock[clock]->name, message);
	return s;
}

/*
 * Returns the bound of all programs of the reduction. It is that of the problem to sum
 * an array for each value of the other coordinates, where these arrays stand one after
 * another.
 */
static double row_bound_s(const struct place_result *r, const struct matrix *m,
                          struct arena *a)
{
	const struct placement_case *c = r->c;
	const int32_t *devices = matrix_platform(m, &c->hierarchy, a);
	struct text mesh = {0}, to = {0}, sum = {0}, order = {0};
	struct error e = {0};
	struct problem_text text = {0};
	struct problem p;
	int64_t copies = 1;
	double s = NAN;

	for (int i = 0; i < m->naxes; i++) {
		bool summed = c->reduce & 1u << i;

		text_printf(&mesh, "%sa%d=%d", i ? "," : "", i,
		            (int)matrix_axis_size(m, i));
		text_printf(summed ? &sum : &to, "'a%d',", i);
		copies *= summed ? 1 : matrix_axis_size(m, i);
	}
	for (int32_t d = 0; d < matrix_ndevices(m); d++)
		text_printf(&order, "%s%d", d ? "," : "", (int)devices[d]);
	text.mesh = mesh.s;
	text.devices = order.s;
	text.array = arena_printf(a, "u8[%lld]", (long long)(copies * c->payload_bytes));
	text.to = arena_printf(a, to.s ? "P((%s))" : "P(None)", to.s);
	text.from = arena_printf(a, "%.*s, unreduced={%s})", (int)strlen(text.to) - 1,
	                         text.to, sum.s);
	if (problem_make(&p, a, &text, &e) == OK) {
		struct placement place = {p.ndevices, p.platform};

		s = bound_s(&p, r->machine, p.platform ? &place : NULL);
	}
	text_free(&mesh);
	text_free(&to);
	text_free(&sum);
	text_free(&order);
	return s;
}

static enum status make_row(struct place_row *row, const struct place_result *r,
                            struct arena *a, struct arena *scratch,
                            const struct bench *b, struct error *e)
{
	const struct placement_case *c = r->c;
	const struct program *program = &row->placed->best;
	struct reduction all = {.n = 1, .step[0] = {.op = OP_ALL_REDUCE, .share = 1}};
	struct reduction best;
	struct space space;
	struct text words = {0}, refusal = {0};

	space_collapsed(&space, scratch, &c->hierarchy, &row->placed->matrix, c->reduce,
	                ORDER_ROW);
	all.step[0].groups =
		(struct groups){space.ncopies, space.tree.ndevices, space.device};
	all.n = space.tree.ndevices > 1;
	placed_space(&space, scratch, c, row->placed);
	reduction_of(&best, scratch, &space, program);
	program_print(&words, program, &space.tree);
	row->program = text_take(&words, a);
	for (int i = 0; i < best.n; i++)
		row->step[i] = (struct place_step){
			best.step[i].op, best.step[i].groups.ngroups,
			best.step[i].groups.size, best.step[i].share * c->payload_bytes};
	row->bound_s = row_bound_s(r, &row->placed->matrix, scratch);
	for (int k = 0; k < r->nclocks && e->code == OK; k++) {
		row->best_s[k] = place_seconds(row->time[k], b, k, &best,
		                               c->payload_bytes, &refusal, c->at, e);
		row->allreduce_s[k] = place_seconds(NULL, b, k, &all, c->payload_bytes,
		                                    &refusal, c->at, e);
	}
	row->message = refusal.s ? text_take(&refusal, a) : "";
	return e->code;
}

enum status place_rows(struct place_result *out, struct arena *a,
                       const struct placed *placed, const struct bench *b,
                       struct error *e)
{
	struct place_row *row = arena_alloc(a, (size_t)out->nrows + 1, sizeof(*row));
	struct arena *scratch = arena_new();

	out->row = row;
	for (int64_t i = 0; i < out->nrows && e->code == OK; i++) {
		row[i].placed = &placed[i];
		make_row(&row[i], out, a, scratch, b, e);
		arena_reset(scratch);
	}
	arena_free(scratch);
	return e->code;
}

/* Prints each instruction of a program as a line. */
static const char **step_lines(const struct program *p, const struct hierarchy *tree,
                               struct arena *a)
{
	const char **line = arena_alloc(a, (size_t)p->n, sizeof(*line));

	for (int i = 0; i < p->n; i++) {
		struct program one = {1, {p->step[i]}};
		struct text words = {0};

		program_print(&words, &one, tree);
		line[i] = text_take(&words, a);
	}
	return line;
}

struct timed place_timed(const struct placed *p, const struct place_row *row,
                         const struct placement_case *c, const struct bench *b,
                         struct arena *a)
{
	struct reduction *r = arena_alloc(a, 1, sizeof(*r));
	struct reduction_steps *of = arena_alloc(a, 1, sizeof(*of));
	const char **more = arena_alloc(a, (size_t)p->best.n, sizeof(*more));
	struct text matrix = {0};
	struct timed t = {.more = more};
	struct space space;

	placed_space(&space, a, c, p);
	reduction_of(r, a, &space, &p->best);
	*of = (struct reduction_steps){r, b->machine, c->payload_bytes};
	matrix_print(&matrix, &p->matrix);
	t.name = text_take(&matrix, a);
	t.steps = steps_of_reduction(of);
	t.step = step_lines(&p->best, &space.tree, a);
	for (int i = 0; i < r->n; i++)
		more[i] = arena_printf(a, "\"held_bytes\":%.17g",
		                       r->step[i].share * c->payload_bytes);
	for (int k = 0; k < b->nclocks && row; k++) {
		t.time_s[k] = row->best_s[k];
		t.time[k] = isnan(row->best_s[k]) ? NULL : row->time[k];
	}
	return t;
}

static void head(struct text *out, const struct place_result *r, struct arena *a)
{
	text_printf(out, "hierarchy ");
	hierarchy_print(out, &r->c->hierarchy);
	text_printf(out, "; axes ");
	axes_print(out, &r->c->axes);
	text_printf(out, "; reduce ");
	reduce_print(out, r->c->reduce);
	text_printf(out, "; ");
	units_print_bytes(out, r->c->payload_bytes);
	text_printf(out, " per device on %s%s%s%s\n", r->platform,
	            library_words(r->machine, a), r->position ? ", " : "",
	            r->position ? r->position : "");
	text_printf(out, "%lld placement%s", (long long)r->nmatrices,
	            r->nmatrices == 1 ? "" : "s");
	if (r->nrows < r->nmatrices)
		text_printf(out, ", the first %lld", (long long)r->nrows);
	if (!isnan(r->planning_s)) {
		text_printf(out, "; found in ");
		units_print_time(out, r->planning_s);
	}
	text_printf(out, "\n\n");
}

/* Prints why rows have no time by some clock, once where the next says the same. */
static void messages(struct text *out, const struct place_result *r)
{
	const char *last = "";

	for (int64_t i = 0; i < r->nrows; i++) {
		const char *message = r->row[i].message;

		if (*message && strcmp(message, last) != 0)
			text_printf(out, "%s\n", message);
		last = message;
	}
}

void place_text(struct text *out, const struct place_result *r, const struct bench *b,
                struct arena *a)
{
	int columns = 6 + 2 * r->nclocks, last = columns - 1;
	const char *cell[6 + 2 * CLOCKS_MAX] = {"matrix"};
	struct columns t;

	head(out, r, a);
	columns_start(&t, a, columns, 1);
	for (int k = 0; k < r->nclocks; k++) {
		cell[1 + 2 * k] = arena_printf(a, "all-reduce (%s)", r->clock[k]);
		cell[2 + 2 * k] = arena_printf(a, "best (%s)", r->clock[k]);
	}
	cell[last - 4] = "bound";
	cell[last - 3] = "speedup";
	cell[last - 2] = "programs";
	cell[last - 1] = "order";
	cell[last] = "best program";
	columns_row(&t, cell);
	for (int64_t i = 0; i < r->nrows; i++) {
		const struct place_row *row = &r->row[i];
		struct text matrix = {0};

		matrix_print(&matrix, &row->placed->matrix);
		cell[0] = text_take(&matrix, a);
		for (int k = 0; k < r->nclocks; k++) {
			cell[1 + 2 * k] = words_time(a, row->allreduce_s[k]);
			cell[2 + 2 * k] = words_time(a, row->best_s[k]);
		}
		cell[last - 4] = words_time(a, row->bound_s);
		cell[last - 3] =
			row->best_s[0] > 0
				? arena_printf(a, "%.2f",
		                               row->allreduce_s[0] / row->best_s[0])
				: "-";
		cell[last - 2] =
			arena_printf(a, "%lld", (long long)row->placed->programs);
		cell[last - 1] = order_name(row->placed->order);
		cell[last] = row->program;
		columns_row(&t, cell);
	}
	columns_print(out, &t, 0);
	messages(out, r);
	if (r->links) {
		text_printf(out, "\n%s\n", r->links->of.name);
		links_text(out, r->links, b, a);
	}
}

/*
 * --- JSON ----------------------------------------------------------------------------
 */

json_t *place_times_json(const char *const *clock, int nclocks, const double *time_s)
{
	json_t *o = json_object();

	for (int k = 0; k < nclocks; k++)
		json_object_set_new(o, clock[k], json_known(time_s[k]));
	return o;
}

json_t *place_matrix_json(const struct matrix *m)
{
	json_t *rows = json_array();

	for (int i = 0; i < m->naxes; i++) {
		json_t *row = json_array();

		for (int j = 0; j < m->nlevels; j++)
			json_array_append_new(row, json_integer(m->x[i][j]));
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *place_steps_json(const struct place_result *r,
                                const struct place_row *row)
{
	json_t *steps = json_array();

	for (int i = 0; i < row->placed->best.n; i++) {
		const struct place_step *s = &row->step[i];
		double time_s[CLOCKS_MAX];

		for (int k = 0; k < r->nclocks; k++)
			time_s[k] = isnan(row->best_s[k]) ? NAN : row->time[k][i].time_s;
		json_array_append_new(
			steps,
			json_pack("{s:s, s:i, s:i, s:o, s:s?, s:o}", "op", op_name(s->op),
		                  "groups", (int)s->ngroups, "group_size", (int)s->size,
		                  "held_bytes", json_quantity(s->held_bytes),
		                  "algorithm", row->time[0][i].algorithm, "time_s",
		                  place_times_json(r->clock, r->nclocks, time_s)));
	}
	return steps;
}

static json_t *place_row_json(const struct place_result *r, const struct place_row *row)
{
	return json_pack("{s:o, s:o, s:s, s:o, s:I, s:{s:o, s:s, s:o, s:o}}", "matrix",
	                 place_matrix_json(&row->placed->matrix), "allreduce_s",
	                 place_times_json(r->clock, r->nclocks, row->allreduce_s),
	                 "message", row->message, "bound_s", json_known(row->bound_s),
	                 "programs", (json_int_t)row->placed->programs, "best",
	                 "program", json_text(row->program), "order",
	                 order_name(row->placed->order), "time_s",
	                 place_times_json(r->clock, r->nclocks, row->best_s), "steps",
	                 place_steps_json(r, row));
}

static json_t *sized_json(const char *name, int32_t size)
{
	return json_pack("[o, i]", name ? json_text(name) : json_null(), (int)size);
}

json_t *place_levels_json(const struct hierarchy *h)
{
	json_t *levels = json_array();

	for (int j = 0; j < h->nlevels; j++)
		json_array_append_new(levels,
		                      sized_json(h->level[j].name, h->level[j].size));
	return levels;
}

json_t *place_axes_json(const struct mesh *axes)
{
	bool named = axes_named(axes);
	json_t *list = json_array();

	for (int i = 0; i < axes->naxes; i++)
		json_array_append_new(list, sized_json(named ? axes->axis[i].name : NULL,
		                                       axes->axis[i].size));
	return list;
}

json_t *place_seat_json(const struct hierarchy *h)
{
	json_t *list = h->on ? json_array() : json_null();

	for (int32_t d = 0; h->on && d < h->ndevices; d++)
		json_array_append_new(list, json_integer(h->on[d]));
	return list;
}

static json_t *case_json(const struct place_result *r)
{
	const struct placement_case *c = r->c;
	json_t *reduce = json_array();

	for (int i = 0; i < c->axes.naxes; i++)
		if (c->reduce & 1u << i)
			json_array_append_new(reduce, json_integer(i));
	return json_pack("{s:o, s:o, s:o, s:I, s:i, s:o}", "hierarchy",
	                 place_levels_json(&c->hierarchy), "axes",
	                 place_axes_json(&c->axes), "reduce", reduce, "bytes",
	                 (json_int_t)c->payload_bytes, "limit", c->limit, "devices",
	                 place_seat_json(&c->hierarchy));
}

void place_json(struct text *out, const struct place_result *r, const struct bench *b)
{
	json_t *matrices = json_array(), *o;
	char *s;

	for (int64_t i = 0; i < r->nrows; i++)
		json_array_append_new(matrices, place_row_json(r, &r->row[i]));
	if (r->links)
		json_object_set_new(
			json_object_get(json_array_get(matrices, 0), "best"), "links",
			links_json(r->links, b));
	o = json_pack("{s:s, s:o, s:o, s:o, s:I, s:o, s:o}", "schema", "shardsim/1",
	              "problem", case_json(r), "platform", json_text(r->platform),
	              "launch", library_json(r->machine), "placements",
	              (json_int_t)r->nmatrices, "planning_s", json_known(r->planning_s),
	              "matrices", matrices);
	s = json_dumps(o, JSON_REAL_PRECISION(17));
	text_printf(out, "%s\n", s);
	free(s);
	json_decref(o);
}

void place_devices(struct text *out, const struct matrix *m, const struct hierarchy *h,
                   struct arena *a)
{
	const int32_t *devices = matrix_platform(m, h, a);

	for (int32_t p = 0; p < matrix_ndevices(m); p++)
		text_printf(out, "%d\n", (int)devices[p]);
}
