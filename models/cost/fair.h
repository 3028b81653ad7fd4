/*
 * Tasks that share links, by the rule of SimGrid's parallel tasks (host model ptask_L07,
 * solver FairBottleneck of 3.32), for which tests hold it to SimGrid.
 *
 * A task waits until it is started, then for its latency, then all its bytes move at one
 * rate, of which it moves 1 in all. Rates are found anew whenever a task begins to move
 * or ends, in passes over those not yet settled: of what a link has left each of its tasks
 * is offered an equal part; a task takes, on top of what it has, what the least of its
 * offers allows; a link with nothing left settles the tasks on it. In each later pass a
 * settled task takes its last part again from the links it uses, though its rate does not
 * grow: SimGrid does that, so that a link may be left with capacity that nobody gets.
 *
 * Rates found before are kept where a beginning or an end does not reach (fair_rates.h), so
 * that tens of thousands of tasks with as many ends take seconds where each shares its
 * links with a few. Where each shares with hundreds it may take hours: the work is counted.
 */
#ifndef SHARDSIM_COST_FAIR_H
#define SHARDSIM_COST_FAIR_H

#include "array/machine.h"

/*
 * What a task puts on a link. A task may stand for many that fare alike, a link too
 * (cost/alike.h): `tasks` of them use each such link.
 */
struct fair_use {
	int32_t link, tasks;
	double bytes; /* > 0, of each of them */
};

struct fair_task {
	double after_s; /* how long after the beginning it starts */
	double latency_s;
	int64_t first, nuses; /* in fair.use; one or more, see below */
};

/*
 * Tasks by rising after_s. The uses of a task are of different links, or of one that
 * stands for several on which its bytes differ.
 *
 * A million messages, each a task, have ten times as many uses. Where `use` is NULL a task
 * puts equal bytes on all its links, those from link[first] on, of which there may be some
 * between that are of no task; `link` and `bytes` are borrowed.
 */
struct fair {
	int64_t ntasks, nuses;
	struct fair_task *task;
	struct fair_use *use;
	int32_t nlinks;
	double *link_Bps;
	const int32_t *link; /* in place of `use` */
	const double *bytes; /* [ntasks] with `link` */
};

/* Returns use number k of a task of the system. */
static inline struct fair_use fair_use_of(const struct fair *f, const struct fair_task *t,
                                          int64_t k)
{
	if (f->use)
		return f->use[t->first + k];
	return (struct fair_use){f->link[t->first + k], 1, f->bytes[t - f->task]};
}

/* Makes the same system with `use`, which fair_free() frees. */
void fair_write_out(struct fair *out, const struct fair *f);

/*
 * Returns the bandwidth below which one counts as none: SimGrid's maxmin/precision on
 * the machine.
 */
double fair_precision_Bps(const struct machine *m);

/*
 * Returns the seconds from the beginning to the last task's end, or < 0 if finding that
 * takes more than `most_work`: the number of uses and tasks looked at, some 2e8 of them
 * in a second. The system has `use`, as for fair_equal().
 */
double fair_s(const struct fair *f, double precision_Bps, int64_t most_work);

/* Returns whether two systems have equal figures, in order. */
bool fair_equal(const struct fair *a, const struct fair *b);

/* Frees the arrays of a system. */
void fair_free(struct fair *f);

#endif
