/* Lower bounds on machines that lack cables. */
#include "measure/measure.h"
#include "platform/platform.h"
#include "tests/tests.h"

#include "base/rng.h"
#include "bound/bound.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static struct platform *load(struct arena *a, const char *spec, const char *set)
{
	struct platform *p = NULL;
	struct error e = {0};

	ck_assert_msg(platform_load(&p, a, spec, &set, 1, &e) == OK, "%s", e.text);
	return p;
}

/* An array of bytes on all devices of a machine, along the given axes. */
static struct problem make_problem(struct arena *a, int32_t ndevices, int32_t minor)
{
	struct problem p = {.arena = a, .memory_limit_bytes = -1};
	struct error e = {0};

	p.mesh = (struct mesh){.ndevices = ndevices, .naxes = minor > 1 ? 2 : 1};
	p.mesh.axis[0].name = "x";
	p.mesh.axis[0].size = ndevices / minor;
	p.mesh.axis[1].name = minor > 1 ? "y" : NULL;
	p.mesh.axis[1].size = minor > 1 ? minor : 0;
	p.to_mesh = p.mesh;
	ck_assert(array_parse(&p.array, "u8[4608,4608]", where_option("array", ""),
	                      &e) == OK);
	p.from = layout_replicated(2);
	p.to = layout_replicated(2);
	return p;
}

/*
 * All devices give all others a part, so a set of k of n devices lacks (k/n) (1 - k/n) of
 * the bytes, and so do the others: by hand for the worst cut, with its cables counted.
 */
static const struct {
	const char *spec, *set;
	int32_t n, k;
	int cables;
} cuts[] = {
	/* two rows of two against two, less one of four cables */
	{"tpu-v5e:4x4", "no_link=4-8", 16, 8, 3},
	/* the line 1, 3, 2, 0 in its middle */
	{"tpu-v5e:2x2", "no_link=0-1", 4, 2, 1},
	/* three rows of four that are joined at their left ends: one against two */
	{"tpu-v5e:3x4", "no_link=1-5,2-6,3-7,5-9,6-10,7-11", 12, 4, 1},
	/* half a torus, by two times sixteen cables of which one is missing */
	{"tpu-v4:4x4x4", "no_link=0-1", 64, 32, 31},
	/* one of two columns of sixteen, joined at one end: less is through any else */
	{"tpu-v5e:16x2",
         "no_link=2-3,4-5,6-7,8-9,10-11,12-13,14-15,16-17,18-19,20-21,22-23,24-25,26-"
         "27,"
         "28-29,30-31",
         32, 16, 1},
};

START_TEST(cuts_count_cables)
{
	struct arena *a = arena_new();
	struct platform *platform = load(a, cuts[_i].spec, cuts[_i].set);
	struct problem p = make_problem(a, cuts[_i].n, 1);
	double part = (double)cuts[_i].k / cuts[_i].n, by_hand_s, s;

	layout_append(&p.from, 0, (struct part){0, 1, cuts[_i].n});
	layout_append(&p.to, 1, (struct part){0, 1, cuts[_i].n});
	problem_finish(&p);
	by_hand_s = part * (1 - part) * 4608 * 4608 / (45e9 * cuts[_i].cables) + 1e-6;
	s = bound_s(&p, platform->machine, NULL);
	ck_assert_msg(fabs(s - by_hand_s) <= 1e-9 * by_hand_s, "%g, by hand %g", s,
	              by_hand_s);
	arena_free(a);
}
END_TEST

static const struct {
	const char *spec, *set;
	int32_t n, minor;
} lacking[] = {
	{"tpu-v5e:3x4", "no_link=1-5,2-6,3-7,5-9,6-10,7-11", 12, 3},
	{"tpu-v5e:4x4", "no_link=4-8,5-9,6-10", 16, 4},
	{"tpu-v4:4x4x4", "no_link=0-1,5-21", 64, 8},
	{"tpu-v4:2x2x2", "no_link=0-1", 8, 2},
};

/* No plan of any planner is faster than the bound. */
START_TEST(no_plan_is_faster)
{
	struct arena *a = arena_new();
	struct platform *platform = load(a, lacking[_i].spec, lacking[_i].set);
	struct rng *r = rng_new(7);
	struct bench b;
	int plans = 0;

	bench_init(&b, platform->machine);
	for (int round = 0; round < 12; round++) {
		struct problem p = make_problem(a, lacking[_i].n, lacking[_i].minor);
		double least_s;

		for (int axis = 0; axis < 2; axis++) {
			int from = (int)rng_below(r, 3), to = (int)rng_below(r, 3);
			struct part whole = {axis, 1, p.mesh.axis[axis].size};

			if (from < 2)
				layout_append(&p.from, from, whole);
			if (to < 2)
				layout_append(&p.to, to, whole);
		}
		problem_finish(&p);
		least_s = bound_s(&p, platform->machine, NULL);
		for (int i = 0; planners[i]; i++) {
			struct text why = {0};
			struct plan *plan;

			if (planner_run(planners[i], &plan, &p, &b.prices, a, &why) ==
			    ANSWER_PLAN) {
				double s = b.prices.plan(b.prices.self, plan).cost;

				ck_assert_msg(s >= least_s * (1 - 1e-9),
				              "%s: %g, bound %g", planners[i]->name, s,
				              least_s);
				plans++;
			}
			text_free(&why);
		}
	}
	ck_assert_int_gt(plans, 12);
	bench_free(&b);
	rng_free(r);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("overlay_bound");
	TCase *c = tcase_create("bound");

	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, cuts_count_cables, 0, COUNT(cuts));
	tcase_add_loop_test(c, no_plan_is_faster, 0, COUNT(lacking));
	suite_add_tcase(s, c);
	return s;
}
