/*
 * The planner `best`: it never loses to another planner, its plans are right and within
 * the limits, and what it adds to the others wins where it should by hand computation.
 */
#include "plan_random.h"
#include "planner_case.h"
#include "tests/tests.h"

#include "plan/check.h"
#include "plan/memory.h"
#include "plan/plan_text.h"
#include "planner/best/best.h"
#include "planner/best/senders.h"
#include "price/price.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct link ici = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
static const struct link nvlink = {.bandwidth_Bps = 235e9, .latency_s = 0.475e-6};
static const struct link nic = {.bandwidth_Bps = 24e9, .latency_s = 1.25e-6};
static const struct device device = {.memory_Bps = 2e12, .launch_s = 5e-6};

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

/*
 * Prices in bytes, on a torus that wraps, on one that does not, on nodes of GPUs; behind
 * them by memory.
 */
enum { TABLES = 4 };

static struct machine *machine_of(int table, double faster)
{
	const bool wrap[] = {true, true}, open[] = {false, false};
	struct link link = ici, fast = nvlink, slow = nic;

	link.bandwidth_Bps *= faster;
	fast.bandwidth_Bps *= faster;
	slow.bandwidth_Bps *= faster;
	switch (table) {
	case 1:
		return machine_torus(kept, 2, (int32_t[]){4, 8}, wrap, link, device);
	case 2:
		return machine_torus(kept, 2, (int32_t[]){4, 8}, open, link, device);
	default:
		return machine_gpu(kept, 4, 8, fast, slow, device);
	}
}

static struct prices table_of(int table)
{
	static struct prices bytes;

	bytes = prices_bytes;
	if (table == 0)
		return bytes;
	if (table == TABLES)
		return prices_memory(&bytes);
	pricer = pricer_new(machine_of(table, 1), NULL);
	return pricer_prices(pricer);
}

/* NULL where the planner has no plan. */
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

static struct plan *right_plan(const struct problem *p, const struct prices *prices)
{
	struct plan *plan = plan_with(&planner_best, p, prices);
	struct text why = {0};

	if (!plan)
		return NULL;
	ck_assert_str_eq(plan->planner, "best");
	ck_assert_msg(plan_check(plan, &why), "%s: %s", case_describe(arena, p), why.s);
	ck_assert(!plan_over_memory(plan));
	text_free(&why);
	return plan;
}

/* The plan of `best`, which no other planner's beats; NULL where none has one. */
static struct plan *unbeaten(const struct problem *p, const struct prices *prices)
{
	struct plan *plan = right_plan(p, prices);
	struct price mine = {0};

	if (plan)
		mine = prices->plan(prices->self, plan);
	for (int i = 0; planners[i]; i++) {
		struct plan *other;

		if (planners[i] == &planner_best)
			continue;
		other = plan_with(planners[i], p, prices);
		if (!other)
			continue;
		ck_assert_msg(plan != NULL, "%s alone: %s", planners[i]->name,
		              case_describe(arena, p));
		ck_assert_msg(price_compare(mine, prices->plan(prices->self, other)) <= 0,
		              "%s: %s", planners[i]->name, case_describe(arena, p));
	}
	return plan;
}

START_TEST(test_random_problems)
{
	struct prices prices = table_of(_i);
	struct rng *r = rng_new(41 + (uint64_t)_i);
	int plans = 0;

	for (int k = 0; k < 60; k++) {
		struct problem *p = k % 4 == 3 ? random_listed_problem(r, arena, 24)
		                               : random_problem(r, arena, 24);

		if (k % 3 == 1)
			p->memory_limit_bytes = p->memory_bound_bytes;
		plans += unbeaten(p, &prices) != NULL;
		arena_reset(arena);
	}
	ck_assert_int_gt(plans, 45);
	rng_free(r);
}
END_TEST

static const int meshes[][4] = {{2, 3}, {4, 2}};

START_TEST(test_all_pairs)
{
	struct prices prices = table_of(_i / 2);
	struct mesh mesh = case_mesh(kept, meshes[_i % 2]);
	struct shape extent = {.rank = 2,
	                       .dim = {mesh.ndevices * 256, mesh.ndevices * 96}};
	struct atoms whole = {.n = mesh.naxes};
	struct type *type;
	int n;

	for (int i = 0; i < mesh.naxes; i++)
		whole.atom[i] = (struct atom){(int32_t)mesh_stride(&mesh, i),
		                              mesh.axis[i].size};
	n = case_types(&type, &whole, extent.rank);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			ck_assert(unbeaten(case_of_types(arena, &mesh, &extent,
			                                 &type[i], &type[j]),
			                   &prices) != NULL);
			arena_reset(arena);
		}
	free(type);
}
END_TEST

/*
 * The search of best-portable within that of best is the same as alone: rivals' plans that
 * were made for any vocabulary are rewritten within the portable one.
 */
START_TEST(test_portable_within)
{
	const bool wrap[] = {true, true};
	struct device slow = {.memory_Bps = 8e11, .launch_s = 5e-6};
	struct prices prices;

	pricer = pricer_new(machine_torus(kept, 2, (int32_t[]){4, 4}, wrap, ici, slow),
	                    NULL);
	prices = pricer_prices(pricer);
	unbeaten(case_of_texts(arena, "x0=2,x1=2,x2=2,x3=2", "f32[16000000]",
	                       "P(('x0', 'x1', 'x2', 'x3'))", "P(('x0', 'x2', 'x1'))"),
	         &prices);
}
END_TEST

/* Equal problems get equal plans, whatever was planned in between. */
START_TEST(test_deterministic)
{
	struct prices prices = table_of(_i);
	struct rng *r = rng_new(7);

	for (int k = 0; k < 20; k++) {
		struct problem *p = random_problem(r, arena, 16);
		struct plan *a = right_plan(p, &prices), *b = right_plan(p, &prices);
		struct text s = {0}, t = {0};

		if (!a)
			continue;
		plan_print(&s, a);
		plan_print(&t, b);
		ck_assert(s.length == t.length &&
		          (s.length == 0 || strcmp(s.s, t.s) == 0));
		text_free(&s);
		text_free(&t);
		arena_reset(arena);
	}
	rng_free(r);
}
END_TEST

/* Other names of the axes change no price. */
START_TEST(test_names)
{
	static const char *const names[] = {"data", "b", "zz"};
	struct prices prices = table_of(_i);
	struct rng *r = rng_new(19);

	for (int k = 0; k < 20; k++) {
		struct problem *p = random_problem(r, arena, 16), *q;
		struct plan *a = right_plan(p, &prices), *b;

		q = arena_dup(arena, p, 1, sizeof(*p));
		for (int i = 0; i < q->mesh.naxes; i++)
			q->mesh.axis[i].name = q->to_mesh.axis[i].name = names[i];
		b = right_plan(q, &prices);
		ck_assert((a == NULL) == (b == NULL));
		if (a)
			ck_assert_int_eq(price_compare(prices.plan(prices.self, a),
			                               prices.plan(prices.self, b)),
			                 0);
		arena_reset(arena);
	}
	rng_free(r);
}
END_TEST

/* On links 1.5, 3 and 20 times as fast no plan takes longer. */
START_TEST(test_more_bandwidth)
{
	static const double faster[] = {1, 1.5, 3, 20};
	struct rng *r = rng_new(5);
	struct pricer *table[4];

	for (int i = 0; i < 4; i++)
		table[i] = pricer_new(machine_of(_i, faster[i]), NULL);
	for (int k = 0; k < 60; k++) {
		struct problem *p = random_problem(r, arena, 24);
		double last = INFINITY;

		for (int i = 0; i < 4; i++) {
			struct prices prices = pricer_prices(table[i]);
			struct plan *plan = right_plan(p, &prices);
			double cost = plan ? prices.plan(prices.self, plan).cost : 0;

			ck_assert_msg(cost <= last * (1 + 1e-9), "%g > %g: %s", cost,
			              last, case_describe(arena, p));
			last = cost;
		}
		arena_reset(arena);
	}
	for (int i = 0; i < 4; i++)
		pricer_free(table[i]);
	rng_free(r);
}
END_TEST

/* --- by hand --------------------------------------------------------------------- */

static double best_s(const struct problem *p, const struct prices *prices,
                     double *others)
{
	struct plan *plan = unbeaten(p, prices);

	ck_assert_ptr_nonnull(plan);
	*others = INFINITY;
	for (int i = 0; planners[i]; i++) {
		bool best = planners[i] == &planner_best ||
		            planners[i] == &planner_best_portable;
		struct plan *other = best ? NULL : plan_with(planners[i], p, prices);

		if (other)
			*others = fmin(*others, prices->plan(prices->self, other).cost);
	}
	return prices->plan(prices->self, plan).cost;
}

/*
 * A sum over the eight GPUs y of a node, wanted on all four nodes x. The others reduce
 * to whole tiles or gather within nodes before they gather over them. Best:
 * reduce-scatter in the node, then one all-gather over all, in which a NIC carries
 * eighths of the array.
 */
START_TEST(test_sums)
{
	struct prices prices = table_of(3);
	struct problem *p =
		case_of_texts(arena, "x=4,y=8", "f32[4096,4096]",
	                      "P('x', None, unreduced={'y'})", "P(None, None)");
	double array = 64. * 1024 * 1024, tile = array / 4, others;
	double mine = best_s(p, &prices, &others), launch = device.launch_s;
	double hop = 2 * nvlink.latency_s, net_hop = 2 * nic.latency_s;
	/* Seven eighths of the tile come in, and are read, added and written. */
	double scatter = 7 * (tile / 8 / nvlink.bandwidth_Bps + hop) +
	                 3 * 7. / 8 * tile / device.memory_Bps + launch;
	double over_nodes = 3 * (tile / 8 / nic.bandwidth_Bps + net_hop);
	double in_node = 7 * (array / 8 / nvlink.bandwidth_Bps + hop);

	ck_assert_double_le(mine,
	                    (scatter + over_nodes + in_node + launch) * (1 + 1e-9));
	ck_assert_double_lt(mine, 0.95 * others);
}
END_TEST

/* Some of the sum stays. */
START_TEST(test_partial_sums)
{
	struct prices prices = table_of(_i);
	const char *const from = "P('z', None, unreduced={'x', 'y'})";
	const char *const to[] = {"P('z', None, unreduced={'x'})",
	                          "P(None, 'y', unreduced={'x'})",
	                          "P('y', 'z')",
	                          "P(('y', 'z'), 'x')",
	                          "P(None, ('z', 'x'))",
	                          "P(None, None)"};

	for (size_t i = 0; i < sizeof(to) / sizeof(to[0]); i++)
		ck_assert(unbeaten(case_of_texts(arena, "x=2,y=3,z=2", "f32[384,192]",
		                                 from, to[i]),
		                   &prices) != NULL);
}
END_TEST

/* Problems in which `best` is faster than all others by a factor, and why. */
struct win {
	int table;
	const char *mesh, *array, *from, *to;
	double factor;
};

static const struct win wins[] = {
	/*
	 * Sixteen GPUs, x's major half the node: an exchange to tiles that y cuts too,
	 * then an all-gather in the node, so that nothing goes over the NICs twice.
	 */
	{3, "x=4,y=4", "f32[6144,3072]", "P(None, ('y', 'x'))", "P('x', None)", 1.1},
	{3, "x=2,y=3", "f32[6144,3072]", "P(None, 'y')", "P(None, 'x')", 1.05},
	/*
	 * In one exchange every other GPU would take its whole tile over its NIC while
	 * the others idle; in two the tiles of a node come in evenly and are dealt out
	 * there.
	 */
	{3, "x=4,y=4", "f32[192,192,384]", "P('y', None, 'x')",
         "P(None, None, ('y', 'x'))", 1.3},
	{3, "x=4,y=4", "f32[6144,3072]", "P(None, 'x')", "P('x', 'y')", 1.2},
};

START_TEST(test_wins)
{
	const struct win *w = &wins[_i];
	struct prices prices = table_of(w->table);
	struct problem *p = case_of_texts(arena, w->mesh, w->array, w->from, w->to);
	double others, mine = best_s(p, &prices, &others);

	ck_assert_msg(mine * w->factor < others, "%g, others %g", mine, others);
}
END_TEST

/*
 * A permute leaves devices alone that have their tile, and each other has one source.
 */
START_TEST(test_permute)
{
	struct prices prices = table_of(1);
	struct problem *p = case_of_texts(arena, "x=2,y=2,z=2", "f32[6,4]",
	                                  "P('x', None)", "P('z', None)");
	struct plan *plan = plan_new(arena, p, "best");
	struct text why = {0};
	int fixed = 0;

	ck_assert(best_permute(plan, &p->to, &prices));
	plan_finish(plan);
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
	for (int32_t i = 0; i < plan->step[0].npairs; i++)
		fixed += plan->step[0].pairs[i].src == plan->step[0].pairs[i].dst;
	/* Those with equal coordinates in x and z: half of them. */
	ck_assert_int_eq(fixed, 4);
	ck_assert_int_eq(plan->step[0].npairs, 8);
}
END_TEST

/* Other meshes, other devices, uneven tiles, device lists. */
static const struct problem_text crossing[] = {
	{.array = "f32[24,16]",
         .mesh = "x=4,y=2",
         .from = "P('x', 'y')",
         .to_mesh = "a=2,b=4",
         .to = "P('b', 'a')"},
	{.array = "bf16[9,7]",
         .mesh = "x=4,y=2",
         .from = "P('x', 'y')",
         .to = "P('y', 'x')"},
	{.array = "f32[24,16]",
         .mesh = "x=4",
         .from = "P('x', None)",
         .devices = "0-3",
         .to_mesh = "y=8",
         .to_devices = "2-9",
         .to = "P(None, 'y')"},
	{.array = "s32[8,12]",
         .num_devices = "8",
         .from = "{devices=[2,2,2]0,7,1,6,2,5,3,4 last_tile_dim_replicate}",
         .to = "{devices=[1,4,2]<=[8] last_tile_dim_replicate}"},
};

START_TEST(test_crossing)
{
	for (size_t i = 0; i < sizeof(crossing) / sizeof(crossing[0]); i++) {
		struct prices prices = table_of(_i);
		struct problem p;
		struct error e = {0};

		ck_assert_msg(problem_make(&p, arena, &crossing[i], &e) == OK, "%s",
		              e.text);
		ck_assert(unbeaten(&p, &prices) != NULL);
		pricer_free(pricer);
		pricer = NULL;
	}
}
END_TEST

/* The smallest limit that would do is told, and does. */
START_TEST(test_memory)
{
	struct problem *p = case_of_texts(arena, "x=2,y=3", "f32[12,18]", "P('x', 'y')",
	                                  "P('y', 'x')");
	struct text why = {0};
	struct plan *plan = NULL;

	p->memory_limit_bytes = p->memory_bound_bytes - 1;
	ck_assert_int_eq(planner_run(&planner_best, &plan, p, &prices_bytes, arena, &why),
	                 ANSWER_OVER_MEMORY);
	ck_assert_ptr_nonnull(strstr(why.s, "144 bytes"));
	p->memory_limit_bytes = p->memory_bound_bytes;
	ck_assert_ptr_nonnull(right_plan(p, &prices_bytes));
	text_free(&why);
}
END_TEST

/* Nobody can: every planner's reason is told. */
START_TEST(test_not_applicable)
{
	struct problem *p = case_of_texts(arena, "x=4,y=2", "f32[8]", "[{\"x\"}]",
	                                  "[{\"y\"}], unreduced={\"x\":(1)2}");
	struct text why = {0};
	struct plan *plan = NULL;

	ck_assert_int_eq(planner_run(&planner_best, &plan, p, &prices_bytes, arena, &why),
	                 ANSWER_NOT_APPLICABLE);
	for (int i = 0; planners[i]; i++)
		ck_assert(planners[i] == &planner_best ||
		          planners[i] == &planner_best_portable ||
		          strstr(why.s, planners[i]->name));
	text_free(&why);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("best");
	TCase *pairs = tcase_create("pairs"), *hand = tcase_create("hand");

	tcase_add_checked_fixture(pairs, setup, teardown);
	tcase_add_checked_fixture(hand, setup, teardown);
	tcase_set_timeout(pairs, 300);
	tcase_set_timeout(hand, 60);
	tcase_add_loop_test(pairs, test_random_problems, 0, TABLES + 1);
	tcase_add_loop_test(pairs, test_all_pairs, 0, TABLES * 2);
	tcase_add_test(pairs, test_portable_within);
	tcase_add_loop_test(pairs, test_deterministic, 0, TABLES);
	tcase_add_loop_test(pairs, test_names, 0, TABLES);
	tcase_add_loop_test(pairs, test_more_bandwidth, 1, TABLES);
	tcase_add_test(hand, test_sums);
	tcase_add_loop_test(hand, test_partial_sums, 0, TABLES + 1);
	tcase_add_loop_test(hand, test_wins, 0, sizeof(wins) / sizeof(wins[0]));
	tcase_add_loop_test(hand, test_crossing, 0, TABLES + 1);
	tcase_add_test(hand, test_permute);
	tcase_add_test(hand, test_memory);
	tcase_add_test(hand, test_not_applicable);
	suite_add_tcase(suite, pairs);
	suite_add_tcase(suite, hand);
	return suite;
}
