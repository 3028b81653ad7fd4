/*
 * The planner shardy on random problems: with axes of powers of two it always finishes,
 * in one round and within the larger tile; with mixed sizes what it refuses is counted.
 */
#include "plan_interpret.h"
#include "plan_random.h"
#include "planner_case.h"
#include "tests/tests.h"

#include "plan/check.h"
#include "planner/shardy/shardy.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t gcd(int64_t a, int64_t b)
{
	return b ? gcd(b, a % b) : a;
}

static struct mesh mesh_of_twos(struct rng *r)
{
	static const char *const name[] = {"x", "y", "z", "w"};
	struct mesh m = {.ndevices = 1};
	int naxes = 1 + (int)rng_below(r, 4);

	for (int i = 0; i < naxes; i++) {
		int32_t size = 2 << rng_below(r, 3);

		if (m.ndevices * size > 64)
			continue;
		m.axis[m.naxes] = (struct axis){.name = name[m.naxes], .size = size};
		m.naxes++;
		m.ndevices *= size;
	}
	return m;
}

/* The smallest shape, times 1 or 3, that both layouts divide. */
static struct problem *problem_between(struct rng *r, struct arena *a,
                                       const struct mesh *m, int rank)
{
	struct layout from = random_layout(r, m, rank), to = random_layout(r, m, rank);
	struct shape shape = {.rank = rank};

	for (int dim = 0; dim < rank; dim++) {
		int64_t s = layout_shards(&from, dim), t = layout_shards(&to, dim);

		shape.dim[dim] = s / gcd(s, t) * t * (rng_below(r, 4) ? 1 : 3);
	}
	return case_of_layouts(a, m, &shape, &from, &to);
}

static struct plan *run(const struct problem *p, struct arena *a, struct text *why)
{
	struct plan *plan = NULL;

	if (planner_run(&planner_shardy, &plan, p, &prices_bytes, a, why) != ANSWER_PLAN)
		return NULL;
	ck_assert_msg(plan_check(plan, why), "%s: %s", case_describe(a, p), why->s);
	return plan;
}

/* A round goes slice, permute, all-to-alls, all-gather; pads may be between. */
static int rounds(const struct plan *plan)
{
	static const int place[OPS] = {
		[OP_PERMUTE] = 1, [OP_ALL_TO_ALL] = 2, [OP_ALL_GATHER] = 3};
	int n = 0, was = 3;

	for (int k = 0; k < plan->nsteps; k++) {
		int is = place[plan->step[k].op];

		if (plan->step[k].op == OP_PAD)
			continue;
		n += is < was || (is == was && is != 2) || n == 0;
		was = is;
	}
	return n;
}

enum { SEEDS = 8, PER_SEED = 1000 };

START_TEST(test_powers_of_two)
{
	struct rng *r = rng_new(100 + (uint64_t)_i);
	struct arena *a = arena_new();

	for (int k = 0; k < PER_SEED; k++) {
		struct mesh m = mesh_of_twos(r);
		struct problem *p = problem_between(r, a, &m, 1 + k % 4);
		struct text why = {0};
		struct plan *plan = run(p, a, &why);
		int wrong_step;

		ck_assert_msg(plan != NULL, "%s: %s", case_describe(a, p), why.s);
		ck_assert_int_le(rounds(plan), 1);
		ck_assert_int_le(plan->peak_array_bytes, p->memory_bound_bytes);
		if (k % 16 == 0)
			ck_assert_msg(plan_interpret(plan, a, &wrong_step),
			              "%s: step %d", case_describe(a, p), wrong_step);
		arena_reset(a);
	}
	arena_free(a);
	rng_free(r);
}
END_TEST

static const char *const reasons[] = {
	"stops unfinished",
	"would change the shape",
	"across devices; Shardy's resharder emits",
	"cannot co-exist",
};

enum { REASONS = sizeof(reasons) / sizeof(reasons[0]) };

static int reason_of(const struct text *why)
{
	for (int i = 0; i < REASONS; i++)
		if (strstr(why->s, reasons[i]))
			return i;
	return REASONS;
}

START_TEST(test_mixed_sizes)
{
	struct rng *r = rng_new(300);
	struct arena *a = arena_new();
	int count[REASONS + 1] = {0}, plans = 0, two_rounds = 0, above = 0;

	for (int k = 0; k < 4000; k++) {
		struct mesh m = random_mesh(r, 120);
		struct problem *p = problem_between(r, a, &m, 1 + k % 3);
		struct text why = {0};
		struct plan *plan = run(p, a, &why);

		if (plan) {
			plans++;
			two_rounds += rounds(plan) == 2;
			above += plan->peak_array_bytes > p->memory_bound_bytes;
		} else {
			ck_assert_msg(reason_of(&why) < REASONS, "%s", why.s);
			count[reason_of(&why)]++;
		}
		text_free(&why);
		arena_reset(a);
	}
	printf("mixed sizes: %d plans, %d of two rounds, %d above the larger tile\n",
	       plans, two_rounds, above);
	for (int i = 0; i < REASONS; i++)
		printf("  %d refused: %s\n", count[i], reasons[i]);
	ck_assert_int_gt(plans, 3000);
	arena_free(a);
	rng_free(r);
}
END_TEST

/*
 * Arrays that no layout need divide: what has a plan is right on every device, and what
 * has none has one of the reasons.
 */
START_TEST(test_uneven)
{
	struct rng *r = rng_new(500 + (uint64_t)_i);
	struct arena *a = arena_new();
	int padded = 0, refused = 0;

	for (int k = 0; k < 1000; k++) {
		struct mesh m = random_mesh(r, 24);
		int rank = 1 + k % 3, wrong_step;
		struct layout from = random_layout(r, &m, rank);
		struct layout to = random_layout(r, &m, rank);
		struct shape shape = {.rank = rank};
		struct text why = {0};
		struct problem *p;
		struct plan *plan;

		for (int dim = 0; dim < rank; dim++)
			shape.dim[dim] = 1 + (int64_t)rng_below(r, 13);
		p = case_of_layouts(a, &m, &shape, &from, &to);
		plan = run(p, a, &why);
		if (plan)
			ck_assert_msg(plan_interpret(plan, a, &wrong_step),
			              "%s: step %d", case_describe(a, p), wrong_step);
		else
			ck_assert_msg(reason_of(&why) < REASONS, "%s: %s",
			              case_describe(a, p), why.s);
		for (int i = 0; plan && i < plan->nsteps; i++)
			padded += plan->step[i].op == OP_PAD;
		refused += !plan;
		text_free(&why);
		arena_reset(a);
	}
	ck_assert_int_gt(padded, 100);
	ck_assert_int_gt(refused, 100);
	arena_free(a);
	rng_free(r);
}
END_TEST

/* Another order of devices: right plans, with a permute at the least. */
START_TEST(test_device_orders)
{
	struct rng *r = rng_new(400);
	struct arena *a = arena_new();
	int plans = 0;

	for (int k = 0; k < 600; k++) {
		struct mesh m = random_mesh(r, 36);
		struct problem *p;
		struct plan *plan;
		struct text why = {0};
		int permutes = 0;

		if (k % 2)
			m.ids = random_order(r, m.ndevices, a);
		p = problem_between(r, a, &m, 1 + k % 3);
		p->to_mesh.ids = random_order(r, m.ndevices, a);
		p->two_meshes = !mesh_equal(&p->mesh, &p->to_mesh);
		problem_finish(p);
		plan = run(p, a, &why);
		for (int i = 0; plan && i < plan->nsteps; i++)
			permutes += plan->step[i].op == OP_PERMUTE;
		if (plan && plan->nsteps && p->two_meshes &&
		    layout_local_elements(&p->to, &p->padded) <
		            shape_elements(&p->padded))
			ck_assert_int_ge(permutes, 1);
		plans += plan != NULL;
		text_free(&why);
		arena_reset(a);
	}
	ck_assert_int_gt(plans, 400);
	arena_free(a);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("shardy_random");
	TCase *tc = tcase_create("shardy_random");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_powers_of_two, 0, SEEDS);
	tcase_add_test(tc, test_mixed_sizes);
	tcase_add_loop_test(tc, test_uneven, 0, 4);
	tcase_add_test(tc, test_device_orders);
	suite_add_tcase(suite, tc);
	return suite;
}
