#include "move/show.h"

#include "measure/library.h"
#include "notation/notation.h"
#include "plan/plan_json.h"
#include "plan/plan_text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* Returns an object of the times by each clock, null where there is none. */
static json_t *times_json(const struct move_shown *s, const double *time_s)
{
	json_t *out = json_object();

	for (int k = 0; k < s->bench->nclocks; k++)
		json_object_set_new(out, s->bench->clock[k]->name,
		                    json_known(time_s[k]));
	return out;
}

static json_t *problem_texts_json(const struct moved_array *m)
{
	const struct problem_text *t = &m->array->text;
	const struct problem *p = &m->problem;
	struct text from = {0}, to = {0};
	json_t *out;

	layout_print(&from, &p->from, &p->mesh, &p->array.shape);
	layout_print(&to, &p->to, &p->to_mesh, &p->array.shape);
	out = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "array",
	                json_text(t->array), "mesh",
	                t->mesh ? json_text(t->mesh) : json_null(), "to_mesh",
	                t->to_mesh ? json_text(t->to_mesh) : json_null(), "from",
	                json_text(from.s), "to", json_text(to.s), "devices",
	                t->devices ? json_text(t->devices) : json_null(), "to_devices",
	                t->to_devices ? json_text(t->to_devices) : json_null());
	text_free(&from);
	text_free(&to);
	return out;
}

static json_t *array_steps_json(const struct move_shown *s, const struct moved_array *m)
{
	const struct plan *p = m->m.plan;
	json_t *steps = json_array();

	for (int i = 0; p && i < p->nsteps; i++) {
		double time_s[CLOCKS_MAX];
		const char *algorithm = NULL;
		struct text line = {0};

		for (int k = 0; k < s->bench->nclocks; k++) {
			time_s[k] = m->m.step[k] ? m->m.step[k][i].time_s : NAN;
			if (m->m.step[k])
				algorithm = m->m.step[k][i].algorithm;
		}
		step_print(&line, p, i);
		json_array_append_new(
			steps, json_pack("{s:s, s:o, s:I, s:o, s:o}", "op",
		                         op_name(p->step[i].op), "step",
		                         json_text(line.s), "recv_bytes",
		                         (json_int_t)p->step[i].recv_bytes, "algorithm",
		                         algorithm ? json_text(algorithm) : json_null(),
		                         "time_s", times_json(s, time_s)));
		text_free(&line);
	}
	return steps;
}

static json_t *array_json(const struct move_shown *s, const struct moved_array *m)
{
	const struct plan *p = m->m.plan;
	json_t *out = problem_texts_json(m), *names = json_array(), *rest;

	for (int64_t i = 0; i < m->array->name.n; i++)
		json_array_append_new(names, json_text(m->array->name.at[i]));
	rest = json_pack(
		"{s:o, s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "names", names,
		"count", (json_int_t)m->array->count, "bytes", (json_int_t)m->bytes,
		"status", outcome_name(m->m.status), "message", json_text(m->m.message),
		"recv_bytes", p ? json_integer(p->recv_bytes) : json_null(),
		"peak_live_bytes", p ? json_integer(p->peak_live_bytes) : json_null(),
		"bound_s", json_known(m->m.bound_s), "time_s",
		times_json(s, m->m.time_s), "steps", array_steps_json(s, m));
	json_object_update(out, rest);
	json_decref(rest);
	return out;
}

/* Returns the kinds of arrays that a wave moves, with how many of each. */
static json_t *wave_arrays_json(const struct move_result *r,
                                const struct order_wave *wave)
{
	json_t *out = json_array();

	for (int32_t i = 0; i < wave->nruns; i++) {
		const struct order_run *run = &r->waves.run.at[wave->first + i];
		const struct moved_call *call = &r->call[run->call];
		json_t *arrays = json_array();

		for (int32_t k = 0; k < call->nruns; k++)
			json_array_append_new(
				arrays, json_pack("{s:i, s:I}", "array",
			                          (int)call->run[k].array, "count",
			                          (json_int_t)call->run[k].count));
		json_array_append_new(out, json_pack("{s:I, s:o}", "calls",
		                                     (json_int_t)run->count, "arrays",
		                                     arrays));
	}
	return out;
}

static json_t *waves_json(const struct move_shown *s, const struct move_result *r)
{
	json_t *out = json_array();

	for (int64_t i = 0; r->wave && i < r->waves.wave.n; i++) {
		const struct order_wave *wave = &r->waves.wave.at[i];
		json_t *steps = json_array();

		for (int k = 0; k < r->wave[i].nsteps; k++) {
			double time_s[CLOCKS_MAX];

			for (int c = 0; c < s->bench->nclocks; c++)
				time_s[c] = isnan(r->wave[i].time_s[c])
				                    ? NAN
				                    : r->wave[i].step[c][k].time_s;
			json_array_append_new(steps, json_pack("{s:o}", "time_s",
			                                       times_json(s, time_s)));
		}
		json_array_append_new(out,
		                      json_pack("{s:I, s:o, s:o, s:o, s:o}", "repeats",
		                                (json_int_t)wave->repeats, "calls",
		                                wave_arrays_json(r, wave), "peak_bytes",
		                                json_quantity(wave->peak), "time_s",
		                                times_json(s, r->wave[i].time_s),
		                                "steps", steps));
	}
	return out;
}

static json_t *host_json(const struct host_time *h)
{
	if (!h)
		return json_null();
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "calls",
	                 (json_int_t)h->calls, "call_s", json_known(h->call_s),
	                 "call_source", json_text(h->costs->call_source), "pack_s",
	                 json_known(h->pack_s), "pack_source",
	                 json_text(h->costs->pack_source), "gather_s",
	                 json_known(h->gather_s));
}

static json_t *result_json(const struct move_shown *s, const struct move_result *r)
{
	json_t *arrays = json_array();
	bool ordered = r->order != NULL;

	for (int64_t i = 0; i < s->work->array.n; i++)
		json_array_append_new(arrays, array_json(s, &r->array[i]));
	return json_pack(
		"{s:s, s:s, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"planner", r->planner, "status", outcome_name(r->status), "message",
		json_text(r->message), "planning_s",
		json_known(s->timing ? r->planning_s : NAN), "time_s",
		times_json(s, r->time_s), "calls", (json_int_t)r->calls, "order",
		ordered ? json_text(r->order) : json_null(), "before_bytes",
		ordered ? json_quantity(r->waves.before) : json_null(), "peak_bytes",
		ordered ? json_quantity(r->waves.peak) : json_null(), "after_bytes",
		ordered ? json_quantity(r->waves.after) : json_null(), "host",
		host_json(r->host), "arrays", arrays, "waves", waves_json(s, r));
}

void move_json(struct text *out, const struct move_shown *s)
{
	const struct move_how *how = s->how;
	json_t *results = json_array(), *all;
	char *text;

	for (int i = 0; i < s->n; i++)
		json_array_append_new(results, result_json(s, &s->result[i]));
	all = json_pack(
		"{s:s, s:{s:o, s:I, s:I, s:o, s:s, s:o}, s:o, s:o, s:o}", "schema",
		"shardsim/1", "workload", "name", json_text(s->work->name), "arrays",
		(json_int_t)s->work->narrays, "concurrent", (json_int_t)how->concurrent,
		"batch_bytes",
		how->batch_bytes ? json_integer(how->batch_bytes) : json_null(),
		"source", how->free_source ? "free" : "keep", "memory_limit_bytes",
		how->limit_bytes > 0 ? json_quantity(how->limit_bytes) : json_null(),
		"platform", json_text(s->platform), "launch",
		library_json(s->bench->machine), "results", results);
	text = json_dumps(all, JSON_REAL_PRECISION(17));
	text_printf(out, "%s\n", text);
	free(text);
	json_decref(all);
}
