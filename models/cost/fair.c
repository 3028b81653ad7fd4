#include "cost/fair.h"

#include "cost/fair_rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SimGrid's surf/precision: what is left of a wait below it counts as nothing. */
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
	double wait_s; /* until the next task is started; 0: none is waited for */
	int64_t next;
	struct task_state *task;
	int32_t *started; /* tasks, not ended */
	int64_t nstarted;
	bool changed; /* since rates were found */
	int64_t work; /* tasks looked at */
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

void fair_free(struct fair *f)
{
	xfree(f->task);
	xfree(f->use);
	xfree(f->link_Bps);
	*f = (struct fair){0};
}

/* Less by so much; nothing where it falls below the precision. */
static double lessen(double value, double by, double precision)
{
	value -= by;
	return value < precision ? 0 : value;
}

/* The latency of a task is over. */
static void move(struct run *w, int32_t t)
{
	rates_begin(w->rates, t);
	w->changed = true;
}

/* Starts what is to start now, the next task too if it is `due`, up to the next wait. */
static void start_tasks(struct run *w, bool due)
{
	const struct fair *f = w->f;

	for (w->wait_s = 0; w->next < f->ntasks; w->next++) {
		const struct fair_task *t = &f->task[w->next];
		double before_s = w->next ? t[-1].after_s : 0;

		if (!due && t->after_s > before_s && t->after_s > w->now_s) {
			w->wait_s = t->after_s - w->now_s;
			return;
		}
		due = false;
		w->task[w->next] = (struct task_state){t->latency_s, 1};
		w->started[w->nstarted++] = (int32_t)w->next;
		if (t->latency_s <= 0)
			move(w, (int32_t)w->next);
	}
}

/* Seconds until something happens. */
static double next_s(const struct run *w)
{
	double next_s = w->wait_s > 0 ? w->wait_s : INFINITY;

	for (int64_t i = 0; i < w->nstarted; i++) {
		int32_t t = w->started[i];
		double own_s = w->task[t].latency_s > 0
		                       ? w->task[t].latency_s
		                       : w->task[t].remains / w->rate[t];

		next_s = own_s < next_s ? own_s : next_s;
	}
	return next_s;
}

/* Lets time pass for a task; false if it ends. */
static bool task_pass(struct run *w, int32_t t, double seconds)
{
	struct task_state *s = &w->task[t];

	if (s->latency_s > 0) {
		s->latency_s = lessen(s->latency_s, seconds, PRECISION_S);
		if (s->latency_s <= 0)
			move(w, t);
		return true;
	}
	s->remains = lessen(s->remains, w->rate[t] * seconds,
	                    w->precision_Bps * PRECISION_S);
	if (s->remains > 0)
		return true;
	rates_end(w->rates, t);
	w->changed = true;
	return false;
}

static void pass(struct run *w, double seconds)
{
	int64_t left = 0;

	w->now_s += seconds;
	w->work += w->nstarted;
	for (int64_t i = 0; i < w->nstarted; i++)
		if (task_pass(w, w->started[i], seconds))
			w->started[left++] = w->started[i];
	w->nstarted = left;
	if (w->wait_s <= 0)
		return;
	w->wait_s = lessen(w->wait_s, seconds, PRECISION_S);
	if (w->wait_s <= 0)
		start_tasks(w, true);
}

double fair_s(const struct fair *f, double precision_Bps, int64_t most_work)
{
	struct run w = {.f = f, .precision_Bps = precision_Bps};

	w.task = xmalloc((size_t)f->ntasks, sizeof(*w.task));
	w.started = xmalloc((size_t)f->ntasks, sizeof(*w.started));
	w.rates = rates_new(f, precision_Bps, most_work);
	start_tasks(&w, false);
	while (w.nstarted || w.wait_s > 0) {
		if (w.changed)
			w.rate = rates_find(w.rates);
		if ((w.changed && !w.rate) || w.work > most_work)
			break;
		w.changed = false;
		pass(&w, next_s(&w));
	}
	rates_free(w.rates);
	xfree(w.task);
	xfree(w.started);
	return w.nstarted || w.wait_s > 0 ? -1 : w.now_s;
}
