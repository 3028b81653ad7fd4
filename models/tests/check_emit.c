/*
 * The texts of one plan against forms that are known by heart: the redistribution of 16x8 over
 * x=2, y=4 from P('x', 'y') to P('y') by an all-to-all, a permute and an all-gather, whose
 * calls follow from the manuals of the runtimes, worked out by hand.
 */
#include "base/arena.h"
#include "emit/emit.h"
#include "planner/planner.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <string.h>

static struct arena *arena;
static struct problem problem;
static struct plan *plan;

static void parse(const struct problem_text *text)
{
	struct error e = {0};

	ck_assert_msg(problem_make(&problem, arena, text, &e) == OK, "%s", e.text);
}

/* all-to-all y: 1->0, permute {x,y} -> {y,x}, all-gather x: 0-> */
static void make_plan(void)
{
	struct part x = {0, 1, 2}, y = {1, 1, 4};
	struct move swap = {1, 0, 4, 1, &y}, gather = {0, -1, 2, 1, &x};
	struct layout turned = layout_replicated(2);

	arena = arena_new();
	parse(&(struct problem_text){.array = "f32[16,8]",
	                             .mesh = "x=2,y=4",
	                             .from = "P('x', 'y')",
	                             .to = "P('y')"});
	plan = plan_new(arena, &problem, "by hand");
	layout_append(&turned, 0, y);
	layout_append(&turned, 0, x);
	plan_axes_step(plan, OP_ALL_TO_ALL, &swap, 1);
	plan_permute(plan, &turned);
	plan_axes_step(plan, OP_ALL_GATHER, &gather, 1);
	plan_finish(plan);
}

static void drop_plan(void)
{
	arena_free(arena);
}

static const struct {
	const char *kind, *lines[5];
} forms[] = {
	{"jax",
         {"mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ('x', 'y'))\n",
          "    a = lax.all_to_all(a, 'y', split_axis=0, concat_axis=1, tiled=True)  # "
          "f32[2,8]\n",
          "    a = lax.ppermute(a, ('x', 'y'), perm=[(0, 0), (1, 4), (2, 1), (3, 5), "
          "(4, 2), "
          "(5, 6), (6, 3), (7, 7)])",
          "    a = lax.all_gather(a, 'x', axis=0, tiled=True)  # f32[4,8]\n",
          "in_specs=P('x', 'y'), out_specs=P('y', None)"}},
	{"torch",
         {"mesh = init_device_mesh(DEVICE, (2, 4), mesh_dim_names=('x', 'y'))\n",
          "    a = fc.all_to_all_single(a.contiguous(), None, None, (mesh, 1))\n"
          "    a = torch.cat(a.chunk(4, 0), 1)",
          "fc.permute_tensor(a.flatten(), [0, 4, 1, 5, 2, 6, 3, 7], "
          "dist.group.WORLD).view(a.shape)",
          "    a = fc.all_gather_tensor(a.contiguous(), 0, (mesh, 0))"}},
	{"dtensor",
         {"[Shard(0), Shard(0)])  # as after step 1\n",
          "[Replicate(), Shard(0)])  # as after step 3\n",
          "# WARNING: the layouts after these steps have no DTensor form and are left "
          "out: 2\n",
          "# WARNING: the plan takes 176 B; what DTensor itself does along the layouts "
          "below, 496 B"}},
	{"stablehlo",
         {"module @plan attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = "
          "1 : "
          "i32} {\n",
          "%0 = \"stablehlo.all_to_all\"(%a) <{channel_handle = "
          "#stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : "
          "i64, "
          "replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, "
          "split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<8x2xf32>) -> "
          "tensor<2x8xf32>\n",
          "%1 = \"stablehlo.collective_permute\"(%0) <{channel_handle = "
          "#stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = "
          "dense<[[0, 0], [1, 4], [2, 1], [3, 5], [4, 2], [5, 6], [6, 3], [7, 7]]> : "
          "tensor<8x2xi64>}> : (tensor<2x8xf32>) -> tensor<2x8xf32>\n",
          "%2 = \"stablehlo.all_gather\"(%1) <{all_gather_dim = 0 : i64, "
          "channel_handle = "
          "#stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = "
          "dense<[[0, 4], "
          "[1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : "
          "(tensor<2x8xf32>) -> tensor<4x8xf32>\n"}},
	{"sdy",
         {"sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n",
          "func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"x\"}, {\"y\"}]>}) -> tensor<16x8xf32> {\n",
          "  %0 = sdy.all_to_all [{\"y\"}: 1->0] %a out_sharding=<@mesh, [{\"x\", "
          "\"y\"}, {}]> : "
          "tensor<16x8xf32>\n",
          "  %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{\"y\", \"x\"}, {}]> "
          ": "
          "tensor<16x8xf32>\n",
          "  %2 = sdy.all_gather [{\"x\"}, {}] %1 out_sharding=<@mesh, [{\"y\"}, {}]> "
          ": "
          "tensor<16x8xf32>\n"}},
};

static char *emit(const char *kind, enum emitted want)
{
	const struct emitter *e = emitter_find(kind, strlen(kind));
	struct emission what = {
		.plan = plan, .command = "shardsim", .version = "0", .time_s = NAN};
	struct text out = {0}, why = {0};

	ck_assert_ptr_nonnull(e);
	ck_assert_int_eq(e->emit(&out, &what, arena, &why), want);
	if (want == EMIT_CANNOT)
		ck_assert_msg(out.length == 0, "%s: a text beside the reason", kind);
	text_free(want == EMITTED ? &why : &out);
	return text_take(want == EMITTED ? &out : &why, arena);
}

START_TEST(has_the_known_lines)
{
	char *text = emit(forms[_i].kind, EMITTED);

	ck_assert(strncmp(text, "# shardsim\n", 11) == 0 ||
	          strncmp(text, "// shardsim\n", 12) == 0);
	for (int i = 0; i < 5 && forms[_i].lines[i]; i++) {
		char *at = strstr(text, forms[_i].lines[i]);

		ck_assert_msg(at, "%s lacks %s\n%s", forms[_i].kind, forms[_i].lines[i],
		              text);
	}
}
END_TEST

/* Boxes are no collectives: whole-tile kinds say so and name what would do. */
START_TEST(says_what_would_do)
{
	static const char *const kinds[] = {"jax", "torch", "stablehlo",
	                                    "stablehlo-test", "sdy"};
	struct text why = {0};

	parse(&(struct problem_text){.array = "f32[7,9]",
	                             .mesh = "x=2,y=4",
	                             .from = "P('x', 'y')",
	                             .to = "P('y')"});
	ck_assert_int_eq(planner_find("direct", 6)
	                         ->plan(&plan, &problem, &prices_bytes, arena, &why),
	                 ANSWER_PLAN);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		ck_assert_ptr_nonnull(
			strstr(emit(kinds[i], EMIT_CANNOT), "--emit torch-p2p"));
	ck_assert_ptr_nonnull(strstr(emit("torch-p2p", EMITTED), "STEPS = [\n"));
	text_free(&why);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("emit");
	TCase *c = tcase_create("forms");

	tcase_add_checked_fixture(c, make_plan, drop_plan);
	tcase_add_loop_test(c, has_the_known_lines, 0, sizeof(forms) / sizeof(*forms));
	tcase_add_test(c, says_what_would_do);
	suite_add_tcase(s, c);
	return s;
}
