/*
 * The parts of `best`: prices and memory of scripts are those of their plans, joined
 * digits say the same plan, and plans between two meshes are right and unbeaten, as is that
 * of the only planner that has one.
 */
#include "plan_random.h"
#include "planner_case.h"
#include "tests/tests.h"

#include "plan/check.h"
#include "plan/exchange.h"
#include "plan/plan_text.h"
#include "planner/best/price.h"
#include "price/price.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct link ici = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
static const struct link nvlink = {.bandwidth_Bps = 235e9, .latency_s = 0.475e-6};
static const struct link nic = {.bandwidth_Bps = 24e9, .latency_s = 1.25e-6};
static const struct device device = {.memory_Bps = 2e12, .launch_s = 5e-6};

static struct arena *arena, *kept;
static struct pricer *pricer;
static struct prices prices;

static void setup(void)
{
	arena = arena_new();
	kept = arena_new();
}

static void teardown(void)
{
	pricer_free(pricer);
	arena_free(arena);
	arena_free(kept);
}

static void use(int number)
{
	const bool wrap[] = {true, false};

	pricer = pricer_new(
		number ? machine_gpu(kept, 3, 8, nvlink, nic, device)
		       : machine_torus(kept, 2, (int32_t[]){4, 6}, wrap, ici, device),
		NULL);
	prices = pricer_prices(pricer);
}

static struct plan *plan_with(const struct planner *planner, const struct problem *p)
{
	struct text why = {0};
	struct plan *plan = NULL;

	if (planner_run(planner, &plan, p, &prices, arena, &why) != ANSWER_PLAN)
		plan = NULL;
	text_free(&why);
	return plan;
}

static double cost_s(const struct plan *plan)
{
	return prices.plan(prices.self, plan).cost;
}

/* --- prices and memory ------------------------------------------------------------ */

/* Of a script and of the plan made of it; neither where an exchange cannot be said. */
static void compare_script(const struct script *s, struct step_prices *steps)
{
	struct plan *plan = script_plan(s, &prices, arena);
	int64_t array_bytes, live_bytes;
	struct price price, limit;
	double time_s;

	if (!plan) {
		ck_assert(!step_prices_script(&price, steps, s, NULL));
		return;
	}
	time_s = cost_s(plan);
	ck_assert(step_prices_script(&price, steps, s, NULL));
	/* Tiles of elements of less than a byte are rounded up, in a plan step by step. */
	ck_assert_msg(fabs(price.cost - time_s) <=
	                      1e-9 * time_s + 4 * plan->nsteps / device.memory_Bps,
	              "%.17g, plan %.17g", price.cost, time_s);
	limit = (struct price){.cost = 0.999 * time_s};
	ck_assert(!step_prices_script(&price, steps, s, &limit));
	script_memory(&array_bytes, &live_bytes, s);
	ck_assert_int_eq(array_bytes, plan->peak_array_bytes);
	ck_assert_int_eq(live_bytes, plan->peak_live_bytes);
}

/* One exchange in place of the last steps, over the digits of the script and over primes. */
static void compare_exchanges(const struct script *s, struct step_prices *steps)
{
	for (int first = 0; first < s->n && s->from.nunreduced == 0; first++) {
		struct script other, primes;

		script_exchange(&other, s, first, s->n);
		compare_script(&other, steps);
		if (script_refine(&primes, &other, arena))
			compare_script(&primes, steps);
	}
}

/* Returns prices of steps of a problem, without those of another one. */
static struct step_prices *fresh_prices(const struct problem *p)
{
	if (prices.forget)
		prices.forget(prices.self);
	return step_prices_new(p, &prices);
}

/*
 * Scripts of all planners' plans, as they are, over primes, and with an exchange: exchanges
 * over digits that differ and send the same are priced once, and their plans one by one.
 */
START_TEST(test_prices)
{
	struct rng *r = rng_new(3);
	int scripts = 0;

	use(_i);
	for (int k = 0; k < 60; k++, arena_reset(arena)) {
		struct problem *p = random_problem(r, arena, 24);
		struct step_prices *steps = fresh_prices(p);

		for (int i = 0; planners[i]; i++) {
			struct plan *plan = plan_with(planners[i], p);
			struct script s, other;

			if (!plan || plan->nsteps == 0 || !script_of_plan(&s, plan) ||
			    cost_s(plan) > 1)
				continue;
			compare_script(&s, steps);
			compare_exchanges(&s, steps);
			scripts++;
			if (script_refine(&other, &s, arena))
				compare_script(&other, steps);
		}
		step_prices_free(steps);
	}
	ck_assert_int_gt(scripts, 200);
	rng_free(r);
}
END_TEST

/* A script that does the same exchange twice pays for it twice, also when it is new. */
START_TEST(test_same_step_twice)
{
	struct problem *p = case_of_texts(arena, "x=4", "f32[4096,4096]",
	                                  "P('x', None)", "P(None, 'x')");
	struct step_prices *steps;
	struct script once, s;
	struct plan *plan;

	use(_i);
	steps = fresh_prices(p);
	plan = plan_with(planner_find("direct", strlen("direct")), p);
	ck_assert_ptr_nonnull(plan);
	ck_assert(script_of_plan(&once, plan));
	ck_assert_int_eq(once.n, 1);
	s = once;
	s.n = 3;
	s.step[1] = s.step[2] = s.step[0];
	s.step[1].after = s.from;
	compare_script(&s, steps);
	step_prices_free(steps);
}
END_TEST

/* A step of more work than is left is not built, but for what is known already. */
START_TEST(test_work)
{
	struct rng *r = rng_new(5);
	int priced = 0;

	use(_i);
	for (int k = 0; k < 60; k++, arena_reset(arena)) {
		struct problem *p = random_problem(r, arena, 24);
		struct step_prices *steps = fresh_prices(p);
		struct plan *plan = plan_with(planner_find("synth", 5), p);
		struct price price, again;
		struct script s, other;

		if (plan && plan->nsteps > 0 && script_of_plan(&s, plan) &&
		    s.from.nunreduced == 0) {
			script_exchange(&other, &s, 0, s.n);
			step_prices_limit(steps, 0);
			ck_assert(!step_prices_script(&price, steps, &other, NULL));
			ck_assert_int_eq(step_prices_work(steps), 0);
			step_prices_limit(steps, INT64_MAX);
			if (step_prices_script(&price, steps, &other, NULL)) {
				ck_assert_int_gt(step_prices_work(steps), 0);
				step_prices_limit(steps, 0);
				ck_assert(step_prices_script(&again, steps, &other,
				                             NULL));
				ck_assert(again.cost == price.cost);
				priced++;
			}
		}
		step_prices_free(steps);
	}
	ck_assert_int_gt(priced, 10);
	rng_free(r);
}
END_TEST

/* --- joined digits ---------------------------------------------------------------- */

static int moves_of(const struct plan *plan)
{
	int n = 0;

	for (int i = 0; i < plan->nsteps; i++)
		n += plan->step[i].nmoves;
	return n;
}

/* Scripts over primes say, joined, the same in no more moves, at the same price. */
START_TEST(test_join)
{
	struct rng *r = rng_new(31);
	int joined = 0;

	use(_i);
	for (int k = 0; k < 80; k++, arena_reset(arena)) {
		struct problem *p = random_problem(r, arena, 24);

		for (int i = 0; planners[i]; i++) {
			struct plan *plan = plan_with(planners[i], p), *fine;
			struct script s, primes, whole;
			struct text why = {0};

			if (!plan || plan->nsteps == 0 || !script_of_plan(&s, plan) ||
			    !script_refine(&primes, &s, arena) ||
			    !script_join(&whole, &primes, arena))
				continue;
			fine = script_plan(&primes, &prices, arena);
			if (!fine)
				continue;
			plan = script_plan(&whole, &prices, arena);
			ck_assert_ptr_nonnull(plan);
			ck_assert_msg(plan_check(plan, &why), "%s: %s",
			              case_describe(arena, p), why.s);
			ck_assert_int_eq(plan->nsteps, fine->nsteps);
			ck_assert_int_le(moves_of(plan), moves_of(fine));
			ck_assert_int_lt(whole.view.shape.rank, primes.view.shape.rank);
			ck_assert_int_eq(plan->peak_live_bytes, fine->peak_live_bytes);
			joined++;
			text_free(&why);
		}
	}
	ck_assert_int_gt(joined, 100);
	rng_free(r);
}
END_TEST

/* An all-to-all of an axis of four, over primes: both of its digits are joined. */
START_TEST(test_join_by_hand)
{
	struct problem *p = case_of_texts(arena, "x=4", "f32[16,24]", "P('x', None)",
	                                  "P(None, 'x')");
	const struct part x = {0, 1, 4};
	const struct move move = {0, 1, 4, 1, &x};
	struct plan *plan = plan_new(arena, p, "best");
	struct script s, primes, whole;
	struct text text = {0};

	use(0);
	plan_axes_step(plan, OP_ALL_TO_ALL, &move, 1);
	plan_finish(plan);
	ck_assert(script_of_plan(&s, plan) && script_refine(&primes, &s, arena));
	ck_assert_int_eq(primes.step[0].nmoves, 2);
	ck_assert(script_join(&whole, &primes, arena));
	ck_assert_int_eq(whole.view.shape.rank, 2);
	plan_print_line(&text, script_plan(&whole, &prices, arena));
	ck_assert_str_eq(text.s, "all-to-all {x}: 0->1");
	ck_assert(!script_join(&primes, &whole, arena));
	text_free(&text);
}
END_TEST

/* --- over-slicing ---------------------------------------------------------------- */

/* Over-slicing cuts a digit of its own behind what is cut already. */
START_TEST(test_overslice)
{
	struct problem *p = case_of_texts(arena, "x=4,y=2", "f32[16,12]",
	                                  "P('x', None)", "P(None, 'x')");
	const struct part x = {0, 1, 4}, y = {1, 1, 2};
	const struct move move = {0, 1, 4, 1, &x};
	struct plan *plan = plan_new(arena, p, "best");
	struct script s, over;
	struct text why = {0}, text = {0};

	plan_axes_step(plan, OP_ALL_TO_ALL, &move, 1);
	plan_finish(plan);
	ck_assert(script_of_plan(&s, plan));
	ck_assert(!script_uses(&s, y, -1) && script_uses(&s, x, -1));
	ck_assert(script_overslice(&over, &s, 0, y, -1, false, arena));
	plan = script_plan(&over, &prices_bytes, arena);
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
	plan_print_line(&text, plan);
	ck_assert_str_eq(text.s,
	                 "slice {y}: ->0; all-to-all {x}: 0->1; all-gather {y}: 0->");
	/* Tiles of 48 elements are cut to 24, of which a quarter stays. */
	ck_assert_int_eq(plan->step[1].recv_bytes, (24 - 6) * 4);
	ck_assert_int_eq(plan->step[2].recv_bytes, 24 * 4);
	/* 12 is cut by 4: three are left, which y does not divide. */
	ck_assert(!script_overslice(&over, &s, 1, y, -1, false, arena));
	text_free(&text);
	text_free(&why);
}
END_TEST

/* --- steps of another script ------------------------------------------------------ */

/*
 * Halves of one step are put between others that cut its digits elsewhere: dimension 0 is
 * cut by three before and by four after, so that no digits say all four layouts. The plan
 * is right, and what it receives is counted by hand.
 */
START_TEST(test_put)
{
	struct problem *p = case_of_texts(arena, "a=2,b=3,c=4", "f32[24,24]",
	                                  "P('b', 'c')", "P('c', 'a')");
	struct problem *q = case_of_texts(arena, "a=2,b=3,c=4", "f32[24,24]",
	                                  "P('b', 'c')", "P(None, ('a', 'c'))");
	const struct part c = {2, 1, 4};
	const struct move whole = {1, 0, 4, 1, &c};
	struct plan *plan = plan_new(arena, p, "best");
	struct script s, alone, fine, two, put;
	struct text why = {0};

	ck_assert(plan_exchange_axes(plan, &q->to, &why));
	plan_axes_step(plan, OP_ALL_TO_ALL, &whole, 1);
	plan_finish(plan);
	ck_assert(script_of_plan(&s, plan));
	ck_assert(!script_refine(&fine, &s, arena));
	script_alone(&alone, &s, 0);
	ck_assert(script_refine(&fine, &alone, arena));
	/* c apart, the all-to-all of c would leave two digits at once */
	ck_assert(script_split(&two, &fine, 0, 2, false, arena));
	ck_assert(!script_put(&put, &s, 0, &two, arena));
	/* all of c goes to its place first, then a and b */
	ck_assert(script_split(&two, &fine, 0, 4, false, arena));
	ck_assert(script_put(&put, &s, 0, &two, arena));
	ck_assert_int_eq(put.n, 3);
	plan = script_plan(&put, &prices_bytes, arena);
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
	ck_assert_int_eq(plan->step[2].op, OP_ALL_TO_ALL);
	/* of 24 x 3 elements three quarters are sent away */
	ck_assert_int_eq(plan->step[2].recv_bytes, 54 * 4);
	text_free(&why);
}
END_TEST

/*
 * One exchange in two: `y` slices columns first, strided, and backwards gathers them last, so
 * that `x` moves tiles of half the size. There is nothing to gather on the way there, nor to
 * slice on the way back.
 */
START_TEST(test_slice_first)
{
	struct problem *p = case_of_texts(arena, "x=4,y=2", "f32[16,16]",
	                                  "P('x', None)", "P(None, ('x', 'y'))");
	struct problem *back = case_of_texts(arena, "x=4,y=2", "f32[16,16]",
	                                     "P(None, ('x', 'y'))", "P('x', None)");
	struct script s, fine, two;
	struct text why = {0};
	struct plan *plan;

	for (int k = 0; k < 2; k++) {
		const struct problem *q = k ? back : p;

		plan = plan_new(arena, q, "best");
		ck_assert(plan_exchange_axes(plan, &q->to, &why));
		plan_finish(plan);
		ck_assert(script_of_plan(&s, plan) && script_refine(&fine, &s, arena));
		ck_assert(!(k ? script_slice_first : script_gather_last)(&two, &fine, 0,
		                                                         arena));
		ck_assert((k ? script_gather_last : script_slice_first)(&two, &fine, 0,
		                                                        arena));
		plan = script_plan(&two, &prices_bytes, arena);
		ck_assert_msg(plan_check(plan, &why), "%s", why.s);
		ck_assert_int_eq(plan->nsteps, 2);
		ck_assert_int_eq(plan->step[k].op, k ? OP_ALL_GATHER : OP_SLICE);
		ck_assert_int_eq(plan->step[1 - k].op, OP_ALL_TO_ALL);
		/* of 4 x 8 or 16 x 2 elements three quarters come from others */
		ck_assert_int_eq(plan->step[1 - k].recv_bytes, 24 * 4);
	}
	text_free(&why);
}
END_TEST

/* --- two meshes ------------------------------------------------------------------- */

static struct plan *unbeaten(const struct problem *p)
{
	struct plan *plan = plan_with(planner_find("best", 4), p);
	struct text why = {0};

	for (int i = 0; planners[i]; i++) {
		struct plan *other = plan_with(planners[i], p);

		ck_assert(plan != NULL || other == NULL);
		ck_assert_msg(!other || cost_s(plan) <= cost_s(other) * (1 + 1e-9),
		              "%s: %s", planners[i]->name, case_describe(arena, p));
	}
	ck_assert_msg(!plan || plan_check(plan, &why), "%s: %s",
	              case_describe(arena, p), why.s);
	text_free(&why);
	return plan;
}

/* The whole source mesh to another mesh on the same, other, more or fewer devices. */
static const struct {
	const char *devices, *to_mesh, *to_devices;
} targets[] = {
	{NULL, "a=2,b=6", NULL},      {NULL, "a=6,b=2", NULL},
	{"0-11", "a=2,b=6", "12-23"}, {"0-11", "a=3,b=2", "0-5"},
	{"0-11", "a=4,b=6", "0-23"},  {"0-11", "a=2,b=3", "9-14"},
};
static const char *const froms[] = {"P('x', None)", "P('x', 'y')",
                                    "P(None, ('y', 'x'))", "P(None, None)"};
static const char *const tos[] = {"P('a', None)", "P('b', 'a')", "P(None, 'b')",
                                  "P(None, None)", "P(('b', 'a'), None)"};

START_TEST(test_meshes)
{
	enum { FROMS = sizeof(froms) / sizeof(froms[0]) };
	enum { TOS = sizeof(tos) / sizeof(tos[0]) };
	int gained = 0;

	use(_i % 2);
	for (int k = 0; k < FROMS * TOS; k++, arena_reset(arena)) {
		struct problem_text text = {.array = "f32[720,1440]",
		                            .mesh = "x=4,y=3",
		                            .from = froms[k % FROMS],
		                            .devices = targets[_i / 2].devices,
		                            .to_mesh = targets[_i / 2].to_mesh,
		                            .to_devices = targets[_i / 2].to_devices,
		                            .to = tos[k / FROMS]};
		struct problem p;
		struct error e = {0};
		struct plan *plan, *direct;

		ck_assert_msg(problem_make(&p, arena, &text, &e) == OK, "%s", e.text);
		plan = unbeaten(&p);
		direct = plan_with(planner_find("direct", 6), &p);
		ck_assert_ptr_nonnull(plan);
		gained += direct && cost_s(plan) < 0.99 * cost_s(direct);
	}
	/* By strided tiles on the same devices, by an all-gather in the node on others. */
	ck_assert(_i > 4 || gained > 0);
}
END_TEST

/*
 * 32 and 16 do not divide by 3. A planner that slices uneven tiles leaves a plan whose
 * steps cannot be said by moves of axes again.
 */
START_TEST(test_uneven)
{
	use(_i);
	for (int k = 0; k < 4; k++)
		ck_assert_ptr_nonnull(unbeaten(case_of_texts(
			arena, "x=3,y=3", "f32[32,16]", k % 2 ? "P('y', 'x')" : "P('y')",
			k / 2 ? "P(None, 'x')" : "P(('x', 'y'), None)")));
}
END_TEST

/* --- a planner that takes its time ------------------------------------------------ */

/* No other has a plan, so it is asked for all it can. */
START_TEST(test_slow_planner)
{
	const char *mesh = "a=2,b=2,c=2,d=2,e=2", *array = "f32[16,64,8,2,2,3,4,4]";
	const char *from = "[{},{},{},{},{},{\"c\",\"d\"},{},{}], "
			   "unreduced={\"a\",\"e\"}";
	const char *to = "[{},{},{},{},{},{\"b\"},{},{}], unreduced={\"c\",\"d\"}";
	struct problem *p = case_of_texts(arena, mesh, array, from, to);
	const struct planner *slow = planner_find("dtensor-mincost", 15);
	struct text why = {0};
	struct plan *plan = NULL;

	use(1);
	prices = prices_bytes;
	ck_assert_int_eq(slow->quick(&plan, p, &prices_bytes, arena, &why),
	                 ANSWER_NOT_APPLICABLE);
	ck_assert_ptr_nonnull(unbeaten(p));
	text_free(&why);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("best_parts");
	TCase *parts = tcase_create("parts");

	tcase_add_checked_fixture(parts, setup, teardown);
	tcase_set_timeout(parts, 300);
	tcase_add_loop_test(parts, test_prices, 0, 2);
	tcase_add_loop_test(parts, test_same_step_twice, 0, 2);
	tcase_add_loop_test(parts, test_work, 0, 2);
	tcase_add_loop_test(parts, test_join, 0, 2);
	tcase_add_test(parts, test_join_by_hand);
	tcase_add_test(parts, test_overslice);
	tcase_add_test(parts, test_put);
	tcase_add_test(parts, test_slice_first);
	tcase_add_test(parts, test_slow_planner);
	tcase_add_loop_test(parts, test_meshes, 0,
	                    2 * sizeof(targets) / sizeof(targets[0]));
	tcase_add_loop_test(parts, test_uneven, 0, 2);
	suite_add_tcase(suite, parts);
	return suite;
}
