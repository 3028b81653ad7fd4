#include "compose_pairs.h"

#include "planner_case.h"

#include "base/assert.h"
#include "collective/profile.h"
#include "facts/families.h"
#include "price/price.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXTENT = 2304, LAYOUTS_MAX = 64 };

struct pairs {
	struct arena *arena;
	struct mesh mesh;
	struct prices prices;
	int n;
	struct layout layout[LAYOUTS_MAX];
	double seconds[LAYOUTS_MAX][LAYOUTS_MAX];
};

static struct machine *machine_of_family(struct arena *a, const char *spec)
{
	struct family_machine family;
	struct machine *machine;
	struct error e = {0};

	if (family_parse(&family, a, NULL, spec, NULL, 0, &e) != OK ||
	    family_machine(&machine, a, &family, spec, &e) != OK) {
		error_print(stderr, &e);
		abort();
	}
	machine->launch = profile_compiler(machine);
	return machine;
}

struct machine *compose_machine(struct arena *a, const struct compose_case *c,
                                double faster, bool passes)
{
	const bool wrap[] = {true, true, true}, open[] = {false, false, false};
	const struct link ici = {.bandwidth_Bps = 45e9 * faster, .latency_s = 1e-6};
	const struct link nvlink = {.bandwidth_Bps = 235e9 * faster,
	                            .latency_s = 0.475e-6};
	const struct link nic = {.bandwidth_Bps = 24e9 * faster, .latency_s = 1.25e-6};
	const struct device chip = {.memory_Bps = passes ? 819e9 : 0, .launch_s = 5e-6};
	const struct device gpu = {.memory_Bps = passes ? 2e12 : 0, .launch_s = 5e-6};
	int naxes = 0;

	if (c->family)
		return machine_of_family(a, c->family);
	if (c->kind == COMPOSE_NODES)
		return machine_gpu(a, c->shape[0], c->shape[1], nvlink, nic, gpu);
	while (naxes < 3 && c->shape[naxes])
		naxes++;
	return machine_torus(a, naxes, c->shape,
	                     c->kind == COMPOSE_WRAPPED ? wrap : open, ici, chip);
}

static void list_layouts(struct pairs *pairs)
{
	struct atoms whole = {.n = pairs->mesh.naxes};
	struct type *type;

	for (int i = 0; i < whole.n; i++)
		whole.atom[i] = (struct atom){(int32_t)mesh_stride(&pairs->mesh, i),
		                              pairs->mesh.axis[i].size};
	pairs->n = case_types(&type, &whole, 2);
	assert(pairs->n <= LAYOUTS_MAX);
	for (int i = 0; i < pairs->n; i++)
		layout_of_type(&pairs->layout[i], &type[i], &whole, &pairs->mesh);
	free(type);
}

static double best_s(const struct pairs *pairs, int from, int to)
{
	const struct shape extent = {.rank = 2, .dim = {EXTENT, EXTENT}};
	struct arena *a = arena_new();
	struct problem *p = case_of_layouts(a, &pairs->mesh, &extent,
	                                    &pairs->layout[from], &pairs->layout[to]);
	struct text why = {0};
	struct plan *plan;
	enum answer answer;
	double seconds;

	answer = planner_run(planner_find("best", 4), &plan, p, &pairs->prices, a, &why);
	assert(answer == ANSWER_PLAN);
	seconds = pairs->prices.plan(pairs->prices.self, plan).cost;
	text_free(&why);
	arena_free(a);
	return seconds;
}

static void count_pair(struct compose_count *count, const struct pairs *pairs, int from,
                       int to)
{
	double by = INFINITY, ratio;

	for (int via = 0; via < pairs->n; via++)
		if (via != from && via != to)
			by = fmin(by,
			          pairs->seconds[from][via] + pairs->seconds[via][to]);
	ratio = pairs->seconds[from][to] / by;
	count->pairs++;
	count->dearer += ratio > 1.05;
	count->worst = fmax(count->worst, ratio);
}

struct compose_count compose_pairs(const struct compose_case *c)
{
	struct pairs *pairs = xmalloc(1, sizeof(*pairs));
	struct compose_count count = {0};
	struct pricer *pricer;

	*pairs = (struct pairs){.arena = arena_new()};
	pairs->mesh = case_mesh(pairs->arena, c->mesh);
	pricer = pricer_new(compose_machine(pairs->arena, c, 1, true), NULL);
	pairs->prices = pricer_prices(pricer);
	list_layouts(pairs);
	for (int i = 0; i < pairs->n; i++)
		for (int k = 0; k < pairs->n; k++)
			pairs->seconds[i][k] = i == k ? 0 : best_s(pairs, i, k);
	for (int i = 0; i < pairs->n; i++)
		for (int k = 0; k < pairs->n; k++)
			if (i != k)
				count_pair(&count, pairs, i, k);
	pricer_free(pricer);
	arena_free(pairs->arena);
	xfree(pairs);
	return count;
}
