#include "trace_case.h"

#include <check.h>
#include <string.h>

void trace_case_make(struct trace_case *out, const struct trace_text *t)
{
	struct problem_text text = {
		.array = t->array, .mesh = t->mesh, .from = t->from, .to = t->to};
	struct error e = {0};

	*out = (struct trace_case){.arena = arena_new()};
	ck_assert_msg(problem_make(&out->problem, out->arena, &text, &e) == OK, "%s",
	              e.text);
	ck_assert_msg(platform_load(&out->platform, out->arena, t->platform, &t->set,
	                            t->set ? 1 : 0, &e) == OK,
	              "%s", e.text);
	out->fluid = fluid_new(out->platform->machine);
	bench_init(&out->bench, out->platform->machine);
	bench_clock(&out->bench, &clock_kinds[0], NULL);
	bench_clock(&out->bench, &clock_kinds[1], out->fluid);
	bench_place(&out->bench, &out->problem);
}

void trace_case_free(struct trace_case *c)
{
	bench_free(&c->bench);
	fluid_free(c->fluid);
	arena_free(c->arena);
}

void trace_case_measure(struct measurement *out, struct trace_case *c,
                        const char *planner)
{
	const struct planner *found = planner_find(planner, strlen(planner));

	ck_assert_msg(found != NULL, "%s", planner);
	measure_plan(out, &c->bench, &c->problem, found, c->arena);
	for (int k = 0; k < c->bench.nclocks; k++)
		measure_time(out, &c->bench, k, c->arena);
}
