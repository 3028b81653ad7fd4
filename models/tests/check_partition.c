/*
 * Partitioned programs compute what the whole ones do: both are run on numbers, the first on
 * all devices. Random ones, with every planner, and ours, with the collectives that are
 * published or follow from the mathematics.
 */
#include "array/machine.h"
#include "plan/check.h"
#include "program/propagate.h"
#include "program/timeline.h"
#include "tests/draw_program.h"
#include "tests/interpret.h"
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

struct run {
	struct program p;
	struct shardings s;
	struct partitioned part;
};

static void partition_by(struct run *r, const char *text, const struct partition_ask *how,
                         enum propagation by)
{
	struct partition_ask ask = *how;
	struct error e = {0};
	struct text why = {0};

	r->p = program_sample_text(arena, text);
	ck_assert_msg(propagate(&r->s, arena, &r->p, by, &e) == OK, "%s", e.text);
	ck_assert_msg(partition(&r->part, arena, &r->p, &r->s, &ask, &e) == OK, "%s",
	              e.text);
	for (int64_t i = 0; i < r->part.reshard.n; i++)
		ck_assert_msg(plan_check(r->part.reshard.at[i].plan, &why), "%s", why.s);
}

static void partition_text(struct run *r, const char *text, enum partitioner partitioner,
                           enum propagation by, const char *planner)
{
	const struct partition_ask ask = {.partitioner = partitioner,
	                                  .planner = planner_find(planner, strlen(planner)),
	                                  .prices = &prices_bytes};

	partition_by(r, text, &ask, by);
}

/* Runs a program whole and another one's parts on the same numbers and compares all results. */
static void check_against(const struct run *r, const struct program *p, const char *text)
{
	const struct region *entry = &r->p.region.at[r->p.entry];
	int32_t n = r->s.mesh.ndevices, np = entry->param.n, nr = entry->result.n;
	struct tensor *whole = arena_alloc(arena, (size_t)np + 1, sizeof(*whole));
	struct tensor *tile = arena_alloc(arena, (size_t)(np * n) + 1, sizeof(*tile));
	struct tensor *want = arena_alloc(arena, (size_t)nr + 1, sizeof(*want));
	struct tensor *got = arena_alloc(arena, (size_t)(nr * n) + 1, sizeof(*got));

	for (int32_t i = 0; i < np; i++) {
		struct layout l = shardings_value(&r->s, entry->param.at[i]);

		whole[i] = tensor_new(arena, &r->p.value.at[entry->param.at[i]].type,
		                     (uint64_t)i + 1);
		tensor_cut(&tile[i * n], arena, &whole[i], &l, &r->s.mesh);
	}
	interpret(want, arena, p, NULL, NULL, 1, whole);
	interpret(got, arena, &r->part.program, &r->part, &r->s.mesh, n, tile);
	for (int32_t i = 0; i < nr; i++) {
		struct layout l = shardings_result(&r->s, &r->p, i);
		struct tensor all =
			tensor_join(arena, &got[i * n],
		                   &r->p.value.at[entry->result.at[i]].type, &l,
		                   &r->s.mesh, false);

		ck_assert_msg(tensor_equal(&want[i], &all), "result %d of\n%s", (int)i,
		              text);
	}
}

static void check_numbers(const struct run *r, const char *text)
{
	check_against(r, &r->p, text);
}

/* --- random programs --- */

static const char *const some_planners[] = {"shardy", "xla", "best", "direct", "gather"};

/* Permutes that are of no change of layout: borders that neighbours exchange. */
static int count_borders(const struct run *r)
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
		struct run r;
		const char *text;

		arena_reset(arena);
		text = draw_program(arena, seed);
		partition_text(&r, text, seed % 2 ? PARTITIONER_XLA : PARTITIONER_SHARDY,
		               seed % 4 == 1 ? PROPAGATION_XLA : PROPAGATION_SHARDY,
		               some_planners[seed % 5]);
		check_numbers(&r, text);
		borders += count_borders(&r);
	}
	ck_assert_int_gt(borders, 60);
}
END_TEST

/* --- ours --- */

static void partition_sample(struct run *r, const char *name, enum partitioner partitioner)
{
	struct partition_ask ask = {.partitioner = partitioner,
	                            .planner = planner_find("shardy", 6),
	                            .prices = &prices_bytes};
	struct error e = {0};

	r->p = program_sample(arena, name);
	ck_assert_msg(propagate(&r->s, arena, &r->p, PROPAGATION_SHARDY, &e) == OK, "%s",
	              e.text);
	ck_assert_msg(partition(&r->part, arena, &r->p, &r->s, &ask, &e) == OK, "%s",
	              e.text);
}

/* How often collectives of a kind run whose results have so many elements, 0: any number. */
static double runs_of(const struct run *r, enum opcode code, int64_t elements)
{
	const struct program *q = &r->part.program;
	double n = 0;

	for (int64_t i = 0; i < q->region.n; i++)
		for (int32_t k = 0; k < q->region.at[i].nops; k++) {
			const struct instruction *op = &q->op.at[q->region.at[i].op[k]];

			if (op->code != code)
				continue;
			if (!elements ||
			    value_elements(&q->value.at[op->first_value].type) == elements)
				n += q->region.at[i].runs;
		}
	return n;
}

/*
 * Megatron's layer (arXiv 1909.08053, 3): two all-reduces of batch x sequence x hidden forward
 * and two backward, and nothing else over the model's axis; each of six weights' gradients and
 * the loss once over the batch's. On each device the batch is 4 of 8, tokens 32, hidden 128.
 */
START_TEST(megatron)
{
	struct run r;

	partition_sample(&r, "megatron.mlir",
	                 _i ? PARTITIONER_XLA : PARTITIONER_SHARDY);
	ck_assert_double_eq(runs_of(&r, HLO_ALL_REDUCE, 4 * 32 * 128), 4);
	ck_assert_double_eq(runs_of(&r, HLO_ALL_REDUCE, 0), 4 + 6 + 1);
	ck_assert_double_eq(runs_of(&r, HLO_ALL_GATHER, 0), 0);
	ck_assert_double_eq(runs_of(&r, HLO_ALL_TO_ALL, 0), 0);
	ck_assert_double_eq(runs_of(&r, HLO_COLLECTIVE_PERMUTE, 0), 0);
	ck_assert_double_eq(runs_of(&r, HLO_REDUCE_SCATTER, 0), 0);
	check_numbers(&r, "megatron.mlir");
}
END_TEST

/*
 * Fully sharded weights: L layers of m matrices are gathered 2 m L times, as they are needed
 * again backward, and m L gradients are summed into their parts. L = 4, m = 2.
 */
START_TEST(fsdp)
{
	struct run r;

	partition_sample(&r, "fsdp-loop.mlir",
	                 _i ? PARTITIONER_XLA : PARTITIONER_SHARDY);
	ck_assert_double_eq(runs_of(&r, HLO_ALL_GATHER, 64 * 256), 2 * 2 * 4);
	ck_assert_double_eq(runs_of(&r, HLO_REDUCE_SCATTER, 64 * 256 / 8), 2 * 4);
	ck_assert_double_eq(runs_of(&r, HLO_ALL_GATHER, 0), 2 * 2 * 4);
	ck_assert_double_eq(runs_of(&r, HLO_ALL_REDUCE, 0), 0);
	check_numbers(&r, "fsdp-loop.mlir");
}
END_TEST

/* Data and model parallel layers, without a loop: by hand, as scenarios/programs says. */
START_TEST(layers)
{
	struct run r;

	partition_sample(&r, "mlp-sharded.mlir",
	                 _i ? PARTITIONER_XLA : PARTITIONER_SHARDY);
	ck_assert_double_eq(runs_of(&r, HLO_ALL_REDUCE, 0), 4);
	check_numbers(&r, "mlp-sharded.mlir");
	partition_sample(&r, "mlp.mlir", _i ? PARTITIONER_XLA : PARTITIONER_SHARDY);
	check_numbers(&r, "mlp.mlir");
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
	struct run r;

	partition_text(&r, text, PARTITIONER_XLA, PROPAGATION_SHARDY, "xla");
	ck_assert_double_eq(runs_of(&r, HLO_COLLECTIVE_PERMUTE, 4 * 16), 1);
	ck_assert_double_eq(runs_of(&r, HLO_COLLECTIVE_PERMUTE, 0), 1);
	ck_assert_double_eq(runs_of(&r, HLO_ALL_GATHER, 0), 0);
	check_numbers(&r, text);
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
	struct run r;

	for (int i = 0; i < 2; i++) {
		enum partitioner by = i ? PARTITIONER_XLA : PARTITIONER_SHARDY;

		partition_text(&r, forward, by, PROPAGATION_SHARDY, "shardy");
		ck_assert_double_eq(runs_of(&r, HLO_COLLECTIVE_PERMUTE, 4 * 1 * 8), 2);
		ck_assert_double_eq(runs_of(&r, HLO_COLLECTIVE_PERMUTE, 0), 2);
		ck_assert_double_eq(runs_of(&r, HLO_ALL_GATHER, 0), 0);
		ck_assert_double_eq(runs_of(&r, HLO_CONVOLUTION, 4 * 8 * 8), 1);
		check_numbers(&r, forward);
		partition_text(&r, gradient, by, PROPAGATION_SHARDY, "shardy");
		ck_assert_double_eq(runs_of(&r, HLO_COLLECTIVE_PERMUTE, 4 * 1 * 8), 2);
		ck_assert_double_eq(runs_of(&r, HLO_ALL_REDUCE, 8 * 3 * 8), 1);
		ck_assert_double_eq(runs_of(&r, HLO_ALL_GATHER, 0), 0);
		check_numbers(&r, gradient);
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
	struct run r;

	partition_text(&r, text, _i ? PARTITIONER_XLA : PARTITIONER_SHARDY,
	               PROPAGATION_SHARDY, "shardy");
	ck_assert_double_eq(runs_of(&r, HLO_ALL_GATHER, 0), 0);
	ck_assert_int_gt(count_borders(&r), 3);
	check_numbers(&r, text);
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
	"pad %a, %z, low = [0, " low ", 0], high = [0, " high ", 0], interior = [0, "  \
	inside ", 0] : (tensor<2xINx8xf32>, tensor<f32>) -> tensor<2x" out "x8xf32>"
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
	struct run r;

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
				"tensor<2x%sx8xf32> " ROWS ", %%k: tensor<3x8x8xf32>) -> "
				"(tensor<2x%sx8xf32> " ROWS ") {\n %%z = "
				"stablehlo.constant dense<2.0> : tensor<f32>\n"
				" %%0 = stablehlo.%s\n return %%0 : "
				"tensor<2x%sx8xf32>\n}\n",
				rows[i].in, rows[i].out, text_take(&op, arena),
				rows[i].out);
			partition_text(&r, text,
			               by ? PARTITIONER_XLA : PARTITIONER_SHARDY,
			               PROPAGATION_SHARDY, "shardy");
			check_numbers(&r, text);
			ck_assert_int_eq(runs_of(&r, HLO_ALL_GATHER, 0) > 0,
			                 rows[i].sent < 0);
			if (rows[i].sent >= 0)
				ck_assert_double_eq(
					runs_of(&r, HLO_COLLECTIVE_PERMUTE, 0),
					rows[i].sent);
		}
}
END_TEST

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
	struct run r;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int propagation = 0; propagation < 2; propagation++) {
			const char *text = arena_printf(
				arena,
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
				"(tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>\n"
				" %%3 = \"stablehlo.gather\"(%%a, %%2) "
				"<{dimension_numbers = #stablehlo.gather<offset_dims = [], "
				"collapsed_slice_dims = [0, 1], start_index_map = [0, 1], "
				"index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : "
				"(tensor<8x16xf32>, tensor<8x2xi32>) -> tensor<8xf32>\n"
				" %%4 = \"stablehlo.scatter\"(%%a, %%2, %%3) "
				"<{scatter_dimension_numbers = "
				"#stablehlo.scatter<update_window_dims = [], "
				"inserted_window_dims = [0, 1], scatter_dims_to_operand_dims "
				"= [0, 1], index_vector_dim = 1>}> ({\n ^bb0(%%p: "
				"tensor<f32>, %%q: tensor<f32>):\n  %%s = stablehlo.add "
				"%%p, %%q : tensor<f32>\n  stablehlo.return %%s : "
				"tensor<f32>\n }) : (tensor<8x16xf32>, tensor<8x2xi32>, "
				"tensor<8xf32>) -> tensor<8x16xf32>\n"
				" return %%3, %%4 : tensor<8xf32>, tensor<8x16xf32>\n}\n",
				rows[i].array, rows[i].array);
			static const enum opcode others[] = {
				HLO_ALL_GATHER, HLO_COLLECTIVE_PERMUTE, HLO_ALL_TO_ALL,
				HLO_REDUCE_SCATTER};

			partition_text(&r, text, PARTITIONER_XLA,
			               propagation ? PROPAGATION_XLA
			                           : PROPAGATION_SHARDY,
			               "shardy");
			check_numbers(&r, text);
			ck_assert_double_eq(runs_of(&r, HLO_ALL_REDUCE, 0), rows[i].sums);
			for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++)
				ck_assert_double_eq(runs_of(&r, others[k], 0), 0);
			partition_text(&r, text, PARTITIONER_SHARDY, PROPAGATION_SHARDY,
			               "shardy");
			check_numbers(&r, text);
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
		{"\"x\"=8", "64", "96", "pad %a, %z, low = [32], high = [0], interior = [0]",
	         -1},
		{"\"x\"=8", "64", "90", "pad %a, %z, low = [-6], high = [32], interior = [0]",
	         -1},
		{"\"x\"=8", "61", "9", "pad %a, %z, low = [3], high = [-55], interior = [0]",
	         -1},
		{"\"y\"=2, \"x\"=8", "48", "8", "slice %a [0:8]", 5},
		{"\"y\"=3, \"x\"=8, \"z\"=2", "48", "16", "slice %a [16:32]", -1},
	};
	struct run r;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int by = 0; by < 2; by++) {
			const char *pads = strstr(rows[i].op, "pad") ? ", tensor<f32>" : "";
			const char *text = arena_printf(
				arena,
				"sdy.mesh @m = <[%s]>\nfunc.func @main(%%a: tensor<%sxf32> "
				"{sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>}) -> "
				"(tensor<%sxf32> {sdy.sharding = #sdy.sharding<@m, "
				"[{\"x\"}]>}) {\n %%z = stablehlo.constant dense<3.0> : "
				"tensor<f32>\n %%0 = stablehlo.%s : (tensor<%sxf32>%s) -> "
				"tensor<%sxf32>\n return %%0 : tensor<%sxf32>\n}\n",
				rows[i].mesh, rows[i].in, rows[i].out, rows[i].op,
				rows[i].in, pads, rows[i].out, rows[i].out);

			partition_text(&r, text,
			               by ? PARTITIONER_XLA : PARTITIONER_SHARDY,
			               PROPAGATION_SHARDY, "shardy");
			check_numbers(&r, text);
			ck_assert_double_eq(runs_of(&r, HLO_ALL_GATHER, 0), 0);
			if (rows[i].sent >= 0)
				ck_assert_double_eq(
					runs_of(&r, HLO_COLLECTIVE_PERMUTE, 0),
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
		"func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, "
		"{\"x\"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"y\"}, "
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
		" c = f32[1,8] custom-call(b), custom_call_target=\"SPMDFullToShardShape\", "
		"sharding={manual}\n"
		" d = f32[1,8] negate(c), sharding={manual}\n"
		" ROOT f = f32[8,8] custom-call(d), "
		"custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[8,1]<=[8]}\n"
		"}\n";
	struct run r;

	partition_text(&r, mlir, PARTITIONER_SHARDY, PROPAGATION_SHARDY, "shardy");
	/* In by an all-to-all of x, out by a slice of y. */
	ck_assert_double_eq(runs_of(&r, HLO_ALL_TO_ALL, 4 * 8), 1);
	ck_assert_double_eq(runs_of(&r, HLO_DYNAMIC_SLICE, 2 * 4), 1);
	ck_assert_double_eq(runs_of(&r, HLO_TRANSPOSE, 8 * 4), 1);
	ck_assert_double_eq(runs_of(&r, HLO_ALL_GATHER, 0), 0);
	partition_text(&r, hlo, PARTITIONER_XLA, PROPAGATION_XLA, "xla");
	ck_assert_double_eq(runs_of(&r, HLO_ALL_TO_ALL, 8), 1);
	ck_assert_double_eq(runs_of(&r, HLO_NEGATE, 8), 1);
	ck_assert_double_eq(runs_of(&r, HLO_ALL_GATHER, 0), 0);
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
	struct run r, same;

	for (int i = 0; i < 10; i++) {
		enum partitioner by = i % 2 ? PARTITIONER_XLA : PARTITIONER_SHARDY;

		partition_text(&r, manual, by, PROPAGATION_SHARDY, some_planners[i / 2]);
		partition_text(&same, whole, by, PROPAGATION_SHARDY, "shardy");
		ck_assert_double_eq(runs_of(&r, HLO_TANH, 4 * 4), 1);
		ck_assert_double_eq(runs_of(&r, HLO_ALL_REDUCE, 4 * 32), 1);
		ck_assert_double_eq(runs_of(&r, HLO_ALL_GATHER, 0), 0);
		check_against(&r, &same.p, manual);
	}
}
END_TEST

/*
 * Rows of an array of 8 columns that are looked up or added to over 4 devices that all split, by
 * what needs the least memory: XLA keeps the rows of 64 x 8 apart from each other, brings 16
 * indices together and adds up what is found: 64 / 4 x 8 + 16 + 16 x 8 numbers, against
 * 64 / 4 x 8 + 64 x 8 for the gather of all rows. Of 8 x 8 rows and 64 indices, and so of
 * columns, it gathers the array: 8 x 8 + 64 / 4 + 64 / 4 x 8 against 8 / 4 x 8 + 64 + 64 x 8.
 */
START_TEST(cheapest_look)
{
	static const struct {
		bool scatters;
		int rows, n;
		const char *array, *result; /* of a scatter: of the updates */
		int64_t gathered;           /* the largest array that is gathered */
		int sums;
	} rows[] = {
		{false, 64, 16, "{\"x\"}, {}", "{\"x\"}, {}", 16, 1},
		{false, 8, 64, "{\"x\"}, {}", "{\"x\"}, {}", 8 * 8, 0},
		{false, 64, 16, "{}, {\"x\"}", "{\"x\"}, {}", 16, 0},
		{false, 8, 64, "{}, {\"x\"}", "{\"x\"}, {}", 8 * 8, 0},
		{true, 64, 16, "{\"x\"}, {}", "{\"x\"}, {}", 16 * 8, 0},
		{true, 8, 64, "{\"x\"}, {}", "{\"x\"}, {}", 8 * 8, 1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int v = rows[i].rows, n = rows[i].n;
		const char *type[] = {arena_printf(arena, "tensor<%dx8xf32>", v),
		                      arena_printf(arena, "tensor<%dxi32>", n),
		                      arena_printf(arena, "tensor<%dx8xf32>", n)};
		const char *args = arena_printf(
			arena,
			"%%a: %s {sdy.sharding = #sdy.sharding<@m, [%s]>}, %%i: %s "
			"{sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>}, %%u: %s "
			"{sdy.sharding = #sdy.sharding<@m, [%s]>}",
			type[0], rows[i].array, type[1], type[2], rows[i].result);
		const char *op =
			rows[i].scatters
				? arena_printf(
					  arena,
					  "\"stablehlo.scatter\"(%%a, %%i, %%u) "
					  "<{scatter_dimension_numbers = "
					  "#stablehlo.scatter<update_window_dims = [1], "
					  "inserted_window_dims = [0], "
					  "scatter_dims_to_operand_dims = [0], "
					  "index_vector_dim = 1>}> ({\n ^bb0(%%p: "
					  "tensor<f32>, %%q: tensor<f32>):\n  %%s = "
					  "stablehlo.add %%p, %%q : tensor<f32>\n  "
					  "stablehlo.return %%s : tensor<f32>\n }) : (%s, "
					  "%s, %s) -> %s",
					  type[0], type[1], type[2], type[0])
				: arena_printf(
					  arena,
					  "\"stablehlo.gather\"(%%a, %%i) "
					  "<{dimension_numbers = #stablehlo.gather<"
					  "offset_dims = [1], collapsed_slice_dims = [0], "
					  "start_index_map = [0], index_vector_dim = 1>, "
					  "slice_sizes = array<i64: 1, 8>}> : (%s, %s) -> %s",
					  type[0], type[1], type[2]);
		const char *out = type[rows[i].scatters ? 0 : 2];
		const char *text = arena_printf(
			arena,
			"sdy.mesh @m = <[\"x\"=4]>\nfunc.func @main(%s) -> (%s "
			"{sdy.sharding = #sdy.sharding<@m, [%s]>}) {\n %%0 = %s\n "
			"return %%0 : %s\n}\n",
			args, out, rows[i].scatters ? rows[i].array : rows[i].result, op,
			out);
		struct run r;

		partition_text(&r, text, PARTITIONER_XLA, PROPAGATION_SHARDY, "xla");
		check_numbers(&r, text);
		ck_assert_msg(runs_of(&r, HLO_ALL_GATHER, rows[i].gathered) > 0, "%s",
		              text);
		ck_assert_double_eq(runs_of(&r, HLO_ALL_GATHER, v * 8),
		                    rows[i].gathered == v * 8);
		ck_assert_double_eq(runs_of(&r, HLO_ALL_REDUCE, 0) +
		                            runs_of(&r, HLO_REDUCE_SCATTER, 0),
		                    rows[i].sums);
	}
}
END_TEST

/* --- windowed einsums --- */

/* XLA's, of whatever size, on a machine or with all that could be. */
static void partition_rings(struct run *r, const char *text, enum propagation by,
                            double bytes, const struct machine *m)
{
	const struct partition_ask ask = {.partitioner = PARTITIONER_XLA,
	                                  .planner = planner_find("xla", 3),
	                                  .prices = &prices_bytes,
	                                  .ring_bytes = bytes,
	                                  .machine = m};

	partition_by(r, text, &ask, by);
}

/* A matmul of two arguments; shardings as Shardy writes them. */
static const char *dot_text(const char *mesh, const char *type[3], const char *dims[3],
                            const char *how)
{
	return arena_printf(arena,
	                    "sdy.mesh @m = <[%s]>\nfunc.func @main(%%a: tensor<%s> "
	                    "{sdy.sharding = #sdy.sharding<@m, [%s]>}, %%b: tensor<%s> "
	                    "{sdy.sharding = #sdy.sharding<@m, [%s]>}) -> (tensor<%s> "
	                    "{sdy.sharding = #sdy.sharding<@m, [%s]>}) {\n"
	                    " %%0 = stablehlo.dot_general %%a, %%b, %s {sdy.sharding = "
	                    "#sdy.sharding_per_value<[<@m, [%s]>]>} : (tensor<%s>, "
	                    "tensor<%s>) -> tensor<%s>\n return %%0 : tensor<%s>\n}\n",
	                    mesh, type[0], dims[0], type[1], dims[1], type[2], dims[2],
	                    how, dims[2], type[0], type[1], type[2], type[2]);
}

struct ring_row {
	const char *mesh, *type[3], *dims[3], *how;
	int64_t sent; /* elements of a part */
	int parts;    /* 0: it stays as it is */
};

/*
 * Every way in which an array goes round: along what is contracted, a free dimension of either
 * side, a batch that one operand has, the result along either side's dimension; in each group
 * of devices that has a part of the batch; between axes in another order. Each device has the
 * bytes of a gather, part by part, in one permute less than there are parts. What does not
 * divide, and what another matmul gathers anyway, is gathered.
 */
static const struct ring_row ring_rows[] = {
#define BY_ROWS "contracting_dims = [1] x [0]"
	{"\"x\"=4", {"8x16xf32", "16x24xf32", "8x24xf32"},
	 {"{\"x\"}, {}", "{\"x\"}, {}", "{\"x\"}, {}"}, BY_ROWS, 4 * 24, 4},
	{"\"x\"=4", {"8x16xf32", "16x24xf32", "8x24xf32"},
	 {"{\"x\"}, {}", "{}, {\"x\"}", "{\"x\"}, {}"}, BY_ROWS, 16 * 6, 4},
	{"\"x\"=4", {"8x16xf32", "16x24xf32", "8x24xf32"},
	 {"{\"x\"}, {}", "{}, {\"x\"}", "{}, {\"x\"}"}, BY_ROWS, 2 * 16, 4},
	{"\"x\"=4", {"8x16xf32", "16x24xf32", "8x24xf32"},
	 {"{}, {\"x\"}", "{}, {\"x\"}", "{}, {\"x\"}"}, BY_ROWS, 8 * 4, 4},
	{"\"x\"=4", {"8x16xf32", "16x24xf32", "8x24xf32"},
	 {"{}, {\"x\"}", "{\"x\"}, {}", "{\"x\"}, {}"}, BY_ROWS, 2 * 24, 4},
	{"\"x\"=4", {"8x16xf32", "16x24xf32", "8x24xf32"},
	 {"{}, {\"x\"}", "{\"x\"}, {}", "{}, {\"x\"}"}, BY_ROWS, 8 * 6, 4},
	{"\"x\"=2", {"4x8x16xf32", "4x16x24xf32", "4x8x24xf32"},
	 {"{}, {\"x\"}, {}", "{\"x\"}, {}, {}", "{}, {\"x\"}, {}"},
	 "batching_dims = [0] x [0], contracting_dims = [2] x [1]", 2 * 16 * 24, 2},
	{"\"y\"=2, \"x\"=4", {"4x8x16xf32", "4x16x24xf32", "4x8x24xf32"},
	 {"{\"y\"}, {\"x\"}, {}", "{\"y\"}, {\"x\"}, {}", "{\"y\"}, {\"x\"}, {}"},
	 "batching_dims = [0] x [0], contracting_dims = [2] x [1]", 2 * 4 * 24, 4},
	{"\"x\"=2, \"z\"=4", {"8x16xf32", "16x24xf32", "8x24xf32"},
	 {"{\"x\", \"z\"}, {}", "{\"z\", \"x\"}, {}", "{\"x\", \"z\"}, {}"}, BY_ROWS,
	 2 * 24, 8},
	{"\"x\"=4", {"8x18xf32", "18x24xf32", "8x24xf32"},
	 {"{\"x\"}, {}", "{\"x\"}, {}", "{\"x\"}, {}"}, BY_ROWS, 0, 0},
	{"\"x\"=33", {"66x33xf32", "33x24xf32", "66x24xf32"},
	 {"{\"x\"}, {}", "{\"x\"}, {}", "{\"x\"}, {}"}, BY_ROWS, 0, 0},
};
enum { RING_ROWS = sizeof(ring_rows) / sizeof(*ring_rows) };

static const char *ring_text(const struct ring_row *row)
{
	return dot_text(row->mesh, (const char *[]){row->type[0], row->type[1], row->type[2]},
	                (const char *[]){row->dims[0], row->dims[1], row->dims[2]}, row->how);
}

START_TEST(rings)
{
	const struct ring_row *row = &ring_rows[_i];
	const char *text = ring_text(row);
	struct run r;

	partition_rings(&r, text, PROPAGATION_SHARDY, 1, NULL);
	check_numbers(&r, text);
	ck_assert_double_eq(runs_of(&r, HLO_DOT, 0), row->parts ? row->parts : 1);
	ck_assert_double_eq(runs_of(&r, HLO_COLLECTIVE_PERMUTE, 0),
	                    row->parts ? row->parts - 1 : 0);
	ck_assert_double_eq(runs_of(&r, HLO_COLLECTIVE_PERMUTE, row->sent),
	                    row->parts ? row->parts - 1 : 0);
	ck_assert_int_eq(runs_of(&r, HLO_ALL_GATHER, 0) > 0, !row->parts);
	ck_assert_double_eq(runs_of(&r, HLO_REDUCE_SCATTER, 0), 0);
	ck_assert_double_eq(runs_of(&r, HLO_ALL_REDUCE, 0), 0);
}
END_TEST

/* The array that would be gathered has 16 x 24 floats, in each group of devices as in all. */
START_TEST(ring_threshold)
{
	static const double bytes[] = {0, 16 * 24 * 4, 16 * 24 * 4 + 1};
	struct run r;

	for (int i = 0; i < 3; i++) {
		partition_rings(&r, ring_text(&ring_rows[0]), PROPAGATION_SHARDY,
		                bytes[i], NULL);
		ck_assert_double_eq(runs_of(&r, HLO_DOT, 0), i == 1 ? 4 : 1);
		partition_rings(&r, ring_text(&ring_rows[7]), PROPAGATION_SHARDY,
		                2 * bytes[i], NULL);
		ck_assert_double_eq(runs_of(&r, HLO_DOT, 0), i == 1 ? 4 : 1);
	}
}
END_TEST

/* A matrix that two matmuls gather is gathered once; a use of its tile does not count. */
START_TEST(ring_shared)
{
#define ROWS4 "{sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>}"
#define SHARED(name, arg)                                                              \
	" " name " = stablehlo.dot_general " arg ", %w, contracting_dims = [1] x [0] " \
	": (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>\n"
#define SHARED_BY(second, type)                                                        \
	"sdy.mesh @m = <[\"x\"=4]>\nfunc.func @main(%a: tensor<8x16xf32> " ROWS4      \
	", %b: tensor<8x16xf32> " ROWS4 ", %w: tensor<16x16xf32> " ROWS4               \
	") -> (tensor<8x16xf32> " ROWS4 ", tensor<" type "> " ROWS4 ") {\n"            \
	SHARED("%0", "%a") second " return %0, %1 : tensor<8x16xf32>, tensor<" type    \
	">\n}\n"
	static const char both[] = SHARED_BY(SHARED("%1", "%b"), "8x16xf32");
	static const char tile[] = SHARED_BY(
		" %1 = stablehlo.tanh %w : tensor<16x16xf32>\n", "16x16xf32");
	struct run r;

	partition_rings(&r, both, PROPAGATION_SHARDY, 1, NULL);
	check_numbers(&r, both);
	ck_assert_double_eq(runs_of(&r, HLO_DOT, 0), 2);
	ck_assert_double_eq(runs_of(&r, HLO_ALL_GATHER, 0), 1);
	partition_rings(&r, tile, PROPAGATION_SHARDY, 1, NULL);
	check_numbers(&r, tile);
	ck_assert_double_eq(runs_of(&r, HLO_DOT, 0), 4);
	ck_assert_double_eq(runs_of(&r, HLO_ALL_GATHER, 0), 0);
}
END_TEST

/* Each array of a batched matmul split over all devices of a group along some dimension. */
static const char *draw_dot(uint64_t seed)
{
	static const char *const axes[] = {"\"x\", \"z\"", "\"z\", \"x\""};
	static const char *const how[] = {
		"batching_dims = [0] x [0], contracting_dims = [2] x [1]",
		"batching_dims = [1] x [2], contracting_dims = [0] x [0]"};
	static const char *const types[][3] = {
		{"16x8x24xf32", "16x24x32xf32", "16x8x32xf32"},
		{"24x16x8xf32", "24x32x16xf32", "16x8x32xf32"}};
	static const int batch[][3] = {{0, 0, 0}, {1, 2, 0}};
	const char *dims[3];
	uint64_t left = seed * 0x9e3779b97f4a7c15u >> 20;
	int way = (int)(left % 2), grouped = (int)(left / 2 % 2);

	left /= 4;
	for (int t = 0; t < 3; t++) {
		int at = (int)(left % 3), order = (int)(left / 3 % 2);
		const char *dim[3];

		left /= 6;
		for (int d = 0; d < 3; d++) {
			bool with_y = grouped && d == batch[way][t];

			dim[d] = arena_printf(arena, "{%s%s%s}", with_y ? "\"y\"" : "",
			                      with_y && d == at ? ", " : "",
			                      d == at ? axes[order] : "");
		}
		dims[t] = arena_printf(arena, "%s, %s, %s", dim[0], dim[1], dim[2]);
	}
	return dot_text(grouped ? "\"z\"=2, \"y\"=2, \"x\"=4" : "\"x\"=2, \"z\"=4",
	                (const char *[]){types[way][0], types[way][1], types[way][2]}, dims,
	                how[way]);
}

START_TEST(random_rings)
{
	int rings = 0;

	for (uint64_t seed = 200 * (uint64_t)_i; seed < 200 * (uint64_t)(_i + 1); seed++) {
		bool whole = seed % 10 == 0;
		const char *text;
		struct run r;

		arena_reset(arena);
		text = whole ? draw_program(arena, seed) : draw_dot(seed);
		partition_rings(&r, text, whole ? PROPAGATION_XLA : PROPAGATION_SHARDY, 1, NULL);
		check_numbers(&r, text);
		rings += !whole && runs_of(&r, HLO_DOT, 0) > 1;
	}
	ck_assert_int_gt(rings, 5);
}
END_TEST

/* Every gather takes as long. */
static struct price plan_price(void *self, const struct plan *p)
{
	(void)p;
	return (struct price){.cost = *(const double *)self};
}

/*
 * Of a matmul of c seconds and a gather of g XLA takes n parts where max(c, g) + 2 g / n is
 * less than c + g: with more than 2 parts, as long as g is below n c / 2.
 */
START_TEST(ring_pays)
{
	/* Of each device of 4, two operations for each product. */
	const double matmul_s = 2. * 8 * 16 * 24 / 4 / 1e9;
	static const struct {
		int row;
		double gather; /* of the matmul's time */
		bool pays;
	} rows[] = {{0, .25, true},  {0, .5, true},  {0, 1.9, true}, {0, 2.1, false},
	            {4, .25, true},  {4, 1.9, true}, {4, 2.1, false},
	            {6, .25, false}, {6, 1, false},  {8, 3.9, true}, {8, 4.1, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct ring_row *row = &ring_rows[rows[i].row];
		/* A batch of 4 on 2 devices; one matmul on 8. */
		double work = rows[i].row == 6 ? 8 : rows[i].row == 8 ? .5 : 1;
		double cost = rows[i].gather * matmul_s * work;
		struct prices prices = {.self = &cost,
		                        .step = prices_bytes.step,
		                        .plan = plan_price,
		                        .path = prices_bytes.path};
		int32_t shape = 8;
		bool wrap = true;
		struct machine *m = machine_torus(arena, 1, &shape, &wrap,
		                                  (struct link){"l", 1e9, 0},
		                                  (struct device){1e9, 1e15, 0});
		struct partition_ask ask = {.partitioner = PARTITIONER_XLA,
		                            .planner = planner_find("xla", 3),
		                            .prices = &prices,
		                            .ring_bytes = 1};
		struct run r;

		m->tuning.value[TUNING_F32_FLOPS] = 1e9;
		m->tuning.value[TUNING_F32_SHARE] = 1;
		m->tuning.value[TUNING_MATMUL_S] = m->tuning.value[TUNING_KERNEL_S] = 0;
		ask.machine = m;
		partition_by(&r, ring_text(row), &ask, PROPAGATION_SHARDY);
		ck_assert_msg((runs_of(&r, HLO_DOT, 0) > 1) == rows[i].pays, "row %d",
		              (int)i);
	}
}
END_TEST

/* Runs the entry with matmuls of c seconds and collectives of g in all, beside each other. */
static struct timeline run_beside(const struct run *r, double c, double g)
{
	const struct program *p = &r->part.program;
	double dots = runs_of(r, HLO_DOT, 0);
	struct flat *f = arena_alloc(arena, 1, sizeof(*f));
	struct timed_step *step;
	struct timeline out;

	ck_assert(flat_make(f, arena, p, p->entry));
	step = arena_alloc(arena, (size_t)f->step.n + 1, sizeof(*step));
	for (int64_t i = 0; i < f->step.n; i++) {
		const struct instruction *op = &p->op.at[f->step.at[i].op];
		bool sends = opcode_class(op->code) == CLASS_COLLECTIVE;

		step[i] = (struct timed_step){sends                 ? g / dots
		                              : op->code == HLO_DOT ? c / dots
		                                                    : 0,
		                              sends ? 0 : -1};
	}
	timeline_run(&out, arena,
	             &(struct timeline_ask){.program = p,
	                                    .flat = f,
	                                    .step = step,
	                                    .overlap = OVERLAP_ASYNC,
	                                    .trips = 1});
	return out;
}

/* What is exposed of g seconds beside c: all of a gather, of n parts (n - 1) / n (g - c) or 0. */
START_TEST(ring_beside)
{
	static const double beside[][2] = {{8, 1}, {8, 8}, {8, 12}, {1, 8}};
	struct run gathered, ring;

	partition_rings(&gathered, ring_text(&ring_rows[_i]), PROPAGATION_SHARDY, 0, NULL);
	partition_rings(&ring, ring_text(&ring_rows[_i]), PROPAGATION_SHARDY, 1, NULL);
	for (size_t i = 0; i < sizeof(beside) / sizeof(*beside); i++) {
		double c = beside[i][0], g = beside[i][1], n = ring_rows[_i].parts;
		struct timeline t = run_beside(&gathered, c, g);

		ck_assert_double_eq_tol(t.exposed_s, g, 1e-9);
		t = run_beside(&ring, c, g);
		ck_assert_double_eq_tol(t.compute_s, c, 1e-9);
		ck_assert_double_eq_tol(t.exposed_s, g > c ? (n - 1) / n * (g - c) : 0,
		                        1e-9);
		ck_assert_double_le(t.s, (c > g ? c : g) + 2 * g / n + 1e-9);
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
	tcase_add_test(c, counted_rows);
	tcase_add_test(c, far_windows);
	tcase_add_test(c, by_hand);
	tcase_add_test(c, left_axes);
	tcase_add_test(c, cheapest_look);
	tcase_add_loop_test(c, rings, 0, RING_ROWS);
	tcase_add_test(c, ring_threshold);
	tcase_add_test(c, ring_shared);
	tcase_add_loop_test(c, random_rings, 0, 4);
	tcase_add_test(c, ring_pays);
	tcase_add_loop_test(c, ring_beside, 0, 7);
	tcase_set_timeout(c, 60);
	suite_add_tcase(s, c);
	return s;
}
