#include "cli/show.h"

#include "base/units.h"
#include "notation/notation.h"
#include "plan/plan_json.h"
#include "plan/plan_text.h"
#include "plan/view.h"
#include "text/columns.h"
#include "text/words.h"

#include <math.h>
#include <stdlib.h>

/* --- text -------------------------------------------------------------------------- */

static void show_head(struct text *out, const struct shown *s, struct arena *a)
{
	const struct problem *p = s->problem;

	array_print(out, &p->array);
	text_printf(out, " on ");
	mesh_print(out, &p->mesh);
	text_printf(out, ": ");
	layout_print(out, &p->from, &p->mesh, &p->array.shape);
	text_printf(out, " -> ");
	layout_print(out, &p->to, &p->to_mesh, &p->array.shape);
	if (p->two_meshes) {
		text_printf(out, " on ");
		mesh_print(out, &p->to_mesh);
	}
	text_printf(out, "\n%d device%s", p->ndevices, p->ndevices == 1 ? "" : "s");
	if (s->bench->machine)
		text_printf(out, " of %s", s->bench->machine->name);
	text_printf(out, "; every device lacks at most %s, the larger tile is %s",
	            words_bytes(a, p->recv_bound_bytes),
	            words_bytes(a, p->memory_bound_bytes));
	if (p->memory_limit_bytes >= 0)
		text_printf(out, "; limit %s", words_bytes(a, p->memory_limit_bytes));
	if (s->n > 0 && !isnan(s->measurement[0].bound_s))
		text_printf(out, "; no plan under %s",
		            words_time(a, s->measurement[0].bound_s));
	text_printf(out, "\n");
}

/* Prints the steps of a plan: step, received, a time per clock, algorithm, layout. */
static void show_steps(struct text *out, const struct shown *s,
                       const struct measurement *m, struct arena *a)
{
	const struct plan *p = m->plan;
	bool priced = s->bench->nclocks > 0;
	int columns = 3 + (priced ? 1 + s->bench->nclocks : 0);
	const char *cell[8] = {"step", "received"};
	struct columns t;

	columns_start(&t, a, columns, 1);
	for (int k = 0; k < s->bench->nclocks; k++)
		cell[2 + k] = s->bench->clock[k]->name;
	if (priced)
		cell[columns - 2] = "algorithm";
	cell[columns - 1] = "layout after it";
	columns_row(&t, cell);
	for (int i = 0; i < p->nsteps; i++) {
		struct text step = {0}, layout = {0};
		const char *algorithm = NULL;

		step_print(&step, p, i);
		view_print_layout(&layout, p, &p->step[i].after, p->step[i].mesh);
		cell[0] = text_take(&step, a);
		cell[1] = words_bytes(a, p->step[i].recv_bytes);
		for (int k = 0; k < s->bench->nclocks; k++) {
			cell[2 + k] =
				words_time(a, m->step[k] ? m->step[k][i].time_s : NAN);
			if (m->step[k])
				algorithm = m->step[k][i].algorithm;
		}
		if (priced)
			cell[columns - 2] = algorithm                        ? algorithm
			                    : op_communicates(p->step[i].op) ? "-"
			                                                     : "local";
		cell[columns - 1] = text_take(&layout, a);
		columns_row(&t, cell);
	}
	cell[0] = "total";
	cell[1] = words_bytes(a, p->recv_bytes);
	for (int k = 0; k < s->bench->nclocks; k++)
		cell[2 + k] = words_time(a, m->time_s[k]);
	cell[columns - 2] = priced ? NULL : cell[columns - 2];
	cell[columns - 1] = NULL;
	columns_row(&t, cell);
	columns_print(out, &t, 2);
	text_printf(out, "  memory: largest array %s, live %s\n",
	            words_bytes(a, p->peak_array_bytes),
	            words_bytes(a, p->peak_live_bytes));
}

void show_text(struct text *out, const struct shown *s, struct arena *a)
{
	show_head(out, s, a);
	for (int i = 0; i < s->n; i++) {
		const struct measurement *m = &s->measurement[i];

		text_printf(out, "\n%s: %s", m->planner, outcome_name(m->status));
		if (m->message[0])
			text_printf(out, " (%s)", m->message);
		if (s->timing && !isnan(m->planning_s))
			text_printf(out, ", planned in %s",
			            words_time(a, m->planning_s));
		text_printf(out, "\n");
		if (m->plan)
			show_steps(out, s, m, a);
		if (m->plan && s->links)
			links_text(out, &s->links[i], s->bench, a);
	}
}

/* --- JSON -------------------------------------------------------------------------- */

static json_t *steps_json(const struct shown *s, const struct measurement *m)
{
	json_t *steps = plan_json(m->plan);

	for (int i = 0; i < m->plan->nsteps; i++) {
		json_t *step = json_array_get(steps, (size_t)i);
		json_t *times = json_object_get(step, "time_s");

		for (int k = 0; k < s->bench->nclocks; k++) {
			const struct step_time *t = m->step[k] ? &m->step[k][i] : NULL;

			json_object_set_new(times, s->bench->clock[k]->name,
			                    t ? json_real(t->time_s) : json_null());
			if (t && t->algorithm)
				json_object_set_new(step, "algorithm",
				                    json_string(t->algorithm));
		}
	}
	return steps;
}

static json_t *bytes_json(int64_t bytes)
{
	return bytes >= 0 ? json_integer(bytes) : json_null();
}

static json_t *result_json(const struct shown *s, const struct measurement *m)
{
	json_t *o = json_object(), *times = json_object();
	const struct plan *p = m->plan;

	json_object_set_new(o, "planner", json_string(m->planner));
	json_object_set_new(o, "status", json_string(outcome_name(m->status)));
	json_object_set_new(o, "message", json_text(m->message));
	json_object_set_new(o, "planning_s",
	                    json_known(s->timing ? m->planning_s : NAN));
	json_object_set_new(o, "steps", p ? steps_json(s, m) : json_array());
	json_object_set_new(o, "recv_bytes", bytes_json(p ? p->recv_bytes : -1));
	json_object_set_new(o, "send_bytes", bytes_json(p ? p->send_bytes : -1));
	json_object_set_new(o, "peak_array_bytes", bytes_json(m->peak_array_bytes));
	json_object_set_new(o, "peak_live_bytes", bytes_json(m->peak_live_bytes));
	for (int k = 0; k < s->bench->nclocks; k++)
		json_object_set_new(times, s->bench->clock[k]->name,
		                    json_known(m->time_s[k]));
	json_object_set_new(o, "time_s", times);
	json_object_set_new(o, "bound_s", json_known(m->bound_s));
	return o;
}

void show_json(struct text *out, const struct shown *s)
{
	json_t *o = json_object(), *problem = problem_json(s->problem);
	json_t *results = json_array();
	char *text;

	json_object_set_new(o, "schema", json_string("shardsim/1"));
	json_object_set_new(o, "problem", problem);
	json_object_set_new(o, "platform",
	                    s->bench->machine ? json_text(s->bench->machine->name)
	                                      : json_null());
	for (int i = 0; i < s->n; i++) {
		const struct measurement *m = &s->measurement[i];
		json_t *result = result_json(s, m);

		if (s->links)
			json_object_set_new(result, "links",
			                    links_json(&s->links[i], s->bench));
		json_array_append_new(results, result);
	}
	json_object_set_new(o, "results", results);
	text = json_dumps(o, JSON_REAL_PRECISION(17));
	text_printf(out, "%s\n", text);
	free(text);
	json_decref(o);
}
