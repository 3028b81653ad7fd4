/* The answer of a search as JSON: that of a program (program/show.h), and what was found. */
#include "automap/price.h"
#include "automap/remarks.h"
#include "automap/show.h"
#include "automap/try.h"
#include "automap/words.h"
#include "plan/plan_json.h"

#include <math.h>
#include <string.h>

static json_t *mesh_json(const struct mesh *m)
{
	json_t *out = json_array();

	for (int i = 0; i < m->naxes; i++)
		json_array_append_new(
			out, json_pack("[s,i]", m->axis[i].name, (int)m->axis[i].size));
	return out;
}

static json_t *order_json(const struct automap_found *f)
{
	json_t *out = json_array();

	for (int32_t i = 0; i < f->mesh.ndevices; i++)
		json_array_append_new(out, json_integer(f->device ? f->device[i] : i));
	return out;
}

static json_t *shardings_json(struct arena *a, const struct automap_show *s)
{
	const struct graph *g = s->ask->graph;
	json_t *out = json_object();

	for (int32_t i = 0; i < g->group.n; i++) {
		const struct graph_group *group = &g->group.at[i];
		const char *layout = automap_layout_text(a, &s->answer->best, g, i);

		for (int32_t k = 0; k < group->narguments; k++) {
			struct span name = argument_name(
				g->program, g->argument.at[group->first_argument + k]);

			json_object_set_new(
				out, arena_strndup(a, name.at, (size_t)name.length),
				json_string(layout));
		}
	}
	return out;
}

static json_t *sums_json(const struct automap_found *f)
{
	json_t *out = json_array();

	for (int i = 0; i < f->cutting->naxes; i++)
		if (f->cutting->sums[i] >= 0)
			json_array_append_new(out, json_pack("[s,i]", automap_axis(f, i),
			                                     f->cutting->sums[i]));
	return out;
}

static json_t *experts_json(const struct automap_found *f)
{
	json_t *out = json_array();

	for (int i = 0; i < f->cutting->naxes; i++)
		if (f->cutting->experts >> i & 1)
			json_array_append_new(out, json_string(automap_axis(f, i)));
	return out;
}

static json_t *whole_json(struct arena *a, const struct automap_show *s)
{
	json_t *out = json_array();
	int64_t n;
	const struct whole_values *whole =
		automap_whole_values(&n, a, &s->answer->best, s->ask->graph, false);

	for (int64_t i = 0; i < n; i++)
		json_array_append_new(out, json_pack("[s,s,s]", whole[i].names,
		                                     whole[i].axis, whole[i].what));
	return out;
}

/* Adds what is remarked on beside the answer, line by line. */
static void add_remarks(json_t *out, const struct automap_show *s)
{
	struct text remarks = {0};

	automap_remarks(&remarks, s);
	for (size_t at = 0, n; at < remarks.length; at += n + 1) {
		n = strcspn(remarks.s + at, "\n");
		json_array_append_new(out, json_stringn(remarks.s + at, n));
	}
	text_free(&remarks);
}

static json_t *second_json(const struct automap_show *s)
{
	const struct automap_found *f = &s->answer->second;

	if (!f->cutting)
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:o,s:s}", "step_s",
	                 s->ask->machine ? json_real(f->e.step_s) : json_null(),
	                 "peak_bytes", json_integer((json_int_t)f->e.peak_bytes),
	                 "mesh", mesh_json(&f->mesh), "placement",
	                 f->placement ? json_string(f->placement) : json_null(), "why",
	                 s->answer->why);
}

static json_t *answer_json(struct arena *a, const struct automap_show *s)
{
	const struct automap_answer *r = s->answer;
	json_t *tactics = json_array();

	for (int i = 0; i < s->ask->ntactics; i++)
		json_array_append_new(tactics, json_string(s->ask->tactic[i]));
	return json_pack(
		"{s:o,s:o,s:o,s:b,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "mesh",
		mesh_json(&r->best.mesh), "placement",
		r->best.placement ? json_string(r->best.placement) : json_null(),
		"evaluations", json_integer((json_int_t)r->evaluations), "complete",
		r->complete, "shardings", shardings_json(a, s), "weights_by",
		weights_rule(s->ask->graph->weights), "sums", sums_json(&r->best),
		"experts", experts_json(&r->best), "whole", whole_json(a, s), "tactics",
		tactics, "device_order", order_json(&r->best), "second", second_json(s));
}

/* What is known of the model besides its program; there is no pipeline, and nothing idles. Steps of
 * found shardings were never measured. */
static struct program_job job_of(const struct automap_show *s,
                                 const struct automap_price *p)
{
	double devices = p->program.ndevices, passes = automap_micro_batches(s->ask),
	       peak = s->ask->machine ? s->ask->machine->tuning.value[TUNING_BF16_FLOPS]
	                              : 0;
	struct program_job job = {
		.model_flops = passes * s->program->model_flops / devices,
		.tokens_per_s_per_device =
			passes * s->program->tokens / devices / p->price.step_s,
		.sure = {NAN, NAN},
		.naxes = p->naxes,
		.axis = p->axis};

	job.mfu = peak > 0 ? job.model_flops / p->price.step_s / peak : NAN;
	return job;
}

void automap_show_json(struct text *out, struct arena *a, const struct automap_show *s)
{
	const struct evaluation *e = &s->answer->best.e;
	const struct program_memory memory = {
		e->params_bytes, e->peak_bytes - e->params_bytes, e->peak_bytes,
		s->ask->memory_limit_bytes, NULL};
	struct automap_price p;
	struct program_job job;
	struct likely likely;
	struct program_show show = {.platform = s->platform,
	                            .memory = &memory,
	                            .job = &job,
	                            .likely = &likely};
	json_t *root;

	automap_price(&p, a, s->ask, s->answer);
	job = job_of(s, &p);
	likely = program_likely(s->likely, &p.price);
	show.reshards = &p.reshards;
	/* The lines of a model's step are those that --emit hlo writes. */
	if (s->program->text.s)
		p.program.file = "--emit hlo";
	root = program_json(a, &p.price, &show);
	add_remarks(json_object_get(root, "warnings"), s);
	json_object_set_new(root, "automap", answer_json(a, s));
	program_json_print(out, root);
}
