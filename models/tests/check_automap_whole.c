/* Values that are kept whole although they could be cut. */
#include "tests/automap_help.h"
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

/* A search on one axis, from nothing. */
static struct search run(enum how how, const struct graph *g, struct plain_machine *m,
                         double limit, bool whole)
{
	return automap_search(
		arena, how, g, m,
		(struct search){.cutting = automap_cutting(arena, g, 1, m->size),
	                        .memory_limit_bytes = limit,
	                        .budget = how == MCTS ? 2000 : 0,
	                        .rng_seed = 1,
	                        .whole = whole});
}

/* Counts with data parallelism behind a value, by its number in the flat program, kept whole. */
static const char *counts_with_whole(const struct graph *g, int32_t flat, int32_t *whole)
{
	struct evaluator e;
	struct search s = {.evaluator = &e,
	                   .cutting = automap_cutting(arena, g, 1, (int32_t[]){8})};

	evaluator_start(&e, arena, g, NULL);
	search_start(&s, arena);
	ck_assert(action_apply(&s, (struct action){ACTION_WHOLE, g->value_of[flat], 0}));
	automap_tactic(s.cutting, "data", 0);
	*whole = 0;
	for (int64_t v = 0; v < g->value.n; v++)
		if (s.cutting->atomic[v]) {
			ck_assert_int_lt(cuts_at(&s.cutting->value[v], 0), 0);
			++*whole;
		}
	return automap_counts(arena, s.cutting);
}

/*
 * A value that is kept whole is so in all layers: of those of the first layer that change the
 * collectives of data parallelism the first one has 24 like it, and 24 folded layers have the
 * collectives of 24.
 */
START_TEST(keeps_values_whole)
{
	struct architecture m = automap_model(arena, "gpt-24");
	const struct graph *folded = automap_train(arena, &m, true);
	const struct graph *all = automap_train(arena, &m, false);
	int32_t whole;

	for (int32_t v = 0; v < folded->value.n; v++) {
		const struct graph_value *value = &folded->value.at[v];
		int32_t step = value->op < 0 ? -1 : folded->op.at[value->op].step;
		const char *counts;

		if (step < 0 || value->constant || folded->repeats->run_of[step] < 0)
			continue;
		counts = counts_with_whole(folded, value->flat, &whole);
		if (!strcmp(counts, "0 387 0 0"))
			continue;
		ck_assert_str_eq(counts, counts_with_whole(all, value->flat, &whole));
		ck_assert_int_eq(whole, 24);
		return;
	}
	ck_abort_msg("no value changes a collective");
}
END_TEST

/*
 * A value that is whole on an axis, of whose op the rows are cut on that axis: rows that another axis
 * could cut alone are too few for both, so its sums are not scattered but all-reduced.
 */
START_TEST(scatters_evenly)
{
	static const int32_t size[] = {2, 4};
	static const int32_t rows[] = {4, 8};
	static const char *const counts[] = {"1 1 0 0", "1 0 1 0"};
	static const char text[] =
		"HloModule m\nENTRY e {\n%%x = f32[%d,256] parameter(0)\n"
		"%%w = f32[256,64] parameter(1)\nROOT %%y = f32[%d,64] "
		"dot(%%x, %%w), lhs_contracting_dims={1}, "
		"rhs_contracting_dims={0}\n}\n";

	for (int i = 0; i < 2; i++) {
		const struct graph *g = automap_graph(
			arena, arena_printf(arena, text, rows[i], rows[i]), false);
		struct cutting *c = automap_cutting(arena, g, 2, size);
		int32_t y =
			g->tensor.at[g->op.at[0].first_tensor + g->op.at[0].nin].value;

		cutting_atomic(c, y, 0);
		automap_cut(c, "x", 0, 0);
		ck_assert(cutting_cut(c, y, 0, 1));
		automap_cut(c, "x", 1, 1);
		cutting_settle(c, 1);
		ck_assert_int_eq(c->op[0].n, 2);
		ck_assert_str_eq(automap_counts(arena, c), counts[i]);
	}
}
END_TEST

/* --- values that are kept whole --------------------------------------------------- */

/* A sum that is wanted whole, in front of and behind what is cut with gain. */
static const char *const toys[] = {
	"HloModule m\nENTRY e {\n%x = f32[64,256] parameter(0)\n%w = f32[256,256] "
	"parameter(1)\n%v = f32[256,256] parameter(2)\n%y = f32[64,256] dot(%x, %w), "
	"lhs_contracting_dims={1}, rhs_contracting_dims={0}\n%t = f32[64,256] "
	"tanh(%y)\n"
	"ROOT %z = f32[64,256] dot(%t, %v), lhs_contracting_dims={1}, "
	"rhs_contracting_dims={0}\n}\n",
	"HloModule m\nENTRY e {\n%x = f32[64,512] parameter(0)\n%w = f32[512,2048] "
	"parameter(1)\n%y = f32[64,2048] dot(%x, %w), lhs_contracting_dims={1}, "
	"rhs_contracting_dims={0}\n%t = f32[2048,64] transpose(%y), dimensions={1,0}\n"
	"%g = f32[512,64] dot(%w, %t), lhs_contracting_dims={1}, "
	"rhs_contracting_dims={0}\n"
	"ROOT %s = f32[512,512] dot(%g, %x), lhs_contracting_dims={1}, "
	"rhs_contracting_dims={0}\n}\n",
	"HloModule m\nENTRY e {\n%x = f32[128,128] parameter(0)\n%w = f32[128,128] "
	"parameter(1)\n%y = f32[128,128] dot(%x, %w), lhs_contracting_dims={1}, "
	"rhs_contracting_dims={0}\n%a = f32[128,128] add(%y, %x)\n%b = f32[128,128] "
	"dot(%a, "
	"%y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\nROOT %c = "
	"f32[128,128] "
	"subtract(%b, %w)\n}\n"};

/* The best of all sets of values, one after another, and all cuts behind each. */
static struct evaluation best_of_sets(const struct graph *g, struct plain_machine *m,
                                      double limit)
{
	struct evaluation best = {0};
	const struct search by = {.memory_limit_bytes = limit};

	for (uint32_t set = 0; set < 1u << g->value.n; set++) {
		struct cut_prices prices = automap_tariff(m);
		struct evaluator e;
		struct search s = {.evaluator = &e,
		                   .cutting = automap_cutting(arena, g, 1, m->size),
		                   .memory_limit_bytes = limit};

		evaluator_start(&e, arena, g, &prices);
		for (int32_t v = 0; v < g->value.n; v++)
			if (set >> v & 1)
				cutting_atomic(s.cutting, v, 0);
		search_start(&s, arena);
		ck_assert(search_exhaustive(&s));
		if (!set || search_compare(&by, &s.best, &best) < 0)
			best = s.best;
	}
	return best;
}

enum { TOYS = 12 };

/*
 * With values that are kept whole exhaustive search and structure find the best of all sets of them
 * and all cuts, and the former says that it has seen them all. Random search is never worse than all
 * cuts, and finds the best in all cases but two; in some cases there is something to find.
 */
START_TEST(finds_what_to_keep_whole)
{
	int random = 0, better = 0;

	for (int i = 0; i < TOYS; i++) {
		const struct graph *g = automap_graph(arena, toys[i / 4], false);
		struct plain_machine machine = {
			{i & 1 ? 2e9 : 200e9}, 1e-6, 1e12, 1e11, {4}};
		struct search s = run(EXHAUSTIVE, g, &machine, 0, false);
		double limit = i & 2 ? .5 * s.known.at[0].peak_bytes : 0;
		struct evaluation without =
			run(EXHAUSTIVE, g, &machine, limit, false).best;
		struct evaluation wanted = best_of_sets(g, &machine, limit);

		s = run(EXHAUSTIVE, g, &machine, limit, true);
		ck_assert(s.complete);
		ck_assert_int_eq(search_compare(&s, &s.best, &wanted), 0);
		better += search_compare(&s, &wanted, &without) < 0;
		s = run(STRUCTURE, g, &machine, limit, true);
		ck_assert_int_eq(search_compare(&s, &s.best, &wanted), 0);
		s = run(MCTS, g, &machine, limit, true);
		ck_assert_int_le(search_compare(&s, &s.best, &without), 0);
		random += search_compare(&s, &s.best, &wanted) == 0;
	}
	ck_assert_int_ge(better, 3);
	ck_assert_int_ge(random, TOYS - 2);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("automap whole");
	TCase *t = tcase_create("values");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, keeps_values_whole);
	tcase_add_test(t, scatters_evenly);
	tcase_add_test(t, finds_what_to_keep_whole);
	suite_add_tcase(s, t);
	return s;
}
