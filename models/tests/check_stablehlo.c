/* Programs in StableHLO's text: ours, counted by hand, and texts that are wrong. */
#include "program/work.h"
#include "tests/program_help.h"
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

#define OP(name) program_sample_op(&p, name)

START_TEST(module)
{
	struct program p = program_sample(arena, "mlp.mlir");

	ck_assert(span_is(p.name, "jit_mlp"));
	ck_assert_int_eq(p.stage, STAGE_ANNOTATED);
	ck_assert_int_eq(p.ndevices, 8);
	ck_assert_int_eq(p.warning.n, 0);
	ck_assert(span_is(p.mesh.at[0], "@mesh = <[\"data\"=2, \"model\"=4]>"));
	/* Five matmuls of 64, 256 and 1024. */
	ck_assert_double_eq(program_work(&p).dot_flops, 5. * 2 * 64 * 256 * 1024);
	ck_assert_int_eq(p.alias.n, 2);
	ck_assert_int_eq(p.alias.at[0].result, 1);
	ck_assert_int_eq(p.alias.at[0].parameter, 1);
	ck_assert_int_eq(p.alias.at[1].result, -1);
	ck_assert_int_eq(p.alias.at[1].parameter, 2);
	/* Places said by an alias of an alias, and in the op itself. */
	ck_assert(span_is(OP("%0")->op_name, "jit(mlp)/up"));
	ck_assert(span_is(OP("%3")->op_name, "jit(mlp)/down"));
	ck_assert(span_is(OP("%3")->source_file, "mlp.py"));
	ck_assert_int_eq(OP("%3")->source_line, 12);
	ck_assert(span_is(OP("%2")->sharding, "<@mesh, [{\"data\"}, {\"model\"}]>"));
	ck_assert(span_is(OP("arg0")->sharding,
	                  "#sdy.sharding<@mesh, [{\"data\"}, {}]>"));
	/* It is called before it is there. */
	ck_assert(span_is(p.region.at[op_called(&p, OP("%1"), 0)].name, "relu"));
	ck_assert_double_eq(p.region.at[op_called(&p, OP("%1"), 0)].runs, 1);
}
END_TEST

/* Regions use values from outside: those are handed in. */
START_TEST(regions)
{
	struct program p = program_sample(arena, "constructs.mlir");
	const struct instruction *loop = OP("%0"), *branch = OP("%1");
	const struct region *body = &p.region.at[op_called(&p, loop, 1)];

	ck_assert_int_eq(loop->as.loop->trips, 5);
	/* Two that it carries, and %c_0, %arg0, %c_1. */
	ck_assert_int_eq(loop->noperands, 5);
	ck_assert_int_eq(loop->nvalues, 5);
	ck_assert_int_eq(body->param.n, 5);
	ck_assert_int_eq(body->result.n, 5);
	ck_assert_double_eq(body->runs, 5);
	ck_assert_double_eq(p.region.at[op_called(&p, loop, 0)].runs, 6);
	for (int32_t i = 2; i < 5; i++)
		ck_assert_int_eq(body->result.at[i], body->param.at[i]);
	/* Both branches use %0#1. */
	ck_assert_int_eq(branch->noperands, 3);
	ck_assert_int_eq(op_operand(&p, branch, 1), loop->first_value + 1);
	ck_assert_int_eq(op_operand(&p, branch, 2), loop->first_value + 1);
	/* Every op of a region uses only values of that region. */
	for (int64_t r = 0; r < p.region.n; r++)
		for (int32_t i = 0; i < p.region.at[r].nops; i++) {
			const struct instruction *op = &p.op.at[p.region.at[r].op[i]];

			for (int32_t k = 0; k < op->noperands; k++)
				ck_assert_int_eq(
					p.op.at[p.value.at[op_operand(&p, op, k)].op].region,
					r);
		}
}
END_TEST

START_TEST(attributes)
{
	struct program p = program_sample(arena, "constructs.mlir");

	ck_assert_int_eq(OP("%4")->as.dot->lhs_batch.n, 1);
	ck_assert_double_eq(op_work(&p, OP("%4")).flops, 2 * 8 * 16);
	ck_assert_double_eq(op_work(&p, OP("%3")).flops, 2 * 8 * 16 * 4);
	/* As of the same convolution and window in HLO's text: 7 x 16 positions. */
	ck_assert_double_eq(op_work(&p, OP("%5")).flops, 2. * 2 * 8 * 2 * 7 * 16);
	ck_assert_int_eq(OP("%6")->as.window->low[1], 1);
	ck_assert_int_eq(OP("%6")->as.window->high[1], 0);
	ck_assert_int_eq(OP("%6")->as.window->stride[2], 2);
	ck_assert_int_eq(OP("%7")->dims.n, 4);
	ck_assert_int_eq(OP("%7")->ncalled, 1);
	ck_assert_int_eq(OP("%8")->as.gather->slice_sizes.at[1], 16);
	ck_assert_int_eq(OP("%8")->as.gather->index_vector_dim, 1);
	ck_assert_int_eq(OP("%9")->as.gather->offset_dims.at[0], 1);
	ck_assert_int_eq(OP("%10")->dims.at[0], 1);
	ck_assert_int_eq(OP("%11")->dims.at[0], 1);
	ck_assert_int_eq(OP("%11")->nvalues, 2);
	ck_assert_int_eq(OP("%12")->as.slice->limit.at[1], 9);
	ck_assert_int_eq(OP("%12")->as.slice->stride.at[1], 2);
	ck_assert_int_eq(OP("%13")->dims.at[1], 4);
	ck_assert_int_eq(OP("%15")->as.slice->start.at[1], -1);
	ck_assert_int_eq(OP("%16")->dims.at[0], 1);
	ck_assert_int_eq(p.value.at[OP("%20")->first_value].same,
	                 OP("%19")->first_value);
	ck_assert_int_eq(OP("%23")->nvalues, 2);
	ck_assert(span_is(OP("%26")->as.custom->target, "my_kernel"));
	ck_assert_int_eq(OP("%26")->source_line, 7);
	ck_assert_str_eq(program_sample_groups(arena, &p, "%70"), "0 2,1 3");
	ck_assert_str_eq(program_sample_groups(arena, &p, "%71"), "0 1 2 3");
	ck_assert_int_eq(OP("%72")->as.collective->pairs.n, 4);
	ck_assert_int_eq(OP("%27")->code, HLO_MANUAL_COMPUTATION);
	ck_assert_int_eq(OP("%28")->code, HLO_NAMED_COMPUTATION);
	ck_assert_int_eq(OP("%31")->code, HLO_RESHARD);
	ck_assert_int_eq(p.value.at[OP("%33")->first_value].same,
	                 OP("%31")->first_value);
	/* i1, ui32, bf16 under the names of HLO. */
	ck_assert_str_eq(p.value.at[OP("%10")->first_value].type.dtype->name, "s32");
	ck_assert_str_eq(p.value.at[OP("%23")->first_value + 1].type.dtype->name,
	                 "u32");
	ck_assert_str_eq(p.value.at[OP("arg1")->first_value].type.dtype->name, "bf16");
	ck_assert_double_eq(OP("%c_0")->as.constant->value, 5);
	ck_assert_int_eq(p.warning.n, 1);
}
END_TEST

#define FUNC(text)                                                                     \
	"func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {\n" text "\n}\n"

static const struct {
	const char *text;
	unsigned line, col;
	const char *why;
} bad[] = {
	{"module @m {\n", 2, 1, "at the end of the module"},
	{"module @m {}\n", 2, 1, "expected a function"},
	{"module @m { xla }\n", 1, 13, "expected 'module'"},
	{"module @m attributes {mhlo.num_partitions = 0 : i32} {\n}\n", 1, 45,
         "expected mhlo.num_partitions of 1 to"},
	{"module @m attributes {mhlo.num_replicas = dense<[2, 2]> : tensor<2xi32>} "
         "{\n}\n",
         1, 43, "expected mhlo.num_replicas of 1 to"},
	{"module @m attributes {mhlo.num_partitions = 4 : i32} {\n"
         " sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n}\n",
         2, 19, "a mesh of 8 devices: expected at most 4"},
	{"func.func @f(%a: tensor<?x3xf32>) {\n}\n", 1, 25, "without a size"},
	{"func.func @f(%a: tensor<2x3xg32>) {\n}\n", 1, 29, "type of elements"},
	{"func.func @f(%a: !quant.x) {\n}\n", 1, 18, "expected tensor"},
	{FUNC(" %0 = stablehlo.negate %b : tensor<2x3xf32>"), 2, 25, "'%b' is not there"},
	{FUNC(" %a = stablehlo.negate %a : tensor<2x3xf32>"), 2, 3, "'a' is there twice"},
	{FUNC(" %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : "
              "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>"),
         2, 7, "do not fit"},
	{FUNC(" %0 = stablehlo.dot_general %a, %a, contract_dims = [1] x [1] : "
              "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>"),
         2, 7, "dimensions that are left"},
	{FUNC(" %0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xf32>) -> "
              "tensor<2x3xf32>"),
         2, 7, "permutation"},
	{FUNC(" %0 = call @g(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>"), 2, 13,
         "'g' is called and is not there"},
	{FUNC(" %0 = call @main(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n return %0 "
              ": "
              "tensor<2x3xf32>"),
         2, 2, "in a circle"},
	{FUNC(" %0 = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<[[0, 1]]> : "
              "tensor<2x2xi64>}> ({\n}) : (tensor<2x3xf32>) -> tensor<2x3xf32>"),
         2, 53, "expected groups"},
	{"func.func @main(%a: tensor<2x3xf32>, %i: tensor<i32>) {\n"
         " %0 = stablehlo.dynamic_update_slice %a, %a, %i, %i : (tensor<2x3xf32>, "
         "tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2xf32>\n}\n",
         2, 7, "as many dimensions as the array"},
	{"func.func @main(%a: tensor<2xf32>, %p: tensor<i1>) {\n"
         " %0 = stablehlo.while(%x = %a) : tensor<f32>\n"
         " cond {\n stablehlo.return %p : tensor<i1>\n}\n"
         " do {\n stablehlo.return %x : tensor<f32>\n}\n}\n",
         2, 2, "an operand has other dimensions inside"},
	{"func.func @main(%a: tensor<2xf32>) {\n"
         " %0 = call @g(%a) : (tensor<2xf32>) -> tensor<f32>\n}\n"
         "func.func @g(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
         " return %a : tensor<2xf32>\n}\n",
         2, 2, "a result has other dimensions inside"},
	{FUNC(" %0:2 = stablehlo.negate %a : tensor<2x3xf32>"), 2, 9, "expected 2"},
	{FUNC(" %0 = stablehlo.negate %a {x = \"y : tensor<2x3xf32>"), 2, 32,
         "is not closed"},
};

enum { BAD = (int)(sizeof(bad) / sizeof(*bad)) };

START_TEST(wrong_texts)
{
	struct program p;
	struct error e = {0};

	ck_assert_int_ne(program_of_text(&p, arena, bad[_i].text, strlen(bad[_i].text),
	                                 "bad.mlir", &e),
	                 OK);
	ck_assert_msg(e.at.line == bad[_i].line && e.at.col == bad[_i].col &&
	                      strstr(e.text, bad[_i].why),
	              "%s -> %u:%u: %s", bad[_i].text, e.at.line, e.at.col, e.text);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("stablehlo");
	TCase *t = tcase_create("text");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, module);
	tcase_add_test(t, regions);
	tcase_add_test(t, attributes);
	tcase_add_loop_test(t, wrong_texts, 0, BAD);
	suite_add_tcase(s, t);
	return s;
}
