#include "automap/jobs_suite.h"

#include "automap/run.h"
#include "automap/study.h"
#include "clock/jobs.h"
#include "measure/library.h"
#include "platform/platform.h"
#include "text/progress.h"

#include <string.h>

/* The times of a step of a kind on 1, 2, 4, ... devices, 0 where it does not fit. */
static enum status search_steps(struct arena *a, struct job_kind *k,
                                const struct jobs_file_kind *f,
                                const struct machine *machine, struct error *e)
{
	struct automap_program *p = arena_alloc(a, 1, sizeof(*p));

	automap_load(p, a, f->file, f->train, NULL, 0, e);
	for (int i = 0; e->code == OK && i < JOB_DEGREES && 1 << i <= machine->ndevices;
	     i++) {
		struct automap_ask ask = {.graph = &p->graph,
		                          .machine = machine,
		                          .ndevices = 1 << i,
		                          .search = SEARCH_STRUCTURE,
		                          .memory_limit_bytes =
		                                  machine->device[0].memory_bytes};
		struct automap_answer answer;

		if (automap_run(&answer, a, &ask, e) != OK)
			break;
		if (answer.best.e.unknown)
			error_set(e, E_INFEASIBLE, f->file_at,
			          "the platform does not tell how long kernels take");
		else if (automap_fits(&ask, &answer.best.e))
			k->step_s[i] = answer.best.e.step_s;
	}
	if (e->code == OK && job_alone_s(k) <= 0)
		error_set(e, E_INFEASIBLE, f->file_at,
		          "does not fit into the memory of the machine");
	text_free(&p->text);
	return e->code;
}

static void count_results(struct jobs_row *row, const struct job_mix *m,
                          const struct job *j, const struct job_result *r, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		if (r[i].degree < 0) {
			row->blocked[-1 - r[i].degree]++;
			continue;
		}
		row->done++;
		row->devices += 1 << r[i].degree;
		row->share += r[i].seconds / job_alone_s(&m->kind[j[i].kind]);
	}
}

/* All policies on the same jobs. */
static enum status run_policies(struct jobs_rows *rows, struct arena *a,
                                const struct jobs_suite *s, const struct job_mix *m,
                                struct jobs_row row, struct platform *p,
                                struct progress *progress, struct error *e)
{
	size_t n = (size_t)s->count;
	struct rng *rng = rng_new((uint64_t)s->seed);
	struct job *job = xmalloc(n, sizeof(*job));
	struct job_result *result = xmalloc(n, sizeof(*result));

	jobs_draw(job, s->count, m, rng);
	for (int i = 0; i < JOB_POLICIES && e->code == OK; i++) {
		struct arena *scratch = arena_new();
		struct job_desk desk;

		row.policy = (enum job_policy)i;
		job_desk_open(&desk, scratch, m, row.policy, s->ndevices, rng);
		if (jobs_replay(result, p, &desk, job, s->count, e) == OK) {
			struct jobs_row *out = list_add(&rows->list, a);

			*out = row;
			count_results(out, m, job, result, s->count);
			progress_row(progress, 0, false);
		}
		arena_free(scratch);
	}
	xfree(job);
	xfree(result);
	rng_free(rng);
	return e->code;
}

static double mean_alone_s(const struct jobs_suite *s)
{
	double sum = 0;

	for (int i = 0; i < s->nkinds; i++)
		sum += job_alone_s(&s->kind[i]);
	return sum / s->nkinds;
}

enum status jobs_suite_run(struct jobs_rows *out, struct arena *a, struct jobs_suite *s,
                           struct error *e)
{
	struct progress progress;
	struct platform *p;

	if (platform_open(&p, a, s->platform, NULL, 0, true, e) != OK ||
	    library_of_plans(p->machine, &(struct library_text){0}, NULL, e) != OK)
		return error_in_file(e, s->platform_at);
	if (p->machine->ndevices > JOB_DEVICES_MAX)
		return error_set(e, E_RANGE, s->platform_at,
		                 "has %d devices, expected at most %d",
		                 (int)p->machine->ndevices, JOB_DEVICES_MAX);
	s->ndevices = p->machine->ndevices;
	for (int i = 0; i < s->nkinds; i++)
		if (search_steps(a, &s->kind[i], &s->file[i], p->machine, e) != OK)
			return error_in_file(e, s->file[i].file_at);
	progress_begin(&progress, (int64_t)s->nrequirements * s->nloads * JOB_POLICIES);
	for (int q = 0; q < s->nrequirements && e->code == OK; q++)
		for (int l = 0; l < s->nloads && e->code == OK; l++) {
			const struct jobs_requirement *of = &s->requirement[q];
			const struct job_mix m = {s->nkinds, of->n, s->kind, of->accept,
			                          mean_alone_s(s) /
			                                  (s->load[l] * s->ndevices)};
			const struct jobs_row row = {
				of, s->load[l], JOBS_RANDOM, 0, {0}, 0, 0};

			run_policies(out, a, s, &m, row, p, &progress, e);
		}
	progress_end(&progress);
	return e->code;
}
