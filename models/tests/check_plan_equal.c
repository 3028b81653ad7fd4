#include "plan/plan.h"
#include "tests/tests.h"

#include "plan/plan_json.h"
#include "plan_random.h"
#include "planner/planner.h"

#include <check.h>

#include <string.h>

/*
 * Equal plans, against all that is printed of them: what a program that runs a plan reads
 * is then equal too.
 */

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct plan *run(const struct planner *planner, const struct problem *p)
{
	struct prices prices = prices_bytes;
	struct text why = {0};
	struct plan *plan = NULL;

	if (planner_run(planner, &plan, p, &prices, arena, &why) != ANSWER_PLAN)
		plan = NULL;
	text_free(&why);
	return plan;
}

static bool printed_alike(const struct plan *a, const struct plan *b)
{
	json_t *x = plan_json(a), *y = plan_json(b);
	bool alike = json_equal(x, y) == 1;

	json_decref(x);
	json_decref(y);
	return alike;
}

/* Plans that are made twice are equal; of all others of a problem only those alike. */
START_TEST(equal_plans_print_alike)
{
	struct rng *r = rng_new(41);
	int equal = 0, others = 0;

	for (int k = 0; k < 60; k++) {
		struct problem *p = k % 3 ? random_problem(r, arena, 16)
		                          : random_listed_problem(r, arena, 12);
		struct plan *plan[64];
		int n = 0;

		for (int i = 0; planners[i]; i++) {
			struct plan *one = run(planners[i], p);

			if (!one)
				continue;
			ck_assert(plan_equal(one, run(planners[i], p)));
			plan[n++] = one;
		}
		for (int i = 0; i < n * n; i++) {
			const struct plan *a = plan[i / n], *b = plan[i % n];

			if (plan_equal(a, b)) {
				ck_assert(printed_alike(a, b));
				equal += a != b;
			} else {
				others++;
			}
			ck_assert(plan_equal(a, b) == plan_equal(b, a));
		}
		arena_reset(arena);
	}
	ck_assert_int_gt(equal, 100);
	ck_assert_int_gt(others, 100);
	rng_free(r);
}
END_TEST

/* Changes field number `field` of a step; false where it has none to change. */
static bool change(struct step *s, int field)
{
	switch (field) {
	case 0:
		s->op = s->op == OP_SLICE ? OP_PAD : OP_SLICE;
		return true;
	case 1:
		if (s->groups.ngroups == 0)
			return false;
		s->groups.ids = arena_dup(arena, s->groups.ids,
		                          (size_t)(s->groups.ngroups * s->groups.size),
		                          sizeof(int32_t));
		((int32_t *)s->groups.ids)[s->groups.size - 1]++;
		return true;
	case 2:
		if (s->npairs == 0)
			return false;
		s->pairs = arena_dup(arena, s->pairs, (size_t)s->npairs,
		                     sizeof(*s->pairs));
		((struct pair *)s->pairs)[s->npairs - 1].dst++;
		return true;
	case 3:
		if (s->ntransfers == 0)
			return false;
		s->transfers = arena_dup(arena, s->transfers, (size_t)s->ntransfers,
		                         sizeof(*s->transfers));
		((struct transfer *)s->transfers)[s->ntransfers - 1].elements++;
		return true;
	case 4:
		s->local.dim[0]++;
		return s->local.rank > 0;
	case 5:
		s->after = layout_replicated(s->after.rank + 1);
		return true;
	case 6:
		if (s->nmoves == 0)
			return false;
		s->move = arena_dup(arena, s->move, (size_t)s->nmoves, sizeof(*s->move));
		((struct move *)s->move)[s->nmoves - 1].to_dim++;
		return true;
	default:
		s->recv_bytes++;
		return true;
	}
}

START_TEST(a_changed_step_is_another)
{
	struct rng *r = rng_new(43);
	int changed[8] = {0};

	for (int k = 0; k < 400; k++) {
		struct plan *plan = plan_of_any_kind(r, arena, k), other;

		for (int i = 0; i < plan->nsteps; i++)
			for (int field = 0; field < 8; field++) {
				other = *plan;
				other.step = arena_dup(arena, plan->step,
				                       (size_t)plan->nsteps,
				                       sizeof(*plan->step));
				ck_assert(plan_equal(plan, &other));
				if (!change(&other.step[i], field))
					continue;
				ck_assert(!plan_equal(plan, &other));
				changed[field]++;
			}
		arena_reset(arena);
	}
	for (int field = 0; field < 8; field++)
		ck_assert_int_gt(changed[field], 10);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("plan_equal");
	TCase *c = tcase_create("plan_equal");

	tcase_set_timeout(c, 240);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, equal_plans_print_alike);
	tcase_add_test(c, a_changed_step_is_another);
	suite_add_tcase(suite, c);
	return suite;
}
