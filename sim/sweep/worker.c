/* The worker's side of a sweep: load a platform once, measure what is ordered. */
#include "sweep/sweep.h"

#include "clock/simgrid.h"
#include "measure/clocks.h"
#include "measure/likely.h"
#include "measure/timeline.h"
#include "place/placing.h"
#include "plan/plan_text.h"
#include "planner/best/best.h"
#include "sweep/step.h"
#include "system/last_words.h"
#include "system/whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct worker {
	const struct sweep *sweep;
	int platform, out;
	struct arena *arena; /* what it holds lasts as long as the scenario at hand */
	struct bench bench;
	struct platform *loaded; /* NULL where not even the machine could be made */
	struct clocks clocks;
	struct likely_table likely;
	struct error load; /* why there is no machine */
	int32_t scenario;  /* the scenario at hand, -1 for none */
	int unit;          /* the unit of it at hand */
	int planner;       /* the planner that planned last, -1 for none */
	struct problem problem;
	struct measurement measurement;
	const char *reason;   /* why the scenario cannot run here, else NULL */
	enum outcome outcome; /* what that makes of its cases */
};

/*
 * Sends the row of the unit at hand to the parent, or one of length 0 for NULL, which says
 * that something long is done that is no case. If nobody reads any more, the parent is
 * gone, and so are we.
 */
static void send_row(const struct worker *worker, const struct row *r)
{
	struct sweep_news news = {.said = (uint64_t)words_heard()};
	struct text t = {0};

	text_append(&t, (const char *)&news, sizeof(news));
	if (r) {
		row_pack(&t, r);
		news.mark = sweep_mark(worker->sweep, worker->platform,
		                       worker->scenario, worker->unit, r);
	}
	news.length = t.length - sizeof(news);
	memcpy(t.s, &news, sizeof(news));
	if (!whole_write(worker->out, t.s, t.length))
		_exit(1);
	text_free(&t);
}

/* --- measuring ---------------------------------------------------------------------- */

static void load_platform(struct worker *worker)
{
	const struct sweep *s = worker->sweep;
	struct arena *a = arena_new();
	const struct sweep_platform *p = &s->platform[worker->platform];

	if (s->known[worker->platform].refusal)
		return;
	if (clocks_open(&worker->clocks, a, p->base, p->set, p->nset, s->clock,
	                s->nclocks, &worker->load) != OK ||
	    sweep_launch(worker->clocks.platform->machine, s, &worker->load) != OK ||
	    likely_read(&worker->likely, a, &worker->load) != OK)
		return;
	worker->loaded = worker->clocks.platform;
	bench_init(&worker->bench, worker->loaded->machine);
	for (int i = 0; i < s->nclocks; i++)
		clocks_bench(&worker->clocks, &worker->bench, s->clock[i]);
}

/* Reads the problem of a scenario; it was read once with its suite. */
static void take_scenario(struct worker *worker, int32_t scenario)
{
	const struct scenario *sc = &worker->sweep->suite->scenario[scenario];
	struct error e = {0};

	arena_reset(worker->arena);
	worker->scenario = scenario;
	worker->planner = -1;
	worker->reason = worker->sweep->known[worker->platform].refusal;
	worker->outcome = worker->reason ? OUTCOME_NOT_APPLICABLE : OUTCOME_FAILED;
	if (worker->reason)
		return;
	if (!worker->loaded)
		worker->reason = worker->load.text;
	else if (sc->step.model)
		return;
	else if (problem_make(&worker->problem, worker->arena, &sc->text, &e) != OK)
		worker->reason = arena_strdup(worker->arena, e.text);
	else
		bench_place(&worker->bench, &worker->problem);
}

/* Prints the steps of a plan, and which of them the clock timed as schedules of messages. */
static void print_steps(struct text *out, const struct plan *p,
                        const struct step_time *time)
{
	if (p->nsteps == 0 || !time) {
		plan_print_line(out, p);
		return;
	}
	for (int i = 0; i < p->nsteps; i++) {
		bool scheduled = time[i].algorithm &&
		                 strcmp(time[i].algorithm, "scheduled") == 0;

		text_printf(out, i ? "; " : "");
		step_print(out, p, i);
		text_printf(out, scheduled ? " (scheduled)" : "");
	}
}

static void fill_row(struct row *r, struct worker *worker, int clock)
{
	const struct measurement *m = &worker->measurement;
	const struct plan *p = m->plan;
	struct text steps = {0};

	r->status = m->status;
	r->message = m->message;
	r->planning_s = m->planning_s;
	r->bound_s = m->bound_s;
	r->recv_bound_bytes = worker->problem.recv_bound_bytes;
	r->peak_array_bytes = m->peak_array_bytes;
	r->peak_live_bytes = m->peak_live_bytes;
	r->devices = worker->problem.ndevices;
	if (!p)
		return;
	r->time_s = m->time_s[clock];
	r->launch_s = m->launch_s[clock];
	r->local_s = m->local_s[clock];
	if (m->step[clock]) {
		struct likely l = likely_of_plan(&worker->likely, &worker->bench, p,
		                                 m->step[clock]);

		r->low_s = l.low;
		r->high_s = l.high;
	}
	r->recv_bytes = p->recv_bytes;
	r->send_bytes = p->send_bytes;
	r->full_remat = p->full_remat;
	print_steps(&steps, p, m->step[clock]);
	r->steps = text_take(&steps, worker->arena);
	r->timeline = timeline_make(worker->arena, m, &worker->bench, clock);
}

static void time_and_send(struct worker *worker, struct row *r, int clock)
{
	enum outcome planned = worker->measurement.status;
	const char *message = worker->measurement.message;

	measure_time(&worker->measurement, &worker->bench, clock, worker->arena);
	fill_row(r, worker, clock);
	send_row(worker, r);
	/* Another clock may still time the plan that this one refused. */
	worker->measurement.status = planned;
	worker->measurement.message = message;
}

/*
 * Loads the platform into SimGrid, if that is not done, for it takes long and must not
 * count as the time of a case. If it fails, the clock says why.
 */
static void start_simgrid(struct worker *worker)
{
	struct error e;

	if (worker->loaded->host)
		return;
	simgrid_start(worker->clocks.simgrid, &e);
	send_row(worker, NULL);
}

/*
 * Plans the scenario. With a free placement the problem is made anew, because `best`
 * may have chosen devices in it that are not for other planners.
 */
static void plan_scenario(struct worker *worker, const struct scenario *sc,
                          const struct planner *planner)
{
	struct error e = {0};

	if (!sc->free) {
		measure_plan(&worker->measurement, &worker->bench, &worker->problem,
		             planner, worker->arena);
		return;
	}
	problem_make(&worker->problem, worker->arena, &sc->text, &e);
	bench_place(&worker->bench, &worker->problem);
	if (planner == &planner_best || planner == &planner_best_portable)
		placing_measure(&worker->measurement, &worker->problem, &worker->bench,
		                sc, planner, worker->arena);
	else
		measure_plan(&worker->measurement, &worker->bench, &worker->problem,
		             planner, worker->arena);
}

static void run_unit(struct worker *worker, int32_t scenario, int unit)
{
	const struct sweep *s = worker->sweep;
	int planner = unit / s->nclocks, clock = unit % s->nclocks;
	const struct clock_kind *kind = &clock_kinds[s->clock[clock]];
	struct row r;

	if (worker->scenario != scenario)
		take_scenario(worker, scenario);
	worker->unit = unit;
	r = sweep_row(s, worker->platform, scenario, unit, worker->arena);
	if (worker->reason) {
		r.status = worker->outcome;
		r.message = worker->reason;
		send_row(worker, &r);
		return;
	}
	if (s->suite->scenario[scenario].step.model) {
		sweep_step(&r, &s->suite->scenario[scenario].step,
		           worker->loaded->machine, &worker->likely, worker->arena);
		send_row(worker, &r);
		return;
	}
	if (worker->planner != planner)
		plan_scenario(worker, &s->suite->scenario[scenario],
		              s->planner[planner]);
	worker->planner = planner;
	if (worker->measurement.plan && kind->clock == simgrid_clock)
		start_simgrid(worker);
	time_and_send(worker, &r, clock);
}

_Noreturn void worker_run(const struct sweep *s, int platform, int in, int out)
{
	struct worker worker = {.sweep = s,
	                        .platform = platform,
	                        .out = out,
	                        .arena = arena_new(),
	                        .scenario = -1,
	                        .planner = -1};
	struct sweep_order order;

	load_platform(&worker);
	send_row(&worker, NULL);
	while (whole_read(in, &order, sizeof(order)))
		for (; order.units; order.units &= order.units - 1)
			run_unit(&worker, order.scenario, __builtin_ctzll(order.units));
	_exit(0);
}
