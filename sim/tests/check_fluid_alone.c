#include "base/rng.h"
#include "clock/fluid.h"
#include "cost/model.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>

/* What the clock `fluid` does without SimGrid, held against SimGrid. */

static bool close_to(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance * fabs(b);
}

/*
 * One task of unbalanced messages with delays and limits: SimGrid has the time that it
 * gets without it; two tasks on one link need SimGrid, which starts then and not before.
 */
START_TEST(a_task_alone_needs_no_simgrid)
{
	struct arena *a = arena_new();
	struct schedule s = {.arena = a};
	struct rng *r = rng_new(7);
	struct fluid *closed, *whole;
	struct platform *p = NULL;
	struct error e = {0};
	char why[80] = "";

	ck_assert_int_eq(platform_read(&p, a, "tpu-7x:2x4x4", NULL, 0, &e), OK);
	closed = fluid_new(p);
	whole = fluid_new(p);
	fluid_whole(whole);
	fluid_closed(closed, true);
	for (int k = 0; k < 200; k++) {
		double time_s, simgrid_s;

		s = (struct schedule){.arena = a};
		schedule_round(&s);
		schedule_task(&s, 1 + (int32_t)rng_below(r, 3));
		schedule_software(&s, 1e-7 * rng_below(r, 20), 1e-6 * rng_below(r, 20));
		for (uint32_t left = 1 + rng_below(r, 40); left; left--) {
			int32_t src = (int32_t)rng_below(r, 64);
			int32_t dst = (int32_t)rng_below(r, 64);

			if (src != dst)
				schedule_message(&s,
				                 machine_fabric(p->machine, src, dst),
				                 src, dst, 1e4 * (1 + rng_below(r, 50)));
		}
		schedule_end(&s);
		time_s = fluid_clock(closed, &s, why, sizeof(why));
		if (k == 0)
			ck_assert_ptr_null(p->host);
		simgrid_s = fluid_clock(whole, &s, why, sizeof(why));
		ck_assert_ptr_nonnull(p->host);
		ck_assert_msg(close_to(time_s, simgrid_s, 1e-9), "%.15g, SimGrid %.15g",
		              time_s, simgrid_s);
	}
	s = (struct schedule){.arena = a};
	schedule_round(&s);
	for (int k = 0; k < 2; k++) {
		schedule_task(&s, 1);
		schedule_message(&s, 0, 0, 1, 1e6);
	}
	schedule_end(&s);
	ck_assert_double_eq(fluid_clock(closed, &s, why, sizeof(why)), CLOCK_REFUSED_S);
	ck_assert_str_eq(why, "needs SimGrid");
	fluid_closed(closed, false);
	ck_assert_double_eq(fluid_clock(closed, &s, why, sizeof(why)),
	                    fluid_clock(whole, &s, why, sizeof(why)));
	fluid_free(closed);
	fluid_free(whole);
	rng_free(r);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("fluid, a task alone");
	TCase *tcase = tcase_create("fluid, a task alone");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, a_task_alone_needs_no_simgrid);
	suite_add_tcase(suite, tcase);
	return suite;
}
