#include "advise_gap.h"

#include "base/rng.h"
#include "measure/measure.h"
#include "plan/check.h"
#include "plan/position.h"
#include "planner/best/best.h"
#include "platform/platform.h"
#include "suite/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct measuring {
	const struct gap_suite *of;
	const struct planner *compiler;
	struct arena *machines, *arena;
	int nbenches;
	struct {
		const char *spec;
		struct bench bench;
	} bench[64];
	struct gap out;
};

static void fail(const struct error *e)
{
	error_print(stderr, e);
	exit(EXIT_FAILURE);
}

/* Returns the bench on the machine for so many devices, opened once. */
static struct bench *bench_of(struct measuring *m, int32_t needs)
{
	struct family_size size;
	struct platform *platform;
	struct error e = {0};

	if (platform_size(&size, m->machines, m->of->platform, NULL, 0, needs, &e) != OK)
		return NULL;
	for (int i = 0; i < m->nbenches; i++)
		if (strcmp(m->bench[i].spec, size.spec) == 0)
			return &m->bench[i].bench;
	if (platform_read(&platform, m->machines, size.spec, NULL, 0, &e) != OK)
		fail(&e);
	m->bench[m->nbenches].spec = size.spec;
	bench_init(&m->bench[m->nbenches].bench, platform->machine);
	return &m->bench[m->nbenches++].bench;
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns whether the hops of a chain join its ends and every plan is proved. */
static bool is_sound(const struct advised_chain *c, const struct problem *p)
{
	bool sound = true;

	for (int i = 0; i < c->nhops; i++) {
		const struct problem *q = c->hop[i].problem, *before = p;
		struct text why = {0};

		if (i > 0)
			before = c->hop[i - 1].problem;
		sound = sound && plan_check(c->hop[i].plan, &why) &&
		        layout_same_tiles(&q->from, &q->mesh,
		                          i ? &before->to : &before->from,
		                          i ? &before->to_mesh : &before->mesh);
		text_free(&why);
	}
	return sound && layout_same_tiles(&c->hop[c->nhops - 1].problem->to,
	                                  &c->hop[c->nhops - 1].problem->to_mesh,
	                                  &p->to, &p->to_mesh);
}

static void add_chains(struct measuring *m, const struct problem *p,
                       const struct advice *advice, double alone_s, double best_s,
                       const char *name)
{
	double least = alone_s;

	m->out.n++;
	m->out.log_gap += log(alone_s / best_s);
	for (int n = 0; n <= ADVISE_MOST; n++) {
		for (int i = 0; i < advice->nchains; i++)
			if (advice->chain[i].nhops <= n + 1)
				least = fmin(least, advice->chain[i].price.cost);
		/* The pad is a line to write, too: it counts as a layout. */
		if (advice->padding.problem && advice->padding.chain.nhops <= n)
			least = fmin(least, advice->padding.chain.price.cost);
		m->out.log_advised[n] += log(alone_s / least);
		if (n == 2 && getenv("GAP_LIST") && least > 1.01 * best_s)
			printf("%s %s: alone %.3g advised %.3g best %.3g\n", name,
			       m->of->platform, alone_s, least, best_s);
	}
	for (int i = 0; i < advice->nchains; i++) {
		m->out.dearer += advice->chain[i].price.cost > alone_s * (1 + 1e-9);
		m->out.wrong += !is_sound(&advice->chain[i], p);
	}
	if (advice->padding.problem) {
		m->out.dearer += advice->padding.chain.price.cost > alone_s * (1 + 1e-9);
		m->out.wrong += !is_sound(&advice->padding.chain, p);
	}
}

static void measure_scenario(struct measuring *m, const struct scenario *sc)
{
	const struct plan *guide[] = {NULL, NULL};
	struct measurement best, alone;
	struct advice advice;
	struct problem p;
	struct bench *bench;
	struct error e = {0};
	double start_s, took_s;

	arena_reset(m->arena);
	if (problem_make(&p, m->arena, &sc->text, &e) != OK)
		fail(&e);
	bench = bench_of(m, position_needs(&p));
	if (!bench || position_needs(&p) > bench->machine->ndevices) {
		m->out.left_out++;
		return;
	}
	bench_place(bench, &p);
	measure_plan(&best, bench, &p, &planner_best_portable, m->arena);
	measure_plan(&alone, bench, &p, m->compiler, m->arena);
	guide[0] = best.plan;
	start_s = cpu_s();
	advise(&advice, &(struct advise_ask){&p, m->compiler, &bench->prices, guide, 0},
	       m->arena);
	took_s = cpu_s() - start_s;
	if (p.has_atoms && p.atoms.n <= 7) {
		m->out.small++;
		m->out.small_s += took_s;
		m->out.most_s = fmax(m->out.most_s, took_s);
	}
	if (best.plan && alone.plan && best.plan->nsteps > 0)
		add_chains(m, &p, &advice,
		           bench->prices.plan(bench->prices.self, alone.plan).cost,
		           bench->prices.plan(bench->prices.self, best.plan).cost,
		           sc->name);
	else
		m->out.left_out++;
	m->out.rescued += !alone.plan && advice.nchains > 0;
}

struct gap gap_measure(const struct gap_suite *of)
{
	struct arena *a = arena_new();
	struct measuring *m = calloc(1, sizeof(*m));
	struct suite suite = {.arena = a};
	struct rng *rng = rng_new(1);
	struct error e = {0};
	struct gap out;

	m->of = of;
	m->compiler = planner_find(of->compiler, strlen(of->compiler));
	m->machines = arena_new();
	m->arena = arena_new();
	if (suite_read(&suite, of->path, &e) != OK)
		fail(&e);
	for (int32_t i = 0; i < suite.n; i++)
		if (rng_below(rng, of->one_of) == 0)
			measure_scenario(m, &suite.scenario[i]);
	for (int i = 0; i < m->nbenches; i++)
		bench_free(&m->bench[i].bench);
	out = m->out;
	rng_free(rng);
	arena_free(m->machines);
	arena_free(m->arena);
	arena_free(a);
	free(m);
	return out;
}

double gap_closed(const struct gap *g, int n)
{
	return g->log_gap > 0 ? g->log_advised[n] / g->log_gap : 1;
}
