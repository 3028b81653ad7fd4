/*
 * What the real systems emit in cases that models/README.md ("XLA" to "DTensor") leaves open:
 * facts of their tests and of compiled programs that people published, each with its
 * source. Operations in order, dimensions, groups, pairs and offsets.
 */
#include "array/tile.h"
#include "plan/check.h"
#include "planner/planner.h"
#include "planner/xla/xla.h"
#include "tests/tests.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static void print_dims(struct text *t, const struct step *s)
{
	for (int k = 0; k < s->nmoves; k++) {
		const struct move *m = &s->move[k];

		text_printf(t, "%s", k ? "," : " ");
		if (m->from_dim >= 0)
			text_printf(t, "%d", m->from_dim);
		text_printf(t, "-");
		if (m->to_dim >= 0)
			text_printf(t, "%d", m->to_dim);
	}
}

/* Where the tiles of all devices begin in every dimension that a slice cuts. */
static void print_offsets(struct text *t, const struct plan *p, const struct step *s)
{
	struct tilemap map = tilemap_make(&s->after, s->mesh, &p->shape, arena);

	for (int k = 0; k < s->nmoves; k++) {
		int dim = s->move[k].to_dim;

		for (int32_t d = 0; d < map.ndevices; d++)
			text_printf(t, "%s%lld", d ? "," : " ",
			            (long long)(map.index[d * s->after.rank + dim] *
			                        map.tile.dim[dim]));
	}
}

/* "all-gather 0- {0,1}{2,3}; permute (0,1)(1,0); slice -1 0,4,0,4". */
static const char *steps_of(const struct plan *p)
{
	struct text t = {0};

	text_printf(&t, "%s", p->nsteps ? "" : "nothing");
	for (int i = 0; i < p->nsteps; i++) {
		const struct step *s = &p->step[i];
		const struct groups *g = &s->groups;

		text_printf(&t, "%s%s", i ? "; " : "", op_name(s->op));
		print_dims(&t, s);
		text_printf(&t, "%s", g->ngroups || s->npairs ? " " : "");
		for (int32_t k = 0; k < g->ngroups * g->size; k++)
			text_printf(&t, "%s%d%s", k % g->size ? "," : "{", g->ids[k],
			            (k + 1) % g->size ? "" : "}");
		for (int32_t k = 0; k < s->npairs; k++)
			text_printf(&t, "(%d,%d)", s->pairs[k].src, s->pairs[k].dst);
		if (s->op == OP_SLICE)
			print_offsets(&t, p, s);
	}
	return text_take(&t, arena);
}

static struct plan *plan_for(const char *planner, const struct problem_text *text)
{
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	struct plan *plan = NULL;
	struct error e = {0};
	struct text why = {0};

	ck_assert_msg(problem_make(p, arena, text, &e) == OK, "%s", e.text);
	ck_assert_msg(planner_run(planner_find(planner, strlen(planner)), &plan, p,
	                          &prices_bytes, arena, &why) == ANSWER_PLAN,
	              "%s", why.s);
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
	return plan;
}

/* clang-format off */
#define M24 .mesh = "x=2,y=4"
#define M242 .mesh = "x=2,y=4,z=2"
#define GROUPS_XY "{0,2,4,6,8,10,12,14}{1,3,5,7,9,11,13,15}"

static const struct {
	const char *source, *planner;
	struct problem_text problem;
	const char *steps;
} facts[] = {
	/* openxla/shardy, transforms/export/test/convert_global_to_local/, 2026. */
	{"sdy_all_gather.mlir one_dim", "shardy",
	 {.array = "f32[8,16]", M24, .from = "[{\"x\",\"y\"}, {}]", .to = "[{\"x\"}, {}]"},
	 "all-gather 0- {0,1,2,3}{4,5,6,7}"},
	{"sdy_all_gather.mlir one_dim_two_axes_xy", "shardy",
	 {.array = "f32[8,16]", M242, .from = "[{\"x\",\"y\"}, {\"z\"}]",
	  .to = "[{}, {\"z\"}]"},
	 "all-gather 0- " GROUPS_XY},
	{"sdy_all_gather.mlir one_dim_two_axes_yx", "shardy",
	 {.array = "f32[8,16]", M242, .from = "[{\"y\",\"x\"}, {\"z\"}]",
	  .to = "[{}, {\"z\"}]"},
	 "all-gather 0- {0,8,2,10,4,12,6,14}{1,9,3,11,5,13,7,15}"},
	{"sdy_all_gather.mlir one_dim_two_axes_subaxis", "shardy",
	 {.array = "f32[8,16]", M242, .from = "[{\"x\",\"y\":(2)2}, {\"z\"}]",
	  .to = "[{}, {\"z\"}]"},
	 "all-gather 0- {0,2,8,10}{1,3,9,11}{4,6,12,14}{5,7,13,15}"},
	{"sdy_all_gather.mlir two_dims_yz, combined", "shardy",
	 {.array = "f32[8,16]", M242, .from = "[{\"x\",\"y\"}, {\"z\"}]",
	  .to = "[{\"x\"}, {}]"},
	 "all-gather 0-,1- {0,1,2,3,4,5,6,7}{8,9,10,11,12,13,14,15}"},
	{"sdy_all_gather.mlir two_dims_yx, combined", "shardy",
	 {.array = "f32[8,16]", M242, .from = "[{\"z\",\"y\"}, {\"x\"}]",
	  .to = "[{\"z\"}, {}]"},
	 "all-gather 0-,1- {0,8,2,10,4,12,6,14}{1,9,3,11,5,13,7,15}"},
	{"sdy_all_to_all.mlir one_param_move_suffix", "shardy",
	 {.array = "f32[8,32]", M242, .from = "[{\"x\",\"y\"}, {}]",
	  .to = "[{\"x\"}, {\"y\"}]"},
	 "all-to-all 0-1 {0,2,4,6}{1,3,5,7}{8,10,12,14}{9,11,13,15}"},
	{"sdy_all_to_all.mlir one_param_move_all_axes", "shardy",
	 {.array = "f32[8,16]", M242, .from = "[{}, {\"y\",\"z\"}]",
	  .to = "[{\"y\",\"z\"}, {}]"},
	 "all-to-all 1-0 {0,1,2,3,4,5,6,7}{8,9,10,11,12,13,14,15}"},
	{"sdy_all_to_all.mlir two_params_move_suffix", "shardy",
	 {.array = "f32[2,8,2,4]", M242, .from = "[{}, {\"x\",\"y\":(2)2}, {\"z\"}, {}]",
	  .to = "[{\"z\"}, {\"x\"}, {}, {\"y\":(2)2}]"},
	 "all-to-all 2-0,1-3 {0,2,1,3}{4,6,5,7}{8,10,9,11}{12,14,13,15}"},
	{"sdy_all_to_all.mlir two_params_move_all_axes", "shardy",
	 {.array = "f32[4,2,4,2]", M24, .from = "[{}, {\"x\"}, {\"y\"}, {}]",
	  .to = "[{\"y\"}, {}, {}, {\"x\"}]"},
	 "all-to-all 2-0,1-3 {0,4,1,5,2,6,3,7}"},
	{"sdy_collective_permute.mlir swap_two_dim_shardings", "shardy",
	 {.array = "f32[4,8]", M24, .from = "[{\"x\"}, {\"y\":(2)2}]",
	  .to = "[{\"y\":(2)2}, {\"x\"}]"},
	 "permute (0,0)(1,4)(2,2)(3,6)(4,1)(5,5)(6,3)(7,7)"},
	{"sdy_collective_permute.mlir reverse_two_axes", "shardy",
	 {.array = "f32[4,8]", M24, .from = "[{}, {\"x\",\"y\"}]",
	  .to = "[{}, {\"y\",\"x\"}]"},
	 "permute (0,0)(1,4)(2,1)(3,5)(4,2)(5,6)(6,3)(7,7)"},
	{"sdy_collective_permute.mlir regroup_sharding_axes", "shardy",
	 {.array = "f32[8,4]", M242, .from = "[{\"x\",\"z\"}, {\"y\"}]",
	  .to = "[{\"y\":(2)2,\"x\"}, {\"z\",\"y\":(1)2}]"},
	 "permute (0,0)(1,8)(2,4)(3,12)(4,1)(5,9)(6,5)(7,13)(8,2)(9,10)(10,6)(11,14)"
	 "(12,3)(13,11)(14,7)(15,15)"},
	{"sdy_collective_permute.mlir mesh_change_iota_to_other", "shardy",
	 {.array = "s32[4]", .mesh = "x=4", .to_mesh = "<[\"x\"=4], device_ids=[1,2,3,0]>",
	  .from = "[{\"x\"}]", .to = "[{\"x\"}]"},
	 "permute (0,1)(1,2)(2,3)(3,0)"},
	{"sdy_collective_permute.mlir mesh_change_other_to_iota", "shardy",
	 {.array = "s32[4]", .mesh = "<[\"x\"=4], device_ids=[1,2,3,0]>", .to_mesh = "x=4",
	  .from = "[{\"x\"}]", .to = "[{\"x\"}]"},
	 "permute (0,3)(1,0)(2,1)(3,2)"},
	{"sdy_reduce_scatter.mlir one_dim_not_sharded", "shardy",
	 {.array = "f32[8,8]", M24, .from = "[{\"y\"}, {}], unreduced={\"x\"}",
	  .to = "[{\"y\"}, {\"x\"}]"},
	 "reduce-scatter -1 {0,4}{1,5}{2,6}{3,7}"},
	{"sdy_reduce_scatter.mlir one_dim_sharded", "shardy",
	 {.array = "f32[16,8]", M24, .from = "[{\"x\"}, {}], unreduced={\"y\":(2)2}",
	  .to = "[{\"x\",\"y\":(2)2}, {}]"},
	 "reduce-scatter -0 {0,1}{2,3}{4,5}{6,7}"},
	{"sdy_reduce_scatter.mlir two_dim_add_suffix_of_full, combined", "shardy",
	 {.array = "f32[16,8]", M242,
	  .from = "[{\"y\":(1)2}, {}], unreduced={\"x\",\"y\":(2)2,\"z\"}",
	  .to = "[{\"y\",\"z\"}, {\"x\"}]"},
	 "reduce-scatter -0,-1 {0,8,1,9,2,10,3,11}{4,12,5,13,6,14,7,15}"},
	{"sdy_all_slice.mlir one_dim_two_axes_xy", "shardy",
	 {.array = "f32[16,32]", M242, .from = "[{}, {}]", .to = "[{}, {\"x\",\"y\"}]"},
	 "slice -1 0,0,4,4,8,8,12,12,16,16,20,20,24,24,28,28"},
	{"sdy_all_slice.mlir one_dim_two_axes_zx", "shardy",
	 {.array = "f32[16,32]", M242, .from = "[{}, {}]", .to = "[{}, {\"z\",\"x\"}]"},
	 "slice -1 0,16,0,16,0,16,0,16,8,24,8,24,8,24,8,24"},
	{"sdy_all_slice.mlir two_dims_full_axes", "shardy",
	 {.array = "f32[16,32]", M242, .from = "[{}, {}]", .to = "[{\"x\"}, {\"y\"}]"},
	 "slice -0,-1 0,0,0,0,0,0,0,0,8,8,8,8,8,8,8,8 "
	 "0,0,8,8,16,16,24,24,0,0,8,8,16,16,24,24"},
	/* A pipeline test of ../, which fuses what the planning pass emits. */
	{"all_to_all_fusion", "shardy",
	 {.array = "f32[64,16,8,8]", .mesh = "x=2,y=2",
	  .from = "[{\"x\"}, {\"y\"}, {}, {}]", .to = "[{}, {}, {\"x\"}, {\"y\"}]"},
	 "all-to-all 0-2,1-3 {0,1,2,3}"},
	/* openxla/xla, xla/service/spmd/spmd_partitioner_test.cc, 2023. */
	{"SingleDeviceToReplicated", "xla",
	 {.array = "s32[2,3]", .mesh = "x=2", .from = "{maximal device=0}",
	  .to = "{replicated}"},
	 "all-reduce {0,1}"},
	{"SingleDeviceToSingleDevice", "xla",
	 {.array = "s32[2,3]", .mesh = "x=2", .from = "{maximal device=0}",
	  .to = "{maximal device=1}"},
	 "all-reduce {0,1}; pad"},
	{"SingleDeviceToTiled", "xla",
	 {.array = "s32[2,3]", .mesh = "x=2", .from = "{maximal device=0}",
	  .to = "{devices=[2,1]1,0}"},
	 "all-reduce {0,1}; slice -0 1,0"},
	{"TiledToSingleDevice", "xla",
	 {.array = "s32[2,3]", .mesh = "x=2", .from = "{devices=[2,1]0,1}",
	  .to = "{maximal device=0}"},
	 "all-gather 0- {0,1}; pad"},
	{"GetTupleElementSwapDevice", "xla",
	 {.array = "f32[2,3]", .mesh = "x=2", .from = "{maximal device=1}",
	  .to = "{maximal device=0}"},
	 "all-reduce {0,1}; pad"},
	{"GetTupleElementTiled", "xla",
	 {.array = "f32[2,3]", .mesh = "x=2", .from = "{replicated}",
	  .to = "{devices=[2,1]0,1}"},
	 "slice -0 0,1"},
	/* The compiled programs of github.com/openxla/xla/issues/4062. */
	{"xla issue 4062, lhs", "xla",
	 {.array = "f32[2048,8192]",
	  .from = "{devices=[4,1,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate}",
	  .to = "{replicated}"},
	 "all-gather 0- {0,2,4,6}{1,3,5,7}"},
	{"xla issue 4062, rhs", "xla",
	 {.array = "f32[8192,4096]",
	  .from = "{devices=[1,2,4]0,2,4,6,1,3,5,7 last_tile_dim_replicate}",
	  .to = "{replicated}"},
	 "all-gather 1- {0,1}{2,3}{4,5}{6,7}"},
};
/* clang-format on */

START_TEST(real_systems_emit_these)
{
	const struct plan *plan = plan_for(facts[_i].planner, &facts[_i].problem);

	ck_assert_msg(strcmp(steps_of(plan), facts[_i].steps) == 0,
	              "%s: expected\n%s, got\n%s", facts[_i].source, facts[_i].steps,
	              steps_of(plan));
}
END_TEST

/* Warnings of an involuntary full rematerialization that people have published. */
static const struct {
	const char *source, *planner, *array, *from, *to;
} warnings[] = {
	{"jax issue 18591, 2023-11", "xla", "bf16[4096,4096]",
         "{devices=[256,1]<=[256]}", "{devices=[1,64,4]<=[256] last_tile_dim_replicate}"},
	{"alpa issue 701, 2022-09", "xla-2021", "f32[16,8,8,16]",
         "{devices=[4,1,1,1]0,1,2,3}", "{devices=[2,1,1,2]0,1,2,3}"},
	{"an optimizer's source, 2024-11", "xla", "f32[3,8,128]",
         "{devices=[1,16,1,4]<=[64] last_tile_dim_replicate}",
         "{devices=[1,1,4,16]<=[16,4]T(1,0) last_tile_dim_replicate}"},
	{"notes on c128[36,10,2,73648], 16 devices", "xla", "c128[36,10,2,73648]",
         "{devices=[1,16,1,1]<=[16]}",
         "{devices=[1,1,1,4,4]<=[4,4]T(1,0) last_tile_dim_replicate}"},
	{"notes on c128[1,656,1963], 4 devices", "xla", "c128[1,656,1963]",
         "{devices=[4,1,1]<=[4]}", "{devices=[1,2,1,2]<=[4] last_tile_dim_replicate}"},
};

START_TEST(real_xla_rematerializes_these)
{
	const struct plan *plan =
		plan_for(warnings[_i].planner,
	                 &(struct problem_text){.array = warnings[_i].array,
	                                        .from = warnings[_i].from,
	                                        .to = warnings[_i].to});

	struct text words = {0};

	/* A tile of a dimension of 1 is the full array: the figure does not count it. */
	ck_assert_msg(plan->full_remat || plan->problem->array.shape.dim[0] == 1,
	              "%s: %s", warnings[_i].source, steps_of(plan));
	xla_explain(&words, plan->problem, strcmp(warnings[_i].planner, "xla") == 0);
	ck_assert_msg(strstr(words.s, "by rule 10, full rematerialization"), "%s: %s",
	              warnings[_i].source, words.s);
	text_free(&words);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("baseline_facts");
	TCase *c = tcase_create("baseline_facts");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, real_systems_emit_these, 0, COUNT(facts));
	tcase_add_loop_test(c, real_xla_rematerializes_these, 0, COUNT(warnings));
	suite_add_tcase(suite, c);
	return suite;
}
