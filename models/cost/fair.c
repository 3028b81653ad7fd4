#include "cost/fair.h"

#include "cost/fair_rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SimGrid's surf/precision: a wait of which less than this is left is over. */
#define PRECISION_S 1e-9

/*
 * A run from the beginning to the last end. Tens of thousands of tasks are looked at when any
 * of them ends, so that what they need then stands together, in no order.
 */
struct run {
	const struct fair *f;
	struct rates *rates;
	double precision_Bps;
	double now_s;
	double wait_s; /* until the next task is started; 0: no task is waited for */
	int64_t next;
	/* Tasks that have started and wait for their latency, in that order. */
	int32_t *waiting;
	double *latency_s; /* still to wait */
	int64_t nwaiting;
	/* Those that move. */
	int32_t *moving, *place; /* place: of a task that moves in the other three */
	double *remains;         /* of 1 */
	double *rate;
	int64_t nmoving;
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

/* Lets a task move, since its latency is over; its rate is still to be found. */
static void move(struct run *run, int32_t t)
{
	rates_begin(run->rates, t);
	run->place[t] = (int32_t)run->nmoving;
	run->moving[run->nmoving] = t;
	run->remains[run->nmoving] = 1;
	run->rate[run->nmoving++] = 0;
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
		if (t->latency_s <= 0) {
			move(run, (int32_t)run->next);
			continue;
		}
		run->waiting[run->nwaiting] = (int32_t)run->next;
		run->latency_s[run->nwaiting++] = t->latency_s;
	}
}

/* Returns the seconds until the next task starts, begins to move or ends. */
static double next_s(const struct run *run)
{
	double next_s = run->wait_s > 0 ? run->wait_s : INFINITY;

	for (int64_t i = 0; i < run->nwaiting; i++)
		next_s = run->latency_s[i] < next_s ? run->latency_s[i] : next_s;
	for (int64_t i = 0; i < run->nmoving; i++) {
		double own_s;

		/* Most end later by far, which a product tells sooner than a quotient. */
		if (!(run->remains[i] < next_s * run->rate[i] * (1 + 1e-14)))
			continue;
		own_s = run->remains[i] / run->rate[i];
		next_s = own_s < next_s ? own_s : next_s;
	}
	return next_s;
}

/* Lets time pass for those that move; who has moved all its bytes ends. */
static void pass_moving(struct run *run, double seconds)
{
	double precision = run->precision_Bps * PRECISION_S;

	for (int64_t i = 0; i < run->nmoving;) {
		int64_t last = run->nmoving - 1;

		run->remains[i] =
			lessen(run->remains[i], run->rate[i] * seconds, precision);
		if (run->remains[i] > 0) {
			i++;
			continue;
		}
		rates_end(run->rates, run->moving[i]);
		run->changed = true;
		run->moving[i] = run->moving[last];
		run->remains[i] = run->remains[last];
		run->rate[i] = run->rate[last];
		run->place[run->moving[i]] = (int32_t)i;
		run->nmoving--;
	}
}

/* Lets time pass for those that wait; who has waited long enough begins to move. */
static void pass_waiting(struct run *run, double seconds)
{
	int64_t left = 0;

	for (int64_t i = 0; i < run->nwaiting; i++) {
		double rest_s = lessen(run->latency_s[i], seconds, PRECISION_S);

		if (rest_s <= 0) {
			move(run, run->waiting[i]);
			continue;
		}
		run->waiting[left] = run->waiting[i];
		run->latency_s[left++] = rest_s;
	}
	run->nwaiting = left;
}

static void pass(struct run *run, double seconds)
{
	run->now_s += seconds;
	run->work += run->nmoving + run->nwaiting;
	pass_moving(run, seconds);
	pass_waiting(run, seconds);
	if (run->wait_s <= 0)
		return;
	run->wait_s = lessen(run->wait_s, seconds, PRECISION_S);
	if (run->wait_s <= 0)
		start_tasks(run, true);
}

/* Finds the rates again; false if that takes too much work. */
static bool find_rates(struct run *run)
{
	const double *rate = rates_find(run->rates);
	const int32_t *task;
	int32_t n;

	run->changed = false;
	if (!rate)
		return false;
	n = rates_found(&task, run->rates);
	for (int32_t i = 0; i < n; i++)
		run->rate[run->place[task[i]]] = rate[task[i]];
	return true;
}

static void run_open(struct run *run, const struct fair *f, double precision_Bps,
                     int64_t most_work)
{
	size_t n = (size_t)f->ntasks;

	*run = (struct run){.f = f, .precision_Bps = precision_Bps};
	run->waiting = xmalloc(n, sizeof(*run->waiting));
	run->latency_s = xmalloc(n, sizeof(*run->latency_s));
	run->moving = xmalloc(n, sizeof(*run->moving));
	run->place = xmalloc(n, sizeof(*run->place));
	run->remains = xmalloc(n, sizeof(*run->remains));
	run->rate = xmalloc(n, sizeof(*run->rate));
	run->rates = rates_new(f, precision_Bps, most_work);
}

static void run_close(struct run *run)
{
	rates_free(run->rates);
	xfree(run->waiting);
	xfree(run->latency_s);
	xfree(run->moving);
	xfree(run->place);
	xfree(run->remains);
	xfree(run->rate);
}

double fair_s(const struct fair *f, double precision_Bps, int64_t most_work)
{
	struct run run;
	double seconds = -1;

	run_open(&run, f, precision_Bps, most_work);
	start_tasks(&run, false);
	while (run.nmoving || run.nwaiting || run.wait_s > 0) {
		if ((run.changed && !find_rates(&run)) || run.work > most_work)
			break;
		pass(&run, next_s(&run));
	}
	if (!run.nmoving && !run.nwaiting && run.wait_s <= 0)
		seconds = run.now_s;
	run_close(&run);
	return seconds;
}
