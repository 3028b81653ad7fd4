/* Steps whose collectives run beside their kernels. */
#include "automap/evaluate.h"
#include "tests/automap_help.h"
#include "tests/tests.h"

#include <check.h>
#include <math.h>

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct evaluation overlapped(struct cutting *c, const struct cut_prices *prices,
                                    bool overlap)
{
	struct evaluator e;

	evaluator_start(&e, arena, c->graph, prices);
	if (overlap)
		evaluator_overlap(&e, arena);
	return evaluate(&e, c);
}

static const char *const strategy[][3] = {
	{"data"}, {"data", "megatron"}, {"data", "zero3"}, {"data", "megatron", "zero3"}};

/*
 * 24 layers of which three are run take what all of them do, and no step is shorter than its
 * kernels, or its collectives on their one stream, or longer than both.
 */
START_TEST(folded_layers_take_what_all_do)
{
	struct plain_machine m = {.link_Bps = {20e9, 200e9},
	                          .latency_s = 5e-6,
	                          .flops = 150e12,
	                          .memory_Bps = 1.5e12,
	                          .size = {8, 4}};
	struct cut_prices prices = automap_tariff(&m);
	struct architecture model = automap_model(arena, "gpt-24");
	double s[2];

	for (int fold = 0; fold < 2; fold++) {
		const struct graph *g = automap_train(arena, &model, fold);
		struct cutting *c = automap_cutting(arena, g, 2, m.size);
		struct evaluation plain, e;

		for (int i = 0; i < 3 && strategy[_i][i]; i++)
			automap_tactic(c, strategy[_i][i], i == 1 && _i != 2);
		plain = overlapped(c, &prices, false);
		e = overlapped(c, &prices, true);
		ck_assert_double_eq(plain.compute_s, e.compute_s);
		ck_assert_double_ge(e.step_s, e.compute_s * (1 - 1e-9));
		ck_assert_double_ge(e.step_s, e.communication_s * (1 - 1e-9));
		ck_assert_double_lt(e.step_s, plain.step_s);
		s[fold] = e.step_s;
	}
	ck_assert_double_eq_tol(s[1] / s[0], 1, .005);
}
END_TEST

/*
 * Two matmuls of 2 s and their gradients: of the sums of 3 s over devices the first, of w2's
 * gradient, is ready after 6 s and done after 9 s, and the second, of w1's, ready after 10 s, when
 * the kernels are done, and done after 13 s.
 */
static const char chain[] =
	"module @chain {\n"
	"func.func public @main(%arg0: tensor<2000x1000xf32>,\n"
	"  %arg1: tensor<1000x1000xf32> {tf.aliasing_output = 0 : i32},\n"
	"  %arg2: tensor<1000x1000xf32> {tf.aliasing_output = 1 : i32})\n"
	"  -> (tensor<1000x1000xf32>, tensor<1000x1000xf32>) {\n"
	"%0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] :\n"
	" (tensor<2000x1000xf32>, tensor<1000x1000xf32>) -> tensor<2000x1000xf32>\n"
	"%1 = stablehlo.dot_general %0, %arg2, contracting_dims = [1] x [0] :\n"
	" (tensor<2000x1000xf32>, tensor<1000x1000xf32>) -> tensor<2000x1000xf32>\n"
	"%2 = stablehlo.dot_general %0, %1, contracting_dims = [0] x [0] :\n"
	" (tensor<2000x1000xf32>, tensor<2000x1000xf32>) -> tensor<1000x1000xf32>\n"
	"%3 = stablehlo.dot_general %1, %arg2, contracting_dims = [1] x [1] :\n"
	" (tensor<2000x1000xf32>, tensor<1000x1000xf32>) -> tensor<2000x1000xf32>\n"
	"%4 = stablehlo.dot_general %arg0, %3, contracting_dims = [0] x [0] :\n"
	" (tensor<2000x1000xf32>, tensor<2000x1000xf32>) -> tensor<1000x1000xf32>\n"
	"return %4, %2 : tensor<1000x1000xf32>, tensor<1000x1000xf32>\n"
	"}\n}\n";

START_TEST(sums_hide_behind_kernels)
{
	/* 2e9 flops of a matmul on one of two devices; a ring of 4 MB over two sends 4 MB. */
	struct plain_machine m = {
		.link_Bps = {4e6 / 3}, .flops = 1e9, .memory_Bps = 1e30, .size = {2}};
	struct cut_prices prices = automap_tariff(&m);
	struct cutting *c =
		automap_cutting(arena, automap_graph(arena, chain, true), 1, m.size);
	struct evaluation e;

	automap_tactic(c, "data", 0);
	e = overlapped(c, &prices, true);
	ck_assert_double_eq_tol(e.compute_s, 10, 1e-6);
	ck_assert_double_eq_tol(e.communication_s, 6, 1e-6);
	ck_assert_double_eq_tol(e.step_s, 13, 1e-6);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("automap overlap");
	TCase *t = tcase_create("overlap");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, folded_layers_take_what_all_do, 0, 4);
	tcase_add_test(t, sums_hide_behind_kernels);
	suite_add_tcase(s, t);
	return s;
}
