#include "cost/fair.h"

#include "cost/fair_rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SimGrid's surf/precision: a wait of which less than this is left is over. */
#define PRECISION_S 1e-9

struct task_state {
	double latency_s; /* still to wait */
	double remains;   /* of 1 */
};

struct run {
	const struct fair *f;
	struct rates *rates;
	const double *rate; /* of tasks that move */
	double precision_Bps;
	double now_s;
	double wait_s; /* until the next task is started; 0: no task is waited for */
	int64_t next;
	struct task_state *task;
	int32_t *started; /* tasks that have started and not ended */
	int64_t nstarted;
	bool changed; /* since the rates were found */
	int64_t work; /* tasks that were looked at */
};

double fair_precision_Bps(const struct machine *m)
{
	double widest_Bps = 1;

	for (int32_t l = 0; l < m->nlinks; l++)
		widest_Bps = fmax(widest_Bps, m->link[l].bandwidth_Bps);
	return fmin(1e-13 * widest_Bps, 0.1);
}

bool fair_equal(const struct fair *a, const struct fair *b)
{
	return a->ntasks == b->ntasks && a->nuses == b->nuses &&
	       a->nlinks == b->nlinks &&
	       !memcmp(a->task, b->task, (size_t)a->ntasks * sizeof(*a->task)) &&
	       !memcmp(a->use, b->use, (size_t)a->nuses * sizeof(*a->use)) &&
	       !memcmp(a->link_Bps, b->link_Bps,
	               (size_t)a->nlinks * sizeof(*a->link_Bps));
}

void fair_write_out(struct fair *out, const struct fair *f)
{
	size_t tasks = (size_t)f->ntasks * sizeof(*f->task);
	size_t links = (size_t)f->nlinks * sizeof(*f->link_Bps);

	*out = (struct fair){.ntasks = f->ntasks, .nlinks = f->nlinks};
	out->task = memcpy(xmalloc(tasks + 1, 1), f->task, tasks);
	out->link_Bps = memcpy(xmalloc(links + 1, 1), f->link_Bps, links);
	out->use = xmalloc((size_t)f->nuses + 1, sizeof(*out->use));
	for (int64_t i = 0; i < f->ntasks; i++) {
		out->task[i].first = out->nuses;
		for (int64_t k = 0; k < f->task[i].nuses; k++)
			out->use[out->nuses++] = fair_use_of(f, &f->task[i], k);
	}
}

void fair_free(struct fair *f)
{
	xfree(f->task);
	xfree(f->use);
	xfree(f->link_Bps);
	*f = (struct fair){0};
}

/* Returns `value` less `by`, or 0 where that falls below the precision. */
static double lessen(double value, double by, double precision)
{
	value -= by;
	return value < precision ? 0 : value;
}

/* Lets a task move, since its latency is over. */
static void move(struct run *run, int32_t t)
{
	rates_begin(run->rates, t);
	run->changed = true;
}

/*
 * Starts the tasks that start now, up to the next wait; the next task starts too if it
 * is `due`.
 */
static void start_tasks(struct run *run, bool due)
{
	const struct fair *f = run->f;

	for (run->wait_s = 0; run->next < f->ntasks; run->next++) {
		const struct fair_task *t = &f->task[run->next];
		double before_s = run->next ? t[-1].after_s : 0;

		if (!due && t->after_s > before_s && t->after_s > run->now_s) {
			run->wait_s = t->after_s - run->now_s;
			return;
		}
		due = false;
		run->task[run->next] = (struct task_state){t->latency_s, 1};
		run->started[run->nstarted++] = (int32_t)run->next;
		if (t->latency_s <= 0)
			move(run, (int32_t)run->next);
	}
}

/* Returns the seconds until the next task starts, begins to move or ends. */
static double next_s(const struct run *run)
{
	double next_s = run->wait_s > 0 ? run->wait_s : INFINITY;

	for (int64_t i = 0; i < run->nstarted; i++) {
		int32_t t = run->started[i];
		double own_s = run->task[t].latency_s > 0
		                       ? run->task[t].latency_s
		                       : run->task[t].remains / run->rate[t];

		next_s = own_s < next_s ? own_s : next_s;
	}
	return next_s;
}

/* Lets time pass for a task. Returns false if the task ends. */
static bool task_pass(struct run *run, int32_t t, double seconds)
{
	struct task_state *s = &run->task[t];

	if (s->latency_s > 0) {
		s->latency_s = lessen(s->latency_s, seconds, PRECISION_S);
		if (s->latency_s <= 0)
			move(run, t);
		return true;
	}
	s->remains = lessen(s->remains, run->rate[t] * seconds,
	                    run->precision_Bps * PRECISION_S);
	if (s->remains > 0)
		return true;
	rates_end(run->rates, t);
	run->changed = true;
	return false;
}

static void pass(struct run *run, double seconds)
{
	int64_t left = 0;

	run->now_s += seconds;
	run->work += run->nstarted;
	for (int64_t i = 0; i < run->nstarted; i++)
		if (task_pass(run, run->started[i], seconds))
			run->started[left++] = run->started[i];
	run->nstarted = left;
	if (run->wait_s <= 0)
		return;
	run->wait_s = lessen(run->wait_s, seconds, PRECISION_S);
	if (run->wait_s <= 0)
		start_tasks(run, true);
}

double fair_s(const struct fair *f, double precision_Bps, int64_t most_work)
{
	struct run run = {.f = f, .precision_Bps = precision_Bps};

	run.task = xmalloc((size_t)f->ntasks, sizeof(*run.task));
	run.started = xmalloc((size_t)f->ntasks, sizeof(*run.started));
	run.rates = rates_new(f, precision_Bps, most_work);
	start_tasks(&run, false);
	while (run.nstarted || run.wait_s > 0) {
		if (run.changed)
			run.rate = rates_find(run.rates);
		if ((run.changed && !run.rate) || run.work > most_work)
			break;
		run.changed = false;
		pass(&run, next_s(&run));
	}
	rates_free(run.rates);
	xfree(run.task);
	xfree(run.started);
	return run.nstarted || run.wait_s > 0 ? -1 : run.now_s;
}
