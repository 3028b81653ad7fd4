#include "validate/program/sharded.h"

#include "automap/load.h"
#include "automap/run.h"

#include <math.h>
#include <string.h>

enum { LIST_MAX = 16 };

/* Tactics as they are named one after another, each on an axis that the mesh has. */
struct strategy {
	struct arena *a;
	struct mesh mesh;
	int n;
	const char *tactic[LIST_MAX];
};

static void add_axis(struct strategy *s, const char *name, int64_t size)
{
	if (size > 1)
		s->mesh.axis[s->mesh.naxes++] = (struct axis){name, (int32_t)size};
}

static void add_tactic(struct strategy *s, const char *tactic, const char *axis)
{
	if (mesh_axis(&s->mesh, axis, strlen(axis)) >= 0)
		s->tactic[s->n++] = arena_printf(s->a, "%s:%s", tactic, axis);
}

static struct strategy strategy_of(struct arena *a, const struct step_job *job)
{
	static const char *const spread[] = {"data", "expert", "context"};
	const struct step_degrees *d = &job->degrees;
	int64_t zero = d->fsdp > 1 ? 3 : job->model.train.zero;
	struct strategy s = {.a = a};

	s.mesh.ndevices = (int32_t)job->ndevices;
	add_axis(&s, "data", d->data * d->fsdp / d->expert);
	add_axis(&s, "expert", d->expert);
	add_axis(&s, "context", d->context);
	add_axis(&s, "tensor", d->tensor);
	add_tactic(&s, "expert", "expert");
	add_tactic(&s, "data", "data");
	add_tactic(&s, "data", "expert");
	add_tactic(&s, "context", "context");
	add_tactic(&s, "megatron", "tensor");
	if (job->model.train.sequence_parallel)
		add_tactic(&s, "sequence", "tensor");
	for (size_t i = 0; i < sizeof(spread) / sizeof(*spread) && zero; i++)
		add_tactic(&s, zero == 3 ? "zero3" : "zero2", spread[i]);
	return s;
}

/* Why a row is no sharding of whole arrays; NULL: it is one. */
static const char *inexpressible(const struct step_job *job)
{
	const struct model_train *t = &job->model.train;

	if (job->degrees.pipeline > 1)
		return "stages of a pipeline";
	if (t->matmul_dtype)
		return "projections in 8 bits";
	if (t->recompute == RECOMPUTE_SELECTIVE && t->attention == ATTENTION_MATH)
		return "attention alone is computed again";
	if (t->global_batch % (t->micro_batch * job->degrees.data * job->degrees.fsdp))
		return "its batch does not divide by its micro batches";
	return NULL;
}

static void price_sharded(struct sharded_step *out, struct arena *scratch,
                          struct automap_ask *ask, const struct strategy *s,
                          int64_t budget)
{
	struct automap_answer answer;
	struct error e = {0};

	ask->ntactics = s->n;
	ask->tactic = s->tactic;
	ask->search = SEARCH_NONE;
	if (automap_run(&answer, scratch, ask, &e) == OK && !answer.best.e.unknown)
		out->expert_s = answer.best.e.step_s;
	ask->ntactics = 0;
	ask->nstart = s->n;
	ask->start = s->tactic;
	ask->search = SEARCH_STRUCTURE;
	ask->budget = budget;
	if (e.code == OK && automap_run(&answer, scratch, ask, &e) == OK)
		out->ours_s = answer.best.e.step_s;
	out->evaluations = answer.evaluations;
}

static void run_job(struct sharded_step *out, struct arena *a, const char *path,
                    int64_t budget)
{
	const struct step_job *job = out->job;
	struct arena *scratch = arena_new();
	struct strategy s = strategy_of(scratch, job);
	struct architecture m = job->model;
	struct automap_program p;
	struct automap_ask ask = {.mesh = &s.mesh,
	                          .ndevices = s.mesh.ndevices,
	                          .machine = job->machine,
	                          .devices = job->devices,
	                          .planner = planner_find("best", 4),
	                          .recompute = m.train.recompute == RECOMPUTE_FULL};
	struct text text = {0};
	struct error e = {0};

	m.train.global_batch =
		m.train.micro_batch * job->degrees.data * job->degrees.fsdp;
	ask.micro_batches = job->model.train.global_batch / m.train.global_batch;
	mesh_print(&text, &s.mesh);
	out->mesh = text_take(&text, a);
	for (int i = 0; i < s.n; i++)
		text_printf(&text, "%s%s", i ? " " : "", s.tactic[i]);
	out->tactics = text_take(&text, a);
	if (automap_of_model(&p, scratch, &m, path, &e) == OK) {
		ask.graph = &p.graph;
		price_sharded(out, scratch, &ask, &s, budget);
	}
	if (e.code != OK)
		out->left_out = arena_strdup(a, e.text);
	else if (isnan(out->expert_s))
		out->left_out = "of some kernels the platform does not tell how long "
				"they take";
	text_free(&p.text);
	arena_free(scratch);
}

/* Sums up the rows that are equal but for what was measured. */
static void find_configurations(struct sharded_table *out, struct arena *a,
                                const struct step_jobs *jobs)
{
	int64_t *number = arena_alloc(a, (size_t)jobs->n + 1, sizeof(*number));

	out->row = arena_alloc(a, (size_t)jobs->n + 1, sizeof(*out->row));
	out->n = 0;
	for (int64_t i = 0; i < jobs->n; i++) {
		const struct step_job *job = &jobs->row[i];
		struct sharded_step *s;

		number[i] = job->like < i ? number[job->like] : out->n;
		s = &out->row[number[i]];
		if (number[i] == out->n) {
			*s = (struct sharded_step){.job = job,
			                           .mesh = "",
			                           .tactics = "",
			                           .expert_s = NAN,
			                           .ours_s = NAN,
			                           .left_out = job->left_out};
			out->n++;
		}
		s->n++;
		s->measured_s += log(job->measured_s);
	}
	for (int64_t i = 0; i < out->n; i++)
		out->row[i].measured_s =
			exp(out->row[i].measured_s / (double)out->row[i].n);
}

/* Whether b has no less to compute than a, of which it is kin. */
static bool computes_no_less(const struct step_job *a, const struct step_job *b)
{
	const struct model_train *s = &a->model.train, *t = &b->model.train;

	return a->kin == b->kin && s->seq <= t->seq &&
	       s->seq * s->micro_batch <= t->seq * t->micro_batch &&
	       s->global_batch / s->micro_batch <= t->global_batch / t->micro_batch;
}

/* Finds of each configuration the fastest that computes no less and makes it an outlier. */
static void find_outliers(struct sharded_table *t)
{
	for (int64_t i = 0; i < t->n; i++) {
		struct sharded_step *s = &t->row[i];

		for (int64_t k = 0; k < t->n && !s->left_out; k++) {
			const struct sharded_step *o = &t->row[k];
			double most = s->faster ? s->faster->measured_s
			                        : s->measured_s / STEP_OUTLIER;

			if (!o->left_out && o->measured_s < most &&
			    computes_no_less(s->job, o->job))
				s->faster = o;
		}
	}
}

enum status sharded_table_read(struct sharded_table *out, struct arena *a,
                               const char *path, int64_t budget, struct error *e)
{
	struct step_jobs *jobs = arena_alloc(a, 1, sizeof(*jobs));

	if (step_jobs_read(jobs, a, path, e) != OK)
		return e->code;
	find_configurations(out, a, jobs);
	find_outliers(out);
	for (int64_t i = 0; i < out->n; i++) {
		struct sharded_step *s = &out->row[i];

		if (!s->left_out)
			s->left_out = inexpressible(s->job);
		if (!s->left_out)
			run_job(s, a, path, budget);
	}
	return OK;
}
