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
	int64_t pieces, tasks; /* so far, over the life of the workspace */
	LIST(struct fair_task) task;
	LIST(struct fair_use) use;
	LIST(double) link_Bps;
	struct fair fair; /* these three */
};

struct parallel *parallel_new(const struct machine *m)
{
	struct parallel *w = xmalloc(1, sizeof(*w));
	size_t n = m->nlinks ? (size_t)m->nlinks : 1;

	*w = (struct parallel){.machine = m};
	hosts_open(&w->hosts, m);
	w->place = memset(xmalloc(n, sizeof(*w->place)), 0, n * sizeof(*w->place));
	return w;
}

void parallel_free(struct parallel *w)
{
	if (!w)
		return;
	hosts_close(&w->hosts);
	xfree(w->place);
	xfree(w->task.at);
	xfree(w->use.at);
	xfree(w->link_Bps.at);
	xfree(w);
}

static void task_add(struct parallel *w)
{
	w->tasks++;
	*list_add(&w->task, NULL) = (struct fair_task){.first = w->use.n};
}

/* The current task puts so many bytes on a link. */
static void use_add(struct parallel *w, int32_t link, double bytes)
{
	struct place *p = &w->place[link];

	if (p->piece != w->pieces) {
		*p = (struct place){.piece = w->pieces,
		                    .number = (int32_t)w->link_Bps.n};
		*list_add(&w->link_Bps, NULL) = w->machine->link[link].bandwidth_Bps;
	}
	if (p->task == w->tasks) {
		w->use.at[p->use].bytes += bytes;
		return;
	}
	p->task = w->tasks;
	p->use = w->use.n;
	*list_add(&w->use, NULL) = (struct fair_use){p->number, 1, bytes};
	w->task.at[w->task.n - 1].nuses++;
}

static double route_s(const struct parallel *w, const int32_t *route)
{
	double sum_s = 0;

	for (int32_t l = 1; l <= *route; l++)
		sum_s += w->machine->link[route[l]].latency_s;
	return sum_s;
}

/* Adds the task, or its messages one by one; returns until when it lasts at least. */
static double schedule_task_add(struct parallel *w, const struct schedule *s,
                                const struct task *t, const int32_t *route)
{
	bool apart = !hosts_are_one_task(&w->hosts, s, t);
	int64_t first = w->task.n;
	struct task_times times;
	double longest_s = 0;

	for (int64_t k = 0; k < t->nmessages; k++, route += 1 + *route) {
		double latency_s = route_s(w, route);
		struct fair_task *to;

		if (*route == 0) /* it is there at once */
			continue;
		if (apart || w->task.n == first)
			task_add(w);
		to = &w->task.at[w->task.n - 1];
		to->latency_s = fmax(to->latency_s, latency_s);
		longest_s = fmax(longest_s, latency_s);
		for (int32_t l = 1; l <= *route; l++)
			use_add(w, route[l], s->message[t->first + k].bytes);
	}
	times = task_times(t, longest_s);
	for (int64_t i = first; i < w->task.n; i++)
		w->task.at[i].after_s = times.after_s;
	return times.until_s;
}

static int compare_starts(const void *a, const void *b)
{
	const struct fair_task *p = a, *q = b;

	if (p->after_s != q->after_s)
		return p->after_s < q->after_s ? -1 : 1;
	return p->first < q->first ? -1 : p->first > q->first;
}

static bool are_in_order(const struct parallel *w)
{
	for (int64_t i = 1; i < w->task.n; i++)
		if (w->task.at[i].after_s < w->task.at[i - 1].after_s)
			return false;
	return true;
}

const struct fair *parallel_make(double *until_s, struct parallel *w,
                                 const struct schedule *s, const struct round *r,
                                 const struct pieces *pieces, const struct piece *p)
{
	int64_t ntasks = p ? p->ntasks : r->ntasks;

	*until_s = 0;
	w->pieces++;
	w->task.n = w->use.n = w->link_Bps.n = 0;
	for (int32_t i = 0; i < ntasks; i++) {
		int32_t task = p ? p->task[i] : i;
		double task_until_s = schedule_task_add(w, s, &s->task[r->first + task],
		                                        pieces_routes(pieces, task));

		*until_s = fmax(*until_s, task_until_s);
	}
	if (!are_in_order(w))
		qsort(w->task.at, (size_t)w->task.n, sizeof(*w->task.at),
		      compare_starts);
	w->fair = (struct fair){.ntasks = w->task.n,
	                        .nuses = w->use.n,
	                        .task = w->task.at,
	                        .use = w->use.at,
	                        .nlinks = (int32_t)w->link_Bps.n,
	                        .link_Bps = w->link_Bps.at};
	return &w->fair;
}
