#include "clock/simgrid_run.h"

#include "base/list.h"
#include "cost/hosts.h"
#include "cost/model.h"

#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/exec.h>
#include <simgrid/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A task of a round with the times at which it starts and ends. */
struct start {
	const struct task *task;
	struct task_times times;
};

struct simulation {
	struct platform *platform;
	const struct schedule *schedule; /* [nschedules] */
	int nschedules;
	double *wire_s; /* [nschedules] */
	struct hosts hosts;
	LIST(sg_host_t) host;     /* the hosts of the task at hand */
	LIST(struct start) start; /* the tasks of the round at hand */
	LIST(sg_exec_t) exec;     /* the parallel tasks of the round at hand */
	bool failed;              /* a message has no route */
};

/* --- parallel tasks ----------------------------------------------------------------- */

/* Starts a parallel task; bytes[i * n + j] go from host i to host j. */
static void exec_start(struct simulation *sim, int n, const sg_host_t *host,
                       double *bytes)
{
	double *flops = xmalloc((size_t)n, sizeof(*flops));

	for (int i = 0; i < n; i++)
		flops[i] = 0;
	*list_add(&sim->exec, NULL) = sg_actor_parallel_exec_init(n, host, flops, bytes);
	sg_exec_start(sim->exec.at[sim->exec.n - 1]);
	free(flops);
}

/* Starts one parallel task over all hosts of a task. */
static void whole_start(struct simulation *sim, const struct message *msg, int64_t n)
{
	struct hosts *h = &sim->hosts;
	size_t nhosts;
	double *bytes;

	hosts_clear(h);
	hosts_add(h, msg, n);
	nhosts = (size_t)h->n;
	bytes = xmalloc(nhosts * nhosts, sizeof(*bytes));
	memset(bytes, 0, nhosts * nhosts * sizeof(*bytes));
	for (int64_t i = 0; i < n; i++) {
		int32_t src = host_number(h->machine, msg[i].fabric, msg[i].src);
		int32_t dst = host_number(h->machine, msg[i].fabric, msg[i].dst);

		bytes[(size_t)h->place[src] * nhosts + (size_t)h->place[dst]] +=
			msg[i].bytes;
	}
	sim->host.n = 0;
	for (size_t i = 0; i < nhosts; i++)
		*list_add(&sim->host, NULL) = sim->platform->host[h->number[i]];
	exec_start(sim, (int)nhosts, sim->host.at, bytes);
	free(bytes);
}

/* Starts a parallel task per message. */
static void messages_start(struct simulation *sim, const struct message *msg, int64_t n)
{
	const struct machine *m = sim->platform->machine;
	void **host = sim->platform->host;

	for (; n > 0; n--, msg++) {
		double bytes[4] = {0, msg->bytes, 0, 0};
		sg_host_t ends[2] = {host[host_number(m, msg->fabric, msg->src)],
		                     host[host_number(m, msg->fabric, msg->dst)]};

		exec_start(sim, 2, ends, bytes);
	}
}

static void task_start(struct simulation *sim, const struct schedule *s,
                       const struct task *t)
{
	const struct message *msg = &s->message[t->first];

	if (hosts_are_one_task(&sim->hosts, s, t))
		whole_start(sim, msg, t->nmessages);
	else
		messages_start(sim, msg, t->nmessages);
}

/* --- rounds ------------------------------------------------------------------------- */

static struct start start_of(struct simulation *sim, const struct schedule *s,
                             const struct task *t)
{
	double longest_s = 0;

	for (int64_t i = 0; i < t->nmessages; i++) {
		const struct message *msg = &s->message[t->first + i];
		double latency_s = machine_latency(sim->platform->machine, msg->fabric,
		                                   msg->src, msg->dst);

		sim->failed = sim->failed || latency_s < 0;
		longest_s = fmax(longest_s, latency_s);
	}
	return (struct start){t, task_times(t, longest_s)};
}

/* Puts earlier starts first, and equal ones in the order of the schedule. */
static int compare_starts(const void *a, const void *b)
{
	const struct start *p = a, *q = b;

	if (p->times.after_s != q->times.after_s)
		return p->times.after_s < q->times.after_s ? -1 : 1;
	return p->task < q->task ? -1 : p->task > q->task;
}

/*
 * Starts the tasks of a round at their times, waits for all, and returns the seconds.
 */
static double round_run(struct simulation *sim, const struct schedule *s,
                        const struct round *r)
{
	double begun_s = simgrid_get_clock(), until_s = 0, now_s = 0;

	sim->start.n = sim->exec.n = 0;
	for (int64_t i = 0; i < r->ntasks; i++)
		*list_add(&sim->start, NULL) = start_of(sim, s, &s->task[r->first + i]);
	if (sim->failed)
		return 0;
	qsort(sim->start.at, (size_t)sim->start.n, sizeof(*sim->start.at),
	      compare_starts);
	for (int64_t i = 0; i < sim->start.n; i++) {
		struct task_times times = sim->start.at[i].times;

		until_s = fmax(until_s, times.until_s);
		if (times.after_s > now_s)
			sg_actor_sleep_for(begun_s + times.after_s - simgrid_get_clock());
		now_s = times.after_s;
		task_start(sim, s, sim->start.at[i].task);
	}
	for (int64_t i = 0; i < sim->exec.n; i++)
		sg_exec_wait(sim->exec.at[i]);
	return fmax(simgrid_get_clock() - begun_s, until_s);
}

/* Is the actor that runs one round after another. */
static void manager(int argc, char **argv)
{
	struct simulation *sim = sg_actor_get_data(sg_actor_self());

	(void)argc;
	(void)argv;
	for (int k = 0; k < sim->nschedules; k++) {
		const struct schedule *s = &sim->schedule[k];

		sim->wire_s[k] = 0;
		for (int64_t r = 0; r < s->nrounds && !sim->failed; r++)
			sim->wire_s[k] += round_run(sim, s, &s->round[r]);
	}
}

double simgrid_run_schedules(double *wire_s, struct platform *p,
                             const struct schedule *s, int n, char *message, size_t size)
{
	struct simulation sim = {
		.platform = p, .schedule = s, .nschedules = n, .wire_s = wire_s};
	double total_s = 0;
	sg_actor_t actor;
	size_t i = 0;

	while (!p->host[i])
		i++;
	hosts_open(&sim.hosts, p->machine);
	actor = sg_actor_init("manager", p->host[i]);
	sg_actor_set_data(actor, &sim);
	sg_actor_start(actor, manager, 0, NULL);
	simgrid_run();
	if (sim.failed) {
		snprintf(message, size, "a message has no route on %s",
		         p->machine->name);
		return CLOCK_FAILED_S;
	}
	for (int k = 0; k < n; k++)
		total_s += wire_s[k];
	return total_s;
}
