/*
 * Gathers, scatters and windows that devices look at in one another's parts, and computations
 * by hand: run on numbers, whole and on all devices, with the collectives counted.
 */
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

static const char *counted_rows_text(const char *sharding)
{
	return arena_printf(arena,
	                    "sdy.mesh @m = <[\"x\"=4, \"y\"=2]>\nfunc.func "
	                    "@main(%%a: tensor<8x16xf32> {sdy.sharding = "
	                    "#sdy.sharding<@m, [%s]>}, %%l: tensor<8x1xi32> "
	                    "{sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>}) -> "
	                    "(tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, "
	                    "[{\"x\"}]>}, tensor<8x16xf32> {sdy.sharding = "
	                    "#sdy.sharding<@m, [%s]>}) {\n"
	                    " %%0 = stablehlo.iota dim = 0 : tensor<8xi32>\n"
	                    " %%1 = stablehlo.broadcast_in_dim %%0, dims = [0] : "
	                    "(tensor<8xi32>) -> tensor<8x1xi32>\n"
	                    " %%2 = stablehlo.concatenate %%1, %%l, dim = 1 : "
	                    "(tensor<8x1xi32>, tensor<8x1xi32>) -> "
	                    "tensor<8x2xi32>\n"
	                    " %%3 = \"stablehlo.gather\"(%%a, %%2) "
	                    "<{dimension_numbers = #stablehlo.gather<offset_dims = "
	                    "[], "
	                    "collapsed_slice_dims = [0, 1], start_index_map = [0, "
	                    "1], "
	                    "index_vector_dim = 1>, slice_sizes = array<i64: 1, "
	                    "1>}> : "
	                    "(tensor<8x16xf32>, tensor<8x2xi32>) -> tensor<8xf32>\n"
	                    " %%4 = \"stablehlo.scatter\"(%%a, %%2, %%3) "
	                    "<{scatter_dimension_numbers = "
	                    "#stablehlo.scatter<update_window_dims = [], "
	                    "inserted_window_dims = [0, 1], "
	                    "scatter_dims_to_operand_dims "
	                    "= [0, 1], index_vector_dim = 1>}> ({\n ^bb0(%%p: "
	                    "tensor<f32>, %%q: tensor<f32>):\n  %%s = "
	                    "stablehlo.add "
	                    "%%p, %%q : tensor<f32>\n  stablehlo.return %%s : "
	                    "tensor<f32>\n }) : (tensor<8x16xf32>, "
	                    "tensor<8x2xi32>, "
	                    "tensor<8xf32>) -> tensor<8x16xf32>\n"
	                    " return %%3, %%4 : tensor<8xf32>, "
	                    "tensor<8x16xf32>\n}\n",
	                    sharding, sharding);
}

/*
 * The element of each row that a label names, and a sum into it: rows are looked up by an iota
 * over the labels, through a broadcast, so devices that have rows and their labels need nobody.
 * Shardy's rules do not see it. Where columns are split, too, parts are added up over these.
 */
START_TEST(counted_rows)
{
	static const struct {
		const char *array;
		int sums;
	} rows[] = {{"{\"x\"}, {}", 0}, {"{\"x\"}, {\"y\"}", 1}};
	struct partition_run r;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int propagation = 0; propagation < 2; propagation++) {
			const char *text = counted_rows_text(rows[i].array);
			static const enum opcode others[] = {
				HLO_ALL_GATHER, HLO_COLLECTIVE_PERMUTE, HLO_ALL_TO_ALL,
				HLO_REDUCE_SCATTER};

			partition_text(arena, &r, text, PARTITIONER_XLA,
			               propagation ? PROPAGATION_XLA
			                           : PROPAGATION_SHARDY,
			               "shardy");
			partition_check(arena, &r, text);
			ck_assert_double_eq(partition_runs(&r, HLO_ALL_REDUCE, 0),
			                    rows[i].sums);
			for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++)
				ck_assert_double_eq(partition_runs(&r, others[k], 0), 0);
			partition_text(arena, &r, text, PARTITIONER_SHARDY,
			               PROPAGATION_SHARDY, "shardy");
			partition_check(arena, &r, text);
		}
}
END_TEST

/*
 * Parts of an array that are far from the tiles of those who need them. Of 48 elements on 8
 * devices the first 8 are 6 of device 0 and 2 of device 1: device 0 sends to five others, one by
 * one, and device 1 to two meanwhile. Elements 8 to 16 are 4 of device 1, who needs one itself,
 * and 4 of device 2. Padding moves windows, too, and strides leave elements out; an order of axes
 * and copies of tiles change who sends, not how often.
 */
START_TEST(far_windows)
{
	static const struct {
		const char *mesh, *in, *out, *op;
		int sent; /* -1: not counted */
	} rows[] = {
		{"\"x\"=8", "48", "8", "slice %a [0:8]", 5},
		{"\"x\"=8", "48", "8", "slice %a [8:16]", 4},
		{"\"x\"=8", "48", "7", "slice %a [41:48]", -1},
		{"\"x\"=8", "46", "8", "slice %a [38:46]", -1},
		{"\"x\"=8", "64", "8", "slice %a [1:17:2]", -1},
		{"\"x\"=8", "64", "96",
	         "pad %a, %z, low = [32], high = [0], interior = [0]", -1},
		{"\"x\"=8", "64", "90",
	         "pad %a, %z, low = [-6], high = [32], interior = [0]", -1},
		{"\"x\"=8", "61", "9",
	         "pad %a, %z, low = [3], high = [-55], interior = [0]", -1},
		{"\"y\"=2, \"x\"=8", "48", "8", "slice %a [0:8]", 5},
		{"\"y\"=3, \"x\"=8, \"z\"=2", "48", "16", "slice %a [16:32]", -1},
	};
	struct partition_run r;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int by = 0; by < 2; by++) {
			const char *pads =
				strstr(rows[i].op, "pad") ? ", tensor<f32>" : "";
			const char *text = arena_printf(
				arena,
				"sdy.mesh @m = <[%s]>\nfunc.func @main(%%a: "
				"tensor<%sxf32> "
				"{sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>}) -> "
				"(tensor<%sxf32> {sdy.sharding = #sdy.sharding<@m, "
				"[{\"x\"}]>}) {\n %%z = stablehlo.constant dense<3.0> "
				": "
				"tensor<f32>\n %%0 = stablehlo.%s : (tensor<%sxf32>%s) "
				"-> "
				"tensor<%sxf32>\n return %%0 : tensor<%sxf32>\n}\n",
				rows[i].mesh, rows[i].in, rows[i].out, rows[i].op,
				rows[i].in, pads, rows[i].out, rows[i].out);

			partition_text(arena, &r, text,
			               by ? PARTITIONER_XLA : PARTITIONER_SHARDY,
			               PROPAGATION_SHARDY, "shardy");
			partition_check(arena, &r, text);
			ck_assert_double_eq(partition_runs(&r, HLO_ALL_GATHER, 0), 0);
			if (rows[i].sent >= 0)
				ck_assert_double_eq(
					partition_runs(&r, HLO_COLLECTIVE_PERMUTE, 0),
					rows[i].sent);
		}
}
END_TEST

/*
 * A manual computation takes the tiles that it says, from wherever they are, and runs as it
 * stands; HLO's borders of such code are the same.
 */
START_TEST(by_hand)
{
	static const char mlir[] =
		"sdy.mesh @m = <[\"x\"=2, \"y\"=4]>\n"
		"func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, "
		"[{}, "
		"{\"x\"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, "
		"[{\"y\"}, "
		"{\"x\"}]>}) {\n"
		" %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{\"x\"}, {}]>] "
		"out_shardings=[<@m, [{}, {\"x\"}]>] manual_axes={\"x\", \"y\"} (%b: "
		"tensor<4x8xf32>) {\n"
		"  %1 = stablehlo.transpose %b, dims = [1, 0] : (tensor<4x8xf32>) -> "
		"tensor<8x4xf32>\n"
		"  sdy.return %1 : tensor<8x4xf32>\n"
		" } : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
		" return %0 : tensor<8x8xf32>\n"
		"}\n";
	static const char hlo[] =
		"HloModule m, num_partitions=8\n"
		"ENTRY e {\n"
		" a = f32[8,8] parameter(0), sharding={devices=[1,8]<=[8]}\n"
		" b = f32[8,8] custom-call(a), custom_call_target=\"Sharding\", "
		"sharding={devices=[8,1]<=[8]}\n"
		" c = f32[1,8] custom-call(b), "
		"custom_call_target=\"SPMDFullToShardShape\", "
		"sharding={manual}\n"
		" d = f32[1,8] negate(c), sharding={manual}\n"
		" ROOT f = f32[8,8] custom-call(d), "
		"custom_call_target=\"SPMDShardToFullShape\", "
		"sharding={devices=[8,1]<=[8]}\n"
		"}\n";
	struct partition_run r;

	partition_text(arena, &r, mlir, PARTITIONER_SHARDY, PROPAGATION_SHARDY,
	               "shardy");
	/* In by an all-to-all of x, out by a slice of y. */
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_TO_ALL, 4 * 8), 1);
	ck_assert_double_eq(partition_runs(&r, HLO_DYNAMIC_SLICE, 2 * 4), 1);
	ck_assert_double_eq(partition_runs(&r, HLO_TRANSPOSE, 8 * 4), 1);
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_GATHER, 0), 0);
	partition_text(arena, &r, hlo, PARTITIONER_XLA, PROPAGATION_XLA, "xla");
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_TO_ALL, 8), 1);
	ck_assert_double_eq(partition_runs(&r, HLO_NEGATE, 8), 1);
	ck_assert_double_eq(partition_runs(&r, HLO_ALL_GATHER, 0), 0);
}
END_TEST

/*
 * Rows by hand over x, and y left: columns over y go through the body, whose matmul sums over
 * them, as in the same program without anything by hand.
 */
START_TEST(left_axes)
{
#define LEFT_AXES(body)                                                                \
	"sdy.mesh @m = <[\"x\"=2, \"y\"=4]>\n"                                         \
	"func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, "      \
	"[{\"x\"}, {\"y\"}]>}, %w: tensor<16x32xf32> {sdy.sharding = "                 \
	"#sdy.sharding<@m, [{\"y\"}, {}]>}) -> (tensor<8x32xf32> {sdy.sharding = "     \
	"#sdy.sharding<@m, [{\"x\"}, {}]>}) {\n" body                                  \
	" return %0 : tensor<8x32xf32>\n}\n"
	static const char manual[] = LEFT_AXES(
		" %0 = sdy.manual_computation(%a, %w) in_shardings=[<@m, [{\"x\"}, "
		"{?}]>, "
		"<@m, [{?}, {?}]>] out_shardings=[<@m, [{\"x\"}, {?}]>] "
		"manual_axes={\"x\"} "
		"(%b: tensor<4x16xf32>, %v: tensor<16x32xf32>) {\n"
		"  %1 = stablehlo.tanh %b : tensor<4x16xf32>\n"
		"  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : "
		"(tensor<4x16xf32>, tensor<16x32xf32>) -> tensor<4x32xf32>\n"
		"  %3 = stablehlo.tanh %2 : tensor<4x32xf32>\n"
		"  sdy.return %3 : tensor<4x32xf32>\n"
		" } : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>\n");
	static const char whole[] = LEFT_AXES(
		" %1 = stablehlo.tanh %a : tensor<8x16xf32>\n"
		" %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : "
		"(tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>\n"
		" %0 = stablehlo.tanh %2 : tensor<8x32xf32>\n");
	struct partition_run r, same;

	for (int i = 0; i < 10; i++) {
		enum partitioner by = i % 2 ? PARTITIONER_XLA : PARTITIONER_SHARDY;

		partition_text(arena, &r, manual, by, PROPAGATION_SHARDY,
		               partition_planners[i / 2]);
		partition_text(arena, &same, whole, by, PROPAGATION_SHARDY, "shardy");
		ck_assert_double_eq(partition_runs(&r, HLO_TANH, 4 * 4), 1);
		ck_assert_double_eq(partition_runs(&r, HLO_ALL_REDUCE, 4 * 32), 1);
		ck_assert_double_eq(partition_runs(&r, HLO_ALL_GATHER, 0), 0);
		partition_check_against(arena, &r, &same.p, manual);
	}
}
END_TEST

struct look {
	bool scatters;
	int rows, n;
	const char *array, *result; /* of a scatter: of the updates */
	int64_t gathered;           /* the largest array that is gathered */
	int sums;
};

static const char *look_text(const struct look *look)
{
	int v = look->rows, n = look->n;
	const char *type[] = {arena_printf(arena, "tensor<%dx8xf32>", v),
	                      arena_printf(arena, "tensor<%dxi32>", n),
	                      arena_printf(arena, "tensor<%dx8xf32>", n)};
	const char *args = arena_printf(
		arena,
		"%%a: %s {sdy.sharding = #sdy.sharding<@m, [%s]>}, %%i: %s "
		"{sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>}, %%u: %s "
		"{sdy.sharding = #sdy.sharding<@m, [%s]>}",
		type[0], look->array, type[1], type[2], look->result);
	const char *op =
		look->scatters
			? arena_printf(arena,
	                               "\"stablehlo.scatter\"(%%a, %%i, %%u) "
	                               "<{scatter_dimension_numbers = "
	                               "#stablehlo.scatter<update_window_dims = "
	                               "[1], "
	                               "inserted_window_dims = [0], "
	                               "scatter_dims_to_operand_dims = [0], "
	                               "index_vector_dim = 1>}> ({\n ^bb0(%%p: "
	                               "tensor<f32>, %%q: tensor<f32>):\n  %%s = "
	                               "stablehlo.add %%p, %%q : tensor<f32>\n  "
	                               "stablehlo.return %%s : tensor<f32>\n }) : "
	                               "(%s, "
	                               "%s, %s) -> %s",
	                               type[0], type[1], type[2], type[0])
			: arena_printf(arena,
	                               "\"stablehlo.gather\"(%%a, %%i) "
	                               "<{dimension_numbers = #stablehlo.gather<"
	                               "offset_dims = [1], collapsed_slice_dims = "
	                               "[0], "
	                               "start_index_map = [0], index_vector_dim = "
	                               "1>, "
	                               "slice_sizes = array<i64: 1, 8>}> : (%s, %s) "
	                               "-> %s",
	                               type[0], type[1], type[2]);
	const char *out = type[look->scatters ? 0 : 2];

	return arena_printf(arena,
	                    "sdy.mesh @m = <[\"x\"=4]>\nfunc.func @main(%s) -> (%s "
	                    "{sdy.sharding = #sdy.sharding<@m, [%s]>}) {\n %%0 = %s\n "
	                    "return %%0 : %s\n}\n",
	                    args, out, look->scatters ? look->array : look->result, op,
	                    out);
}

/*
 * Rows of an array of 8 columns that are looked up or added to over 4 devices that all split, by
 * what needs the least memory: XLA keeps the rows of 64 x 8 apart from each other, brings 16
 * indices together and adds up what is found: 64 / 4 x 8 + 16 + 16 x 8 numbers, against
 * 64 / 4 x 8 + 64 x 8 for the gather of all rows. Of 8 x 8 rows and 64 indices, and so of
 * columns, it gathers the array: 8 x 8 + 64 / 4 + 64 / 4 x 8 against 8 / 4 x 8 + 64 + 64 x 8.
 */
START_TEST(cheapest_look)
{
	static const struct look rows[] = {
		{false, 64, 16, "{\"x\"}, {}", "{\"x\"}, {}", 16, 1},
		{false, 8, 64, "{\"x\"}, {}", "{\"x\"}, {}", 8 * 8, 0},
		{false, 64, 16, "{}, {\"x\"}", "{\"x\"}, {}", 16, 0},
		{false, 8, 64, "{}, {\"x\"}", "{\"x\"}, {}", 8 * 8, 0},
		{true, 64, 16, "{\"x\"}, {}", "{\"x\"}, {}", 16 * 8, 0},
		{true, 8, 64, "{\"x\"}, {}", "{\"x\"}, {}", 8 * 8, 1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *text = look_text(&rows[i]);
		int64_t all = (int64_t)rows[i].rows * 8;
		struct partition_run r;

		partition_text(arena, &r, text, PARTITIONER_XLA, PROPAGATION_SHARDY,
		               "xla");
		partition_check(arena, &r, text);
		ck_assert_msg(partition_runs(&r, HLO_ALL_GATHER, rows[i].gathered) > 0,
		              "%s", text);
		ck_assert_double_eq(partition_runs(&r, HLO_ALL_GATHER, all),
		                    rows[i].gathered == all);
		ck_assert_double_eq(partition_runs(&r, HLO_ALL_REDUCE, 0) +
		                            partition_runs(&r, HLO_REDUCE_SCATTER, 0),
		                    rows[i].sums);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("partition_looks");
	TCase *c = tcase_create("partition_looks");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, counted_rows);
	tcase_add_test(c, far_windows);
	tcase_add_test(c, by_hand);
	tcase_add_test(c, left_axes);
	tcase_add_test(c, cheapest_look);
	tcase_set_timeout(c, 60);
	suite_add_tcase(s, c);
	return s;
}
