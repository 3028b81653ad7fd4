/* Shardings of whole programs, worked out by hand from those that are given. */
#include "tests/program_help.h"
#include "tests/propagate_help.h"
#include "tests/tests.h"

#include <check.h>
#include <string.h>

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

#define MESH "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
#define OF(text) " {sdy.sharding = #sdy.sharding<@mesh, [" text "]>}"
#define MAIN(args, body)                                                               \
	"module {\n" MESH "func.func @main(" args ") {\n" body " return\n}\n}\n"

static struct propagated run(const char *text)
{
	return propagated(arena, text, PROPAGATION_SHARDY);
}

#define HAS(r, name, text) ck_assert_str_eq(propagated_of(&(r), name), text)

/*
 * A batch over x through two matmuls whose weights are split over y: by columns, then by
 * rows. The hidden array has both, the output is summed over y.
 */
START_TEST(two_matmuls)
{
	struct propagated r = run(MAIN(
		"%a: tensor<8x16xf32>" OF("{\"x\"}, {}") ", %v: tensor<16x32xf32>" OF(
			"{}, {\"y\"}") ", %w: tensor<32x16xf32>",
		" %0 = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0] : "
		"(tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>\n"
		" %1 = stablehlo.tanh %0 : tensor<8x32xf32>\n"
		" %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : "
		"(tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>\n"));

	HAS(r, "%0", "P('x', 'y')");
	HAS(r, "%1", "P('x', 'y')");
	HAS(r, "w", "P('y', None)");
	HAS(r, "%2", "P('x', None)");
}
END_TEST

#define ATTENTION_ARGS                                                                 \
	"%a: tensor<2x8x16xf32>" OF("{\"x\"}, {}, {}") ", %q: tensor<16x16xf32>" OF(   \
		"{}, {\"y\"}") ", %k: tensor<16x16xf32>, %o: tensor<16x16xf32>, "      \
			       "%z: tensor<f32>"

/*
 * Attention with heads over y: q, k, v by columns, heads split off by a reshape, scores and
 * their softmax by head, the output projection by rows.
 */
START_TEST(attention)
{
	struct propagated r = run(MAIN(
		ATTENTION_ARGS,
		" %0 = stablehlo.dot_general %a, %q, contracting_dims = [2] x [0] : "
		"(tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>\n"
		" %1 = stablehlo.reshape %0 : (tensor<2x8x16xf32>) -> "
		"tensor<2x8x8x2xf32>\n"
		" %2 = stablehlo.dot_general %a, %k, contracting_dims = [2] x [0] : "
		"(tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>\n"
		" %3 = stablehlo.reshape %2 : (tensor<2x8x16xf32>) -> "
		"tensor<2x8x8x2xf32>\n"
		" %4 = stablehlo.dot_general %1, %3, batching_dims = [0, 2] x [0, 2], "
		"contracting_dims = [3] x [3] : (tensor<2x8x8x2xf32>, "
		"tensor<2x8x8x2xf32>) -> tensor<2x8x8x8xf32>\n"
		" %5 = stablehlo.reduce(%4 init: %z) applies stablehlo.add across "
		"dimensions = [3] : (tensor<2x8x8x8xf32>, tensor<f32>) -> "
		"tensor<2x8x8xf32>\n"
		" %6 = stablehlo.dot_general %4, %3, batching_dims = [0, 1] x [0, 2], "
		"contracting_dims = [3] x [1] : (tensor<2x8x8x8xf32>, "
		"tensor<2x8x8x2xf32>) -> tensor<2x8x8x2xf32>\n"
		" %7 = stablehlo.transpose %6, dims = [0, 2, 1, 3] : "
		"(tensor<2x8x8x2xf32>) -> tensor<2x8x8x2xf32>\n"
		" %8 = stablehlo.reshape %7 : (tensor<2x8x8x2xf32>) -> "
		"tensor<2x8x16xf32>\n"
		" %9 = stablehlo.dot_general %8, %o, contracting_dims = [2] x [0] : "
		"(tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>\n"));

	HAS(r, "%0", "P('x', None, 'y')");
	HAS(r, "%1", "P('x', None, 'y', None)");
	HAS(r, "%4", "P('x', 'y', None, None)");
	HAS(r, "%3", "P('x', None, 'y', None)");
	HAS(r, "k", "P(None, 'y')");
	HAS(r, "%5", "P('x', 'y', None)");
	HAS(r, "%6", "P('x', 'y', None, None)");
	HAS(r, "%8", "P('x', None, 'y')");
	HAS(r, "o", "P('y', None)");
	HAS(r, "%9", "P('x', None, None)");
}
END_TEST

#define ADD " %0 = stablehlo.add %a, %b : tensor<8x8xf32>\n"
#define TWO(a, b) "%a: tensor<8x8xf32>" OF(a) ", %b: tensor<8x8xf32>" OF(b)

/* x on rows of one and columns of the other: the first gives it to the sum, or neither. */
START_TEST(conflict)
{
	const char *text = MAIN(TWO("{\"x\"}, {?}", "{?}, {\"x\"}"), ADD);
	struct propagated r = run(text);

	HAS(r, "%0", "P('x', None)");
	HAS(r, "a", "P('x', None)");
	HAS(r, "b", "P(None, 'x')");
	r = propagated(arena, text, PROPAGATION_SHARDY_BASIC);
	HAS(r, "%0", "P(None, None)");
}
END_TEST

/* The more sharded operand goes first, though it is the second one. */
START_TEST(more_sharded)
{
	struct propagated r = run(MAIN(TWO("{\"x\"}, {}", "{}, {\"x\", \"y\"}"), ADD));

	HAS(r, "%0", "P(None, ('x', 'y'))");
}
END_TEST

/* Lists that begin alike: the longer one, where the array is open, else what is there. */
START_TEST(prefixes)
{
	struct propagated r =
		run(MAIN(TWO("{\"x\", ?}, {}", "{\"x\", \"y\"}, {}"), ADD));

	HAS(r, "%0", "P(('x', 'y'), None)");
	HAS(r, "a", "P(('x', 'y'), None)");
	r = run(MAIN(TWO("{\"x\"}, {}", "{\"x\", \"y\"}, {}"), ADD));
	HAS(r, "%0", "P(('x', 'y'), None)");
	HAS(r, "a", "P('x', None)");
	/* Apart behind x: what both have. */
	r = run(MAIN(TWO("{\"x\", \"y\"}, {}", "{\"x\":(1)2}, {\"y\"}"), ADD));
	HAS(r, "%0", "P(('x', 'y'), None)");
}
END_TEST

/* An axis that is said to replicate is not handed to that array, but past it. */
START_TEST(replicated)
{
	struct propagated r = run(
		MAIN("%a: tensor<8x8xf32>" OF(
			     "{\"x\", \"y\"}, {}") ", %b: "
	                                           "tensor<8x8xf32> {sdy.sharding = "
	                                           "#sdy.sharding<@mesh, [{?}, {?}], "
	                                           "replicated={\"y\"}>}",
	             ADD));

	HAS(r, "b", "P('x', None)");
	HAS(r, "%0", "P(('x', 'y'), None)");
}
END_TEST

/* Priorities: the columns of b come first, the rows of a find x taken. */
START_TEST(priorities)
{
	struct propagated r = run(MAIN(TWO("{\"x\"}p1, {?}", "{?}, {\"x\"}p0"), ADD));

	HAS(r, "%0", "P(None, 'x')");
	HAS(r, "a", "P('x', None)");
	r = run(MAIN(TWO("{\"x\"}p1, {?}", "{?}, {\"y\"}p0"), ADD));
	HAS(r, "%0", "P('x', 'y')");
}
END_TEST

/* Half of y is the whole of a factor of 2; the factor behind it gets the rest. */
START_TEST(sub_axes)
{
	struct propagated r = run(MAIN(
		"%a: tensor<16xf32>" OF("{\"y\"}"),
		" %0 = stablehlo.reshape %a : (tensor<16xf32>) -> tensor<2x8xf32>\n"));

	HAS(r, "%0", "[{\"y\":(1)2}, {\"y\":(2)2}]");
}
END_TEST

/* What a loop carries has one sharding before, inside and behind; the step has it, too. */
START_TEST(loops)
{
	struct propagated r = run(MAIN(
		"%a: tensor<8x8xf32>, %w: tensor<8x8xf32>" OF("{}, {\"y\"}"),
		" %c = stablehlo.constant dense<0> : tensor<i32>\n"
		" %0:2 = stablehlo.while(%i = %c, %t = %a) : tensor<i32>, "
		"tensor<8x8xf32>\n"
		" cond {\n  %n = stablehlo.constant dense<4> : tensor<i32>\n"
		"  %l = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> "
		"tensor<i1>\n  stablehlo.return %l : tensor<i1>\n } do {\n"
		"  %u = stablehlo.constant dense<1> : tensor<i32>\n"
		"  %j = stablehlo.add %i, %u : tensor<i32>\n"
		"  %s = stablehlo.add %t, %w : tensor<8x8xf32>\n"
		"  stablehlo.return %j, %s : tensor<i32>, tensor<8x8xf32>\n }\n"
		" %1 = stablehlo.negate %0#1 : tensor<8x8xf32>\n"));

	HAS(r, "%s", "P(None, 'y')");
	HAS(r, "a", "P(None, 'y')");
	HAS(r, "%1", "P(None, 'y')");
}
END_TEST

/* Broadcasts hand on to their results last; constants never join what uses them. */
START_TEST(constants)
{
	struct propagated r = run(MAIN(
		TWO("{\"x\"}, {}", "{}, {\"y\"}"),
		" %c = stablehlo.constant dense<1.0> : tensor<f32>\n"
		" %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> "
		"tensor<8x8xf32>\n %1 = stablehlo.add %a, %0 : tensor<8x8xf32>\n"
		" %2 = stablehlo.add %b, %0 : tensor<8x8xf32>\n"));

	HAS(r, "%0", "P(None, None)");
	HAS(r, "%1", "P('x', None)");
	HAS(r, "%2", "P(None, 'y')");
}
END_TEST

/* A program of ours: backwards into arguments, calls, results, and given results. */
START_TEST(sample)
{
	struct propagated r = {.p = program_sample(arena, "mlp.mlir"), .arena = arena};
	struct error e = {0};

	ck_assert(propagate(&r.s, arena, &r.p, PROPAGATION_SHARDY, &e) == OK);
	HAS(r, "%0", "P('data', 'model')");
	HAS(r, "%1", "P('data', 'model')");
	HAS(r, "%3", "P('data', None)");
	HAS(r, "%7", "P('model', None)");
	HAS(r, "%12", "P(None, 'model')");
	ck_assert_str_eq(propagated_text(&r, shardings_result(&r.s, &r.p, 1)),
	                 "P(None, 'model')");
	ck_assert_str_eq(propagated_text(&r, shardings_result(&r.s, &r.p, 2)),
	                 "P('model', None)");
	ck_assert_int_eq(r.p.warning.n, 0);
}
END_TEST

/* Device lists of HLO on a mesh of their own; closed, unless they say `unspecified_dims`. */
START_TEST(device_lists)
{
	struct propagated r =
		run("module {\nfunc.func @main(%a: tensor<8x8xf32> {mhlo.sharding = "
	            "\"{devices=[2,4]<=[8]}\"}, %b: tensor<8x8xf32>) {\n" ADD
	            " %1 = stablehlo.custom_call @Sharding(%b) {mhlo.sharding = "
	            "\"{replicated}\"} : (tensor<8x8xf32>) -> tensor<8x8xf32>\n "
	            "return\n}\n}\n");

	HAS(r, "%0", "P('axis_0', 'axis_1')");
	HAS(r, "%1", "P(None, None)");
}
END_TEST

/* Of an op with two results each has its own text; the second one's is handed back. */
START_TEST(per_value)
{
	struct propagated r = run(MAIN(
		"%a: tensor<8x8xf32>, %b: tensor<8x8xf32>",
		" %0:2 = \"stablehlo.sort\"(%a, %b) ({\n ^bb0(%p: tensor<f32>, %q: "
		"tensor<f32>, %u: tensor<f32>, %v: tensor<f32>):\n  %l = "
		"stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> "
		"tensor<i1>\n  stablehlo.return %l : tensor<i1>\n }) {dimension = 1 : "
		"i64, is_stable = true, sdy.sharding = "
		"#sdy.sharding_per_value<[<@mesh, [{?}, {?}]>, <@mesh, [{\"x\"}, "
		"{?}]>]>}"
		" : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, "
		"tensor<8x8xf32>)\n"));

	HAS(r, "%0", "P('x', None)");
	HAS(r, "a", "P('x', None)");
	HAS(r, "b", "P('x', None)");
}
END_TEST

/*
 * Partial sums: the rows of a table looked up by sharded numbers, and the table by rows. The
 * axis of the table's rows is summed over, that of the numbers stays.
 */
START_TEST(embedding)
{
	struct propagated r = run(MAIN(
		"%a: tensor<64x16xf32>" OF("{\"y\"}, {}") ", %i: tensor<8x1xi32>" OF(
			"{\"x\"}, {}"),
		" %0 = \"stablehlo.gather\"(%a, %i) {dimension_numbers = "
		"#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
		"start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = "
		"false, slice_sizes = array<i64: 1, 16>} : (tensor<64x16xf32>, "
		"tensor<8x1xi32>) -> tensor<8x16xf32>\n"));

	HAS(r, "%0", "P('x', None)");
}
END_TEST

/* A constraint is a copy that is sharded so: it hands on to both sides, closed or not. */
START_TEST(constraint)
{
	struct propagated r = run(MAIN(
		"%a: tensor<8x8xf32>, %b: tensor<8x8xf32>" OF("{?}, {\"y\"}"),
		" %0 = sdy.sharding_constraint %a <@mesh, [{\"x\"}, {}]> : "
		"tensor<8x8xf32>\n %1 = stablehlo.add %0, %b : tensor<8x8xf32>\n"));

	HAS(r, "a", "P('x', None)");
	HAS(r, "%0", "P('x', None)");
	HAS(r, "%1", "P('x', 'y')");
	HAS(r, "b", "P('x', 'y')");
}
END_TEST

/* What is wrong has its line. */
/* A group has the sharding of any of its members; a barrier lets it through one way. */
START_TEST(groups_and_barriers)
{
	struct propagated r = run(
		MAIN("%a: tensor<8x8xf32>" OF(
			     "{\"x\"}, {}") ", %b: tensor<8x8xf32>, %c: "
	                                    "tensor<8x8xf32>, %d: tensor<8x8xf32>" OF(
						    "{?}, {\"y\", ?}"),
	             " sdy.sharding_group %a group_id=3 : tensor<8x8xf32>\n"
	             " sdy.sharding_group %b group_id=3 : tensor<8x8xf32>\n"
	             " sdy.sharding_group %c group_id=4 : tensor<8x8xf32>\n"
	             " %0 = sdy.propagation_barrier %a allowed_direction=NONE : "
	             "tensor<8x8xf32>\n"
	             " %1 = sdy.propagation_barrier %a allowed_direction=FORWARD : "
	             "tensor<8x8xf32>\n"
	             " %2 = sdy.propagation_barrier %c allowed_direction=FORWARD : "
	             "tensor<8x8xf32>\n"
	             " %3 = stablehlo.add %2, %d : tensor<8x8xf32>\n"));

	HAS(r, "b", "P('x', None)");
	HAS(r, "%0", "P(None, None)");
	HAS(r, "%1", "P('x', None)");
	HAS(r, "%2", "P(None, 'y')");
	HAS(r, "c", "P(None, None)");
}
END_TEST

/* What a manual computation takes in goes back to its operand, what it gives out goes on. */
START_TEST(by_hand)
{
	struct propagated r = run(MAIN(
		"%a: tensor<8x8xf32>",
		" %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{\"x\"}, "
		"{}]>] "
		"out_shardings=[<@mesh, [{}, {\"x\"}]>] manual_axes={\"x\", \"y\"} "
		"(%b: "
		"tensor<4x8xf32>) {\n"
		"  %1 = stablehlo.transpose %b, dims = [1, 0] : (tensor<4x8xf32>) -> "
		"tensor<8x4xf32>\n"
		"  sdy.return %1 : tensor<8x4xf32>\n"
		" } : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
		" %2 = stablehlo.negate %0 : tensor<8x8xf32>\n"));

	HAS(r, "a", "P('x', None)");
	HAS(r, "%0", "P(None, 'x')");
	HAS(r, "%2", "P(None, 'x')");
	HAS(r, "%1", "P(None, None)");
	ck_assert_int_eq(r.p.warning.n, 0);
}
END_TEST

/*
 * A constraint that nobody uses is of its operand, which it closes; of a counter each user has
 * its own, so that another one's is left as it is. One that says its sharding itself is no
 * constant, nor is what is made of it.
 */
START_TEST(unused_constraints)
{
	struct propagated r =
		run(MAIN("%a: tensor<8x8xf32>, %b: tensor<8x8xf32>" OF("{}, {\"y\"}"),
	                 " %0 = stablehlo.negate %a : tensor<8x8xf32>\n"
	                 " %1 = sdy.sharding_constraint %0 <@mesh, [{\"x\"}, {}]> : "
	                 "tensor<8x8xf32>\n"
	                 " %2 = stablehlo.iota dim = 0 : tensor<8x8xf32>\n"
	                 " %3 = sdy.sharding_constraint %2 <@mesh, [{}, {\"y\"}]> : "
	                 "tensor<8x8xf32>\n"
	                 " %4 = stablehlo.add %0, %2 : tensor<8x8xf32>\n"
	                 " %5 = stablehlo.iota dim = 0 {sdy.sharding = "
	                 "#sdy.sharding_per_value<[<@mesh, "
	                 "[{\"y\"}, {}]>]>} : tensor<8x8xf32>\n"
	                 " %6 = stablehlo.negate %5 : tensor<8x8xf32>\n"));

	HAS(r, "%0", "P('x', None)");
	HAS(r, "a", "P('x', None)");
	HAS(r, "%4", "P('x', None)");
	HAS(r, "%2", "P(None, None)");
	HAS(r, "%5", "P('y', None)");
	HAS(r, "%6", "P('y', None)");
}
END_TEST

START_TEST(wrong)
{
	struct program p = program_sample_text(
		arena, MAIN("%a: tensor<8x8xf32>" OF("{\"nope\"}, {}"), ""));
	struct shardings s;
	struct error e = {0};

	ck_assert_int_ne(propagate(&s, arena, &p, PROPAGATION_SHARDY, &e), OK);
	ck_assert_uint_eq(e.at.line, 3);
	/* That of nope in the third line. */
	ck_assert_uint_eq(e.at.col, 77);
	ck_assert_ptr_nonnull(strstr(e.text, "nope"));
}
END_TEST

/* Of several meshes the one that shardings name; two of them are an error at the second. */
START_TEST(meshes)
{
	static const char body[] =
		" %0 = stablehlo.tanh %a : tensor<8x8xf32>\n return\n}\n";
	const char *two = "sdy.mesh @none = <[]>\nsdy.mesh @other = <[\"z\"=8]>\n";
	struct propagated r = run(
		arena_printf(arena, "%s%sfunc.func @main(%%a: tensor<8x8xf32>%s) {\n%s",
	                     two, MESH, OF("{\"x\"}, {}"), body));
	struct program p;
	struct shardings s;
	struct error e = {0};

	HAS(r, "%0", "P('x', None)");
	p = program_sample_text(
		arena, arena_printf(arena,
	                            "%s%sfunc.func @main(%%a: tensor<8x8xf32>%s, %%b: "
	                            "tensor<8xf32> {sdy.sharding = "
	                            "#sdy.sharding<@other, [{\"z\"}]>}) {\n%s",
	                            two, MESH, OF("{\"x\"}, {}"), body));
	ck_assert_int_ne(propagate(&s, arena, &p, PROPAGATION_SHARDY, &e), OK);
	ck_assert_uint_eq(e.at.line, 3);
	ck_assert_ptr_nonnull(strstr(e.text, "one mesh"));
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("propagate");
	TCase *t = tcase_create("programs");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, two_matmuls);
	tcase_add_test(t, meshes);
	tcase_add_test(t, attention);
	tcase_add_test(t, conflict);
	tcase_add_test(t, more_sharded);
	tcase_add_test(t, prefixes);
	tcase_add_test(t, replicated);
	tcase_add_test(t, priorities);
	tcase_add_test(t, sub_axes);
	tcase_add_test(t, loops);
	tcase_add_test(t, constants);
	tcase_add_test(t, sample);
	tcase_add_test(t, device_lists);
	tcase_add_test(t, per_value);
	tcase_add_test(t, embedding);
	tcase_add_test(t, constraint);
	tcase_add_test(t, groups_and_barriers);
	tcase_add_test(t, by_hand);
	tcase_add_test(t, unused_constraints);
	tcase_add_test(t, wrong);
	suite_add_tcase(s, t);
	return s;
}
