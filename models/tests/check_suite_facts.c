/*
 * Reshards of the systems' own test suites beside those of check_xla_facts,
 * check_shardy and check_dtensor: kinds of steps in order, axes, dimensions and local
 * shapes as their tests state them, each row named after the test it restates.
 */
#include "plan/check.h"
#include "plan/plan_json.h"
#include "plan/plan_text.h"
#include "plan_interpret.h"
#include "planner_case.h"
#include "tests/tests.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* Larger arrays are left to plan_check. */
enum { INTERPRETED_MAX = 1 << 12 };

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* "all-gather {x} 0- 16,8; permute 8,8"; XLA's shardings have no axes to name. */
static const char *steps_of(const struct plan *plan, bool axes)
{
	struct text t = {0};

	for (int i = 0; i < plan->nsteps; i++) {
		const struct step *s = &plan->step[i];

		text_printf(&t, "%s%s", i ? "; " : "", op_name(s->op));
		for (int k = 0; k < s->nmoves; k++) {
			const struct move *m = &s->move[k];

			for (int n = 0; axes && n < m->nparts; n++) {
				text_printf(&t, n ? "," : " {");
				part_print(&t, &plan->problem->mesh, m->parts[n]);
			}
			text_printf(&t, axes ? "} " : " ");
			if (m->from_dim >= 0)
				text_printf(&t, "%d", m->from_dim);
			text_printf(&t, "-");
			if (m->to_dim >= 0)
				text_printf(&t, "%d", m->to_dim);
		}
		for (int d = 0; d < s->local.rank; d++)
			text_printf(&t, "%s%lld", d ? "," : " ",
			            (long long)s->local.dim[d]);
	}
	return plan->nsteps ? text_take(&t, arena) : "nothing";
}

/* A plan's text and JSON say the same plan. */
static void check_reads_back(const struct plan *plan)
{
	struct text text = {0};
	struct error e = {0};
	json_t *json = plan_json(plan);

	plan_print(&text, plan);
	for (int k = 0; k < 2; k++) {
		struct plan *again = NULL;
		struct text same = {0};
		const char *s = text.s ? text.s : "";
		enum status status =
			k ? plan_parse_json(&again, plan->problem, arena, json, "-", &e)
			  : plan_parse(&again, plan->problem, arena, s,
		                       where_option("-p", s), &e);

		ck_assert_msg(status == OK, "%s: %s", s, e.text);
		plan_print(&same, again);
		ck_assert_str_eq(same.s ? same.s : "", s);
		text_free(&same);
	}
	json_decref(json);
	text_free(&text);
}

/* "refused: reason" in place of steps. */
static const char *answer_of(const struct planner *planner, const struct problem *p)
{
	struct plan *plan = NULL;
	struct text why = {0};
	int wrong;

	if (planner_run(planner, &plan, p, &prices_bytes, arena, &why) != ANSWER_PLAN)
		return arena_printf(arena, "refused: %s", text_take(&why, arena));
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
	check_reads_back(plan);
	if (shape_elements(&p->array.shape) <= INTERPRETED_MAX)
		ck_assert(plan_interpret(plan, arena, &wrong));
	return steps_of(plan, strncmp(planner->name, "xla", 3) != 0);
}

struct fact {
	const char *test, *mesh, *array, *from, *to, *steps;
};

static void check_fact(const char *planner, const struct fact *f)
{
	struct problem *p = case_of_texts(arena, f->mesh, f->array, f->from, f->to);
	const char *found = answer_of(planner_find(planner, strlen(planner)), p);

	ck_assert_msg(strcmp(found, f->steps) == 0, "%s of %s: expected\n%s, got\n%s",
	              planner, f->test, f->steps, found);
}

/* clang-format off */
#define R " last_tile_dim_replicate}"

/*
 * openxla/xla, xla/service/spmd/spmd_partitioner_test.cc, 2022-2026: operands and
 * results that an op's partitioner reshards, and annotations. Where it shows a
 * dynamic-update-slice and an all-reduce, all-gathers are disabled there.
 */
static const struct fact xla_facts[] = {
	{"TriangularSolve, a", NULL, "f32[10,32,32]", "{devices=[2,2,2]<=[8]}",
	 "{devices=[2,1,1,4]<=[8]" R, "all-gather 2- 5,16,32; all-gather 1- 5,32,32"},
	{"TriangularSolve, b", NULL, "f32[10,32,48]", "{devices=[2,2,2]<=[8]}",
	 "{devices=[2,1,1,4]<=[8]" R, "all-gather 2- 5,16,48; all-gather 1- 5,32,48"},
	{"TriangularSolve, result", NULL, "f32[10,32,48]", "{devices=[2,1,1,4]<=[8]" R,
	 "{devices=[2,2,2]<=[8]}", "slice -1 -2 5,16,24"},
	{"BitcastConvertSameRank", NULL, "s32[4]", "{devices=[2]<=[2]}", "{replicated}",
	 "all-gather 0- 4"},
	{"BitcastConvertInputRankGreaterThanOutputRank, operand", NULL, "s32[4,2]",
	 "{devices=[2,2]<=[4]}", "{devices=[2,1,2]<=[4]" R, "all-gather 1- 2,2"},
	{"BitcastConvertInputRankGreaterThanOutputRank, result", NULL, "f64[4]",
	 "{devices=[2,2]<=[4]" R, "{devices=[2,2]<=[2,2]T(1,0)" R, "permute 2"},
	{"BitcastConvertInputRankSmallerThanOutputRank, operand", NULL, "s64[4]",
	 "{devices=[2,2]<=[2,2]T(1,0)" R, "{devices=[2,2]<=[4]" R, "permute 2"},
	{"BitcastConvertInputRankSmallerThanOutputRank, result", NULL, "f32[4,2]",
	 "{devices=[2,1,2]<=[4]" R, "{devices=[2,2]<=[4]}", "slice -1 2,1"},
	{"CustomCallShardingRegistration, operand", NULL, "f32[102,128,128]",
	 "{devices=[2,1,2]<=[4]}", "{devices=[2,1,1,2]<=[4]" R,
	 "all-gather 2- 51,128,128"},
	{"CustomCallShardingRegistration, result", NULL, "f32[102,128,128]",
	 "{devices=[2,1,1,2]<=[4]" R, "{devices=[2,1,2]<=[4]}", "slice -2 51,128,64"},
	{"SubgroupUnreducedParam", NULL, "s32[2,4]",
	 "{devices=[1,2,2]<=[4] last_tile_dims={unreduced}}",
	 "{devices=[1,2,2]<=[4] last_tile_dims={unreduced}}", "nothing"},
	{"GatherParallelDimPartialReplicatedOperand, operand", NULL, "s32[8,4,2,2]",
	 "{devices=[2,1,1,1,4]<=[8]" R, "{devices=[8,1,1,1]<=[8]}", "slice -0 1,4,2,2"},
	{"GatherParallelDimPartialReplicatedOperand, result", NULL, "s32[8,4,2,2]",
	 "{devices=[8,1,1,1]<=[8]}", "{replicated}", "all-gather 0- 8,4,2,2"},
	{"GatherParallelDimSwappedDimensions, result", NULL, "s32[8,4,2,2]",
	 "{devices=[2,4,1,1]<=[8]}", "{replicated}",
	 "all-gather 1- 4,4,2,2; all-gather 0- 8,4,2,2"},
	{"GatherParallelDimFromOutsideWhilePositive", NULL, "s32[8,4,2,2]", "{replicated}",
	 "{devices=[8,1,1,1]<=[8]}", "slice -0 1,4,2,2"},
	{"EinsumNonContractingDimPartitionOnTwoDims, lhs", NULL, "bf16[8,1024,2,1536]",
	 "{replicated}", "{devices=[4,1,2,1]0,1,2,3,4,5,6,7}",
	 "slice -0 -2 2,1024,1,1536"},
	{"EinsumNonContractingDimPartitionOnTwoDims, rhs", NULL, "bf16[2,1536,512,1]",
	 "{replicated}", "{devices=[2,1,2,1,2]0,4,2,6,1,5,3,7" R,
	 "slice -0 -2 1,1536,256,1"},
	{"EinsumNonContractingDimPartitionOnTwoDims, rhs in part", NULL,
	 "bf16[2,1536,512,1]", "{devices=[2,1,2,1,2]0,4,2,6,1,5,3,7" R,
	 "{devices=[2,1,1,1,4]0,2,4,6,1,3,5,7" R, "all-gather 2- 1,1536,512,1"},
	{"EinsumNonContractingDimPartitionOnTwoDims2, rhs in part", NULL,
	 "bf16[2,1536,512,1]", "{devices=[2,1,2,1,2]0,2,4,6,1,3,5,7" R,
	 "{devices=[2,1,1,1,4]0,2,4,6,1,3,5,7" R, "all-gather 2- 1,1536,512,1"},
	{"EinsumNonContractingDimPartitionOnTwoDims, result", NULL, "bf16[8,1024,512,1]",
	 "{devices=[4,1,1,1,2]<=[8]" R, "{devices=[4,1,2,1]<=[8]}",
	 "slice -2 2,1024,256,1"},
	{"DynamicUpdateSliceAlongNonPartitionedDimension, update", NULL, "s32[128,2]",
	 "{replicated}", "{devices=[2,1]0,1}", "slice -0 64,2"},
	{"DynamicUpdateSliceAlongPartitionedDimension, update", NULL, "s32[128,2]",
	 "{devices=[1,2]0,1}", "{replicated}", "all-gather 1- 128,2"},
};

/* From rule 7 on one all-to-all, and shardings that name their mesh, of today. */
static const struct fact xla_today_facts[] = {
	{"SortWithMovableAndNonMovableDimension, operand", NULL, "f32[4,16384,4096]",
	 "{devices=[4,4,4]<=[64]}", "{devices=[4,16,1]<=[64]}",
	 "all-to-all 2-1 1,1024,4096"},
	{"SortWithMovableAndNonMovableDimension, result", NULL, "s32[4,16384,4096]",
	 "{devices=[4,16,1]<=[64]}", "{devices=[4,4,4]<=[64]}",
	 "all-to-all 1-2 1,4096,1024"},
	{"ReshardBetweenPermutedMeshesWithReplicatedAxes", NULL, "f32[8,2]",
	 "{mesh['x'=2,'y'=2], [{'x'}, {'y'}]}",
	 "{mesh['x'=2,'y'=2], device_ids=(3,2,1,0), [{'x'}, {}]}",
	 "permute 4,1; all-gather 1- 4,2"},
};

#define M424 "x=4,y=2,z=4"
#define IN_ONE "refused: Shardy would turn sharded axes into unreduced ones and reshard " \
	"besides, which it does not support in one reshard"

/*
 * openxla/shardy, transforms/export/test/: insert_explicit_reshards/unreduced.mlir and
 * what reshard_to_collectives makes of the reshards it leaves; pad_for_divisibility.mlir.
 */
static const struct fact shardy_facts[] = {
	{"sharded_to_unreduced", M424, "f32[16,8]", "[{\"x\"}, {}]",
	 "[{}, {}], unreduced={\"x\"}", "partial {x} 0- 16,8"},
	{"sharded_to_unreduced_single_axis", M424, "f32[16,8]", "[{\"y\"}, {\"x\"}]",
	 "[{\"y\"}, {}], unreduced={\"x\"}", "partial {x} 1- 8,8"},
	{"sharded_to_unreduced_multiple_axes", M424, "f32[32,32]",
	 "[{\"x\", \"z\", \"y\"}, {}]", "[{\"x\"}, {}], unreduced={\"y\", \"z\"}",
	 "partial {z,y} 0- 8,32"},
	{"sharded_to_unreduced_multiple_dims", M424, "f32[16,8]",
	 "[{\"y\", \"z\"}, {\"x\"}]", "[{\"y\"}, {}], unreduced={\"x\", \"z\"}",
	 "partial {z} 0- {x} 1- 8,8"},
	{"sharded_to_unreduced_with_subaxis", M424, "f32[16,8]", "[{\"z\"}, {\"x\"}]",
	 "[{\"z\":(1)2}, {\"x\"}], unreduced={\"z\":(2)2}", "partial {z:(2)2} 0- 8,2"},
	{"implicitly_and_explicitly_replicated_to_unreduced_full_axis", M424, "f32[16,8]",
	 "[{}, {}], replicated={\"z\"}, unreduced={\"y\"}",
	 "[{}, {}], unreduced={\"x\", \"y\", \"z\"}", "partial {x,z} - 16,8"},
	{"implicitly_and_explicitly_replicated_to_unreduced_sub_axis", "x=16", "f32[16,8]",
	 "[{\"x\":(1)2}, {}], replicated={\"x\":(8)2}, unreduced={\"x\":(4)2}",
	 "[{\"x\":(1)2}, {}], unreduced={\"x\":(2)8}", "partial {x:(2)2,x:(8)2} - 8,8"},
	{"replicated_and_sharded_to_unreduced_full_axis", M424, "f32[16,8]",
	 "[{\"x\"}, {}], unreduced={\"y\"}", "[{}, {}], unreduced={\"x\", \"y\", \"z\"}",
	 "partial {z} - 4,8; partial {x} 0- 16,8"},
	{"replicated_and_sharded_to_unreduced_sub_axis", M424, "f32[16,8]",
	 "[{\"x\"}, {\"z\":(1)2}], unreduced={\"y\"}",
	 "[{\"x\"}, {}], unreduced={\"y\", \"z\"}",
	 "partial {z:(2)2} - 4,4; partial {z:(1)2} 1- 4,8"},
	{"pad_sharded_to_unreduced", "x=4,y=2", "f32[7,8]", "[{\"x\"}, {\"y\"}]",
	 "[{\"x\"}, {}], unreduced={\"y\"}", "partial {y} 1- 2,8"},
	{"pad_collective_permute", M424, "f32[7,8]", "[{\"x\"}, {}]", "[{\"z\"}, {}]",
	 "permute 2,8"},
	{"all_reduce_source_has_unreduced_and_target_no_sharding", M424, "f32[4,8]",
	 "[{}, {}], unreduced={\"y\"}", "[{}, {}]", "all-reduce {y} - 4,8"},
	{"all_reduce_target_unreduced_is_strict_subset_of_source_unreduced", M424,
	 "f32[4,8]", "[{}, {}], unreduced={\"x\", \"y\"}", "[{}, {}], unreduced={\"x\"}",
	 "all-reduce {y} - 4,8"},
	{"all_reduce_source_and_target_has_different_shardings_and_same_unreduced_axes",
	 M424, "f32[4,8]", "[{\"y\"}, {}], unreduced={\"x\":(1)2}",
	 "[{}, {\"y\"}], unreduced={\"x\":(1)2}", "all-to-all {y} 0-1 4,4"},
	{"all_reduce_source_and_target_has_different_shardings_only_source_has_unreduced_"
	 "axes", M424, "f32[4,8]", "[{\"x\":(1)2}, {}], unreduced={\"y\"}",
	 "[{\"x\":(2)2}, {}]", "all-reduce {y} - 2,8; permute 2,8"},
	{"all_reduce_source_and_target_has_same_shardings_only_source_has_unreduced_axes",
	 M424, "f32[4,8]", "[{\"x\"}, {}], unreduced={\"y\"}", "[{\"x\"}, {}]",
	 "all-reduce {y} - 1,8"},
	{"all_reduce_source_and_target_has_same_shardings_and_same_unreduced_axes", M424,
	 "f32[4,8]", "[{\"y\"}, {}], unreduced={\"x\":(1)2}",
	 "[{\"y\"}, {}], unreduced={\"x\":(1)2}", "nothing"},
	/* convertReshardToUnreducedCollectives stops where more has to change. */
	{"explicit_reshards_util.cc, not a prefix", M424, "f32[16,8]",
	 "[{\"x\", \"y\"}, {}]", "[{\"y\"}, {}], unreduced={\"x\"}", IN_ONE},
	{"explicit_reshards_util.cc, gathered too", M424, "f32[16,8]",
	 "[{\"x\"}, {\"y\"}]", "[{}, {}], unreduced={\"x\"}", IN_ONE},
	{"explicit_reshards_util.cc, sliced too", M424, "f32[16,8]", "[{\"x\"}, {}]",
	 "[{}, {\"y\"}], unreduced={\"x\"}", IN_ONE},
	{"explicit_reshards_util.cc, reduced too", M424, "f32[16,8]",
	 "[{\"x\"}, {}], unreduced={\"y\"}", "[{}, {}], unreduced={\"x\"}", IN_ONE},
};

#define CHUNKS(n) "refused: DTensor would chunk dimension 0 of " n " elements unevenly " \
	"into 4, mesh dimension by mesh dimension, which are not the tiles of a layout " \
	"here; its steps are "

/* pytorch/pytorch, test/distributed/tensor/test_redistribute.py, 2026. */
static const struct fact dtensor_facts[] = {
	{"test_redistribute_negative_shard_dim", "a=4", "f32[12,3]", "[Shard(1)]",
	 "[Shard(-1)]", "nothing"},
	{"test_partial_to_partial_forward_backward", "a=4", "f32[12,3]", "P", "P", "nothing"},
	{"test_replicate_to_replicate_forward_backward", "a=4", "f32[12,3]", "R", "R",
	 "nothing"},
	{"test_redistribute_to_partial", "a=2,b=2", "f32[12,8]", "PS(0)", "PS(0)",
	 "nothing"},
	{"test_shard_order_same_data_as_strided_shard", "a=4,b=2", "f32[8,4]",
	 "[_StridedShard(-2, split_factor=2), Shard(-2)]", "S(0)[1]S(0)[0]", "nothing"},
	{"test_redistribute_uneven_sharding", "a=2,b=2", "f32[10,5]", "S(0)S(0)", "RR",
	 CHUNKS("10") "all-gather {b} 0->, all-gather {a} 0->"},
	{"test_redistribute_uneven_sharding", "a=2,b=2", "f32[9,5]", "S(0)S(0)", "RR",
	 CHUNKS("9") "all-gather {b} 0->, all-gather {a} 0->"},
	{"test_redistribute_uneven_sharding", "a=2,b=2", "f32[1,3]", "S(0)S(0)", "RR",
	 "all-gather {b} 0- 2,3; pad 1,3; all-gather {a} 0- 2,3; pad 1,3"},
};

/* The same, of the default planner alone. */
static const struct fact dtensor_greedy_facts[] = {
	{"test_redistribute_shard_dim_change", "a=4", "f32[8,8,8]", "S(0)", "S(1)",
	 "all-to-all {a} 0-1 8,2,8"},
	{"test_redistribute_shard_dim_change", "a=4", "f32[8,8,8]", "S(1)", "S(0)",
	 "all-to-all {a} 1-0 2,8,8"},
	{"test_redistribute_shard_dim_change", "a=4", "f32[8,8]", "S(1)", "S(0)",
	 "all-to-all {a} 1-0 2,8"},
	/* Tiles of 8 x 2, rows in four, columns 8 of which 5 are real. */
	{"test_redistribute_shard_dim_change", "a=4", "f32[8,5]", "S(1)", "S(0)",
	 "all-to-all {a} 1-0 2,8; pad 2,5"},
	{"test_redistribute_shard_dim_change", "a=2,b=2", "f32[8,8,8]", "S(0)S(1)",
	 "S(0)S(0)", "all-to-all {b} 1-0 2,8,8"},
	{"test_redistribute_uneven_sharding", "a=2,b=2", "f32[10,5]", "S(0)S(1)", "RR",
	 "all-gather {b} 1- 5,6; pad 5,5; all-gather {a} 0- 10,5"},
	/* Dimension 1 of 5 halved twice: 2, 1, 1, 1. */
	{"test_redistribute_shard_dim_change", "a=2,b=2", "f32[8,5]", "S(0)S(0)",
	 "S(1)S(1)",
	 "refused: DTensor would chunk dimension 1 of 5 elements unevenly into 4, mesh "
	 "dimension by mesh dimension, which are not the tiles of a layout here; its steps "
	 "are all-gather {b} 0->, all-to-all {a} 0->1, slice {b} ->1"},
};
/* clang-format on */

START_TEST(xla)
{
	check_fact("xla", &xla_facts[_i]);
	check_fact("xla-2021", &xla_facts[_i]);
}
END_TEST

START_TEST(xla_today)
{
	check_fact("xla", &xla_today_facts[_i]);
}
END_TEST

START_TEST(shardy)
{
	check_fact("shardy", &shardy_facts[_i]);
}
END_TEST

START_TEST(dtensor)
{
	check_fact("dtensor", &dtensor_facts[_i]);
	check_fact("dtensor-mincost", &dtensor_facts[_i]);
}
END_TEST

START_TEST(dtensor_greedy)
{
	check_fact("dtensor", &dtensor_greedy_facts[_i]);
}
END_TEST

/* test_one_chunk_mesh: nothing is to do along a mesh dimension of one device. */
START_TEST(dtensor_one_chunk)
{
	static const char *const from[] = {"S(0)S(1)", "S(0)R", "S(0)P"};
	static const char *const to[] = {"S(0)S(0)", "S(0)S(1)", "S(0)R"};
	struct fact f = {.test = "test_one_chunk_mesh",
	                 .mesh = "a=4,b=1",
	                 .array = "f32[64,8]",
	                 .from = from[_i % 3],
	                 .to = to[_i / 3],
	                 .steps = "nothing"};

	check_fact("dtensor", &f);
	check_fact("dtensor-mincost", &f);
}
END_TEST

/* The layout with the `k` minor-most axes of a dimension unreduced. */
static struct layout with_unreduced(const struct layout *l, int dim, int k)
{
	struct layout out = layout_replicated(l->rank);

	for (int d = 0; d <= l->rank; d++) {
		int n;
		const struct part *part = layout_parts(l, d, &n);

		for (int i = 0; i < n; i++)
			ck_assert(layout_append(
				&out, d == dim && i >= n - k ? l->rank : d, part[i]));
	}
	layout_normalise(&out);
	return out;
}

/*
 * Whatever axes of a dimension become unreduced: local steps, no bytes. Refused only
 * where the tiles that are left would begin elsewhere.
 */
START_TEST(any_tiles_among_zeros)
{
	static const char *const from[] = {
		"P('x')",
		"P(('y', 'x'), 'z')",
		"P('z', ('x', 'y'))",
		"P(None, ('z', 'y', 'x'))",
		"P('y', 'x', unreduced={'z'})",
		"[{\"z\":(1)2, \"y\"}, {\"z\":(2)2}]",
	};
	static const char *const array[] = {"f32[48,48]", "u8[7,13]", "bf16[48,5]"};
	int plans = 0;

	for (int i = 0; i < COUNT(array); i++) {
		const struct problem *p =
			case_of_texts(arena, "x=2,y=3,z=4", array[i], from[_i], "P()");

		for (int dim = 0; dim < 2; dim++)
			for (int k = 1; k <= p->from.nparts[dim]; k++) {
				struct layout to = with_unreduced(&p->from, dim, k);
				const char *found = answer_of(
					planner_find("shardy", 6),
					case_of_layouts(arena, &p->mesh,
				                        &p->array.shape, &p->from, &to));

				if (i > 0 && strstr(found, "across devices"))
					continue;
				ck_assert_msg(strncmp(found, "partial {", 9) == 0, "%s",
				              found);
				ck_assert_msg(!strstr(found, "all-"), "%s", found);
				plans++;
			}
	}
	ck_assert_int_ge(plans, 3);
}
END_TEST

/* What is taken for contributions must be one tile each, and the whole between them. */
START_TEST(wrong_contributions)
{
	struct problem *p = case_of_texts(arena, "x=2,y=2", "f32[4,6]", "P('x')",
	                                  "P(unreduced={'x'})");
	struct plan *plan = NULL;
	struct text why = {0};
	struct step *s;
	struct move move;
	int32_t ids[] = {0, 1, 2, 3}, turned[] = {2, 0, 3, 1};
	int wrong;

	ck_assert_int_eq(planner_run(planner_find("shardy", 6), &plan, p, &prices_bytes,
	                             arena, &why),
	                 ANSWER_PLAN);
	s = &plan->step[0];
	ck_assert(plan_check(plan, &why));
	ck_assert_int_eq(plan->recv_bytes, 0);
	ck_assert_int_eq(plan->peak_array_bytes, 4 * 24);
	/* replicas of one tile; the second tile first; rows taken for columns */
	s->groups.ids = ids;
	ck_assert(!plan_check(plan, &why) && !plan_interpret(plan, arena, &wrong));
	s->groups.ids = turned;
	ck_assert(!plan_check(plan, &why) && !plan_interpret(plan, arena, &wrong));
	s->groups.ids = (int32_t[]){0, 2, 1, 3};
	ck_assert(plan_check(plan, &why) && plan_interpret(plan, arena, &wrong));
	move = s->move[0];
	move.from_dim = 1;
	s->move = &move;
	ck_assert(!plan_check(plan, &why) && !plan_interpret(plan, arena, &wrong));
	text_free(&why);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("suite_facts");
	TCase *c = tcase_create("suite_facts");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, xla, 0, COUNT(xla_facts));
	tcase_add_loop_test(c, xla_today, 0, COUNT(xla_today_facts));
	tcase_add_loop_test(c, shardy, 0, COUNT(shardy_facts));
	tcase_add_loop_test(c, dtensor, 0, COUNT(dtensor_facts));
	tcase_add_loop_test(c, dtensor_greedy, 0, COUNT(dtensor_greedy_facts));
	tcase_add_loop_test(c, dtensor_one_chunk, 0, 9);
	tcase_add_loop_test(c, any_tiles_among_zeros, 0, 6);
	tcase_add_test(c, wrong_contributions);
	suite_add_tcase(suite, c);
	return suite;
}
