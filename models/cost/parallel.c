#include "cost/parallel.h"

#include "base/list.h"
#include "cost/hosts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A link's number in the piece, and its place among the uses of the current task. */
struct place {
	int64_t piece, task;
	int64_t use;
	int32_t number;
};

struct parallel {
	const struct machine *machine;
	struct hosts hosts;
	struct place *place;   /* [nlinks] */
	int64_t pieces, tasks; /* counted over the life of the workspace */
	LIST(struct fair_task) task;
	LIST(struct fair_use) use;
	LIST(double) link_Bps;
	LIST(double) bytes;
	struct fair fair; /* the lists, as a system */
};

struct parallel *parallel_new(const struct machine *m)
{
	struct parallel *parallel = xmalloc(1, sizeof(*parallel));
	size_t n = m->nlinks ? (size_t)m->nlinks : 1;

	*parallel = (struct parallel){.machine = m};
	hosts_open(&parallel->hosts, m);
	parallel->place = memset(xmalloc(n, sizeof(*parallel->place)), 0,
	                         n * sizeof(*parallel->place));
	return parallel;
}

void parallel_free(struct parallel *parallel)
{
	if (!parallel)
		return;
	hosts_close(&parallel->hosts);
	xfree(parallel->place);
	xfree(parallel->task.at);
	xfree(parallel->use.at);
	xfree(parallel->link_Bps.at);
	xfree(parallel->bytes.at);
	xfree(parallel);
}

static void task_add(struct parallel *parallel)
{
	parallel->tasks++;
	*list_add(&parallel->task, NULL) = (struct fair_task){.first = parallel->use.n};
}

/* Puts so many bytes of the current task on a link. */
static void use_add(struct parallel *parallel, int32_t link, double bytes)
{
	struct place *p = &parallel->place[link];

	if (p->piece != parallel->pieces) {
		*p = (struct place){.piece = parallel->pieces,
		                    .number = (int32_t)parallel->link_Bps.n};
		*list_add(&parallel->link_Bps, NULL) =
			parallel->machine->link[link].bandwidth_Bps;
	}
	if (p->task == parallel->tasks) {
		parallel->use.at[p->use].bytes += bytes;
		return;
	}
	p->task = parallel->tasks;
	p->use = parallel->use.n;
	*list_add(&parallel->use, NULL) = (struct fair_use){p->number, 1, bytes};
	parallel->task.at[parallel->task.n - 1].nuses++;
}

static double route_s(const struct parallel *parallel, const int32_t *route)
{
	double sum_s = 0;

	for (int32_t l = 1; l <= *route; l++)
		sum_s += parallel->machine->link[route[l]].latency_s;
	return sum_s;
}

/*
 * Adds the task, or its messages one by one. Returns the earliest time at which it can
 * end.
 */
static double schedule_task_add(struct parallel *parallel, const struct schedule *s,
                                const struct task *t, const int32_t *route)
{
	bool apart = !hosts_are_one_task(&parallel->hosts, s, t);
	int64_t first = parallel->task.n;
	struct task_times times;
	double longest_s = 0;

	for (int64_t k = 0; k < t->nmessages; k++, route += 1 + *route) {
		double latency_s = route_s(parallel, route);
		struct fair_task *to;

		if (*route == 0) /* it arrives at once */
			continue;
		if (apart || parallel->task.n == first)
			task_add(parallel);
		to = &parallel->task.at[parallel->task.n - 1];
		to->latency_s = fmax(to->latency_s, latency_s);
		longest_s = fmax(longest_s, latency_s);
		for (int32_t l = 1; l <= *route; l++)
			use_add(parallel, route[l], s->message[t->first + k].bytes);
	}
	times = task_times(t, longest_s);
	for (int64_t i = first; i < parallel->task.n; i++)
		parallel->task.at[i].after_s = times.after_s;
	return times.until_s;
}

static int compare_starts(const void *a, const void *b)
{
	const struct fair_task *p = a, *q = b;

	if (p->after_s != q->after_s)
		return p->after_s < q->after_s ? -1 : 1;
	return p->first < q->first ? -1 : p->first > q->first;
}

static bool are_in_order(const struct parallel *parallel)
{
	for (int64_t i = 1; i < parallel->task.n; i++)
		if (parallel->task.at[i].after_s < parallel->task.at[i - 1].after_s)
			return false;
	return true;
}

/*
 * Makes the system of a task whose messages are parallel tasks, of its routes as they are.
 * Returns false if one of them uses a link twice.
 */
static bool make_of_routes(double *until_s, struct parallel *parallel,
                           const struct schedule *s, const struct task *t,
                           const int32_t *routes)
{
	const int32_t *route = routes;
	double longest_s = 0;
	struct task_times times;
	int64_t nuses = 0;

	list_reserve(&parallel->task, NULL, t->nmessages);
	list_reserve(&parallel->bytes, NULL, t->nmessages);
	parallel->bytes.n = 0;
	for (int64_t k = 0; k < t->nmessages; k++, route += 1 + *route) {
		double latency_s = route_s(parallel, route);

		if (*route == 0)
			continue;
		parallel->tasks++;
		for (int32_t l = 1; l <= *route; l++) {
			struct place *p = &parallel->place[route[l]];

			if (p->task == parallel->tasks)
				return false;
			p->task = parallel->tasks;
		}
		longest_s = fmax(longest_s, latency_s);
		nuses += *route;
		parallel->task.at[parallel->task.n++] =
			(struct fair_task){0, latency_s, route + 1 - routes, *route};
		parallel->bytes.at[parallel->bytes.n++] = s->message[t->first + k].bytes;
	}
	times = task_times(t, longest_s);
	*until_s = times.until_s;
	for (int64_t i = 0; i < parallel->task.n; i++)
		parallel->task.at[i].after_s = times.after_s;
	list_reserve(&parallel->link_Bps, NULL, parallel->machine->nlinks);
	for (int32_t l = 0; l < parallel->machine->nlinks; l++)
		parallel->link_Bps.at[l] = parallel->machine->link[l].bandwidth_Bps;
	parallel->fair = (struct fair){.ntasks = parallel->task.n,
	                               .nuses = nuses,
	                               .task = parallel->task.at,
	                               .nlinks = parallel->machine->nlinks,
	                               .link_Bps = parallel->link_Bps.at,
	                               .link = routes,
	                               .bytes = parallel->bytes.at};
	return true;
}

const struct fair *parallel_make(double *until_s, struct parallel *parallel,
                                 const struct schedule *s, const struct round *r,
                                 const struct pieces *pieces, const struct piece *p)
{
	int64_t ntasks = p ? p->ntasks : r->ntasks;

	*until_s = 0;
	parallel->pieces++;
	parallel->task.n = parallel->use.n = parallel->link_Bps.n = 0;
	if (r->ntasks == 1 &&
	    !hosts_are_one_task(&parallel->hosts, s, &s->task[r->first]) &&
	    make_of_routes(until_s, parallel, s, &s->task[r->first],
	                   pieces_routes(pieces, 0)))
		return &parallel->fair;
	parallel->task.n = 0;
	for (int32_t i = 0; i < ntasks; i++) {
		int32_t task = p ? p->task[i] : i;
		double task_until_s =
			schedule_task_add(parallel, s, &s->task[r->first + task],
		                          pieces_routes(pieces, task));

		*until_s = fmax(*until_s, task_until_s);
	}
	if (!are_in_order(parallel))
		qsort(parallel->task.at, (size_t)parallel->task.n,
		      sizeof(*parallel->task.at), compare_starts);
	parallel->fair = (struct fair){.ntasks = parallel->task.n,
	                               .nuses = parallel->use.n,
	                               .task = parallel->task.at,
	                               .use = parallel->use.at,
	                               .nlinks = (int32_t)parallel->link_Bps.n,
	                               .link_Bps = parallel->link_Bps.at};
	return &parallel->fair;
}
