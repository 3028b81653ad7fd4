#include "program/show.h"

#include "measure/library.h"
#include "plan/plan_json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static json_t *number(double x)
{
	if (isnan(x))
		return json_null();
	return fabs(x) < 1e15 && x == floor(x) ? json_integer((json_int_t)x)
	                                       : json_real(x);
}

static json_t *real(double x)
{
	return isnan(x) ? json_null() : json_real(x);
}

static json_t *kinds_json(const struct program_price *price)
{
	static const enum op_class all[] = {
		CLASS_ELEMENTWISE, CLASS_MATMUL, CLASS_CONVOLUTION, CLASS_REDUCE,
		CLASS_MOVE,        CLASS_INDEX,  CLASS_SORT,        CLASS_RANDOM,
		CLASS_SOLVE,       CLASS_CUSTOM,
	};
	json_t *kinds = json_object();

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		json_object_set_new(kinds, op_class_name(all[i]),
		                    price->machine ? real(price->class_s[all[i]])
		                                   : json_null());
	return kinds;
}

/* Waiting by the axis that was waited for; null where axes are not known. */
static json_t *axes_json(const struct program_job *job)
{
	json_t *axes = json_object();

	for (int i = 0; i < job->naxes; i++)
		json_object_set_new(axes, job->axis[i].name,
		                    real(job->axis[i].exposed_s));
	return axes;
}

static json_t *totals_json(const struct program_price *price,
                           const struct program_show *show)
{
	const struct program_memory *m = show->memory;
	const struct program_job *job = show->job;
	bool fits = !(m->device > 0) || m->peak <= m->device;
	double bubble = job ? job->bubble_s : 0;
	double contention = job ? job->contention_s : 0, idle = job ? job->idle_s : 0;

	return json_pack(
		"{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,"
		"s:o,s:o,s:o,s:o,s:o,s:o}",
		"step_s", real(price->step_s + contention + idle + bubble), "compute_s",
		real(price->compute_s), "communication_s", real(price->communication_s),
		"exposed_s", real(price->exposed_s), "host_s", real(price->host_s),
		"dot_flops", number(price->dot_flops), "model_flops",
		job ? number(job->model_flops) : json_null(), "mfu",
		job ? real(job->mfu) : json_null(), "compute_by_kind", kinds_json(price),
		"exposed_by_axis", job ? axes_json(job) : json_null(), "bubble_s",
		real(bubble), "contention_s", real(contention), "idle_s", real(idle),
		"tokens_per_s_per_device",
		job ? real(job->tokens_per_s_per_device) : json_null(), "params_bytes",
		number(m->params), "temp_bytes", number(m->temps), "peak_bytes",
		number(m->peak), "fits",
		m->device > 0 ? json_boolean(fits) : json_null(),
		"full_rematerializations",
		show->reshards ? json_integer(show->reshards->full_rematerializations)
			       : json_null(),
		"bound_s", real(price->bound_s), "communication_interval_s",
		show->likely ? likely_json(show->likely) : json_null(),
		"step_interval_s", job ? likely_json(&job->sure) : json_null());
}

static json_t *collectives_json(const struct table_rows *rows)
{
	json_t *all = json_array();

	for (int64_t i = 0; i < rows->row.n; i++) {
		const struct table_row *r = &rows->row.at[i];

		json_array_append_new(
			all,
			json_pack("{s:s,s:o,s:i,s:o,s:o,s:o,s:o,s:o,s:o}", "op",
		                  opcode_name(r->code), "count", number(r->count),
		                  "group_size", (int)r->group_size, "result_bytes",
		                  number(r->bytes), "time_s", real(r->time_s),
		                  "bound_s", real(r->bound_s), "best_s",
		                  real(r->best_s), "algorithm",
		                  r->algorithm ? json_text(r->algorithm) : json_null(),
		                  "op_name", json_text(r->name)));
	}
	return all;
}

static json_t *ops_json(const struct table_rows *rows)
{
	json_t *all = json_array();

	for (int64_t i = 0; i < rows->row.n; i++) {
		const struct table_row *r = &rows->row.at[i];

		json_array_append_new(
			all,
			json_pack("{s:s,s:s,s:o,s:o,s:o,s:o}", "kind",
		                  op_class_name(r->class), "name", r->name, "count",
		                  number(r->count), "time_s", real(r->time_s), "flops",
		                  number(r->flops), "bytes", number(r->bytes)));
	}
	return all;
}

static json_t *warnings_json(const struct program *p, struct arena *a)
{
	json_t *all = json_array();

	for (int64_t i = 0; i < p->warning.n; i++) {
		const struct warning *w = &p->warning.at[i];
		const char *text = w->line ? arena_printf(a, "%s:%d: %s", p->file,
		                                          (int)w->line, w->text)
		                           : w->text;

		json_array_append_new(all, json_text(text));
	}
	return all;
}

json_t *program_json(struct arena *a, const struct program_price *price,
                     const struct program_show *show)
{
	const struct program *p = price->program;
	struct table_rows collectives, ops;
	json_t *all;

	rows_of(&collectives, a, price, true, show->by);
	rows_of(&ops, a, price, false, show->by_given ? show->by : ROWS_BY_OP);
	all = json_pack(
		"{s:s,s:{s:o,s:s,s:i},s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema",
		"shardsim/1", "program", "name",
		json_text(arena_strndup(a, p->name.at ? p->name.at : "",
	                                (size_t)p->name.length)),
		"stage", stage_name(p->stage), "devices", (int)p->ndevices, "platform",
		show->platform ? json_text(show->platform) : json_null(), "launch",
		library_json(price->machine), "totals", totals_json(price, show),
		"reshards", reshards_json(show->reshards, a), "collectives",
		collectives_json(&collectives), "ops", ops_json(&ops), "warnings",
		warnings_json(p, a));
	if (show->timeline)
		json_object_set_new(all, "timeline",
		                    timeline_json(price, show->timeline));
	if (show->held)
		json_object_set_new(all, "memory", held_json(p, show->held));
	return all;
}

void program_json_print(struct text *out, json_t *object)
{
	char *s = json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(15));

	text_printf(out, "%s\n", s);
	free(s);
	json_decref(object);
}

void program_show_json(struct text *out, struct arena *a,
                       const struct program_price *price,
                       const struct program_show *show)
{
	program_json_print(out, program_json(a, price, show));
}
