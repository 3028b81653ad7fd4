/*
 * Partitioned programs compute what the whole ones do: both are run on numbers, the first on
 * all devices. Random ones, with every planner, and ours, with the collectives that are
 * published or follow from the mathematics.
 */
#include "tests/draw_program.h"
#include "tests/partition_help.h"
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

/* --- random programs --- */

/* Permutes that are of no change of layout: borders that neighbours exchange. */
static int count_borders(const struct partition_run *r)
{
	int n = 0;

	for (int64_t i = 0; i < r->part.program.op.n; i++)
		n += r->part.program.op.at[i].code == HLO_COLLECTIVE_PERMUTE &&
		     r->part.of.at[i] < 0;
	return n;
}

START_TEST(random_programs)
{
	int borders = 0;

	for (uint64_t seed = 60 * (uint64_t)_i; seed < 60 * (uint64_t)(_i + 1); seed++) {
		struct partition_run r;
		const char *text;

		arena_reset(arena);
		text = draw_program(arena, seed);
		partition_text(arena, &r, text,
		               seed % 2 ? PARTITIONER_XLA : PARTITIONER_SHARDY,
		               seed % 4 == 1 ? PROPAGATION_XLA : PROPAGATION_SHARDY,
		               partition_planners[seed % 5]);
		partition_check(arena, &r, text);
		borders += count_borders(&r);
	}
	ck_assert_int_gt(borders, 60);
}
END_TEST

/* --- ours --- */

/*
 * Megatron's layer (arXiv 1909.08053, 3): two all-reduces of batch x sequence x hidden forward
 * and two backward, and nothing else over the model's axis; each of six weights' gradients and
 * the loss once over the batch's. On each device the batch is 4 of 8, tokens 32, hidden 128.
 */
START_TEST(megatron)
{
	struct partition_run r;

	partition_sample(arena, &r, "megatron.mlir",
	                 _i ? PARTITIONER_XLA : PARTITIONER_SHARDY);
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_REDUCE, 4 * 32 * 128), 4);
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_REDUCE, 0), 4 + 6 + 1);
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_GATHER, 0), 0);
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_TO_ALL, 0), 0);
	ck_assert_double_eq(partition_runs(&r, HLO_COLLECTIVE_PERMUTE, 0), 0);
	ck_assert_double_eq(partition_runs(&r, HLO_REDUCE_SCATTER, 0), 0);
	partition_check(arena, &r, "megatron.mlir");
}
END_TEST

/*
 * Fully sharded weights: L layers of m matrices are gathered 2 m L times, as they are needed
 * again backward, and m L gradients are summed into their parts. L = 4, m = 2.
 */
START_TEST(fsdp)
{
	struct partition_run r;

	partition_sample(arena, &r, "fsdp-loop.mlir",
	                 _i ? PARTITIONER_XLA : PARTITIONER_SHARDY);
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_GATHER, 64 * 256), 2 * 2 * 4);
	ck_assert_double_eq(partition_runs(&r, HLO_REDUCE_SCATTER, 64 * 256 / 8), 2 * 4);
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_GATHER, 0), 2 * 2 * 4);
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_REDUCE, 0), 0);
	partition_check(arena, &r, "fsdp-loop.mlir");
}
END_TEST

/* Data and model parallel layers, without a loop: by hand, as scenarios/programs says. */
START_TEST(layers)
{
	struct partition_run r;

	partition_sample(arena, &r, "mlp-sharded.mlir",
	                 _i ? PARTITIONER_XLA : PARTITIONER_SHARDY);
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_REDUCE, 0), 4);
	partition_check(arena, &r, "mlp-sharded.mlir");
	partition_sample(arena, &r, "mlp.mlir",
	                 _i ? PARTITIONER_XLA : PARTITIONER_SHARDY);
	partition_check(arena, &r, "mlp.mlir");
}
END_TEST

/*
 * Rows of a matmul over x in, over y out: XLA keeps those of its operand, and lets devices change
 * places of what comes out, which is less.
 */
START_TEST(regrouped)
{
	static const char text[] =
		"sdy.mesh @m = <[\"x\"=2, \"y\"=2]>\n"
		"func.func @main(%a: tensor<8x64xf32> {sdy.sharding = "
		"#sdy.sharding<@m, [{\"x\"}, "
		"{}]>}, %b: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@m, [{}, "
		"{}]>}) -> "
		"(tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{\"y\"}, {}]>}) "
		"{\n"
		" %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] "
		"{sdy.sharding = "
		"#sdy.sharding_per_value<[<@m, [{\"y\"}, {}]>]>} : (tensor<8x64xf32>, "
		"tensor<64x16xf32>) -> tensor<8x16xf32>\n"
		" return %0 : tensor<8x16xf32>\n}\n";
	struct partition_run r;

	partition_text(arena, &r, text, PARTITIONER_XLA, PROPAGATION_SHARDY, "xla");
	ck_assert_double_eq(partition_runs(&r, HLO_COLLECTIVE_PERMUTE, 4 * 16), 1);
	ck_assert_double_eq(partition_runs(&r, HLO_COLLECTIVE_PERMUTE, 0), 1);
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_GATHER, 0), 0);
	partition_check(arena, &r, text);
}
END_TEST

#define ROWS "{sdy.sharding = #sdy.sharding<@m, [{}, {\"x\"}, {}]>}"
#define ON4(args, results, body)                                                       \
	"sdy.mesh @m = <[\"x\"=4]>\nfunc.func @main(" args ") -> (" results ") {\n"    \
	" %z = stablehlo.constant dense<0.0> : tensor<f32>\n" body "}\n"

/*
 * A convolution over 4 devices' rows with a kernel of 3: each takes one row from either side.
 * Its gradient by the kernel, of 3 positions again, has the rows of the other array where the
 * kernel was: one row from either side, and the sum of all devices' parts.
 */
START_TEST(convolutions)
{
	static const char forward[] = ON4(
		"%a: tensor<4x32x8xf32> " ROWS ", %k: tensor<3x8x8xf32>",
		"tensor<4x32x8xf32> " ROWS,
		" %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, "
		"o]->[b, 0, f], "
		"window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, "
		"feature_group_count = 1 : "
		"i64} : (tensor<4x32x8xf32>, tensor<3x8x8xf32>) -> tensor<4x32x8xf32>\n"
		" return %0 : tensor<4x32x8xf32>\n");
	static const char gradient[] = ON4(
		"%a: tensor<4x32x8xf32> " ROWS ", %g: tensor<4x32x8xf32> " ROWS,
		"tensor<8x3x8xf32>",
		" %0 = stablehlo.convolution(%a, %g) dim_numbers = [f, 0, b]x[i, 0, "
		"o]->[b, 0, f], "
		"window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, "
		"feature_group_count = 1 : "
		"i64} : (tensor<4x32x8xf32>, tensor<4x32x8xf32>) -> tensor<8x3x8xf32>\n"
		" return %0 : tensor<8x3x8xf32>\n");
	struct partition_run r;

	for (int i = 0; i < 2; i++) {
		enum partitioner by = i ? PARTITIONER_XLA : PARTITIONER_SHARDY;

		partition_text(arena, &r, forward, by, PROPAGATION_SHARDY, "shardy");
		ck_assert_double_eq(
			partition_runs(&r, HLO_COLLECTIVE_PERMUTE, 4 * 1 * 8), 2);
		ck_assert_double_eq(partition_runs(&r, HLO_COLLECTIVE_PERMUTE, 0), 2);
		ck_assert_double_eq(partition_runs(&r, HLO_ALL_GATHER, 0), 0);
		ck_assert_double_eq(partition_runs(&r, HLO_CONVOLUTION, 4 * 8 * 8), 1);
		partition_check(arena, &r, forward);
		partition_text(arena, &r, gradient, by, PROPAGATION_SHARDY, "shardy");
		ck_assert_double_eq(
			partition_runs(&r, HLO_COLLECTIVE_PERMUTE, 4 * 1 * 8), 2);
		ck_assert_double_eq(partition_runs(&r, HLO_ALL_REDUCE, 8 * 3 * 8), 1);
		ck_assert_double_eq(partition_runs(&r, HLO_ALL_GATHER, 0), 0);
		partition_check(arena, &r, gradient);
	}
}
END_TEST

/* Rows that 4 devices do not divide: their tiles end behind the array, where nothing counts. */
START_TEST(uneven)
{
	static const char text[] = ON4(
		"%a: tensor<2x30x8xf32> " ROWS,
		"tensor<2x27x8xf32> " ROWS ", tensor<2x33x8xf32> " ROWS
		", tensor<2x15x8xf32> " ROWS,
		" %0 = stablehlo.slice %a [0:2, 2:29, 0:8] : (tensor<2x30x8xf32>) -> "
		"tensor<2x27x8xf32>\n"
		" %1 = stablehlo.pad %a, %z, low = [0, 2, 0], high = [0, 1, 0], "
		"interior = [0, 0, "
		"0] : (tensor<2x30x8xf32>, tensor<f32>) -> tensor<2x33x8xf32>\n"
		" %2 = \"stablehlo.reduce_window\"(%a, %z) <{padding = dense<[[0, 0], "
		"[1, 0], [0, "
		"0]]> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 3, 1>, "
		"window_strides = "
		"array<i64: 1, 2, 1>}> ({\n"
		" ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
		"  %s = stablehlo.add %p, %q : tensor<f32>\n"
		"  stablehlo.return %s : tensor<f32>\n"
		" }) : (tensor<2x30x8xf32>, tensor<f32>) -> tensor<2x15x8xf32>\n"
		" return %0, %1, %2 : tensor<2x27x8xf32>, tensor<2x33x8xf32>, "
		"tensor<2x15x8xf32>\n");
	struct partition_run r;

	partition_text(arena, &r, text, _i ? PARTITIONER_XLA : PARTITIONER_SHARDY,
	               PROPAGATION_SHARDY, "shardy");
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_GATHER, 0), 0);
	ck_assert_int_gt(count_borders(&r), 3);
	partition_check(arena, &r, text);
}
END_TEST

/*
 * Arrays with something between their elements, of 4 devices' rows. Of 8 rows with one between
 * each two a device has all it needs of 16, if it begins with a row or between two; two in front
 * of the array move a row on. A kernel of 3 over 4 rows that are two apart has 5 of them below it.
 * 15 places of 60 do not begin all alike: those that devices cannot exchange are gathered.
 */
START_TEST(dilated)
{
#define CONV_DILATED(pads, out)                                                        \
	"convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = "  \
	"{stride = [1], pad = [[" pads "]], lhs_dilate = [2], rhs_dilate = [1]} "      \
	"{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "              \
	"(tensor<2xINx8xf32>, tensor<3x8x8xf32>) -> tensor<2x" out "x8xf32>"
#define PAD_DILATED(low, high, inside, out)                                            \
	"pad %a, %z, low = [0, " low ", 0], high = [0, " high                          \
	", 0], interior = [0, " inside                                                 \
	", 0] : (tensor<2xINx8xf32>, tensor<f32>) -> tensor<2x" out "x8xf32>"
	static const struct {
		const char *in, *out, *op;
		int sent; /* -1: the array is gathered */
	} rows[] = {
		{"32", "64", PAD_DILATED("0", "1", "1", "64"), 0},
		{"32", "64", PAD_DILATED("1", "0", "1", "64"), 0},
		{"32", "64", PAD_DILATED("2", "-1", "1", "64"), 1},
		{"32", "96", PAD_DILATED("-1", "3", "2", "96"), 1},
		{"30", "60", PAD_DILATED("0", "1", "1", "60"), -1},
		{"16", "32", CONV_DILATED("1, 2", "32"), 1},
		{"16", "32", CONV_DILATED("2, 1", "32"), 1},
	};
	struct partition_run r;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int by = 0; by < 2; by++) {
			struct text op = {0};
			const char *text;

			for (const char *s = rows[i].op; *s; s++)
				if (s[0] == 'I' && s[1] == 'N' && s++)
					text_printf(&op, "%s", rows[i].in);
				else
					text_printf(&op, "%c", *s);
			text = arena_printf(
				arena,
				"sdy.mesh @m = <[\"x\"=4]>\nfunc.func @main(%%a: "
				"tensor<2x%sx8xf32> " ROWS
				", %%k: tensor<3x8x8xf32>) -> "
				"(tensor<2x%sx8xf32> " ROWS ") {\n %%z = "
				"stablehlo.constant dense<2.0> : tensor<f32>\n"
				" %%0 = stablehlo.%s\n return %%0 : "
				"tensor<2x%sx8xf32>\n}\n",
				rows[i].in, rows[i].out, text_take(&op, arena),
				rows[i].out);
			partition_text(arena, &r, text,
			               by ? PARTITIONER_XLA : PARTITIONER_SHARDY,
			               PROPAGATION_SHARDY, "shardy");
			partition_check(arena, &r, text);
			ck_assert_int_eq(partition_runs(&r, HLO_ALL_GATHER, 0) > 0,
			                 rows[i].sent < 0);
			if (rows[i].sent >= 0)
				ck_assert_double_eq(
					partition_runs(&r, HLO_COLLECTIVE_PERMUTE, 0),
					rows[i].sent);
		}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("partition");
	TCase *c = tcase_create("partition");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, random_programs, 0, 10);
	tcase_add_loop_test(c, megatron, 0, 2);
	tcase_add_loop_test(c, fsdp, 0, 2);
	tcase_add_loop_test(c, layers, 0, 2);
	tcase_add_test(c, regrouped);
	tcase_add_test(c, convolutions);
	tcase_add_loop_test(c, uneven, 0, 2);
	tcase_add_test(c, dilated);
	tcase_set_timeout(c, 60);
	suite_add_tcase(s, c);
	return s;
}
