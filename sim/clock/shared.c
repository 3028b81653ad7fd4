#include "clock/shared.h"

#include "cost/alike.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A link's number in the piece, and its place among the uses of the current task. */
struct place {
	int64_t piece, task;
	int64_t use;
	int32_t number;
};

struct shared {
	const struct machine *machine;
	double precision_Bps;
	struct place *place;   /* [nlinks] */
	int64_t pieces, tasks; /* so far */
	struct fair fair;
	int64_t tasks_capacity, uses_capacity, links_capacity;
	double until_s;
};

struct shared *shared_new(const struct machine *m)
{
	struct shared *w = xmalloc(1, sizeof(*w));
	size_t n = m->nlinks ? (size_t)m->nlinks : 1;

	*w = (struct shared){.machine = m, .precision_Bps = fair_precision_Bps(m)};
	w->place = memset(xmalloc(n, sizeof(*w->place)), 0, n * sizeof(*w->place));
	return w;
}

void shared_free(struct shared *w)
{
	if (!w)
		return;
	free(w->place);
	fair_free(&w->fair);
	free(w);
}

/* Room for one more item after the first n. */
static void *room(void *old, int64_t n, int64_t *capacity, size_t size)
{
	if (n < *capacity)
		return old;
	*capacity = *capacity ? 2 * *capacity : 1024;
	return xrealloc(old, (size_t)*capacity, size);
}

static struct fair_task *task_add(struct shared *w)
{
	struct fair *f = &w->fair;

	w->tasks++;
	f->task = room(f->task, f->ntasks, &w->tasks_capacity, sizeof(*f->task));
	f->task[f->ntasks] = (struct fair_task){.first = f->nuses};
	return &f->task[f->ntasks++];
}

/* The current task puts so many bytes on a link. */
static void use_add(struct shared *w, int32_t link, double bytes)
{
	struct fair *f = &w->fair;
	struct place *p = &w->place[link];

	if (p->piece != w->pieces) {
		f->link_Bps = room(f->link_Bps, f->nlinks, &w->links_capacity,
		                   sizeof(*f->link_Bps));
		f->link_Bps[f->nlinks] = w->machine->link[link].bandwidth_Bps;
		*p = (struct place){.piece = w->pieces, .number = f->nlinks++};
	}
	if (p->task == w->tasks) {
		f->use[p->use].bytes += bytes;
		return;
	}
	p->task = w->tasks;
	p->use = f->nuses;
	f->use = room(f->use, f->nuses, &w->uses_capacity, sizeof(*f->use));
	f->use[f->nuses++] = (struct fair_use){p->number, 1, bytes};
	f->task[f->ntasks - 1].nuses++;
}

struct shared_times shared_times(const struct task *t, double longest_s)
{
	return (struct shared_times){t->delay_s + (t->repeats - 1) * longest_s,
	                             t->delay_s + t->repeats * longest_s + t->least_s};
}

static double route_s(const struct shared *w, const int32_t *route)
{
	double sum_s = 0;

	for (int32_t l = 1; l <= *route; l++)
		sum_s += w->machine->link[route[l]].latency_s;
	return sum_s;
}

/* The task, or its messages one by one. */
static void add(struct shared *w, const struct schedule *s, const struct shared_task *t)
{
	const struct task *task = t->task;
	const int32_t *route = t->routes;
	struct fair_task *to = NULL;
	int64_t first = w->fair.ntasks;
	struct shared_times times;
	double longest_s = 0;

	for (int64_t k = 0; k < task->nmessages; k++, route += 1 + *route) {
		double latency_s = route_s(w, route);

		if (*route == 0) /* there at once */
			continue;
		if (!to || t->apart)
			to = task_add(w);
		to->latency_s = fmax(to->latency_s, latency_s);
		longest_s = fmax(longest_s, latency_s);
		for (int32_t l = 1; l <= *route; l++)
			use_add(w, route[l], s->message[task->first + k].bytes);
	}
	times = shared_times(task, longest_s);
	for (int64_t i = first; i < w->fair.ntasks; i++)
		w->fair.task[i].after_s = times.after_s;
	w->until_s = fmax(w->until_s, times.until_s);
}

static int compare_starts(const void *a, const void *b)
{
	const struct fair_task *p = a, *q = b;

	if (p->after_s != q->after_s)
		return p->after_s < q->after_s ? -1 : 1;
	return p->first < q->first ? -1 : p->first > q->first;
}

/*
 * Where every end of a task is felt by all others, the work is as tasks times uses, and
 * nobody waits for it; else it is some hundredth of that.
 */
static bool is_hopeless(const struct fair *f)
{
	return (double)f->ntasks * (double)f->nuses > 5e10;
}

enum { WORK_MAX = 2000000000 };

double shared_s(struct shared *w, const struct schedule *s, const struct shared_task *t,
                int64_t n, char *message, size_t size)
{
	struct fair *f = &w->fair, kinds;
	const struct fair *least = f;
	double seconds = -1;

	w->pieces++;
	w->until_s = 0;
	f->ntasks = f->nuses = f->nlinks = 0;
	for (int64_t i = 0; i < n; i++)
		add(w, s, &t[i]);
	qsort(f->task, (size_t)f->ntasks, sizeof(*f->task), compare_starts);
	if (alike_fold(&kinds, f))
		least = &kinds;
	if (!is_hopeless(least))
		seconds = fair_s(least, w->precision_Bps, WORK_MAX);
	if (least == &kinds)
		fair_free(&kinds);
	if (seconds >= 0)
		return fmax(seconds, w->until_s);
	snprintf(
		message, size,
		"%lld transfers share %d links in too many ways for fluid; model takes "
		"them",
		(long long)f->ntasks, (int)f->nlinks);
	return -1;
}
