/* The cases of a sweep: their keys, their costs, and which shard has which. */
#include "sweep/sweep.h"

#include "system/version.h"

#include <stdlib.h>
#include <string.h>

/* --- keys --------------------------------------------------------------------------- */

static struct digest digest_scenario(const struct scenario *sc)
{
	const struct problem_text *t = &sc->text;
	const char *const texts[] = {
		sc->name,
		sc->family,
		sc->source,
		sc->base,
		sc->varied,
		t->array,
		t->mesh,
		t->to_mesh,
		t->from,
		t->to,
		t->devices,
		t->to_devices,
		t->memory_limit,
		t->num_devices,
		t->vocabulary,
		sc->hierarchy,
		sc->free ? "free" : NULL,
		sc->step.model,
		sc->step.parallel,
		sc->step.batch,
		sc->step.micro_batch,
		sc->step.seq,
		sc->step.recompute,
		sc->step.text,
	};
	struct digest d = digest_start();

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		digest_text(&d, texts[i]);
	return d;
}

enum status sweep_identify(struct sweep *s, struct arena *a, struct error *e)
{
	const struct suite *suite = s->suite;
	struct digest *scenario, *platform;
	struct sweep_known *known;

	if (s->nplanners * s->nclocks > SWEEP_UNITS_MAX)
		return error_set(
			e, E_RANGE, (struct where){0},
			"%d planners with %d clocks, expected at most %d pairs",
			s->nplanners, s->nclocks, SWEEP_UNITS_MAX);
	if (sweep_machines(s, a, e) != OK)
		return e->code;
	scenario = arena_alloc(a, (size_t)suite->n, sizeof(*scenario));
	platform = arena_alloc(a, (size_t)s->nplatforms, sizeof(*platform));
	known = arena_alloc(a, (size_t)s->nplatforms, sizeof(*known));
	for (int32_t i = 0; i < suite->n; i++)
		scenario[i] = digest_scenario(&suite->scenario[i]);
	for (int p = 0; p < s->nplatforms; p++)
		if (sweep_platform_digest(&platform[p], &known[p], s, &s->platform[p],
		                          a, e) != OK)
			return e->code;
	s->scenario_digest = scenario;
	s->platform_digest = platform;
	s->known = known;
	return OK;
}

/* --- cases -------------------------------------------------------------------------- */

int sweep_units(const struct sweep *s)
{
	return s->nplanners * s->nclocks;
}

bool sweep_has(const struct sweep *s, int platform, int32_t scenario)
{
	const struct sweep_platform *p = &s->platform[platform];
	const struct scenario *sc = &s->suite->scenario[scenario];

	return (p->asked->files >> sc->file & 1) && sc->needs >= p->least &&
	       sc->needs <= p->most;
}

int64_t sweep_platform_cases(const struct sweep *s, int platform)
{
	int64_t n = 0;

	for (int32_t i = 0; i < s->suite->n; i++)
		n += sweep_has(s, platform, i) ? sweep_units(s) : 0;
	return n;
}

int64_t sweep_cases(const struct sweep *s)
{
	int64_t n = 0;

	for (int p = 0; p < s->nplatforms; p++)
		n += sweep_platform_cases(s, p);
	return n;
}

/* Returns the digest that those of all cases of a scenario on a platform begin with. */
static struct digest cases_start(const struct sweep *s, int platform, int32_t scenario)
{
	struct digest d = digest_start();

	digest_add(&d, s->scenario_digest[scenario]);
	digest_add(&d, s->platform_digest[platform]);
	return d;
}

/*
 * Returns the digest of what a case measures, whatever program does it; `d` is the
 * beginning.
 */
static struct digest case_digest(const struct sweep *s, struct digest d, int unit)
{
	digest_text(&d, s->planner[unit / s->nclocks]->name);
	digest_text(&d, clock_kinds[s->clock[unit % s->nclocks]].name);
	return d;
}

struct digest sweep_key(const struct sweep *s, int platform, int32_t scenario, int unit)
{
	struct digest d = case_digest(s, cases_start(s, platform, scenario), unit);

	digest_text(&d, version_text);
	return d;
}

struct sweep_mark sweep_mark(const struct sweep *s, int platform, int32_t scenario,
                             int unit, const struct row *r)
{
	struct digest key = sweep_key(s, platform, scenario, unit);

	return (struct sweep_mark){key, row_sum(r, key)};
}

struct digest sweep_cases_digest(const struct sweep *s)
{
	struct digest sum = {0}, d = digest_start();

	for (int p = 0; p < s->nplatforms; p++)
		for (int32_t i = 0; i < s->suite->n; i++) {
			struct digest start = cases_start(s, p, i);

			for (int u = 0; u < sweep_units(s) && sweep_has(s, p, i); u++) {
				struct digest one = case_digest(s, start, u);

				sum.low += one.low;
				sum.high += one.high;
			}
		}
	digest_add(&d, sum);
	return d;
}

struct digest sweep_digest(const struct sweep *s)
{
	struct digest d = sweep_cases_digest(s);

	digest_text(&d, version_text);
	return d;
}

struct row sweep_row(const struct sweep *s, int platform, int32_t scenario, int unit,
                     struct arena *a)
{
	const struct scenario *sc = &s->suite->scenario[scenario];
	const struct sweep_platform *p = &s->platform[platform];
	const char *varied = p->asked->varied;
	struct row r = row_empty();

	r.scenario = sc->name;
	r.family = sc->family;
	r.source = sc->source;
	r.array = sc->text.array;
	r.mesh = sc->text.mesh;
	r.from = sc->text.from;
	r.to = sc->text.to;
	r.to_mesh = sc->text.to_mesh;
	r.num_devices = sc->text.num_devices;
	r.from_devices = sc->text.devices;
	r.to_devices = sc->text.to_devices;
	r.memory_limit = sc->text.memory_limit;
	r.vocabulary = sc->text.vocabulary;
	r.model = sc->step.model;
	r.parallel = sc->step.parallel;
	r.platform = p->name;
	r.planner = s->planner[unit / s->nclocks]->name;
	r.clock = clock_kinds[s->clock[unit % s->nclocks]].name;
	r.base_scenario = sc->base;
	r.base_platform = p->asked->base;
	r.machine = p->asked->machine;
	r.launch = s->known[platform].caller;
	r.varied = !sc->varied[0] ? varied
	           : !varied[0]   ? sc->varied
	                          : arena_printf(a, "%s %s", sc->varied, varied);
	return r;
}

/* --- work --------------------------------------------------------------------------- */

/*
 * Returns how much longer than others a planner and a clock take. Only the order of the
 * work depends on it.
 */
static double unit_cost(const struct sweep *s, int unit, double devices)
{
	bool search = strcmp(s->planner[unit / s->nclocks]->name, "best") == 0;
	bool replay = clock_kinds[s->clock[unit % s->nclocks]].replays;

	return (search ? 10 : 1) * (16 + devices) + (replay ? 300 + 20 * devices : 0);
}

static double cost_of(const struct sweep *s, uint64_t units, double devices)
{
	double cost = 0;

	for (int u = 0; u < sweep_units(s); u++)
		if (units >> u & 1)
			cost += unit_cost(s, u, devices);
	return cost;
}

/* Puts the most expensive first; equal ones in the order of platforms and scenarios. */
static int work_by_cost(const void *a, const void *b)
{
	const struct sweep_work *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? 1 : -1;
	if (x->platform != y->platform)
		return x->platform < y->platform ? -1 : 1;
	return x->scenario < y->scenario ? -1 : x->scenario > y->scenario;
}

static uint64_t all_units(const struct sweep *s)
{
	int n = sweep_units(s);

	return n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static uint64_t missing_units(const struct sweep *s, const struct sweep_work *work,
                              const struct digests *done)
{
	uint64_t units = 0;

	if (!done->n)
		return all_units(s);
	for (int u = 0; u < sweep_units(s); u++)
		if (!digests_has(done, sweep_key(s, work->platform, work->scenario, u)))
			units |= UINT64_C(1) << u;
	return units;
}

struct sweep_work *sweep_work(int64_t *n, const struct sweep *s,
                              const struct digests *done, int shard, int nshards,
                              struct arena *a)
{
	size_t most = (size_t)(sweep_cases(s) / sweep_units(s));
	struct sweep_work *all = arena_alloc(a, most, sizeof(*all));
	const struct scenario *of = s->suite->scenario;
	int64_t count = 0;

	for (int p = 0; p < s->nplatforms; p++)
		for (int32_t i = 0; i < s->suite->n; i++)
			if (sweep_has(s, p, i))
				all[count++] = (struct sweep_work){
					i, p, all_units(s),
					cost_of(s, all_units(s), of[i].needs)};
	if (count)
		qsort(all, (size_t)count, sizeof(*all), work_by_cost);
	*n = 0;
	for (int64_t i = shard; i < count; i += nshards) {
		struct sweep_work work = all[i];

		work.units = missing_units(s, &work, done);
		work.cost = cost_of(s, work.units, of[work.scenario].needs);
		if (work.units)
			all[(*n)++] = work;
	}
	return all;
}

void sweep_count(struct sweep_counts *c, enum outcome o)
{
	c->rows++;
	c->outcome[o]++;
}
