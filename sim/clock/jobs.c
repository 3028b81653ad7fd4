#include "clock/jobs.h"

#include "base/memory.h"
#include "clock/replay.h"

#include <errno.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/exec.h>
#include <simgrid/host.h>
#include <string.h>

/* Of each job two numbers go from the child to its parent. */
enum { RESULT_DEGREE, RESULT_SECONDS, RESULT_SIZE };

struct jobs_replay {
	struct platform *platform;
	struct job_desk *desk;
	const struct job *job;
	int64_t n;
	double *result;
};

/* A job with its devices; the actor that runs it frees it. */
struct running {
	struct jobs_replay *of;
	int64_t number;
	struct job_given given;
};

/* SimGrid's host of a device: on the first fabric that it is on. */
static sg_host_t host_of(const struct platform *p, int32_t device)
{
	for (int f = 0; f < p->machine->nfabrics; f++)
		if (p->host[f * p->machine->ndevices + device])
			return p->host[f * p->machine->ndevices + device];
	return NULL;
}

/* Runs a parallel task of that many seconds on the devices of a job. */
static void compute(const struct platform *p, const struct job_given *g)
{
	int n = 1 << g->degree;
	sg_host_t *host = xmalloc((size_t)n, sizeof(*host));
	double *flops = xmalloc((size_t)n, sizeof(*flops));
	double *bytes = xcalloc((size_t)n * (size_t)n, sizeof(*bytes));
	sg_exec_t task;

	for (int i = 0; i < n; i++) {
		host[i] = host_of(p, g->first + i);
		flops[i] = g->seconds * sg_host_get_speed(host[i]);
	}
	task = sg_actor_parallel_exec_init(n, host, flops, bytes);
	sg_exec_start(task);
	sg_exec_wait(task);
	xfree(host);
	xfree(flops);
	xfree(bytes);
}

/* Is the actor of a job. */
static void run_job(int argc, char **argv)
{
	struct running *r = sg_actor_get_data(sg_actor_self());
	double begun_s = simgrid_get_clock();

	(void)argc;
	(void)argv;
	compute(r->of->platform, &r->given);
	job_ends(r->of->desk, r->given.first);
	r->of->result[r->number * RESULT_SIZE + RESULT_SECONDS] =
		simgrid_get_clock() - begun_s;
	xfree(r);
}

/* Is the actor to whom jobs come. */
static void receive(int argc, char **argv)
{
	struct jobs_replay *r = sg_actor_get_data(sg_actor_self());

	(void)argc;
	(void)argv;
	for (int64_t i = 0; i < r->n; i++) {
		struct running *run;
		struct job_given given;
		sg_actor_t actor;

		sg_actor_sleep_for(r->job[i].at_s - simgrid_get_clock());
		given = job_arrives(r->desk, &r->job[i]);
		r->result[i * RESULT_SIZE + RESULT_DEGREE] = given.degree;
		if (given.degree < 0)
			continue;
		run = xmalloc(1, sizeof(*run));
		*run = (struct running){r, i, given};
		actor = sg_actor_init("job", host_of(r->platform, given.first));
		sg_actor_set_data(actor, run);
		sg_actor_start(actor, run_job, 0, NULL);
	}
}

/* Is a replay_call, in a process of its own. */
static double simulate(void *self, struct replay *out)
{
	struct jobs_replay *r = self;
	sg_actor_t actor;

	r->result = out->wire_s;
	actor = sg_actor_init("desk", host_of(r->platform, 0));
	sg_actor_set_data(actor, r);
	sg_actor_start(actor, receive, 0, NULL);
	simgrid_run();
	return simgrid_get_clock();
}

enum status jobs_replay(struct job_result *out, struct platform *p, struct job_desk *d,
                        const struct job *j, int64_t n, struct error *e)
{
	struct jobs_replay r = {p, d, j, n, NULL};
	int size = (int)n * RESULT_SIZE;
	struct replay *replay;

	if (platform_start(p, e) != OK)
		return e->code;
	replay = replay_new(size);
	if (!replay)
		return error_set(e, E_IO, (struct where){0}, "no memory to share: %s",
		                 strerror(errno));
	replay_in_child(replay, simulate, &r);
	for (int64_t i = 0; i < n; i++)
		out[i] = (struct job_result){
			(int)replay->wire_s[i * RESULT_SIZE + RESULT_DEGREE],
			replay->wire_s[i * RESULT_SIZE + RESULT_SECONDS]};
	if (replay->total_s < 0)
		error_set(e, E_IO, (struct where){0}, "SimGrid: %s", replay->message);
	replay_free(replay, size);
	return e->code;
}
