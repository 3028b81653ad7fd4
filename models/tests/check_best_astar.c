/*
 * A* over types against an exhaustive uniform-cost search: every pair of types is priced
 * by plans of one step, each built here from the two layouts, and Dijkstra's algorithm
 * without a heuristic finds the cheapest way.
 */
#include "planner_case.h"
#include "tests/tests.h"

#include "cost/price.h"
#include "plan/check.h"
#include "plan/exchange.h"
#include "planner/best/astar.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TYPES_CHECKED = 80 };

static const struct link ici = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
static const struct link nvlink = {.bandwidth_Bps = 235e9, .latency_s = 0.475e-6};
static const struct link nic = {.bandwidth_Bps = 24e9, .latency_s = 1.25e-6};
static const struct device device = {.memory_Bps = 2e12, .launch_s = 5e-6};

static struct arena *arena, *kept;
static struct pricer *pricer;
static struct prices prices;

enum { MACHINES = 3 };

static void setup_machine(int number)
{
	const bool wrap[] = {true, true}, open[] = {false, false};
	struct machine *m;

	if (number == 0)
		m = machine_torus(kept, 2, (int32_t[]){3, 4}, wrap, ici, device);
	else if (number == 1)
		m = machine_torus(kept, 2, (int32_t[]){4, 3}, open, ici, device);
	else
		m = machine_gpu(kept, 3, 4, nvlink, nic, device);
	pricer = pricer_new(m, NULL);
	prices = pricer_prices(pricer);
}

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

/* --- one step, from the places of the primes --------------------------------------- */

static enum op op_of(int before, int after)
{
	if (before == AT_SUM)
		return after == AT_NONE ? OP_ALL_REDUCE : OP_REDUCE_SCATTER;
	if (after == AT_SUM)
		return OPS;
	if (before == AT_NONE)
		return OP_SLICE;
	return after == AT_NONE ? OP_ALL_GATHER : OP_ALL_TO_ALL;
}

/* The number of moves, one for each prime that changes; 0 if no one op does it. */
static int moves_of(struct move *move, enum op *op, const struct types *t, int before,
                    int after)
{
	const int8_t *b = t->state[before].at, *c = t->state[after].at;
	int n = 0;

	for (int i = 0; i < t->nprimes; i++) {
		if (b[i] == c[i])
			continue;
		if (n > 0 && op_of(b[i], c[i]) != *op)
			return 0;
		*op = op_of(b[i], c[i]);
		for (int k = 0; k < t->nprimes; k++)
			if (c[i] >= 0 && b[k] == c[i])
				return 0;
		move[n++] = (struct move){b[i] >= 0 ? b[i] : -1, c[i] >= 0 ? c[i] : -1,
		                          t->prime[i].size, 1, &t->prime[i]};
	}
	if (n > 1 && *op == OP_ALL_REDUCE) {
		struct part *part = arena_alloc(arena, (size_t)n, sizeof(*part));

		for (int i = 0; i < n; i++) {
			part[i] = *move[i].parts;
			move[0].factor *= i ? part[i].size : 1;
		}
		move[0].nparts = n;
		move[0].parts = part;
		return 1;
	}
	return n > 0 && *op != OPS ? n : 0;
}

static struct plan *new_plan(const struct types *t, int before, int after)
{
	struct plan *plan = plan_new(arena, t->ends.problem, "best");
	struct layout from = types_layout(t, before), to = types_layout(t, after);

	plan_view(plan, &t->ends.view, &from, &to);
	return plan;
}

/* The cheapest step between two types, INFINITY if there is none. */
static double step_s(const struct types *t, int before, int after)
{
	struct move move[TYPES_PRIMES_MAX];
	enum op op = OPS;
	int n = moves_of(move, &op, t, before, after);
	double best_s = INFINITY;
	struct layout to = types_layout(t, after);
	struct text why = {0};
	struct plan *plan;

	if (n > 0) {
		plan = new_plan(t, before, after);
		plan_axes_step(plan, op, move, n);
		plan_finish(plan);
		best_s = prices.plan(prices.self, plan).cost;
	}
	plan = new_plan(t, before, after);
	if (plan_exchange_axes(plan, &to, &why) && plan->step[0].ntransfers > 0) {
		plan_finish(plan);
		best_s = fmin(best_s, prices.plan(prices.self, plan).cost);
	}
	text_free(&why);
	return best_s;
}

/* Dijkstra's algorithm over all types, INFINITY where the target is not reached. */
static double exhaustive_s(const struct types *t)
{
	double time_s[TYPES_CHECKED];
	bool done[TYPES_CHECKED] = {false};

	for (int i = 0; i < t->n; i++)
		time_s[i] = i == t->from ? 0 : INFINITY;
	for (int round = 0; round < t->n; round++) {
		int next = -1;

		for (int i = 0; i < t->n; i++)
			if (!done[i] && (next < 0 || time_s[i] < time_s[next]))
				next = i;
		done[next] = true;
		for (int i = 0; i < t->n; i++)
			if (!done[i])
				time_s[i] = fmin(time_s[i],
				                 time_s[next] + step_s(t, next, i));
	}
	return time_s[t->to];
}

/* --- the comparison ---------------------------------------------------------------- */

static enum astar search(struct script *out, double *time_s, const struct types *t,
                         const double *limit_s, int64_t messages)
{
	struct step_prices *steps = step_prices_new(t->ends.problem, &prices);
	struct price price = {0}, limit = {.cost = limit_s ? *limit_s : 0};
	enum astar answer = best_astar(out, &price, t, steps, &prices,
	                               limit_s ? &limit : NULL, messages, arena);

	step_prices_free(steps);
	*time_s = price.cost;
	return answer;
}

/* True if the problem has few enough types for it. */
static bool compare(const struct problem *p)
{
	struct types *t = arena_alloc(arena, 1, sizeof(*t));
	double want_s, got_s, limit_s;
	struct script script;
	struct plan *plan;
	struct text why = {0};

	if (!types_make(t, p, TYPES_CHECKED, arena) || t->from == t->to)
		return false;
	want_s = exhaustive_s(t);
	ck_assert_int_eq(search(&script, &got_s, t, NULL, INT64_MAX / 2), ASTAR_FOUND);
	ck_assert_msg(fabs(got_s - want_s) <= 1e-9 * want_s,
	              "%.17g, exhaustive %.17g: %s", got_s, want_s,
	              case_describe(arena, p));
	plan = script_plan(&script, &prices, arena);
	ck_assert_msg(plan_check(plan, &why), "%s: %s", case_describe(arena, p), why.s);
	ck_assert(!plan_over_memory(plan, p->memory_limit_bytes));
	ck_assert(fabs(prices.plan(prices.self, plan).cost - want_s) <= 1e-9 * want_s);
	limit_s = got_s;
	ck_assert_int_eq(search(&script, &got_s, t, &limit_s, INT64_MAX / 2),
	                 ASTAR_NONE);
	limit_s *= 1 + 1e-6;
	ck_assert_int_eq(search(&script, &got_s, t, &limit_s, INT64_MAX / 2),
	                 ASTAR_FOUND);
	text_free(&why);
	return true;
}

static const int meshes[][4] = {{2, 2}, {3, 2}, {4}, {6}, {2, 2, 3}, {3, 4}};

START_TEST(test_random)
{
	struct rng *r = rng_new(77);
	int n = 0;

	setup_machine(_i);
	for (int k = 0; k < 120; k++) {
		struct mesh m = case_mesh(arena, meshes[k % 6]);
		struct shape extent = {.rank = 1 + k / 6 % 3, .dim = {144, 288, 48}};
		struct atoms atoms = case_atoms(&m);
		struct type from = case_random_type(r, &atoms, &extent, 60);
		struct type to = case_random_type(r, &atoms, &extent, 60);
		struct problem *p;

		/* Small arrays, where launches count, and larger ones. */
		extent.dim[0] *= k % 2 ? 1 : 512;
		p = case_of_types(arena, &m, &extent, &from, &to);
		if (k % 5 == 4)
			p->memory_limit_bytes = p->memory_bound_bytes;
		n += compare(p);
		arena_reset(arena);
	}
	printf("machine %d: A* as cheap as the exhaustive search on %d problems\n", _i,
	       n);
	ck_assert_int_gt(n, 60);
	rng_free(r);
}
END_TEST

/* Sums: reduce-scatter with the gather deferred, all-reduce, and what follows. */
static const char *const sums[][2] = {
	{"P(None, None, unreduced={'y'})", "P(None, None)"},
	{"P('x', None, unreduced={'y'})", "P(None, 'x')"},
	{"P('x', None, unreduced={'y'})", "P('y', 'x')"},
	{"P(None, None, unreduced={'x', 'y'})", "P('x', None)"},
	{"P('x', None, unreduced={'y'})", "P(None, None, unreduced={'y'})"},
};

START_TEST(test_sums)
{
	setup_machine(_i);
	for (size_t k = 0; k < sizeof(sums) / sizeof(sums[0]); k++) {
		ck_assert(compare(case_of_texts(arena, "x=2,y=2", "f32[432,96]",
		                                sums[k][0], sums[k][1])));
		ck_assert(compare(case_of_texts(arena, "x=3,y=3", "f32[43200,963]",
		                                sums[k][0], sums[k][1])));
	}
}
END_TEST

/* It stops when exchanges have taken all that they may. */
START_TEST(test_stopped)
{
	struct problem *p = case_of_texts(arena, "x=2,y=2", "f32[43200,960]",
	                                  "P('x', 'y')", "P('y', 'x')");
	struct types *t = arena_alloc(arena, 1, sizeof(*t));
	struct script script;
	double time_s;

	setup_machine(0);
	ck_assert(types_make(t, p, TYPES_MAX, arena));
	ck_assert_int_eq(search(&script, &time_s, t, NULL, 0), ASTAR_STOPPED);
	ck_assert(!types_make(t, p, 3, arena));
}
END_TEST

/*
 * P('x', None) to P(None, 'x') on x=2, y=2: x may cut the front digit of either
 * dimension, or none; y, which neither end uses, gets a digit of its own, and either
 * prime may go to any of the three: 1 + 2 * 3 + 3 * 2 types.
 */
START_TEST(test_types)
{
	struct problem *p = case_of_texts(arena, "x=2,y=2", "f32[24,8]", "P('x', None)",
	                                  "P(None, 'x')");
	struct types *t = arena_alloc(arena, 1, sizeof(*t));
	int gather = -1;

	ck_assert(types_make(t, p, TYPES_MAX, arena));
	ck_assert_int_eq(t->nprimes, 2);
	ck_assert_int_eq(t->n, 13);
	for (int i = 0; i < t->n; i++)
		if (t->state[i].at[0] == AT_NONE && t->state[i].at[1] == AT_NONE)
			gather = i;
	ck_assert(gather >= 0 && t->tile_bytes[gather] == 24 * 8 * 4);
	/* Half the array is lacked for all of it, and a quarter for the other half. */
	ck_assert(types_received(t, t->from, gather) == 24 * 8 * 4 / 2.);
	ck_assert(types_received(t, t->from, t->to) == 24 * 8 * 4 / 4.);
	ck_assert(types_received(t, gather, t->to) == 0);
	ck_assert(types_exchange(t, t->from, t->to));
	ck_assert(!types_exchange(t, gather, t->to));
	p->memory_limit_bytes = p->memory_bound_bytes;
	ck_assert(types_make(t, p, TYPES_MAX, arena));
	ck_assert_int_eq(t->n, 12);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("best_astar");
	TCase *astar = tcase_create("astar");

	tcase_add_checked_fixture(astar, setup, teardown);
	tcase_set_timeout(astar, 300);
	tcase_add_loop_test(astar, test_random, 0, MACHINES);
	tcase_add_loop_test(astar, test_sums, 0, MACHINES);
	tcase_add_test(astar, test_stopped);
	tcase_add_test(astar, test_types);
	suite_add_tcase(suite, astar);
	return suite;
}
