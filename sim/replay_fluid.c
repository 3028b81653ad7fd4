#include "replay_fluid.h"

#include <assert.h>
#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/exec.h>
#include <simgrid/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* When a task of the round starts, after the round does. */
struct start {
	const struct task *task;
	double after_s;
	double until_s; /* it ends no sooner, after the round starts */
};

struct fluid {
	struct platform *platform;
	const struct schedule *schedule;
	sg_host_t manager; /* where the actor that starts the tasks is */
	int32_t *index; /* [nfabrics * ndevices]: of a host in the current task, or -1 */
	sg_host_t *host; /* of the current task */
	int nhosts;
	struct start *start;
	int64_t starts_capacity;
	sg_exec_t *exec; /* running */
	int64_t nexecs, execs_capacity;
	bool failed; /* a message has no route */
};

struct fluid *fluid_new(struct platform *p)
{
	struct fluid *w = xmalloc(1, sizeof(*w));
	size_t n = (size_t)p->machine->nfabrics * (size_t)p->machine->ndevices;

	*w = (struct fluid){.platform = p};
	w->index = xmalloc(n, sizeof(*w->index));
	memset(w->index, -1, n * sizeof(*w->index));
	w->host = xmalloc(n, sizeof(sg_host_t));
	return w;
}

void fluid_free(struct fluid *w)
{
	if (!w)
		return;
	free(w->index);
	free(w->host);
	free(w->start);
	free(w->exec);
	free(w);
}

static size_t host_number(const struct fluid *w, const struct message *msg, int32_t d)
{
	size_t i = (size_t)msg->fabric * (size_t)w->platform->machine->ndevices +
	           (size_t)d;

	assert(w->platform->host[i]);
	return i;
}

/* The place of the host in the current task, which it joins if it is new. */
static int join(struct fluid *w, size_t number)
{
	if (w->index[number] < 0) {
		w->index[number] = w->nhosts;
		w->host[w->nhosts++] = w->platform->host[number];
	}
	return w->index[number];
}

static void exec_start(struct fluid *w, int n, sg_host_t *hosts, double *bytes)
{
	double *flops = xmalloc((size_t)n, sizeof(*flops));

	for (int i = 0; i < n; i++)
		flops[i] = 0;
	if (w->nexecs == w->execs_capacity) {
		w->execs_capacity = w->execs_capacity ? 2 * w->execs_capacity : 64;
		w->exec =
			xrealloc(w->exec, (size_t)w->execs_capacity, sizeof(sg_exec_t));
	}
	w->exec[w->nexecs] = sg_actor_parallel_exec_init(n, hosts, flops, bytes);
	sg_exec_start(w->exec[w->nexecs++]);
	free(flops);
}

/* A parallel task per message, for a group too large for one. */
static void messages_start(struct fluid *w, const struct message *msg, int64_t n)
{
	for (; n > 0; n--, msg++) {
		double bytes[4] = {0, msg->bytes, 0, 0};
		sg_host_t hosts[2] = {w->platform->host[host_number(w, msg, msg->src)],
		                      w->platform->host[host_number(w, msg, msg->dst)]};

		exec_start(w, 2, hosts, bytes);
	}
}

static void task_start(struct fluid *w, const struct task *t)
{
	const struct message *msg = &w->schedule->message[t->first];
	double *bytes = NULL;
	size_t n;

	w->nhosts = 0;
	for (int64_t i = 0; i < t->nmessages; i++) {
		join(w, host_number(w, &msg[i], msg[i].src));
		join(w, host_number(w, &msg[i], msg[i].dst));
	}
	n = (size_t)w->nhosts;
	if (n <= FLUID_GROUP_HOSTS_MAX)
		bytes = memset(xmalloc(n * n, sizeof(*bytes)), 0,
		               n * n * sizeof(*bytes));
	for (int64_t i = 0; i < t->nmessages && bytes; i++) {
		size_t src = host_number(w, &msg[i], msg[i].src);
		size_t dst = host_number(w, &msg[i], msg[i].dst);

		bytes[(size_t)w->index[src] * n + (size_t)w->index[dst]] += msg[i].bytes;
	}
	for (int64_t i = 0; i < t->nmessages; i++) {
		w->index[host_number(w, &msg[i], msg[i].src)] = -1;
		w->index[host_number(w, &msg[i], msg[i].dst)] = -1;
	}
	if (bytes)
		exec_start(w, w->nhosts, w->host, bytes);
	else
		messages_start(w, msg, t->nmessages);
	free(bytes);
}

/*
 * The rounds that were merged into the task each cost the latency of its longest route,
 * which is paid before the task, like the delay of its software.
 */
static struct start start_find(struct fluid *w, const struct task *t)
{
	const struct machine *m = w->platform->machine;
	double longest_s = 0;

	if (t->repeats == 1 && t->least_s == 0)
		return (struct start){t, t->delay_s, 0};
	for (int64_t i = 0; i < t->nmessages; i++) {
		const struct message *msg = &w->schedule->message[t->first + i];
		double latency_s = machine_latency(m, msg->fabric, msg->src, msg->dst);

		w->failed = w->failed || latency_s < 0;
		longest_s = fmax(longest_s, latency_s);
	}
	return (struct start){t, t->delay_s + (t->repeats - 1) * longest_s,
	                      t->delay_s + t->repeats * longest_s + t->least_s};
}

/* Earlier ones first, in the order of the schedule where they start together. */
static int compare_starts(const void *a, const void *b)
{
	const struct start *p = a, *q = b;

	if (p->after_s != q->after_s)
		return p->after_s < q->after_s ? -1 : 1;
	return p->task < q->task ? -1 : p->task > q->task;
}

static void round_run(struct fluid *w, const struct round *r)
{
	double begun_s = simgrid_get_clock(), until_s = 0;

	if (r->ntasks > w->starts_capacity) {
		w->starts_capacity = r->ntasks;
		w->start = xrealloc(w->start, (size_t)r->ntasks, sizeof(*w->start));
	}
	for (int64_t i = 0; i < r->ntasks; i++) {
		const struct task *t = &w->schedule->task[r->first + i];

		w->start[i] = start_find(w, t);
		until_s = fmax(until_s, w->start[i].until_s);
	}
	qsort(w->start, (size_t)r->ntasks, sizeof(*w->start), compare_starts);
	w->nexecs = 0;
	for (int64_t i = 0; i < r->ntasks; i++) {
		if (i ? w->start[i].after_s > w->start[i - 1].after_s
		      : w->start[i].after_s > 0)
			sg_actor_sleep_for(begun_s + w->start[i].after_s -
			                   simgrid_get_clock());
		task_start(w, w->start[i].task);
	}
	for (int64_t i = 0; i < w->nexecs; i++)
		sg_exec_wait(w->exec[i]);
	if (begun_s + until_s > simgrid_get_clock())
		sg_actor_sleep_for(begun_s + until_s - simgrid_get_clock());
}

/* The actor: starts and awaits the tasks of one round after another. */
static void manager(int argc, char **argv)
{
	struct fluid *w = sg_actor_get_data(sg_actor_self());

	(void)argc;
	(void)argv;
	for (int64_t r = 0; r < w->schedule->nrounds; r++)
		round_run(w, &w->schedule->round[r]);
}

double fluid_clock(void *self, const struct schedule *s, char *message, size_t size)
{
	struct fluid *w = self;
	double begun_s;
	sg_actor_t actor;

	assert(w->platform->host);
	if (!s->nrounds)
		return 0;
	for (size_t i = 0; !w->manager; i++)
		w->manager = w->platform->host[i];
	begun_s = simgrid_get_clock();
	w->schedule = s;
	w->failed = false;
	actor = sg_actor_init("manager", w->manager);
	sg_actor_set_data(actor, w);
	sg_actor_start(actor, manager, 0, NULL);
	simgrid_run();
	if (!w->failed)
		return simgrid_get_clock() - begun_s;
	snprintf(message, size, "a message has no route on %s",
	         w->platform->machine->name);
	return -1;
}
