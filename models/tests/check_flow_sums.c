#include "flow_help.h"
#include "tests/tests.h"

#include "bound/bound.h"
#include "bound_machine.h"
#include "collective/lower.h"
#include "cost/flow.h"
#include "cost/model.h"
#include "emit/relays.h"
#include "flow/pipeline.h"
#include "flow/relay.h"
#include "plan/check.h"
#include "plan_interpret.h"
#include "plan_random.h"
#include "planner_case.h"
#include "price/price.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Sums as flows that run backwards: that each contribution arrives once, that known optima are
 * met, and that clocks time them as the closed form says.
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

/* --- known optima ----------------------------------------------------------------- */

/*
 * Of V = 16384 bytes that each device contributes to:
 *   reduce-scatter   what a device does not keep of V leaves by all its links: 2 on a ring, 4
 *                    and 6 on tori; along one axis alone by the two of that axis
 *   and more         summed along x while y moves from one dimension to the other: what
 *                    crosses the middle of a ring of 4 along x is summed on either side, half
 *                    of the array by 4 + 4 links; the rest comes along y
 */
static const struct {
	int naxes;
	int32_t shape[3];
	const char *mesh, *from, *to;
	double bytes, most;
} known[] = {
	{1, {8}, "x=8", "P(unreduced={'x'})", "P('x')", 16384 * 7 / 8 / 2., 1.01},
	{1, {5}, "x=5", "P(unreduced={'x'})", "P('x')", 16000 * 4 / 5 / 2., 1.01},
	{2,
         {4, 4},
         "x=4,y=4",
         "P(unreduced={'x','y'})",
         "P('x','y')",
         16384 * 15 / 16 / 4.,
         1.01},
	{2, {4, 4}, "x=4,y=4", "P('y',unreduced={'x'})", "P('y','x')", 3072 / 2., 1.01},
	{2,
         {8, 8},
         "x=8,y=8",
         "P(unreduced={'x','y'})",
         "P(('x','y'))",
         16384 * 63 / 64 / 4.,
         1.02},
	{3,
         {4, 4, 4},
         "x=4,y=4,z=4",
         "P(unreduced={'x','y','z'})",
         "P(('x','y','z'))",
         16384 * 63 / 64 / 6.,
         1.02},
};

START_TEST(known_optima_are_met)
{
	struct machine *m = flow_machine(
		arena, flow_torus(arena, known[_i].naxes, known[_i].shape), false);
	const char *array = known[_i].shape[0] == 5 ? "f32[80,50]" : "f32[64,64]";
	struct problem *p = case_of_texts(arena, known[_i].mesh, array, known[_i].from,
	                                  known[_i].to);
	double least_s = known[_i].bytes / bound_ici.bandwidth_Bps;
	struct found found;

	ck_assert(flow_find(&found, p, m, flow_identity(arena, p->ndevices), FLOW_ALL,
	                    arena));
	printf("%s %s to %s: %.3f of the optimum, depth %d, %d symmetries\n",
	       known[_i].mesh, known[_i].from, known[_i].to,
	       found.flows.busiest_s / least_s, (int)found.flows.depths,
	       (int)found.symmetry.order);
	ck_assert_double_le(bound_s(p, m, NULL), least_s * (1 + 1e-9));
	ck_assert_double_ge(found.flows.busiest_s, least_s * (1 - 1e-9));
	ck_assert_double_le(found.flows.busiest_s, least_s * known[_i].most);
}
END_TEST

/* --- plans ------------------------------------------------------------------------ */

/* Puts what a layout does not use of the axes on a dimension, or leaves it unreduced. */
static void use_rest(struct rng *r, struct layout *l, const struct mesh *m,
                     bool unreduced)
{
	struct layout used = *l;

	for (int x = 0; x < m->naxes; x++)
		for (int32_t pre = 1, end; pre < m->axis[x].size; pre = end) {
			bool is_used = false;

			end = m->axis[x].size;
			for (int dim = 0; dim < used.rank; dim++) {
				struct part have[LAYOUT_PARTS_MAX];
				int k = layout_digits(have, &used, dim);

				while (--k >= 0) {
					if (have[k].axis != x || have[k].pre < pre)
						continue;
					is_used = is_used || have[k].pre == pre;
					if (have[k].pre == pre)
						end = pre * have[k].size;
					else if (!is_used && have[k].pre < end)
						end = have[k].pre;
				}
			}
			if (!is_used)
				layout_append(
					l,
					unreduced ? l->rank
						  : (int)rng_below(r, (uint32_t)l->rank),
					(struct part){x, pre, end / pre});
		}
	layout_normalise(l);
}

/*
 * A problem with a sum. Where it is `bare` no two devices have the same contribution nor want
 * the same sum; else some axes may replicate either end.
 */
static struct problem *draw(struct rng *r, bool bare)
{
	static const int sizes[][4] = {{4},    {2, 2},    {6},   {2, 4},
	                               {3, 2}, {2, 2, 2}, {2, 6}};
	struct mesh mesh = case_mesh(arena, sizes[rng_below(r, 7)]);
	struct shape extent = {.rank = 2, .dim = {24, 48}};
	struct layout from = random_layout(r, &mesh, 2), to = random_layout(r, &mesh, 2);

	if (bare)
		use_rest(r, &to, &mesh, false);
	if (bare || rng_below(r, 2))
		use_rest(r, &from, &mesh, true);
	else if (layout_shards(&from, 0) * layout_shards(&from, 1) == 1)
		layout_append(&from, 2, (struct part){0, 1, mesh.axis[0].size});
	return case_of_layouts(arena, &mesh, &extent, &from, &to);
}

static struct machine *draw_machine(struct rng *r, int32_t n, int k)
{
	if (k % 3 == 0 && n % 2 == 0)
		return machine_gpu(arena, 2, n / 2, bound_nvlink, bound_nic,
		                   bound_device);
	return random_machine(r, arena, n, 1e-4, k % 2);
}

static void prove(const struct plan *plan)
{
	struct text why = {0};
	int wrong;

	ck_assert_msg(plan_check(plan, &why), "%s: %s",
	              case_describe(arena, plan->problem), why.s);
	ck_assert(plan_interpret(plan, arena, &wrong));
}

/* In rounds, relays and all, every contribution arrives once. */
START_TEST(sums_are_plans)
{
	struct rng *r = rng_new(21);
	int n = 0, relayed = 0;

	for (int k = 0; k < 240; k++) {
		struct problem *p = draw(r, true);
		struct machine *m = draw_machine(r, p->ndevices, k);
		struct plan *plan;

		if (p->from.nunreduced > 0) {
			plan = relay_plan(p, m, flow_identity(arena, p->ndevices),
			                  (enum flow_reach)(k % FLOW_REACHES), arena);
			if (plan) {
				prove(plan);
				relayed += plan->nsteps > 2;
				n++;
			}
		}
		arena_reset(arena);
	}
	printf("%d plans of sums proved, %d of several rounds\n", n, relayed);
	ck_assert_int_gt(n, 60);
	ck_assert_int_gt(relayed, 40);
	rng_free(r);
}
END_TEST

/* The same of whole plans by `direct`: with replicas at either end, as said for programs. */
START_TEST(plans_with_replicas)
{
	struct rng *r = rng_new(22);
	int n = 0, steps = 0, rounds = 0;

	for (int k = 0; k < 240; k++) {
		struct problem *p = draw(r, false);
		struct machine *m = draw_machine(r, p->ndevices, k);
		struct plan *plan = NULL;
		struct text why = {0};
		struct pricer *pricer;
		struct prices prices;

		m->tuning = tuning_default;
		m->tuning.value[TUNING_SCHEDULED] = 1;
		pricer = pricer_new(m, NULL);
		prices = pricer_prices(pricer);
		if (p->from.nunreduced > 0 &&
		    planner_run(planner_find("direct", 6), &plan, p, &prices, arena,
		                &why) == ANSWER_PLAN) {
			const struct emission what = {.plan = plan, .machine = m};

			prove(plan);
			prove(emission_relayed(&what, arena)->plan);
			steps += plan->nsteps > 1;
			rounds += emission_relayed(&what, arena)->plan->nsteps >
			          plan->nsteps + 1;
			n++;
		}
		pricer_free(pricer);
		text_free(&why);
		arena_reset(arena);
	}
	printf("%d plans proved, %d with a slice or a gather, %d with relays\n", n,
	       steps, rounds);
	ck_assert_int_gt(n, 80);
	ck_assert_int_gt(steps, 40);
	ck_assert_int_gt(rounds, 20);
	rng_free(r);
}
END_TEST

/* Of a plan in rounds a box less, one twice or one elsewhere is found by both interpreters. */
START_TEST(wrong_sums_are_found)
{
	struct machine *m = flow_torus(arena, 2, (const int32_t[]){2, 4});
	struct problem *p = case_of_texts(arena, "x=8", "f32[64,8]",
	                                  "P(unreduced={'x'})", "P('x')");
	struct plan *plan = relay_plan(p, m, flow_identity(arena, 8), FLOW_ALL, arena);
	int found = 0, tried = 0;

	ck_assert_ptr_nonnull(plan);
	prove(plan);
	for (int i = 0; i < plan->nsteps - 1; i++)
		for (int kind = 0; kind < 3; kind++) {
			struct step *s = &plan->step[i], old = *s;
			struct transfer *t = arena_alloc(
				arena, (size_t)s->ntransfers + 1, sizeof(*t));
			struct text why = {0};
			int wrong;
			bool right;

			memcpy(t, s->transfers, (size_t)s->ntransfers * sizeof(*t));
			s->transfers = t;
			if (kind == 0)
				s->ntransfers--;
			else if (kind == 1)
				t[s->ntransfers++] = t[0];
			else
				t[0].dst = t[0].dst == 7 - t[0].src ? (t[0].dst + 1) % 8
				                                    : 7 - t[0].src;
			if (t[0].src != t[0].dst) {
				right = plan_check(plan, &why);
				ck_assert(right == plan_interpret(plan, arena, &wrong));
				found += !right;
				tried++;
			}
			text_free(&why);
			*s = old;
		}
	printf("%d of %d wrong plans found\n", found, tried);
	ck_assert_int_ge(tried, 9);
	/* a box that goes another way may still arrive in time */
	ck_assert_int_ge(found, tried * 2 / 3);
}
END_TEST

/* --- clocks ----------------------------------------------------------------------- */

/* What sums take by rounds is the closed form, and a clock without rounds agrees. */
START_TEST(clocks_take_the_closed_form)
{
	struct rng *r = rng_new(23);
	double most = 0, least = 2;
	int n = 0;

	for (int k = 0; k < 200; k++) {
		struct problem *p = draw(r, true);
		struct machine *m = draw_machine(r, p->ndevices, k);
		struct plan *plan = NULL;
		struct text why = {0};
		struct lowered lowered;
		struct pricer *pricer;
		struct prices prices;
		struct found found;

		p->array.shape.dim[0] *= 1024;
		p->array.shape.dim[1] *= 64;
		problem_finish(p);
		m->tuning = tuning_default;
		m->tuning.value[TUNING_SCHEDULED] = 1;
		pricer = pricer_new(m, NULL);
		prices = pricer_prices(pricer);
		if (p->from.nunreduced > 0 &&
		    planner_run(planner_find("direct", 6), &plan, p, &prices, arena,
		                &why) == ANSWER_PLAN &&
		    lower_step(&lowered, arena, m, NULL, plan, plan->nsteps - 1, &why) &&
		    !strcmp(lowered.algorithm, "scheduled")) {
			struct model *model = model_new(m);
			struct flow *flow = flow_new(m);
			struct pipeline pipe;
			char message[200];
			double s = model_clock(model, &lowered.schedule, message,
			                       sizeof(message));
			double free_s = flow_clock(flow, &lowered.schedule, message,
			                           sizeof(message));

			ck_assert(flow_find(&found, p, m,
			                    flow_identity(arena, p->ndevices), FLOW_ALL,
			                    arena));
			pipe = pipeline_make(&found.flows, &found.network, 1, arena);
			ck_assert_double_le(s, pipe.seconds * (1 + 1e-9));
			ck_assert_double_ge(s * (1 + 1e-12), bound_s(p, m, NULL));
			most = fmax(most, free_s / s);
			least = fmin(least, free_s / s);
			model_free(model);
			flow_free(flow);
			n++;
		}
		pricer_free(pricer);
		text_free(&why);
		arena_reset(arena);
	}
	printf("%d sums as schedules; without rounds %.3f to %.3f\n", n, least, most);
	ck_assert_int_gt(n, 40);
	ck_assert_double_ge(least, 0.9);
	ck_assert_double_le(most, 1.05);
	rng_free(r);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *tests(void)
{
	Suite *suite = suite_create("flow sums");
	TCase *c = tcase_create("flow sums");

	tcase_set_timeout(c, 240);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, known_optima_are_met, 0, COUNT(known));
	tcase_add_test(c, sums_are_plans);
	tcase_add_test(c, plans_with_replicas);
	tcase_add_test(c, wrong_sums_are_found);
	tcase_add_test(c, clocks_take_the_closed_form);
	suite_add_tcase(suite, c);
	return suite;
}
