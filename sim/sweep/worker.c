/* The worker's side of a sweep: load a platform once, measure what is ordered. */
#include "sweep/sweep.h"

#include "clock/fluid.h"
#include "measure/clocks.h"
#include "measure/timeline.h"
#include "place/placing.h"
#include "plan/plan_text.h"
#include "planner/best/best.h"
#include "system/child.h"
#include "system/last_words.h"
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
	struct fluid *fluid;
	struct error load; /* why there is no machine, or no SimGrid */
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
	struct clocks clocks;

	if (clocks_open(&clocks, a, p->base, p->set, p->nset, s->clock, s->nclocks,
	                true, &w->load) != OK)
		return;
	w->loaded = clocks.platform;
	w->fluid = clocks.fluid;
	bench_init(&w->bench, w->loaded->machine);
	for (int i = 0; i < s->nclocks; i++)
		clocks_bench(&clocks, &w->bench, s->clock[i]);
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

static _Noreturn void become_replay(struct worker *w, struct row *r, int clock, int out,
                                    pid_t parent)
{
	child_end_with(parent);
	close(w->out);
	w->out = out;
	time_and_send(w, r, clock);
	_exit(0);
}

/* All that comes from the pipe, which is closed; whether that is one whole row. */
static bool read_row(struct text *out, int fd)
{
	uint32_t length;

	child_read(out, fd);
	if (out->length < sizeof(length))
		return false;
	memcpy(&length, out->s, sizeof(length));
	return out->length == sizeof(length) + length;
}

/*
 * A replay moves SimGrid's clock, and a difference of clocks has other last digits
 * later on: each runs in a child that starts from the state after loading. Its row comes
 * through a pipe of its own, so that a child that dies while writing spoils no other row.
 */
static void time_in_child(struct worker *w, struct row *r, int clock)
{
	off_t heard = words_heard();
	char why[400] = "cannot start a process for the replay";
	struct text row = {0};
	pid_t parent = getpid(), child = -1;
	int fds[2], status;
	bool whole = false;

	if (pipe(fds) == 0) {
		child = fork();
		if (child == 0)
			become_replay(w, r, clock, fds[1], parent);
		close(fds[1]);
		whole = read_row(&row, fds[0]) && child > 0;
	}
	status = child_wait(child);
	if (!whole) {
		if (child > 0)
			replay_death(why, sizeof(why), status, heard);
		fill(r, w, clock);
		r->status = OUTCOME_FAILED;
		r->message = why;
		send_row(w, r);
	} else if (!whole_write(w->out, row.s, row.length)) {
		_exit(1);
	}
	text_free(&row);
}

/* Without SimGrid; false if it is needed. */
static bool time_closed(struct worker *w, struct row *r, int clock)
{
	struct measurement m = w->measurement;

	fluid_closed(w->fluid, true);
	measure_time(&m, &w->bench, clock, w->arena);
	fluid_closed(w->fluid, false);
	if (isnan(m.time_s[clock]))
		return false;
	w->measurement = m;
	fill(r, w, clock);
	send_row(w, r);
	return true;
}

/* Starts SimGrid for the first replay that needs it; a failure is of every replay. */
static void replay(struct worker *w, struct row *r, int clock)
{
	if (w->load.code == OK && time_closed(w, r, clock))
		return;
	if (w->load.code == OK && !w->loaded->host) {
		platform_start(w->loaded, &w->load);
		send_ready(w);
	}
	if (w->load.code == OK) {
		time_in_child(w, r, clock);
		return;
	}
	fill(r, w, clock);
	r->status = OUTCOME_FAILED;
	r->message = w->load.text;
	send_row(w, r);
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
	if (w->measurement.status == OUTCOME_OK && kind->needs_simgrid && !kind->apart)
		replay(w, &r, clock);
	else
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
