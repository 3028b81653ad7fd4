#include "flow_help.h"
#include "tests/tests.h"

#include "array/seat.h"
#include "bound_machine.h"
#include "collective/lower.h"
#include "cost/flow.h"
#include "cost/fluid.h"
#include "cost/model.h"
#include "plan_random.h"
#include "planner_case.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Schedules on tori of odd lengths, on parts of them and on machines put together by hand: all
 * clocks take about as long for them, with rounds or without.
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

/* Lowers the one exchange of a problem; false where that is no schedule. */
static bool lower(struct lowered *out, const struct problem *p, struct machine *m,
                  const int32_t *platform)
{
	struct placement place = {p->ndevices, platform};
	struct plan *plan = NULL;
	struct text why = {0};
	bool done = planner_run(planner_find("direct", 6), &plan, p, &prices_bytes,
	                        arena, &why) == ANSWER_PLAN &&
	            plan->nsteps == 1 &&
	            lower_step(out, arena, m, platform ? &place : NULL, plan, 0, &why) &&
	            out->algorithm && !strcmp(out->algorithm, "scheduled");

	text_free(&why);
	return done;
}

/* Returns what one of the clocks says. */
static double clock_s(int which, const struct machine *m, const struct schedule *s)
{
	struct model *model = model_new(m);
	struct fluid *fluid = fluid_new(m);
	struct flow *flow = flow_new(m);
	char message[200];
	double out = which == 0   ? model_clock(model, s, message, sizeof(message))
	             : which == 1 ? fluid_clock(fluid, s, message, sizeof(message))
	                          : flow_clock(flow, s, message, sizeof(message));

	model_free(model);
	fluid_free(fluid);
	flow_free(flow);
	return out;
}

/* A problem of 1 KiB to 4 GiB on up to 64 devices. */
static struct problem *draw_problem(struct rng *r)
{
	struct mesh mesh = random_mesh(r, 64);
	int64_t side = (int64_t)mesh.ndevices << rng_below(r, 10);
	struct shape extent = {.rank = 2, .dim = {side, side}};
	struct layout from = random_layout(r, &mesh, 2);
	struct layout to = random_layout(r, &mesh, 2);

	return case_of_layouts(arena, &mesh, &extent, &from, &to);
}

/* A torus with room for n devices, of which some axes wrap, and where they sit on it. */
static struct machine *draw_torus(struct rng *r, int32_t n, const int32_t **platform)
{
	int32_t shape[3] = {1, 1, 1};
	int naxes = 1 + (int)rng_below(r, 3);
	bool wrap[3];
	struct machine *m;
	struct seat seat;

	for (int i = 0; i < naxes; i++)
		shape[i] = 2 + (int32_t)rng_below(r, 5);
	while (shape[0] * shape[1] * shape[2] < n)
		shape[rng_below(r, (uint32_t)naxes)]++;
	for (int i = 0; i < 3; i++)
		wrap[i] = shape[i] > 2 && rng_below(r, 2);
	m = machine_torus(arena, naxes, shape, wrap, bound_ici, bound_device);
	*platform = seat_find(&seat, m, n) ? seat_devices(&seat, n, arena) : NULL;
	return m;
}

/* Machines, and which share of all schedules takes the same without rounds, to 5 %. */
static const struct {
	const char *name;
	bool seated; /* on compact parts of tori; else anywhere on machines of all kinds */
	int problems;
	double near, least;
} machines[] = {
	{"tori and parts of them", true, 1000, 0.99, 0.92},
	{"tori, nodes and pods, in any order", false, 600, 0.85, 0.65},
};

/*
 * Fluid takes what the closed form says, for no two tasks of a round share a link of a torus,
 * and those of a switch are one. Without rounds a schedule takes no longer but for what shares
 * of a switch lose, and hardly less: what is left is that whoever is done with a round goes on.
 */
START_TEST(clocks_agree)
{
	struct rng *r = rng_new(41 + (unsigned)_i);
	double least = 1, most = 1;
	int n = 0, near = 0;

	for (int k = 0; k < machines[_i].problems; k++) {
		struct problem *p = draw_problem(r);
		const int32_t *platform = NULL;
		struct machine *m;
		struct lowered lowered;
		double model_s, ratio;

		if (machines[_i].seated) {
			m = draw_torus(r, p->ndevices, &platform);
		} else {
			m = random_machine(r, arena,
			                   p->ndevices + (int32_t)rng_below(r, 3), 1,
			                   true);
			platform = random_order(r, m->ndevices, arena);
		}
		if (lower(&lowered, p, flow_machine(arena, m, true), platform)) {
			model_s = clock_s(0, m, &lowered.schedule);
			ck_assert_double_le(
				fabs(clock_s(1, m, &lowered.schedule) / model_s - 1),
				0.05);
			ratio = clock_s(2, m, &lowered.schedule) / model_s;
			least = fmin(least, ratio);
			most = fmax(most, ratio);
			near += fabs(ratio - 1) <= 0.05;
			n++;
		}
		arena_reset(arena);
	}
	printf("%s: %d schedules, without rounds %.3f to %.3f, %d within 5 %%\n",
	       machines[_i].name, n, least, most, near);
	ck_assert_int_gt(n, 120);
	ck_assert_double_ge(near, machines[_i].near * n);
	ck_assert_double_ge(least, machines[_i].least);
	ck_assert_double_le(most, 1.08);
	rng_free(r);
}
END_TEST

/*
 * 27 chips of 5x3x2, of which some messages pass a chip that has no part in it: a round does
 * not take the latency of these beside the time of the longest others.
 */
START_TEST(rounds_do_not_wait_for_detours)
{
	static const int32_t shape[] = {6, 4, 2};
	static const bool wrap[] = {true, false, false};
	struct link link = {.bandwidth_Bps = 50e9, .latency_s = 1e-6};
	struct machine *m = machine_torus(arena, 3, shape, wrap, link, bound_device);
	struct problem *p = case_of_texts(arena, "x=3,y=3,z=3", "f32[4096,4096]",
	                                  "P('x','y')", "P(('x','y'),'z')");
	struct lowered lowered;
	struct seat seat;
	double model_s;

	m->tuning = tuning_default;
	m->tuning.value[TUNING_SCHEDULED] = 1;
	ck_assert(seat_find(&seat, m, 27));
	ck_assert(lower(&lowered, p, m, seat_devices(&seat, 27, arena)));
	model_s = clock_s(0, m, &lowered.schedule);
	ck_assert_double_le(fabs(clock_s(1, m, &lowered.schedule) / model_s - 1), 1e-6);
	ck_assert_double_le(fabs(clock_s(2, m, &lowered.schedule) / model_s - 1), 0.05);
}
END_TEST

/* Returns how many rounds a schedule has, those that are merged one by one. */
static int32_t count_rounds(const struct schedule *s)
{
	int32_t n = 0;

	for (int64_t r = 0; r < s->nrounds; r++)
		n += s->task[s->round[r].first].repeats;
	return n;
}

/*
 * What each round after the first costs, as a launch would, comes to the time of the same
 * messages; there are no more rounds the more it is, and it is no more than with as many rounds
 * as where they cost nothing.
 */
START_TEST(rounds_may_cost)
{
	static const int32_t shape[] = {4, 4, 4};
	struct machine *m = flow_machine(arena, flow_torus(arena, 3, shape), true);
	struct problem *p = case_of_texts(arena, "x=4,y=4,z=4", "f32[16384,16384]",
	                                  "P('x','y')", "P('y',('z','x'))");
	double before_s = 0;
	int32_t rounds = 0, first = 0;

	for (int k = 0; k < 4; k++) {
		double cost_s = (double[]){0, 1e-6, 5e-6, 2e-5}[k], seconds;
		struct lowered lowered;
		struct schedule *s = &lowered.schedule;

		m->tuning.value[TUNING_SCHEDULED_ROUND_S] = cost_s;
		ck_assert(lower(&lowered, p, m, NULL));
		if (k == 0)
			first = rounds = count_rounds(s);
		else
			ck_assert_int_le(count_rounds(s), rounds);
		rounds = count_rounds(s);
		seconds = clock_s(0, m, s);
		ck_assert_double_le(fabs(clock_s(1, m, s) / seconds - 1), 1e-6);
		ck_assert_double_le(fabs(clock_s(2, m, s) / seconds - 1), 0.05);
		if (k == 0)
			before_s = seconds;
		ck_assert_double_le(seconds, before_s + (first - 1) * cost_s + 1e-12);
		for (int64_t i = 0; i < s->ntasks; i++)
			s->task[i].delay_s = 0;
		ck_assert_double_eq_tol(clock_s(0, m, s) + (rounds - 1) * cost_s,
		                        seconds, 1e-9);
	}
	ck_assert_int_lt(rounds, first);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *tests(void)
{
	Suite *suite = suite_create("flow clocks");
	TCase *c = tcase_create("flow clocks");

	tcase_set_timeout(c, 240);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, clocks_agree, 0, COUNT(machines));
	tcase_add_test(c, rounds_do_not_wait_for_detours);
	tcase_add_test(c, rounds_may_cost);
	suite_add_tcase(suite, c);
	return suite;
}
