#include "clocks_suite.h"

#include "base/list.h"
#include "base/rng.h"
#include "clock/simgrid.h"
#include "cost/fluid.h"
#include "measure/measure.h"
#include "plan/plan_text.h"
#include "suite/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct comparison {
	const struct clocks_suite *of;
	struct arena *arena; /* of the scenario at hand */
	struct platform *platform;
	struct bench bench;
	struct fluid *fluid;
	struct simgrid *simgrid;
	LIST(const char *) plan;        /* different ones of the scenario, as lines */
	LIST(struct schedule) schedule; /* their steps that send anything */
	struct clocks_compared out;
};

static void fail(const struct error *e)
{
	error_print(stderr, e);
	exit(EXIT_FAILURE);
}

/* Whether a plan with these steps is there; it is from now on. */
static bool is_planned(struct comparison *c, const struct plan *plan)
{
	struct text line = {0};
	const char *steps;

	plan_print_line(&line, plan);
	steps = text_take(&line, c->arena);
	for (int64_t i = 0; i < c->plan.n; i++)
		if (!strcmp(c->plan.at[i], steps))
			return true;
	*list_add(&c->plan, NULL) = steps;
	return false;
}

static void add_steps(struct comparison *c, const struct plan *plan)
{
	struct plan_steps of = {plan, c->platform->machine, NULL};
	struct steps steps;

	if (c->bench.placement.platform)
		of.place = &c->bench.placement;
	steps = steps_of_plan(&of);
	for (int i = 0; i < steps.n; i++) {
		struct lowered lowered;
		struct text why = {0};

		if (steps.lower(steps.self, &lowered, c->arena, i, &why) &&
		    lowered.schedule.nmessages > 0)
			*list_add(&c->schedule, NULL) = lowered.schedule;
		text_free(&why);
	}
}

static void compare_step(struct comparison *c, const char *name,
                         const struct schedule *s, double simgrid_s)
{
	char why[300] = "";
	double fluid_s = fluid_clock(c->fluid, s, why, sizeof(why)), off;

	if (fluid_s == CLOCK_REFUSED_S) {
		c->out.refused++;
		return;
	}
	off = fabs(fluid_s - simgrid_s) / simgrid_s;
	c->out.steps++;
	c->out.worst = fmax(c->out.worst, off);
	if (off <= 1e-9)
		return;
	c->out.differ++;
	fprintf(stderr, "%s on %s, %lld messages: fluid %.15g, simgrid %.15g\n", name,
	        c->of->platform, (long long)s->nmessages, fluid_s, simgrid_s);
}

/* All steps in one replay; without those that are refused if one is. */
static void compare_steps(struct comparison *c, const char *name)
{
	size_t n = (size_t)c->schedule.n;
	double *simgrid_s = arena_alloc(c->arena, n + 1, sizeof(*simgrid_s));
	char why[300] = "";
	double total_s = simgrid_schedules(c->simgrid, simgrid_s, c->schedule.at,
	                                   (int)n, why, sizeof(why));

	if (total_s == CLOCK_FAILED_S) {
		fprintf(stderr, "%s on %s: %s\n", name, c->of->platform, why);
		c->out.differ++;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct schedule *s = &c->schedule.at[i];

		if (total_s == CLOCK_REFUSED_S)
			simgrid_s[i] = simgrid_clock(c->simgrid, s, why, sizeof(why));
		if (simgrid_s[i] == CLOCK_REFUSED_S)
			c->out.refused++;
		else
			compare_step(c, name, s, simgrid_s[i]);
	}
}

static void compare_scenario(struct comparison *c, const struct scenario *sc)
{
	struct problem p;
	struct error e = {0};

	arena_reset(c->arena);
	c->plan.n = c->schedule.n = 0;
	if (problem_make(&p, c->arena, &sc->text, &e) != OK)
		fail(&e);
	bench_place(&c->bench, &p);
	for (int i = 0; planners[i]; i++) {
		struct measurement m;

		measure_plan(&m, &c->bench, &p, planners[i], c->arena);
		if (m.plan && !is_planned(c, m.plan))
			add_steps(c, m.plan);
	}
	if (c->schedule.n > 0)
		compare_steps(c, sc->name);
}

struct clocks_compared clocks_suite_compare(const struct clocks_suite *of)
{
	struct arena *a = arena_new();
	struct comparison c = {.of = of, .arena = arena_new()};
	struct suite suite = {.arena = a};
	struct rng *rng = rng_new(1);
	struct error e = {0};

	if (suite_read(&suite, of->path, &e) != OK ||
	    platform_open(&c.platform, a, of->platform, NULL, 0, true, &e) != OK)
		fail(&e);
	bench_init(&c.bench, c.platform->machine);
	c.fluid = fluid_new(c.platform->machine);
	c.simgrid = simgrid_new(c.platform);
	for (int32_t i = 0; i < suite.n; i++)
		if (rng_below(rng, of->one_of) == 0)
			compare_scenario(&c, &suite.scenario[i]);
	rng_free(rng);
	bench_free(&c.bench);
	fluid_free(c.fluid);
	simgrid_free(c.simgrid);
	free(c.plan.at);
	free(c.schedule.at);
	arena_free(c.arena);
	arena_free(a);
	return c.out;
}
