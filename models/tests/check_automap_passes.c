/* Steps of several micro batches, and layers that are computed again. */
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

static const int32_t mesh_8x4[] = {8, 4};

/* The 24 layers of arXiv 2210.06352 under so many tactics: data, Megatron's, ZeRO-3. */
static struct evaluation passes(const struct architecture *m, bool fold, int ntactics,
                                struct plain_machine *machine, double micro_batches,
                                bool recompute)
{
	static const char *const tactics[] = {"data", "megatron", "zero3"};
	static const int axes[] = {0, 1, 0};
	const struct graph *g = automap_train(arena, m, fold);
	struct cutting *c = automap_cutting(arena, g, 2, mesh_8x4);
	struct cut_prices prices;
	struct evaluator e;

	for (int i = 0; i < ntactics; i++)
		automap_tactic(c, tactics[i], axes[i]);
	if (machine)
		prices = automap_tariff(machine);
	evaluator_start(&e, arena, g, machine ? &prices : NULL);
	evaluator_repeat(&e, arena, micro_batches, recompute);
	return evaluate(&e, c);
}

/*
 * The published counts are 387 (of them 386 gradients and the loss), 483 with Megatron's four of
 * each layer, and (578, 97, 386) with ZeRO-3. Of four micro batches gradients are all-reduced once
 * and all else is done four times; what is scattered is so every time. Computed again, a layer
 * gathers its eight tensors that its backward pass reads, too, and the eight others, which are all
 * 16 of the forward pass, and reduces Megatron's two.
 */
START_TEST(counts_of_passes)
{
	static const struct {
		int ntactics;
		double micro_batches;
		bool recompute;
		double gather, reduce, scatter;
	} of[] = {
		{1, 1, false, 0, 387, 0},
		{1, 4, false, 0, 386 + 4, 0},
		{2, 4, false, 0, 386 + 4 * (96 + 1), 0},
		{3, 4, false, 4 * 578, 4 * 97, 4 * 386},
		{1, 1, true, 0, 387, 0},
		{2, 1, true, 0, 483 + 24 * 2, 0},
		{3, 1, true, 578 + 24 * 16, 97 + 24 * 2, 386},
		{3, 4, true, 4 * (578 + 24 * 16), 4 * (97 + 24 * 2), 4 * 386},
	};
	struct architecture m = automap_model(arena, "gpt-24");

	for (int fold = 0; fold < 2; fold++) {
		struct evaluation r = passes(&m, fold, of[_i].ntactics, NULL,
		                             of[_i].micro_batches, of[_i].recompute);

		ck_assert_double_eq(r.count[COUNT_GATHER], of[_i].gather);
		ck_assert_double_eq(r.count[COUNT_REDUCE], of[_i].reduce);
		ck_assert_double_eq(r.count[COUNT_SCATTER], of[_i].scatter);
	}
}
END_TEST

/*
 * With all activations of a layer computed again every further layer holds one array more, that
 * which it hands on: batch x seq x hidden. Gradients are small here, as the batch is large.
 */
START_TEST(layers_hold_what_they_hand_on)
{
	struct architecture m = automap_model(arena, "gpt-24");
	struct evaluation few, many, whole;
	double stream;

	m.train.global_batch = 512;
	stream = 512. / 8 * (double)m.train.seq * (double)m.hidden *
	         (double)m.train.dtype->bits / 8;
	m.layers = 8;
	few = passes(&m, true, 1, NULL, 1, true);
	m.layers = 16;
	many = passes(&m, true, 1, NULL, 1, true);
	whole = passes(&m, true, 1, NULL, 1, false);
	ck_assert_double_eq_tol((many.peak_bytes - many.params_bytes - few.peak_bytes +
	                         few.params_bytes) /
	                                (8 * stream),
	                        1, 1e-9);
	ck_assert_double_lt(many.peak_bytes, whole.peak_bytes / 2);
}
END_TEST

/*
 * Time is that of the passes, so often, and of one update; on a machine without latency gradients
 * that are reduced once take as long as they did. Memory of folded layers is that of all.
 */
START_TEST(times_of_passes)
{
	struct architecture m = automap_model(arena, "gpt-24");
	struct plain_machine machine = {{20e9, 200e9}, 0, 200e12, 1.3e12, {8, 4}};
	struct evaluation once = passes(&m, true, 2, &machine, 1, false);
	struct evaluation twice = passes(&m, true, 2, &machine, 2, false);
	struct evaluation thrice = passes(&m, true, 2, &machine, 3, false);
	struct evaluation again[2];

	ck_assert_double_eq_tol(thrice.step_s - twice.step_s,
	                        twice.step_s - once.step_s, 1e-9 * once.step_s);
	ck_assert_double_lt(twice.step_s, 2 * once.step_s);
	ck_assert_double_gt(twice.peak_bytes, once.peak_bytes);
	for (int fold = 0; fold < 2; fold++)
		again[fold] = passes(&m, fold, 3, &machine, 4, true);
	ck_assert_double_eq_tol(again[1].step_s / again[0].step_s, 1, 1e-9);
	ck_assert_double_eq_tol(again[1].peak_bytes / again[0].peak_bytes, 1, .01);
}
END_TEST

/* Attention is the kernel that the model says: the best there is, or PyTorch's, in both passes. */
START_TEST(attention_is_the_kernel_that_is_said)
{
	struct architecture m = automap_model(arena, "llama-3-8b");
	const struct graph *g;
	int torch = 0, best = 0;

	m.layers = 2;
	m.train.global_batch = 8;
	m.train.attention = _i ? ATTENTION_TORCH : ATTENTION_FLASH;
	g = automap_train(arena, &m, false);
	for (int64_t i = 0; i < g->kernel.n; i++) {
		enum compute_kind kind = g->kernel.at[i].ask.kind;

		torch += kind == COMPUTE_ATTENTION_TORCH;
		best += kind == COMPUTE_ATTENTION || kind == COMPUTE_ATTENTION_BACK;
	}
	ck_assert_int_eq(torch, _i ? 4 : 0);
	ck_assert_int_eq(best, _i ? 0 : 4);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("automap passes");
	TCase *t = tcase_create("passes");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, counts_of_passes, 0, 8);
	tcase_add_test(t, layers_hold_what_they_hand_on);
	tcase_add_test(t, times_of_passes);
	tcase_add_loop_test(t, attention_is_the_kernel_that_is_said, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
