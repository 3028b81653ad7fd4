/* Rules of ops as factors, each worked out by hand from what the op does. */
#include "program/rules.h"
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

/* An op of StableHLO, over arguments, and the rule that it must have; NULL: none. */
struct row {
	enum opcode code;
	const char *args, *text, *rule;
};

#define ADDS                                                                           \
	" ({\n ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n  %z = stablehlo.add %p, %q "  \
	": "                                                                           \
	"tensor<f32>\n  stablehlo.return %z : tensor<f32>\n })"
#define TAKES                                                                          \
	" ({\n ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n  stablehlo.return %q "        \
	": tensor<f32>\n })"
#define SCATTERED                                                                      \
	" {indices_are_sorted = false, scatter_dimension_numbers = "                   \
	"#stablehlo.scatter<"                                                          \
	"update_window_dims = [1], inserted_window_dims = [0], "                       \
	"scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = " \
	"false} : (tensor<100x16xf32>, tensor<6x1xi32>, tensor<6x16xf32>) -> "         \
	"tensor<100x16xf32>"
#define SCATTER_ARGS "%a: tensor<100x16xf32>, %i: tensor<6x1xi32>, %b: tensor<6x16xf32>"
#define LESS                                                                           \
	" ({\n ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n  %z = stablehlo.compare LT, " \
	"%p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n  stablehlo.return %z : "  \
	"tensor<i1>\n })"

static const struct row rows[] = {
	/* Element by element; a predicate that is a scalar has no dimension. */
	{HLO_ADD, "%a: tensor<4x8xf32>", "stablehlo.add %a, %a : tensor<4x8xf32>",
         "([i, j],[i, j])->([i, j]) {i=4, j=8}"},
	{HLO_SELECT, "%p: tensor<i1>, %a: tensor<4x8xf32>",
         "stablehlo.select %p, %a, %a : tensor<i1>, tensor<4x8xf32>",
         "([],[i, j],[i, j])->([i, j]) {i=4, j=8}"},
	{HLO_CLAMP, "%p: tensor<f32>, %a: tensor<4xf32>",
         "stablehlo.clamp %p, %a, %p : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> "
         "tensor<4xf32>",
         "([],[i],[])->([i]) {i=4}"},
	{HLO_CONVERT, "%a: tensor<4xf32>",
         "stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xbf16>",
         "([i])->([i]) {i=4}"},
	/* Batch, rows, columns, and what is summed. */
	{HLO_DOT, "%a: tensor<2x4x8xf32>, %b: tensor<2x8x16xf32>",
         "stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = "
         "[2] x [1] : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>",
         "([i, j, l],[i, l, k])->([i, j, k]) {i=2, j=4, k=16, l=8} reduction={l}"},
	{HLO_DOT, "%a: tensor<4x8xf32>, %b: tensor<16xf32>",
         "stablehlo.dot_general %a, %b, contracting_dims = [] x [] : "
         "(tensor<4x8xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>",
         "([i, j],[k])->([i, j, k]) {i=4, j=8, k=16}"},
	/* A window of 3 slides over 10 places of 12; of 12 over one; groups of features. */
	{HLO_CONVOLUTION, "%a: tensor<2x12x4xf32>, %b: tensor<3x4x8xf32>",
         "stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
         "window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
         "(tensor<2x12x4xf32>, tensor<3x4x8xf32>) -> tensor<2x10x8xf32>",
         "([i, lm, k],[m, k, j])->([i, l, j]) {i=2, j=8, k=4, l=10, m=3} reduction={k, "
         "m} permutation={l}"},
	{HLO_CONVOLUTION, "%a: tensor<2x12x4xf32>, %b: tensor<12x2x8xf32>",
         "stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
         "window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : "
         "(tensor<2x12x4xf32>, tensor<12x2x8xf32>) -> tensor<2x1x8xf32>",
         "([j, nm, il],[n, l, ik])->([j, m, ik]) {i=2, j=2, k=4, l=2, m=1, n=12} "
         "reduction={l, n} permutation={m}"},
	{HLO_REDUCE, "%a: tensor<4x8x2xf32>, %z: tensor<f32>",
         "stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] "
         ": "
         "(tensor<4x8x2xf32>, tensor<f32>) -> tensor<4x2xf32>",
         "([i, j, k],[])->([i, k]) {i=4, j=8, k=2} reduction={j}"},
	{HLO_TRANSPOSE, "%a: tensor<4x8x2xf32>",
         "stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<4x8x2xf32>) -> "
         "tensor<2x4x8xf32>",
         "([j, k, i])->([i, j, k]) {i=2, j=4, k=8}"},
	/* A new dimension, and one that grows from 1. */
	{HLO_BROADCAST, "%a: tensor<4x1xf32>",
         "stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<4x1xf32>) -> "
         "tensor<3x4x8xf32>",
         "([j, k])->([i, j, l]) {i=3, j=4, k=1, l=8}"},
	{HLO_SLICE, "%a: tensor<4x8xf32>",
         "stablehlo.slice %a [0:4, 2:6] : (tensor<4x8xf32>) -> tensor<4x4xf32>",
         "([i, j])->([i, j]) {i=4, j=8} permutation={j}"},
	{HLO_PAD, "%a: tensor<4x8xf32>, %z: tensor<f32>",
         "stablehlo.pad %a, %z, low = [0, 1], high = [0, 1], interior = [0, 0] : "
         "(tensor<4x8xf32>, tensor<f32>) -> tensor<4x10xf32>",
         "([i, j],[])->([i, j]) {i=4, j=8} permutation={j}"},
	{HLO_REVERSE, "%a: tensor<4x8xf32>",
         "stablehlo.reverse %a, dims = [1] : tensor<4x8xf32>",
         "([i, j])->([i, j]) {i=4, j=8} permutation={j}"},
	/* Unrelated arrays joined; one array joined with itself. */
	{HLO_CONCATENATE, "%a: tensor<4x8xf32>, %b: tensor<4x2xf32>",
         "stablehlo.concatenate %a, %b, dim = 1 : (tensor<4x8xf32>, tensor<4x2xf32>) "
         "-> "
         "tensor<4x10xf32>",
         "([i, j],[i, j])->([i, j]) {i=4, j=10} need_replication={j}"},
	{HLO_CONCATENATE, "%a: tensor<4x8xf32>",
         "stablehlo.concatenate %a, %a, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) "
         "-> "
         "tensor<4x16xf32>",
         "([i, j],[i, j])->([i, j]) {i=4, j=16} permutation={j}"},
	{HLO_DYNAMIC_SLICE, "%a: tensor<4x8xf32>, %i: tensor<i32>",
         "stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 8] : (tensor<4x8xf32>, "
         "tensor<i32>, tensor<i32>) -> tensor<1x8xf32>",
         "([i, j],[],[])->([i, j]) {i=4, j=8} need_replication={i} "
         "blocked_propagation={i}"},
	{HLO_DYNAMIC_UPDATE_SLICE,
         "%a: tensor<4x8xf32>, %u: tensor<1x8xf32>, %i: tensor<i32>",
         "stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<4x8xf32>, "
         "tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>",
         "([i, k],[j, k],[],[])->([i, k]) {i=4, j=1, k=8} need_replication={j}"},
	/* Rows of a table by their numbers: summed over shards that have the row. */
	{HLO_GATHER, "%a: tensor<100x16xf32>, %i: tensor<4x6x1xi32>",
         "\"stablehlo.gather\"(%a, %i) {dimension_numbers = "
         "#stablehlo.gather<offset_dims "
         "= [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = "
         "2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>} : "
         "(tensor<100x16xf32>, tensor<4x6x1xi32>) -> tensor<4x6x16xf32>",
         "([l, m],[i, j, k])->([i, j, m]) {i=4, j=6, k=1, l=100, m=16} reduction={l} "
         "need_replication={k}"},
	/* A batch, a part of a dimension, and one element of a dimension that stays. */
	{HLO_GATHER, "%a: tensor<4x10x7xf32>, %i: tensor<4x2xi32>",
         "\"stablehlo.gather\"(%a, %i) {dimension_numbers = "
         "#stablehlo.gather<offset_dims "
         "= [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [0], "
         "start_index_map = [1, 2], index_vector_dim = 1>, indices_are_sorted = false, "
         "slice_sizes = array<i64: 1, 3, 1>} : (tensor<4x10x7xf32>, tensor<4x2xi32>) "
         "-> "
         "tensor<4x3x1xf32>",
         "([i, k, l],[i, j])->([i, k, m]) {i=4, j=2, k=10, l=7, m=1} reduction={l} "
         "need_replication={j, k, m} blocked_propagation={k}"},
	{HLO_SCATTER, SCATTER_ARGS, "\"stablehlo.scatter\"(%a, %i, %b)" ADDS SCATTERED,
         "([k, l],[i, j],[i, l])->([k, l]) {i=6, j=1, k=100, l=16} reduction={i} "
         "need_replication={j}"},
	{HLO_SCATTER, SCATTER_ARGS, "\"stablehlo.scatter\"(%a, %i, %b)" TAKES SCATTERED,
         "([k, l],[i, j],[i, l])->([k, l]) {i=6, j=1, k=100, l=16} "
         "need_replication={i, j}"},
	{HLO_SORT, "%a: tensor<4x8xf32>",
         "\"stablehlo.sort\"(%a)" LESS " {dimension = 1 : i64, is_stable = true} : "
         "(tensor<4x8xf32>) -> tensor<4x8xf32>",
         "([i, j])->([i, j]) {i=4, j=8} need_replication={j}"},
	{HLO_SORT, "%a: tensor<1x8xf32>",
         "\"stablehlo.sort\"(%a)" LESS " {dimension = 1 : i64, is_stable = true} : "
         "(tensor<1x8xf32>) -> tensor<1x8xf32>",
         "([i, j])->([i, j]) {i=1, j=8} need_replication={j} blocked_propagation={j}"},
	{HLO_REDUCE_WINDOW, "%a: tensor<4x8xf32>, %y: tensor<f32>",
         "\"stablehlo.reduce_window\"(%a, %y) <{window_dimensions = array<i64: 1, 2>, "
         "window_strides = array<i64: 1, 2>}>" ADDS
         " : (tensor<4x8xf32>, tensor<f32>) -> "
         "tensor<4x4xf32>",
         "([i, j],[])->([i, j]) {i=4, j=4} permutation={j}"},
	{HLO_CHOLESKY, "%a: tensor<3x4x4xf32>",
         "stablehlo.cholesky %a, lower = true : tensor<3x4x4xf32>",
         "([i, j, k])->([i, l, m]) {i=3, j=4, k=4, l=4, m=4} need_replication={j, k, "
         "l, "
         "m}"},
	{HLO_BITCAST_CONVERT, "%a: tensor<4xf32>",
         "stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4x2xi16>",
         "([i])->([i, j]) {i=4, j=2} need_replication={j}"},
	{HLO_RNG_BIT_GENERATOR, "%a: tensor<2xui64>",
         "stablehlo.rng_bit_generator %a, algorithm = DEFAULT : (tensor<2xui64>) -> "
         "(tensor<2xui64>, tensor<8xui32>)",
         "([i])->([i],[j]) {i=2, j=8} need_replication={i}"},
	{HLO_CUSTOM_CALL, "%a: tensor<4xf32>",
         "stablehlo.custom_call @Sharding(%a) {mhlo.sharding = \"{replicated}\"} : "
         "(tensor<4xf32>) -> tensor<4xf32>",
         "([i])->([i]) {i=4}"},
	{HLO_CUSTOM_CALL, "%a: tensor<4xf32>",
         "stablehlo.custom_call @mine(%a) : (tensor<4xf32>) -> tensor<4xf32>", NULL},
	/* Rules that the text says: as it says them; one of other sizes is none. */
	{HLO_CUSTOM_CALL, "%a: tensor<4x6xf32>, %b: tensor<6x2xf32>",
         "stablehlo.custom_call @mine(%a, %b) {sdy.sharding_rule = "
         "#sdy.op_sharding_rule<([i, jk], [jk, l])->([i, l]) {i=4, j=2, k=3, l=2} "
         "reduction={j} need_replication={k} permutation={l} "
         "blocked_propagation={i, l}>} : (tensor<4x6xf32>, tensor<6x2xf32>) -> "
         "tensor<4x2xf32>",
         "([i, jk],[jk, l])->([i, l]) {i=4, j=2, k=3, l=2} reduction={j} "
         "need_replication={k} permutation={l} blocked_propagation={i, l}"},
	{HLO_CUSTOM_CALL, "%a: tensor<4xf32>",
         "stablehlo.custom_call @mine(%a) {sdy.sharding_rule = "
         "#sdy.op_sharding_rule<([i])->([i]) {i=5}>} : (tensor<4xf32>) -> "
         "tensor<4xf32>",
         NULL},
	/* Attention: eight heads of queries over two of keys; statistics of their own. */
	{HLO_CUSTOM_CALL,
         "%q: tensor<2x16x8x32xbf16>, %k: tensor<2x64x2x32xbf16>, %v: "
         "tensor<2x64x2x32xbf16>",
         "stablehlo.custom_call @te_fused_attn_forward_ffi(%q, %k, %v) : "
         "(tensor<2x16x8x32xbf16>, tensor<2x64x2x32xbf16>, tensor<2x64x2x32xbf16>) -> "
         "tensor<2x16x8x32xbf16>",
         "([i, j, lm, n],[i, k, l, n],[i, k, l, o])->([i, j, lm, o]) {i=2, j=16, k=64, "
         "l=2, m=4, n=32, o=32} need_replication={k, n, o}"},
	/* A transform of the last dimension. */
	{HLO_FFT, "%a: tensor<4x8xcomplex<f32>>",
         "stablehlo.fft %a, type = FFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> "
         "tensor<4x8xcomplex<f32>>",
         "([i, j])->([i, k]) {i=4, j=8, k=8} need_replication={j, k}"},
	{HLO_SHARDING_CONSTRAINT, "%a: tensor<4xf32>",
         "sdy.sharding_constraint %a <@mesh, [{}]> : tensor<4xf32>",
         "([i])->([i]) {i=4}"},
	/*
	 * Reshapes: merged, split, dimensions of one element, no common factor; and 6x4 as
	 * 4x6: both have a 2; 3 and 2 are left; the 6 behind gives 3 to be 12 elements in,
	 * the 4 gives 2 to be so, too, and 2 is left of both.
	 */
	{HLO_RESHAPE, "%a: tensor<2x12xf32>",
         "stablehlo.reshape %a : (tensor<2x12xf32>) -> tensor<24xf32>",
         "([i, j])->([ij]) {i=2, j=12}"},
	{HLO_RESHAPE, "%a: tensor<2x12xf32>",
         "stablehlo.reshape %a : (tensor<2x12xf32>) -> tensor<8x3xf32>",
         "([i, jk])->([ij, k]) {i=2, j=4, k=3}"},
	{HLO_RESHAPE, "%a: tensor<1x8xf32>",
         "stablehlo.reshape %a : (tensor<1x8xf32>) -> tensor<8x1x1xf32>",
         "([i, j])->([j, k, l]) {i=1, j=8, k=1, l=1}"},
	{HLO_RESHAPE, "%a: tensor<3x5xf32>",
         "stablehlo.reshape %a : (tensor<3x5xf32>) -> tensor<5x3xf32>",
         "([i, k])->([j, l]) {i=3, j=5, k=5, l=3}"},
	{HLO_RESHAPE, "%a: tensor<6x4xf32>",
         "stablehlo.reshape %a : (tensor<6x4xf32>) -> tensor<4x6xf32>",
         "([ij, mn])->([ik, ln]) {i=2, j=3, k=2, l=3, m=2, n=2}"},
};

enum { ROWS = (int)(sizeof(rows) / sizeof(*rows)) };

/* Returns the op's rule as text, "" where it has none. */
static const char *rule_of(const struct program *p, enum opcode code)
{
	struct op_rule r;
	struct text out = {0};

	for (int64_t i = 0; i < p->op.n; i++)
		if (p->op.at[i].code == code && p->op.at[i].region == p->entry) {
			if (op_rule_of(&r, arena, p, &p->op.at[i]))
				op_rule_print(&out, &r);
			return text_take(&out, arena);
		}
	ck_abort_msg("there is no %s", opcode_name(code));
}

START_TEST(by_hand)
{
	const struct row *row = &rows[_i];
	bool two = row->code == HLO_RNG_BIT_GENERATOR;
	struct program p = program_sample_text(
		arena, arena_printf(arena,
	                            "module {\nsdy.mesh @mesh = <[\"x\"=2]>\nfunc.func "
	                            "@main(%s) {\n %%0%s = %s\n return\n}\n}\n",
	                            row->args, two ? ":2" : "", row->text));

	ck_assert_str_eq(rule_of(&p, row->code), row->rule ? row->rule : "");
}
END_TEST

/* Indices that are constants let the update be sharded where it is a part. */
START_TEST(fixed_update)
{
	struct program p = program_sample_text(
		arena,
		"module {\nfunc.func @main(%a: tensor<4x8xf32>, %u: "
		"tensor<2x8xf32>) {\n %i = stablehlo.constant dense<0> : "
		"tensor<i32>\n %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i "
		": (tensor<4x8xf32>, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> "
		"tensor<4x8xf32>\n return\n}\n}\n");

	ck_assert_str_eq(rule_of(&p, HLO_DYNAMIC_UPDATE_SLICE),
	                 "([i, k],[j, k],[],[])->([i, k]) {i=4, j=2, k=8}");
}
END_TEST

/* Where all that is joined is slices, elements stay near their places. */
START_TEST(joined_slices)
{
	struct program p = program_sample_text(
		arena,
		"module {\nfunc.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) {\n "
		"%0 = "
		"stablehlo.slice %a [4:8] : (tensor<8xf32>) -> tensor<4xf32>\n %1 = "
		"stablehlo.slice %b [0:4] : (tensor<8xf32>) -> tensor<4xf32>\n %2 = "
		"stablehlo.concatenate %0, %1, dim = 0 : (tensor<4xf32>, "
		"tensor<4xf32>) "
		"-> tensor<8xf32>\n return\n}\n}\n");

	ck_assert_str_eq(rule_of(&p, HLO_CONCATENATE),
	                 "([i],[i])->([i]) {i=8} permutation={i}");
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("rules");
	TCase *t = tcase_create("factors");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, by_hand, 0, ROWS);
	tcase_add_test(t, fixed_update);
	tcase_add_test(t, joined_slices);
	suite_add_tcase(s, t);
	return s;
}
