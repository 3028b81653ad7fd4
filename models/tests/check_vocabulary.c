/*
 * The portable vocabulary: what of a plan is outside of it, by hand for each kind of step,
 * and the planners that keep to it.
 */
#include "plan/vocabulary.h"
#include "plan_random.h"
#include "planner_case.h"
#include "tests/tests.h"

#include "plan/check.h"
#include "plan/plan_text.h"
#include "planner/best/best.h"
#include "price/price.h"

#include <check.h>
#include <math.h>
#include <string.h>

static struct arena *arena, *kept;
static struct pricer *pricer;

static void setup(void)
{
	arena = arena_new();
	kept = arena_new();
}

static void teardown(void)
{
	pricer_free(pricer);
	pricer = NULL;
	arena_free(arena);
	arena_free(kept);
}

static const struct planner *planner_of(const char *name)
{
	return planner_find(name, strlen(name));
}

/* --- kinds of steps ---------------------------------------------------------------- */

/* Plans with what is outside of the portable vocabulary in them; NULL: nothing. */
static const struct {
	const char *array, *mesh, *from, *to, *text, *outside;
} plans[] = {
	{"f32[6]", "x=2,y=3", "P('x')", "P('x')", "", NULL},
	{"f32[6,6]", "x=2,y=3", "P('x')", "P('x','y')", "slice {y}: ->1 => P('x', 'y')",
         NULL},
	{"f32[24,24]", "x=4,y=2", "P(('x','y'))", "P('y', 'x')",
         "all-gather {y}: 0-> => P('x')\nall-to-all {x}: 0->1 => P(None, 'x')\n"
         "slice {y}: ->0 => P('y', 'x')",
         NULL},
	/* parts of an axis, and several moves at once */
	{"f32[24,24]", "x=4,y=2", "P('x')", "P()",
         "all-to-all {x:(2)2}: 0->1 => [{\"x\":(1)2}, {\"x\":(2)2}]\n"
         "all-gather {x:(1)2}: 0->, {x:(2)2}: 1-> => P()",
         NULL},
	{"f32[6]", "x=2,y=3", "P(('x','y'),)", "P(('y','x'),)",
         "permute => P(('y','x'),)", NULL},
	{"f32[6]", "x=2,y=3", "P('x')", "P('x')",
         "permute pairs {{0,1},{1,2},{2,0},{3,3},{4,4},{5,5}} => P('x')", NULL},
	{"f32[4]", "x=4", "{maximal device=1}", "{maximal device=2}",
         "permute pairs {{1,2}} => {maximal device=2}", NULL},
	{"f32[24]", "x=4,y=2", "P(None, unreduced={'x','y'})", "P('x')",
         "all-reduce {y}: -> => P(None, unreduced={'x'})\n"
         "reduce-scatter {x}: ->0 => P('x')",
         NULL},
	/* 7 of an axis of 4 are padded to 8 before the plan begins; all tiles are equal */
	{"f32[7]", "x=4,y=2", "P('x')", "P(('x','y'))",
         "slice {y}: ->0 => P(('x','y'))", NULL},
	{"f32[6]", "x=2,y=3", "P('x')", "P('y')", "exchange => P('y')",
         "an exchange of boxes"},
	{"f32[6]", "x=2,y=3", "P('x')", "P('y')",
         "slice {y}: ->0 => P(('x','y'))\nexchange => P('y')", "an exchange of boxes"},
	{"f32[6]", "x=3", "P('x')", "P('x')", "permute boxes => P('x')\n  [2:3] 1->0\n",
         "a permute of parts of tiles"},
	{"f32[6]", "x=3", "{devices=[3]0,1,2}", "P()",
         "permute pairs {{0,0},{0,1},{0,2}} => P('x')",
         "a permute from one device to several"},
	{"f32[6]", "x=2", "P('x')", "P('x')", "pad tile [4] => P('x')", "a pad"},
	{"f32[24]", "x=4,y=2", "P('x')", "P('x', unreduced={'y'})",
         "partial {y}: -> => P('x', unreduced={'y'})", "an array taken for a sum"},
	{"f32[8,24]", "x=4", "P('x')", "P()", "all-reduce {x}: 0-> sums [8,24] => P()",
         "tiles put among zeros"},
	{"f32[4]", "x=4", "{devices=[4]0,3,1,2}", "{replicated}",
         "all-gather groups {{0,3,1,2}} => P()", "a step that no axes say"},
	{"f32[4]", "x=4", "{replicated}", "{devices=[4]0,3,1,2}",
         "slice => {devices=[4]0,3,1,2}", "a step that no axes say"},
	/* y cuts both blocks of 4 rows in two: each device has rows 0, 1, 4, 5 or the rest */
	{"f32[8,8]", "x=2,y=2", "P('x', None)", "P(None, None)",
         "slice {y}: ->0 => [8,8]->[2,2,2,8] P('x', 'y', None, None)\n"
         "all-gather {x}: 0-> => [8,8]->[2,2,2,8] P(None, 'y', None, None)\n"
         "all-gather {y}: 0-> => P(None, None)",
         "strided tiles"},
	/* three rows on four devices: on the real extent the last has nothing */
	{"f32[3]", "x=4", "P('x')", "P()", "all-gather {x}: 0-> => P()",
         "tiles of unequal size"},
};

static struct plan *read_plan(const struct problem *p, const char *text)
{
	struct plan *plan = NULL;
	struct error e = {0};

	ck_assert_msg(
		plan_parse(&plan, p, arena, text, where_option("plan", text), &e) == OK,
		"%u:%u: %s\n%s", e.at.line, e.at.col, e.text, text);
	return plan;
}

START_TEST(test_kinds)
{
	struct problem *p = case_of_texts(arena, plans[_i].mesh, plans[_i].array,
	                                  plans[_i].from, plans[_i].to);
	struct plan *plan = read_plan(p, plans[_i].text);
	const char *outside = plan_not_portable(plan);

	if (plans[_i].outside)
		ck_assert_pstr_eq(outside, plans[_i].outside);
	else
		ck_assert_msg(!outside, "%s: %s", plans[_i].text, outside);
	ck_assert_ptr_null(plan_beyond(plan, plan->problem->vocabulary));
	p->vocabulary = VOCABULARY_PORTABLE;
	ck_assert_pstr_eq(plan_beyond(plan, plan->problem->vocabulary),
	                  plans[_i].outside);
}
END_TEST

START_TEST(test_words)
{
	struct where at = where_option("--vocabulary", "portabel");
	enum vocabulary got;
	struct error e = {0};

	ck_assert_int_eq(vocabulary_parse(&got, NULL, at, &e), OK);
	ck_assert_int_eq(got, VOCABULARY_ANY);
	ck_assert_int_eq(vocabulary_parse(&got, "portable", at, &e), OK);
	ck_assert_int_eq(got, VOCABULARY_PORTABLE);
	ck_assert_int_eq(vocabulary_parse(&got, "any", at, &e), OK);
	ck_assert_int_eq(got, VOCABULARY_ANY);
	ck_assert_int_eq(vocabulary_parse(&got, "portabel", at, &e), E_SYNTAX);
	ck_assert_str_eq(e.text,
	                 "unknown vocabulary 'portabel', expected any or portable");
}
END_TEST

/* --- planners ---------------------------------------------------------------------- */

enum { TABLES = 4 };

/* Prices in bytes, on a torus that wraps, on one that does not, on nodes of GPUs. */
static struct prices table_of(int table)
{
	static const bool wrap[] = {true, true}, open[] = {false, false};
	static const int32_t shape[] = {4, 8};
	const struct link ici = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
	const struct link nvlink = {.bandwidth_Bps = 235e9, .latency_s = 0.475e-6};
	const struct link nic = {.bandwidth_Bps = 24e9, .latency_s = 1.25e-6};
	const struct device device = {.memory_Bps = 2e12, .launch_s = 5e-6};

	if (table == 0)
		return prices_bytes;
	pricer = pricer_new(table == 3 ? machine_gpu(kept, 4, 8, nvlink, nic, device)
	                               : machine_torus(kept, 2, shape,
	                                               table == 1 ? wrap : open, ici,
	                                               device),
	                    NULL);
	return pricer_prices(pricer);
}

static struct plan *plan_with(const struct planner *planner, const struct problem *p,
                              const struct prices *prices)
{
	struct text why = {0};
	struct plan *plan = NULL;
	enum answer answer = planner_run(planner, &plan, p, prices, arena, &why);

	ck_assert(answer == ANSWER_PLAN || why.length > 0);
	text_free(&why);
	return answer == ANSWER_PLAN ? plan : NULL;
}

/*
 * The plan of best-portable, which is right, portable and no dearer than any portable one
 * of another planner. NULL: none has one.
 */
static struct plan *best_portable(const struct problem *p, const struct prices *prices)
{
	struct plan *plan = plan_with(&planner_best_portable, p, prices);
	struct text why = {0};

	if (plan) {
		ck_assert_str_eq(plan->planner, "best-portable");
		ck_assert_msg(plan_check(plan, &why), "%s: %s", case_describe(arena, p),
		              why.s);
		ck_assert_msg(!plan_not_portable(plan), "%s: %s",
		              case_describe(arena, p), plan_not_portable(plan));
	}
	for (int i = 0; planners[i]; i++) {
		struct plan *other = plan_with(planners[i], p, prices);

		if (!other || plan_not_portable(other))
			continue;
		ck_assert_msg(plan != NULL, "%s alone: %s", planners[i]->name,
		              case_describe(arena, p));
		ck_assert_msg(price_compare(prices->plan(prices->self, plan),
		                            prices->plan(prices->self, other)) <= 0,
		              "%s: %s", planners[i]->name, case_describe(arena, p));
	}
	return plan;
}

START_TEST(test_random_problems)
{
	struct prices prices = table_of(_i);
	struct rng *r = rng_new(577 + (uint64_t)_i);
	int plans_found = 0, cheaper = 0;

	for (int k = 0; k < 60; k++) {
		struct problem *p = k % 6 == 5 ? random_listed_problem(r, arena, 24)
		                               : random_problem(r, arena, 24);
		struct plan *plan = best_portable(p, &prices), *same, *best;

		/* `best` is no dearer, and under the restriction just as dear. */
		best = plan_with(&planner_best, p, &prices);
		p->vocabulary = VOCABULARY_PORTABLE;
		same = plan_with(&planner_best, p, &prices);
		ck_assert_int_eq(plan != NULL, same != NULL);
		if (plan) {
			struct price price = prices.plan(prices.self, plan);

			plans_found++;
			ck_assert_ptr_nonnull(best);
			cheaper += price_compare(prices.plan(prices.self, best),
			                         price) < 0;
			ck_assert_int_eq(
				price_compare(prices.plan(prices.self, same), price), 0);
			ck_assert_str_eq(same->planner, "best");
		}
		arena_reset(arena);
	}
	ck_assert_int_gt(plans_found, 20);
	ck_assert_int_gt(cheaper, 2);
	rng_free(r);
}
END_TEST

/* `direct` and `digit` say why they do not apply; what plans as a system does, plans. */
START_TEST(test_restricted_planners)
{
	struct problem *p = case_of_texts(arena, "x=4,y=2", "f32[24,24]", "P('x', 'y')",
	                                  "P('y', 'x')");

	p->vocabulary = VOCABULARY_PORTABLE;
	for (int i = 0; planners[i]; i++) {
		bool restricted = planners[i] == planner_of("direct") ||
		                  planners[i] == planner_of("digit");
		struct text why = {0};
		struct plan *plan;
		enum answer answer =
			planner_run(planners[i], &plan, p, &prices_bytes, arena, &why);

		ck_assert_msg(
			answer == (restricted ? ANSWER_NOT_APPLICABLE : ANSWER_PLAN),
			"%s: %s", planners[i]->name, why.s);
		if (restricted)
			ck_assert_ptr_nonnull(
				strstr(why.s, "not in the portable vocabulary"));
		text_free(&why);
	}
}
END_TEST

/*
 * Two all-to-alls of 2 axes of 2 devices each, in different dimensions, are one over 4
 * devices, which takes one launch less and sends 3/4 of the tile, not 2/2. `synth` moves
 * one axis at a time.
 */
START_TEST(test_merge)
{
	const struct link nvlink = {.bandwidth_Bps = 100e9, .latency_s = 1e-6};
	const struct device device = {.memory_Bps = 0, .launch_s = 5e-6};
	struct problem *p =
		case_of_texts(arena, "x=2,y=2", "f32[64,64,64,64]",
	                      "P('x', 'y', None, None)", "P(None, None, 'x', 'y')");
	struct prices prices;
	struct plan *plan;
	struct text line = {0};
	double tile = 64. * 64 * 64 * 64 * 4 / 4;
	/* three quarters of the tile, over two links of 1 us each */
	double expected_s = 5e-6 + 3 * tile / 4 / 100e9 + 2e-6;

	pricer = pricer_new(machine_gpu(kept, 1, 4, nvlink, nvlink, device), NULL);
	prices = pricer_prices(pricer);
	plan = best_portable(p, &prices);
	plan_print_line(&line, plan);
	ck_assert_str_eq(line.s, "all-to-all {x}: 0->2, {y}: 1->3");
	ck_assert_double_eq_tol(prices.plan(prices.self, plan).cost, expected_s,
	                        1e-9 * expected_s);
	text_free(&line);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("vocabulary");
	TCase *hand = tcase_create("hand"), *random = tcase_create("random");

	tcase_add_checked_fixture(hand, setup, teardown);
	tcase_add_loop_test(hand, test_kinds, 0, sizeof(plans) / sizeof(*plans));
	tcase_add_test(hand, test_words);
	tcase_add_test(hand, test_restricted_planners);
	tcase_add_test(hand, test_merge);
	suite_add_tcase(suite, hand);
	tcase_add_checked_fixture(random, setup, teardown);
	tcase_set_timeout(random, 120);
	tcase_add_loop_test(random, test_random_problems, 0, TABLES);
	suite_add_tcase(suite, random);
	return suite;
}
