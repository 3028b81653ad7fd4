/* The worker's side of a sweep: load a platform once, measure what is ordered. */
#include "sweep/sweep.h"

#include "clock/simgrid.h"
#include "measure/clocks.h"
#include "measure/timeline.h"
#include "place/placing.h"
#include "plan/plan_text.h"
#include "planner/best/best.h"
#include "system/whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct worker {
	const struct sweep *sweep;
	int platform, out;
	struct arena *arena; /* of the scenario at hand */
	struct bench bench;
	struct platform *loaded; /* NULL: not even the machine */
	struct clocks clocks;
	struct error load; /* why there is no machine */
	int32_t scenario;  /* the one at hand, -1 for none */
	int planner;       /* the one planned last, -1 for none */
	struct problem problem;
	struct measurement measurement;
	const char *reason; /* why the scenario cannot run here, else NULL */
};

/* Nobody reads any more: the parent has gone, and so do we. */
static void send_row(const struct worker *w, const struct row *r)
{
	struct text t = {0};

	row_pack(&t, r);
	if (!whole_write(w->out, t.s, t.length))
		_exit(1);
	text_free(&t);
}

/* A row of length 0: something long is done that is no case's. */
static void send_ready(const struct worker *w)
{
	const uint32_t none = 0;

	if (!whole_write(w->out, &none, sizeof(none)))
		_exit(1);
}

/* --- measuring ---------------------------------------------------------------------- */

static void load(struct worker *w)
{
	const struct sweep *s = w->sweep;
	struct arena *a = arena_new();
	const struct suite_platform *p = &s->platform[w->platform];

	if (clocks_open(&w->clocks, a, p->base, p->set, p->nset, s->clock, s->nclocks,
	                &w->load) != OK)
		return;
	w->loaded = w->clocks.platform;
	bench_init(&w->bench, w->loaded->machine);
	for (int i = 0; i < s->nclocks; i++)
		clocks_bench(&w->clocks, &w->bench, s->clock[i]);
}

/* Read the scenario's problem; the suite has read it once, so that cannot fail. */
static void take_scenario(struct worker *w, int32_t scenario)
{
	const struct scenario *sc = &w->sweep->suite->scenario[scenario];
	struct error e = {0};

	arena_reset(w->arena);
	w->scenario = scenario;
	w->planner = -1;
	w->reason = NULL;
	if (!w->loaded)
		w->reason = w->load.text;
	else if (problem_make(&w->problem, w->arena, &sc->text, &e) != OK)
		w->reason = arena_strdup(w->arena, e.text);
	else
		bench_place(&w->bench, &w->problem);
}

static void fill(struct row *r, const struct worker *w, int clock)
{
	const struct measurement *m = &w->measurement;
	const struct plan *p = m->plan;
	struct text steps = {0};

	r->status = m->status;
	r->message = m->message;
	r->planning_s = m->planning_s;
	r->bound_s = m->bound_s;
	r->recv_bound_bytes = w->problem.recv_bound_bytes;
	r->devices = w->problem.ndevices;
	if (!p)
		return;
	r->time_s = m->time_s[clock];
	r->launch_s = m->launch_s[clock];
	r->local_s = m->local_s[clock];
	r->recv_bytes = p->recv_bytes;
	r->send_bytes = p->send_bytes;
	r->peak_array_bytes = p->peak_array_bytes;
	r->peak_live_bytes = p->peak_live_bytes;
	r->full_remat = p->full_remat;
	plan_print_line(&steps, p);
	r->steps = text_take(&steps, w->arena);
	r->timeline = timeline_make(w->arena, m, &w->bench, clock);
}

static void time_and_send(struct worker *w, struct row *r, int clock)
{
	enum outcome planned = w->measurement.status;
	const char *message = w->measurement.message;

	measure_time(&w->measurement, &w->bench, clock, w->arena);
	fill(r, w, clock);
	send_row(w, r);
	/* Another clock may still do it. */
	w->measurement.status = planned;
	w->measurement.message = message;
}

/*
 * Loads the platform into SimGrid, if that is not done: it takes long and is no case's
 * time. What goes wrong is for the clock to say.
 */
static void start_simgrid(struct worker *w)
{
	struct error e;

	if (w->loaded->host)
		return;
	simgrid_start(w->clocks.simgrid, &e);
	send_ready(w);
}

/* With a free placement `best` has chosen devices, which other planners do not have. */
static void plan(struct worker *w, const struct scenario *sc,
                 const struct planner *planner)
{
	struct error e = {0};

	if (!sc->free) {
		measure_plan(&w->measurement, &w->bench, &w->problem, planner, w->arena);
		return;
	}
	problem_make(&w->problem, w->arena, &sc->text, &e);
	bench_place(&w->bench, &w->problem);
	if (planner == &planner_best)
		placing_measure(&w->measurement, &w->problem, &w->bench, sc, planner,
		                w->arena);
	else
		measure_plan(&w->measurement, &w->bench, &w->problem, planner, w->arena);
}

static void run_unit(struct worker *w, int32_t scenario, int unit)
{
	const struct sweep *s = w->sweep;
	int planner = unit / s->nclocks, clock = unit % s->nclocks;
	const struct clock_kind *kind = &clock_kinds[s->clock[clock]];
	struct row r;

	if (w->scenario != scenario)
		take_scenario(w, scenario);
	r = sweep_row(s, w->platform, scenario, unit, w->arena);
	if (w->reason) {
		r.status = OUTCOME_FAILED;
		r.message = w->reason;
		send_row(w, &r);
		return;
	}
	if (w->planner != planner)
		plan(w, &s->suite->scenario[scenario], s->planner[planner]);
	w->planner = planner;
	if (w->measurement.plan && kind->clock == simgrid_clock)
		start_simgrid(w);
	time_and_send(w, &r, clock);
}

_Noreturn void worker_run(const struct sweep *s, int platform, int in, int out)
{
	struct worker w = {.sweep = s,
	                   .platform = platform,
	                   .out = out,
	                   .arena = arena_new(),
	                   .scenario = -1,
	                   .planner = -1};
	struct sweep_order order;

	load(&w);
	send_ready(&w);
	while (whole_read(in, &order, sizeof(order)))
		for (; order.units; order.units &= order.units - 1)
			run_unit(&w, order.scenario, __builtin_ctzll(order.units));
	_exit(0);
}
