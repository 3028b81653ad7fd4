#include "place.h"

#include "base/units.h"
#include "cost/bound.h"
#include "placement/program.h"
#include "table.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double place_step_s(void *self, const struct reduction_step *step, double held_bytes,
                    struct text *why)
{
	struct place_clock *c = self;
	const struct bench *b = c->bench;
	struct lowered lowered;
	char message[200] = "";
	double s;

	arena_reset(c->scratch);
	if (!reduction_lower(&lowered, c->scratch, b->machine, step, held_bytes, why))
		return -1;
	c->algorithm = lowered.algorithm;
	c->protocol = lowered.protocol;
	s = c->clock == PLACE_MODEL
	            ? model_clock(b->model, &lowered.schedule, message, sizeof(message))
	            : b->clock_fn[c->clock](b->clock_self[c->clock], &lowered.schedule,
	                                    message, sizeof(message));
	if (s < 0) {
		text_printf(why, "%s", message);
		return s;
	}
	return s + lowered.launch_s + lowered.local_s;
}

/* Sum one row's steps by one clock; the all-reduce is a step of its own. */
static enum status time_row(struct place_row *row, const struct reduction *best,
                            const struct reduction_step *all, int k,
                            const struct placement_case *c, struct place_clock *clock,
                            struct error *e)
{
	struct text why = {0};
	double s = 0;

	row->best_s[k] = 0;
	for (int i = 0; i < best->n && s >= 0; i++) {
		row->step[i].step = best->step[i];
		row->step[i].step.groups.ids = NULL;
		row->step[i].held_bytes = best->step[i].share * c->payload_bytes;
		s = place_step_s(clock, &best->step[i], row->step[i].held_bytes, &why);
		row->step[i].time_s[k] = s;
		row->step[i].algorithm = clock->algorithm;
		row->step[i].protocol = clock->protocol;
		row->best_s[k] += s;
	}
	if (s >= 0 && all->groups.size > 1)
		s = place_step_s(clock, all, c->payload_bytes, &why);
	row->allreduce_s[k] = all->groups.size > 1 ? s : 0;
	if (s < 0)
		error_set(e, E_INFEASIBLE, c->at, "%s", why.s ? why.s : "no time");
	text_free(&why);
	return s < 0 ? E_INFEASIBLE : OK;
}

/*
 * What the reduction is as a problem: arrays of their own for all other coordinates, one
 * after another, each to be summed. Its bound is that of all programs.
 */
static double row_bound_s(const struct place_result *r, const struct matrix *m,
                          struct arena *a)
{
	const struct placement_case *c = r->c;
	const int32_t *devices = matrix_devices(m, a);
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
                            struct arena *a, const struct placed *p,
                            struct place_clock *clock, struct error *e)
{
	const struct placement_case *c = r->c;
	struct reduction_step all = {.op = OP_ALL_REDUCE, .share = 1};
	struct arena *scratch = arena_new();
	struct reduction best;
	struct space space;
	struct text program = {0};
	enum status status = OK;

	space_collapsed(&space, scratch, &c->hierarchy, &p->matrix, c->reduce,
	                ORDER_ROW);
	all.groups = (struct groups){space.ncopies, space.tree.ndevices, space.device};
	placed_space(&space, scratch, c, p);
	reduction_of(&best, scratch, &space, &p->best);
	program_print(&program, &p->best, &space.tree);
	row->placed = p;
	row->program = text_take(&program, a);
	row->bound_s = row_bound_s(r, &p->matrix, scratch);
	for (int k = 0; k < r->nclocks && status == OK; k++)
		status = time_row(row, &best, &all, k, c, &clock[k], e);
	arena_free(scratch);
	return status;
}

enum status place_rows(struct place_result *out, struct arena *a,
                       const struct placed *placed, struct place_clock *clock,
                       struct error *e)
{
	struct place_row *row = arena_alloc(a, (size_t)out->nrows + 1, sizeof(*row));

	for (int64_t i = 0; i < out->nrows; i++)
		if (make_row(&row[i], out, a, &placed[i], clock, e) != OK)
			return e->code;
	out->row = row;
	return OK;
}

static void head(struct text *out, const struct place_result *r)
{
	text_printf(out, "hierarchy ");
	hierarchy_print(out, &r->c->hierarchy);
	text_printf(out, "; axes ");
	axes_print(out, &r->c->axes);
	text_printf(out, "; reduce ");
	reduce_print(out, r->c->reduce);
	text_printf(out, "; ");
	units_print_bytes(out, r->c->payload_bytes);
	text_printf(out, " per device on %s\n", r->platform);
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

void place_text(struct text *out, const struct place_result *r, struct arena *a)
{
	int columns = 6 + 2 * r->nclocks, last = columns - 1;
	const char *cell[6 + 2 * CLOCKS_MAX] = {"matrix"};
	struct table t;

	head(out, r);
	table_start(&t, a, columns, 1);
	for (int k = 0; k < r->nclocks; k++) {
		cell[1 + 2 * k] = arena_printf(a, "all-reduce (%s)", r->clock[k]);
		cell[2 + 2 * k] = arena_printf(a, "best (%s)", r->clock[k]);
	}
	cell[last - 4] = "bound";
	cell[last - 3] = "speedup";
	cell[last - 2] = "programs";
	cell[last - 1] = "order";
	cell[last] = "best program";
	table_row(&t, cell);
	for (int64_t i = 0; i < r->nrows; i++) {
		const struct place_row *row = &r->row[i];
		struct text matrix = {0};

		matrix_print(&matrix, &row->placed->matrix);
		cell[0] = text_take(&matrix, a);
		for (int k = 0; k < r->nclocks; k++) {
			cell[1 + 2 * k] = table_time(a, row->allreduce_s[k]);
			cell[2 + 2 * k] = table_time(a, row->best_s[k]);
		}
		cell[last - 4] = table_time(a, row->bound_s);
		cell[last - 3] =
			row->best_s[0] > 0
				? arena_printf(a, "%.2f",
		                               row->allreduce_s[0] / row->best_s[0])
				: "-";
		cell[last - 2] =
			arena_printf(a, "%lld", (long long)row->placed->programs);
		cell[last - 1] = order_name(row->placed->order);
		cell[last] = row->program;
		table_row(&t, cell);
	}
	table_print(out, &t, 0);
}

/*
 * --- JSON ----------------------------------------------------------------------------
 */

static json_t *times_json(const struct place_result *r, const double *time_s)
{
	json_t *o = json_object();

	for (int k = 0; k < r->nclocks; k++)
		json_object_set_new(o, r->clock[k], json_real(time_s[k]));
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

static json_t *steps_json(const struct place_result *r, const struct place_row *row)
{
	json_t *steps = json_array();

	for (int i = 0; i < row->placed->best.n; i++) {
		const struct place_step *s = &row->step[i];

		json_array_append_new(
			steps, json_pack("{s:s, s:i, s:i, s:f, s:s?, s:o}", "op",
		                         op_name(s->step.op), "groups",
		                         (int)s->step.groups.ngroups, "group_size",
		                         (int)s->step.groups.size, "held_bytes",
		                         s->held_bytes, "algorithm", s->algorithm,
		                         "time_s", times_json(r, s->time_s)));
	}
	return steps;
}

static json_t *row_json(const struct place_result *r, const struct place_row *row)
{
	return json_pack("{s:o, s:o, s:o, s:I, s:{s:s, s:s, s:o, s:o}}", "matrix",
	                 place_matrix_json(&row->placed->matrix), "allreduce_s",
	                 times_json(r, row->allreduce_s), "bound_s",
	                 isnan(row->bound_s) ? json_null() : json_real(row->bound_s),
	                 "programs", (json_int_t)row->placed->programs, "best",
	                 "program", row->program, "order",
	                 order_name(row->placed->order), "time_s",
	                 times_json(r, row->best_s), "steps", steps_json(r, row));
}

static json_t *case_json(const struct place_result *r)
{
	const struct placement_case *c = r->c;
	json_t *levels = json_array(), *axes = json_array(), *reduce = json_array();

	for (int j = 0; j < c->hierarchy.nlevels; j++)
		json_array_append_new(levels,
		                      json_pack("[s?, i]", c->hierarchy.level[j].name,
		                                (int)c->hierarchy.level[j].size));
	for (int i = 0; i < c->axes.naxes; i++) {
		const char *name = axes_named(&c->axes) ? c->axes.axis[i].name : NULL;

		json_array_append_new(
			axes, json_pack("[s?, i]", name, (int)c->axes.axis[i].size));
		if (c->reduce & 1u << i)
			json_array_append_new(reduce, json_integer(i));
	}
	return json_pack("{s:o, s:o, s:o, s:I, s:i}", "hierarchy", levels, "axes", axes,
	                 "reduce", reduce, "bytes", (json_int_t)c->payload_bytes,
	                 "limit", c->limit);
}

void place_json(struct text *out, const struct place_result *r)
{
	json_t *matrices = json_array(), *o;
	char *s;

	for (int64_t i = 0; i < r->nrows; i++)
		json_array_append_new(matrices, row_json(r, &r->row[i]));
	o = json_pack("{s:s, s:o, s:s, s:I, s:o, s:o}", "schema", "shardsim/1",
	              "problem", case_json(r), "platform", r->platform, "placements",
	              (json_int_t)r->nmatrices, "planning_s",
	              isnan(r->planning_s) ? json_null() : json_real(r->planning_s),
	              "matrices", matrices);
	s = json_dumps(o, JSON_REAL_PRECISION(17));
	text_printf(out, "%s\n", s);
	free(s);
	json_decref(o);
}

void place_devices(struct text *out, const struct matrix *m, struct arena *a)
{
	const int32_t *devices = matrix_devices(m, a);

	for (int32_t p = 0; p < matrix_ndevices(m); p++)
		text_printf(out, "%d\n", (int)devices[p]);
}
