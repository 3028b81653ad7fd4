/*
 * Rules of ops as Shardy's own tests expect them (openxla/shardy, transforms/propagation/test/
 * op_sharding_rule_registry.mlir, at 009a911ff2721c41): those of ops whose rules have stayed as they
 * were there. Not here are convolutions, whose windows have other sizes in it, and
 * triangular solves, none of whose dimensions but batches can be split either way.
 */
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

/* An op, over arguments, and the rule that it must have in Shardy's words; NULL: none. */
static const struct row {
	enum opcode code;
	const char *args, *text, *rule;
} rows[] = {
	{HLO_ADD, "%a: tensor<2x1x4xf32>", "stablehlo.add %a, %a : tensor<2x1x4xf32>",
         "([i, j, k], [i, j, k])->([i, j, k]) {i=2, j=1, k=4}"},
	{HLO_ADD, "%a: tensor<2x0x4xf32>", "stablehlo.add %a, %a : tensor<2x0x4xf32>",
         "([i, j, k], [i, j, k])->([i, j, k]) {i=2, j=0, k=4}"},
	{HLO_ADD, "%a: tensor<f32>", "stablehlo.add %a, %a : tensor<f32>",
         "([], [])->([])"},
	{HLO_BITCAST_CONVERT, "%a: tensor<4x2x2xui32>",
         "stablehlo.bitcast_convert %a : (tensor<4x2x2xui32>) -> "
         "tensor<4x2xui64>",
         "([i, j, k])->([i, j]) {i=4, j=2, k=2} need_replication={k}"},
	{HLO_BITCAST_CONVERT, "%a: tensor<4x2x2xui32>",
         "stablehlo.bitcast_convert %a : (tensor<4x2x2xui32>) -> "
         "tensor<4x2x2xui32>",
         "([i, j, k])->([i, j, k]) {i=4, j=2, k=2}"},
	{HLO_BITCAST_CONVERT, "%a: tensor<4x2xui64>",
         "stablehlo.bitcast_convert %a : (tensor<4x2xui64>) -> "
         "tensor<4x2x2xui32>",
         "([i, j])->([i, j, k]) {i=4, j=2, k=2} need_replication={k}"},
	{HLO_BROADCAST, "%a: tensor<2x13x1xf32>",
         "stablehlo.broadcast_in_dim %a, dims = [0, 2, 3] : (tensor<2x13x1xf32>) "
         "-> tensor<2x64x13x1xf32>",
         "([i, k, l])->([i, j, k, l]) {i=2, j=64, k=13, l=1}"},
	{HLO_BROADCAST, "%a: tensor<2x13x0xf32>",
         "stablehlo.broadcast_in_dim %a, dims = [0, 2, 3] : (tensor<2x13x0xf32>) "
         "-> tensor<2x64x13x0xf32>",
         "([i, k, l])->([i, j, k, l]) {i=2, j=64, k=13, l=0}"},
	{HLO_BROADCAST, "%a: tensor<f32>",
         "stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> "
         "tensor<2x1x13xf32>",
         "([])->([i, j, k]) {i=2, j=1, k=13}"},
	{HLO_BROADCAST, "%a: tensor<2x1x13xf32>",
         "stablehlo.broadcast_in_dim %a, dims = [0, 1, 2] : (tensor<2x1x13xf32>) "
         "-> tensor<2x64x13xf32>",
         "([i, j, l])->([i, k, l]) {i=2, j=1, k=64, l=13}"},
	{HLO_BROADCAST, "%a: tensor<2x3x5x1x7xf32>",
         "stablehlo.broadcast_in_dim %a, dims = [0, 2, 1, 3, 4] : "
         "(tensor<2x3x5x1x7xf32>) -> tensor<2x5x3x11x7x13xf32>",
         "([i, k, j, l, n])->([i, j, k, m, n, o]) {i=2, j=5, k=3, l=1, m=11, "
         "n=7, o=13}"},
	{HLO_CLAMP, "%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<4x8xf32>",
         "stablehlo.clamp %a, %b, %c : tensor<4x8xf32>",
         "([i, j], [i, j], [i, j])->([i, j]) {i=4, j=8}"},
	{HLO_CLAMP, "%a: tensor<f32>, %b: tensor<4x8xf32>, %c: tensor<f32>",
         "stablehlo.clamp %a, %b, %c : (tensor<f32>, tensor<4x8xf32>, "
         "tensor<f32>) -> tensor<4x8xf32>",
         "([], [i, j], [])->([i, j]) {i=4, j=8}"},
	{HLO_DOT, "%a: tensor<32xf32>, %b: tensor<32xf32>",
         "stablehlo.dot %a, %b : (tensor<32xf32>, tensor<32xf32>) -> tensor<f32>",
         "([i], [i])->([]) {i=32} reduction={i}"},
	{HLO_DOT, "%a: tensor<32xf32>, %b: tensor<32x16xf32>",
         "stablehlo.dot %a, %b : (tensor<32xf32>, tensor<32x16xf32>) -> "
         "tensor<16xf32>",
         "([j], [j, i])->([i]) {i=16, j=32} reduction={j}"},
	{HLO_DOT, "%a: tensor<8x32xf32>, %b: tensor<32xf32>",
         "stablehlo.dot %a, %b : (tensor<8x32xf32>, tensor<32xf32>) -> "
         "tensor<8xf32>",
         "([i, j], [j])->([i]) {i=8, j=32} reduction={j}"},
	{HLO_DOT, "%a: tensor<8x32xf32>, %b: tensor<32x16xf32>",
         "stablehlo.dot %a, %b : (tensor<8x32xf32>, tensor<32x16xf32>) -> "
         "tensor<8x16xf32>",
         "([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}"},
	{HLO_DOT, "%a: tensor<8x32xf32>, %b: tensor<32x16xf32>",
         "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
         "(tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>",
         "([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}"},
	{HLO_DOT, "%a: tensor<4x8x32xf32>, %b: tensor<4x32x16xf32>",
         "stablehlo.dot_general %a, %b, batching_dims = [0] x [0], "
         "contracting_dims = [2] x [1] : (tensor<4x8x32xf32>, "
         "tensor<4x32x16xf32>) -> tensor<4x8x16xf32>",
         "([i, j, l], [i, l, k])->([i, j, k]) {i=4, j=8, k=16, l=32} "
         "reduction={l}"},
	{HLO_DOT, "%a: tensor<2x4x8x4x64x32xf32>, %b: tensor<16x32x64x4x2xf32>",
         "stablehlo.dot_general %a, %b, batching_dims = [0, 1] x [4, 3], "
         "contracting_dims = [5, 4] x [1, 2] : (tensor<2x4x8x4x64x32xf32>, "
         "tensor<16x32x64x4x2xf32>) -> tensor<2x4x8x4x16xf32>",
         "([i, j, k, l, o, n], [m, n, o, j, i])->([i, j, k, l, m]) {i=2, j=4, "
         "k=8, l=4, m=16, n=32, o=64} reduction={n, o}"},
	{HLO_PAD, "%a: tensor<28x28x16xf32>, %b: tensor<f32>",
         "stablehlo.pad %a, %b, low = [1, -1, 0], high = [1, -1, 0], interior = "
         "[0, 0, 0] : (tensor<28x28x16xf32>, tensor<f32>) -> "
         "tensor<30x26x16xf32>",
         "([i, j, k], [])->([i, j, k]) {i=28, j=28, k=16} permutation={i, j}"},
	{HLO_SLICE, "%a: tensor<32x4x8xf32>",
         "stablehlo.slice %a [0:32, 1:2, 4:8:2] : (tensor<32x4x8xf32>) -> "
         "tensor<32x1x2xf32>",
         "([i, j, k])->([i, j, k]) {i=32, j=4, k=8} permutation={j, k}"},
	{HLO_REDUCE, "%a: tensor<2x64x13xf32>, %z: tensor<f32>",
         "stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions "
         "= [1] : (tensor<2x64x13xf32>, tensor<f32>) -> tensor<2x13xf32>",
         "([i, j, k], [])->([i, k]) {i=2, j=64, k=13} reduction={j}"},
	{HLO_REDUCE, "%a: tensor<2x64x1x13xf32>, %z: tensor<f32>",
         "stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions "
         "= [1] : (tensor<2x64x1x13xf32>, tensor<f32>) -> tensor<2x1x13xf32>",
         "([i, j, k, l], [])->([i, k, l]) {i=2, j=64, k=1, l=13} reduction={j}"},
	{HLO_RESHAPE, "%a: tensor<1x1xf32>",
         "stablehlo.reshape %a : (tensor<1x1xf32>) -> tensor<f32>",
         "([i, j])->([]) {i=1, j=1}"},
	{HLO_RESHAPE, "%a: tensor<4x0xf32>",
         "stablehlo.reshape %a : (tensor<4x0xf32>) -> tensor<0x8xf32>", NULL},
	{HLO_RESHAPE, "%a: tensor<2x4xf32>",
         "stablehlo.reshape %a : (tensor<2x4xf32>) -> tensor<8xf32>",
         "([i, j])->([ij]) {i=2, j=4}"},
	{HLO_RESHAPE, "%a: tensor<8xf32>",
         "stablehlo.reshape %a : (tensor<8xf32>) -> tensor<2x4xf32>",
         "([ij])->([i, j]) {i=2, j=4}"},
	{HLO_RESHAPE, "%a: tensor<4x12xf32>",
         "stablehlo.reshape %a : (tensor<4x12xf32>) -> tensor<4x2x3x2xf32>",
         "([i, jkl])->([i, j, k, l]) {i=4, j=2, k=3, l=2}"},
	{HLO_RESHAPE, "%a: tensor<8x4x5xf32>",
         "stablehlo.reshape %a : (tensor<8x4x5xf32>) -> tensor<2x16x5xf32>",
         "([ij, k, l])->([i, jk, l]) {i=2, j=4, k=4, l=5}"},
	{HLO_RESHAPE, "%a: tensor<3x2xf32>",
         "stablehlo.reshape %a : (tensor<3x2xf32>) -> tensor<2x3xf32>",
         "([i, l])->([j, k]) {i=3, j=2, k=3, l=2}"},
	{HLO_RESHAPE, "%a: tensor<6x4xf32>",
         "stablehlo.reshape %a : (tensor<6x4xf32>) -> tensor<4x6xf32>",
         "([ij, mn])->([ik, ln]) {i=2, j=3, k=2, l=3, m=2, n=2}"},
	{HLO_RESHAPE, "%a: tensor<5x2x5x3xf32>",
         "stablehlo.reshape %a : (tensor<5x2x5x3xf32>) -> tensor<5x3x5x2xf32>",
         "([i, j, l, n])->([i, k, m, o]) {i=5, j=2, k=3, l=5, m=5, n=3, o=2}"},
	{HLO_RESHAPE, "%a: tensor<2x3x8xf32>",
         "stablehlo.reshape %a : (tensor<2x3x8xf32>) -> tensor<3x4x4xf32>",
         "([i, k, mn])->([j, lm, n]) {i=2, j=3, k=3, l=2, m=2, n=4}"},
	{HLO_RESHAPE, "%a: tensor<3x4x4xf32>",
         "stablehlo.reshape %a : (tensor<3x4x4xf32>) -> tensor<2x3x8xf32>",
         "([i, lm, n])->([j, k, mn]) {i=3, j=2, k=3, l=2, m=2, n=4}"},
	{HLO_RESHAPE, "%a: tensor<4x7x5x8xf32>",
         "stablehlo.reshape %a : (tensor<4x7x5x8xf32>) -> tensor<14x10x8xf32>",
         "([ij, l, n, o])->([ik, mn, o]) {i=2, j=2, k=7, l=7, m=2, n=5, o=8}"},
	{HLO_RESHAPE, "%a: tensor<1x8x4xf32>",
         "stablehlo.reshape %a : (tensor<1x8x4xf32>) -> tensor<8x1x4x1xf32>",
         "([i, j, l])->([j, k, l, m]) {i=1, j=8, k=1, l=4, m=1}"},
	{HLO_RESHAPE, "%a: tensor<8x4xf32>",
         "stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<32x1xf32>",
         "([i, j])->([ij, k]) {i=8, j=4, k=1}"},
	{HLO_RESHAPE, "%a: tensor<32x1xf32>",
         "stablehlo.reshape %a : (tensor<32x1xf32>) -> tensor<8x4xf32>",
         "([ij, k])->([i, j]) {i=8, j=4, k=1}"},
	{HLO_RESHAPE, "%a: tensor<32xf32>",
         "stablehlo.reshape %a : (tensor<32xf32>) -> tensor<8x1x4xf32>",
         "([ik])->([i, j, k]) {i=8, j=1, k=4}"},
	{HLO_SELECT, "%p: tensor<4x8xi1>, %a: tensor<4x8xf32>, %b: tensor<4x8xf32>",
         "stablehlo.select %p, %a, %b : tensor<4x8xi1>, tensor<4x8xf32>",
         "([i, j], [i, j], [i, j])->([i, j]) {i=4, j=8}"},
	{HLO_SELECT, "%p: tensor<i1>, %a: tensor<4x8xf32>, %b: tensor<4x8xf32>",
         "stablehlo.select %p, %a, %b : tensor<i1>, tensor<4x8xf32>",
         "([], [i, j], [i, j])->([i, j]) {i=4, j=8}"},
	{HLO_SELECT_AND_SCATTER,
         "%a: tensor<10x24x24x64xf32>, %b: tensor<10x12x12x64xf32>, %z: "
         "tensor<f32>",
         "\"stablehlo.select_and_scatter\"(%a, %b, %z) ({\n ^bb0(%p: tensor<f32>, "
         "%q: tensor<f32>):\n  %s = stablehlo.compare GT, %p, %q : (tensor<f32>, "
         "tensor<f32>) -> tensor<i1>\n  stablehlo.return %s : tensor<i1>\n }, "
         "{\n ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n  %s = stablehlo.add %p, "
         "%q : tensor<f32>\n  stablehlo.return %s : tensor<f32>\n }) "
         "{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = "
         "array<i64: 1, 2, 2, 1>} : (tensor<10x24x24x64xf32>, "
         "tensor<10x12x12x64xf32>, tensor<f32>) -> tensor<10x24x24x64xf32>",
         "([i, j, k, l], [i, j, k, l], [])->([i, j, k, l]) {i=10, j=12, k=12, "
         "l=64} permutation={j, k}"},
	{HLO_TRANSPOSE, "%a: tensor<256x32x64x100xf32>",
         "stablehlo.transpose %a, dims = [3, 1, 0, 2] : "
         "(tensor<256x32x64x100xf32>) -> tensor<100x32x256x64xf32>",
         "([k, j, l, i])->([i, j, k, l]) {i=100, j=32, k=256, l=64}"},
};

enum { ROWS = (int)(sizeof(rows) / sizeof(*rows)) };

/* Without the blanks between tensors, which Shardy prints. */
static const char *without_blanks(const char *rule)
{
	char *out = arena_strdup(arena, rule ? rule : ""), *to = out;

	for (const char *s = out; *s; s++)
		if (*s != ' ' || s == out || s[-1] != ',' || s[1] != '[')
			*to++ = *s;
	*to = 0;
	return out;
}

START_TEST(as_shardy)
{
	const struct row *row = &rows[_i];
	struct program p = program_sample_text(
		arena, arena_printf(arena,
	                            "module {\nfunc.func @main(%s) {\n %%0 = %s\n "
	                            "return\n}\n}\n",
	                            row->args, row->text));
	struct text out = {0};
	struct op_rule r;
	int found = 0;

	for (int64_t i = 0; i < p.op.n; i++)
		if (p.op.at[i].code == row->code && p.op.at[i].region == p.entry) {
			found++;
			if (op_rule_of(&r, arena, &p, &p.op.at[i]))
				op_rule_print(&out, &r);
		}
	ck_assert_int_eq(found, 1);
	ck_assert_str_eq(text_take(&out, arena), without_blanks(row->rule));
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("rules of Shardy");
	TCase *t = tcase_create("factors");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, as_shardy, 0, ROWS);
	suite_add_tcase(s, t);
	return s;
}
