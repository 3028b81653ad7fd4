#include "cost/steps.h"
#include "tests/tests.h"

#include "bound/bound.h"
#include "planner_case.h"
#include "price/price.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Times of the steps of plans, by any clock. */

static const struct link ici = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
static const struct device device = {.memory_Bps = 8e11, .launch_s = 5e-6};

static const struct part X = {0, 1, 4}, Y = {1, 1, 2};

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct machine *torus(void)
{
	return machine_torus(arena, 2, (int32_t[]){4, 2}, (bool[]){true, true}, ici,
	                     device);
}

static struct machine *ring(void)
{
	return machine_torus(arena, 1, (int32_t[]){8}, (bool[]){true}, ici, device);
}

/*
 * slice y, all-to-all x, all-gather x of f32[480,336]: 480 x 336 x 4 = 645120 bytes, a
 * quarter P('x') 161280, after the slice 80640, after the gather 322560.
 */
static struct plan *three_steps(void)
{
	struct problem *p = case_of_texts(arena, "x=4,y=2", "f32[480,336]", "P('x')",
	                                  "P(None,'x')");
	struct plan *plan = plan_new(arena, p, "test");
	struct move slice = {-1, 1, 2, 1, &Y}, swap = {0, 1, 4, 1, &X};
	struct move gather = {1, -1, 4, 1, &X};

	plan_axes_step(plan, OP_SLICE, &slice, 1);
	plan_axes_step(plan, OP_ALL_TO_ALL, &swap, 1);
	plan_axes_step(plan, OP_ALL_GATHER, &gather, 1);
	return plan;
}

/* A clock that counts calls, says 2 s, and refuses when `left` runs out. */
struct strange {
	int calls, left;
};

static double strange_clock(void *self, const struct schedule *s, char *message,
                            size_t size)
{
	struct strange *c = self;

	ck_assert(s->nrounds > 0);
	c->calls++;
	if (c->left-- > 0)
		return 2;
	snprintf(message, size, "too many");
	return -1;
}

START_TEST(plan_times_are_sums_of_their_parts)
{
	struct plan *plan = three_steps();
	const double local_s[] = {2 * 80640 / 8e11, 4 * 80640 / 8e11, 2 * 322560 / 8e11};
	struct strange clock = {0, 2};
	struct step_time steps[3];
	char message[100];
	double total;

	total = plan_seconds(steps, plan, torus(), NULL, strange_clock, &clock, message,
	                     sizeof(message));
	ck_assert_int_eq(clock.calls, 2);
	ck_assert(total == steps[0].time_s + steps[1].time_s + steps[2].time_s);
	for (int i = 0; i < 3; i++) {
		ck_assert(steps[i].wire_s == (i ? 2 : 0));
		ck_assert(fabs(steps[i].local_s - local_s[i]) < 1e-20);
		ck_assert(steps[i].launch_s == 5e-6);
		ck_assert(steps[i].time_s ==
		          steps[i].wire_s + steps[i].local_s + steps[i].launch_s);
	}
	ck_assert_ptr_null(steps[0].algorithm);
	ck_assert_str_eq(steps[1].algorithm, "bidir-ring");
	clock = (struct strange){0, 1};
	ck_assert(plan_seconds(NULL, plan, torus(), NULL, strange_clock, &clock,
	                       message, sizeof(message)) < 0);
	ck_assert_str_eq(message, "too many");
	plan->nsteps = 0;
	ck_assert(plan_seconds(NULL, plan, torus(), NULL, strange_clock, &clock,
	                       message, sizeof(message)) == 0);
}
END_TEST

/* A clock for plans whose schedules take 3, 2, 1 .. s, the local ones among them 0. */
static double overlapping_clock(void *self, double *wire_s, const struct schedule *s,
                                int n, char *message, size_t size)
{
	double total_s = 0;

	if (self) {
		snprintf(message, size, "%d are too many", n);
		return CLOCK_REFUSED_S;
	}
	for (int i = 0; i < n; i++) {
		wire_s[i] = s[i].nrounds ? n - i : 0;
		total_s += wire_s[i];
	}
	return total_s;
}

static double overlapped_s(struct step_time *times, const struct plan *plan,
                           const struct machine *m, void *self, char *message,
                           size_t size)
{
	struct plan_steps of = {plan, m, NULL};
	struct steps steps = steps_of_plan(&of);

	return steps_seconds_together(times, &steps, overlapping_clock, self, message,
	                              size);
}

/* The plan of above by such a clock: slice, 2 s, 1 s. */
START_TEST(overlapped_times_are_sums_of_their_parts)
{
	struct plan *plan = three_steps();
	struct machine *apart =
		machine_gpu(arena, 2, 4, (struct link){"nvlink", 300e9, 1e-6},
	                    (struct link){"nic", 25e9, 1e-6}, (struct device){0});
	struct step_time whole[3], single[3];
	struct strange clock = {0, 2};
	char message[100] = "";
	double total;

	total = overlapped_s(whole, plan, torus(), NULL, message, sizeof(message));
	ck_assert(total == whole[0].time_s + whole[1].time_s + whole[2].time_s);
	plan_seconds(single, plan, torus(), NULL, strange_clock, &clock, message,
	             sizeof(message));
	for (int i = 0; i < 3; i++) {
		ck_assert(whole[i].wire_s == (i ? 3 - i : 0));
		ck_assert(whole[i].local_s == single[i].local_s);
		ck_assert(whole[i].launch_s == single[i].launch_s);
		ck_assert_ptr_eq(whole[i].algorithm, single[i].algorithm);
		ck_assert(whole[i].time_s ==
		          whole[i].wire_s + whole[i].local_s + whole[i].launch_s);
	}
	ck_assert(overlapped_s(NULL, plan, torus(), &clock, message, sizeof(message)) ==
	          CLOCK_REFUSED_S);
	ck_assert_str_eq(message, "3 are too many");
	apart->nfabrics = 1;
	ck_assert(overlapped_s(NULL, plan, apart, NULL, message, sizeof(message)) ==
	          STEPS_REFUSED_S);
	ck_assert_str_eq(message, "no fabric of gpu joins devices 0 and 4");
	plan->nsteps = 0;
	ck_assert(overlapped_s(NULL, plan, torus(), NULL, message, sizeof(message)) == 0);
}
END_TEST

/* A ring's all-gather is one latency per further step above the bound. */
START_TEST(a_ring_meets_the_bound)
{
	struct problem *p = case_of_texts(arena, "x=8", "f32[480,84]", "P('x')", "P()");
	struct plan *plan = plan_new(arena, p, "test");
	struct part whole = {0, 1, 8};
	struct move move = {0, -1, 8, 1, &whole};
	struct machine *m = ring();
	struct model *model = model_new(m);
	struct step_time step;
	char message[100];

	plan_axes_step(plan, OP_ALL_GATHER, &move, 1);
	ck_assert(plan_seconds(&step, plan, m, NULL, model_clock, model, message,
	                       sizeof(message)) > 0);
	ck_assert(fabs(step.wire_s - 3e-6 - bound_s(p, m, NULL)) < 1e-18);
	model_free(model);
}
END_TEST

/* One way round a ring of 8 takes 7 rounds, where both ways take half the bytes. */
START_TEST(forced_for_times_alone)
{
	struct problem *p = case_of_texts(arena, "x=8", "f32[480,84]", "P('x')", "P()");
	struct plan *plan = plan_new(arena, p, "test");
	struct part whole = {0, 1, 8};
	struct move move = {0, -1, 8, 1, &whole};
	struct machine *m = ring(), *forced = ring();
	struct pricer *free = pricer_new(m, NULL), *priced;
	struct model *model = model_new(forced);
	struct step_time step;
	char message[100];
	double price_s;

	forced->forced.algorithm = "ring";
	priced = pricer_new(forced, NULL);
	plan_axes_step(plan, OP_ALL_GATHER, &move, 1);
	price_s = pricer_prices(free).plan(free, plan).cost;
	ck_assert(pricer_prices(priced).plan(priced, plan).cost == price_s);
	ck_assert(plan_seconds(&step, plan, forced, NULL, model_clock, model, message,
	                       sizeof(message)) > price_s);
	ck_assert(fabs(step.wire_s - 7 * (1e-6 + 480. * 84 * 4 / 8 / 45e9)) < 1e-15);
	forced->forced.algorithm = "pairwise";
	ck_assert(plan_seconds(NULL, plan, forced, NULL, model_clock, model, message,
	                       sizeof(message)) == STEPS_REFUSED_S);
	ck_assert(strstr(message, "pairwise cannot run this all-gather") == message);
	model_free(model);
	pricer_free(free);
	pricer_free(priced);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("steps");
	TCase *c = tcase_create("steps");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, plan_times_are_sums_of_their_parts);
	tcase_add_test(c, overlapped_times_are_sums_of_their_parts);
	tcase_add_test(c, a_ring_meets_the_bound);
	tcase_add_test(c, forced_for_times_alone);
	suite_add_tcase(suite, c);
	return suite;
}
