#include "flow/pipeline.h"
#include "flow_help.h"
#include "tests/tests.h"

#include "bound/bound.h"
#include "bound_machine.h"
#include "cost/flow.h"
#include "cost/model.h"
#include "nccl_help.h"
#include "plan_random.h"
#include "planner/planner.h"
#include "planner_case.h"
#include "price/price.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Flows of data as schedules: clocks time them as their closed form says, and a clock without
 * rounds agrees.
 */

/* The exchange of a whole problem takes what the closed form of the pipeline says. */
START_TEST(clocks_take_the_closed_form)
{
	struct rng *r = rng_new(9);
	int scheduled = 0;

	for (int k = 0; k < 200; k++) {
		struct problem *p = random_problem(r, arena, 16);
		struct machine *m = random_machine(r, arena, p->ndevices, 1e-4, k % 2);
		struct step_time times[1];
		struct model *model;
		struct plan *plan = NULL;
		struct text why = {0};
		struct found found;
		char message[200];
		double time_s;

		m->tuning = tuning_default;
		m->tuning.value[TUNING_SCHEDULED] = 1;
		model = model_new(m);
		if (planner_run(planner_find("direct", 6), &plan, p, &prices_bytes,
		                arena, &why) == ANSWER_PLAN &&
		    plan->nsteps == 1) {
			struct pipeline pipe;

			time_s = plan_seconds(times, plan, m, NULL, model_clock, model,
			                      message, sizeof(message));
			ck_assert_double_gt(time_s, 0);
			if (times[0].algorithm &&
			    !strcmp(times[0].algorithm, "scheduled")) {
				ck_assert(flow_find(&found, p, m,
				                    flow_identity(arena, p->ndevices),
				                    FLOW_ALL, arena));
				pipe = pipeline_make(&found.flows, &found.network, 1,
				                     arena);
				ck_assert_double_le(times[0].wire_s,
				                    pipe.seconds * (1 + 1e-9));
				ck_assert_double_ge(times[0].wire_s * (1 + 1e-12),
				                    bound_s(p, m, NULL));
				scheduled++;
			}
		}
		text_free(&why);
		model_free(model);
		arena_reset(arena);
	}
	ck_assert_int_gt(scheduled, 30);
	rng_free(r);
}
END_TEST

/* Machines of 64 devices, and which have a library of collectives. */
static const struct {
	const char *name;
	int sizes[4]; /* of the mesh */
	int naxes;    /* of the torus; 0: nodes */
	int32_t shape[3];
	bool library;
} unrounded[] = {
	{"4x4x4", {4, 4, 4}, 3, {4, 4, 4}, false},
	{"8x8", {8, 8}, 2, {8, 8}, false},
	{"8 nodes of 8", {8, 8}, 0, {8, 8}, false},
	{"16 nodes of 4", {4, 4, 4}, 0, {16, 4}, false},
	{"8 nodes of 8 with a library", {8, 8}, 0, {8, 8}, true},
};

static struct machine *unrounded_machine(int i)
{
	const int32_t *shape = unrounded[i].shape;
	struct machine *m;

	if (unrounded[i].naxes)
		return flow_machine(arena, flow_torus(arena, unrounded[i].naxes, shape),
		                    true);
	if (!unrounded[i].library)
		return flow_machine(arena,
		                    machine_gpu(arena, shape[0], shape[1], bound_nvlink,
		                                bound_nic, bound_device),
		                    true);
	m = tuned(shape[0], shape[1], 90);
	m->tuning.value[TUNING_SCHEDULED] = 1;
	return m;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns the time of a schedule by the clock `flow` over that of its rounds; 0: none. */
static double flow_over_rounds(const struct problem *p, struct machine *m)
{
	struct lowered lowered;
	struct plan *plan = NULL;
	struct text why = {0};
	double out = 0;

	ck_assert_int_eq(planner_run(planner_find("direct", 6), &plan, p, &prices_bytes,
	                             arena, &why),
	                 ANSWER_PLAN);
	if (plan->nsteps == 1 && lower_step(&lowered, arena, m, NULL, plan, 0, &why) &&
	    lowered.algorithm && !strcmp(lowered.algorithm, "scheduled")) {
		struct flow *flow = flow_new(m);
		struct model *model = model_new(m);
		char message[200];

		out = flow_clock(flow, &lowered.schedule, message, sizeof(message)) /
		      model_clock(model, &lowered.schedule, message, sizeof(message));
		flow_free(flow);
		model_free(model);
	}
	text_free(&why);
	return out;
}

/*
 * A clock without rounds agrees with all: on tori each message has its link, and on switches
 * messages are sent in equal pieces, so that equal shares of a link end together.
 */
START_TEST(schedules_need_no_rounds)
{
	enum { PROBLEMS = 60 };
	struct rng *r = rng_new(17);
	double ratio[PROBLEMS];
	int n = 0;

	for (int k = 0; k < PROBLEMS; k++) {
		struct mesh mesh = case_mesh(arena, unrounded[_i].sizes);
		struct shape extent = {.rank = 2, .dim = {32768, 32768}};
		struct layout from = random_layout(r, &mesh, 2);
		struct layout to = random_layout(r, &mesh, 2);
		struct problem *p = case_of_layouts(arena, &mesh, &extent, &from, &to);

		ratio[n] = flow_over_rounds(p, unrounded_machine(_i));
		n += ratio[n] > 0;
	}
	qsort(ratio, (size_t)n, sizeof(*ratio), by_size);
	printf("%s: %d of %d problems are schedules; without rounds %.3f to %.3f, "
	       "median "
	       "%.3f\n",
	       unrounded[_i].name, n, PROBLEMS, ratio[0], ratio[n - 1], ratio[n / 2]);
	ck_assert_int_gt(n, 30);
	ck_assert_double_ge(ratio[0], 0.95);
	ck_assert_double_le(ratio[n - 1], 1.05);
	rng_free(r);
}
END_TEST

/*
 * What is relayed is held beside the arrays of the plan: chunks are as small as the memory
 * asks for, and where there is none left every message goes straight.
 */
START_TEST(relays_fit_into_memory)
{
	struct machine *m = flow_torus(arena, 2, (const int32_t[]){8, 8});
	struct problem *p = case_of_texts(arena, "x=8,y=8", "f32[8192,8192]",
	                                  "P('x','y')", "P('y','x')");
	struct lowered lowered;
	struct plan *plan = NULL;
	struct text why = {0};
	int64_t free_bytes;

	m->tuning = tuning_default;
	m->tuning.value[TUNING_SCHEDULED] = 1;
	ck_assert_int_eq(planner_run(planner_find("direct", 6), &plan, p, &prices_bytes,
	                             arena, &why),
	                 ANSWER_PLAN);
	ck_assert(lower_step(&lowered, arena, m, NULL, plan, 0, &why));
	ck_assert_str_eq(lowered.algorithm, "scheduled");
	free_bytes = lowered.relay_bytes;
	ck_assert_int_gt(free_bytes, 0);
	p->device_memory_bytes = plan->peak_live_bytes + free_bytes / 2;
	ck_assert(lower_step(&lowered, arena, m, NULL, plan, 0, &why));
	ck_assert_str_eq(lowered.algorithm, "scheduled");
	ck_assert_int_gt(lowered.relay_bytes, 0);
	ck_assert_int_le(lowered.relay_bytes, free_bytes / 2);
	p->device_memory_bytes = plan->peak_live_bytes;
	ck_assert(lower_step(&lowered, arena, m, NULL, plan, 0, &why));
	ck_assert_str_eq(lowered.algorithm, "direct");
	ck_assert_int_eq(lowered.relay_bytes, 0);
}
END_TEST

/*
 * An all-to-all of 8 nodes of 8 has 7 peers of each device across the network, of its own
 * rail, whom the whole schedule pays for once, and a step of Simple.
 */
START_TEST(rails_have_few_peers)
{
	struct machine *m = tuned(8, 8, 90);
	struct problem *p = case_of_texts(arena, "x=8,y=8", "f32[32768,32768]",
	                                  "P(('x','y'))", "P(None,('x','y'))");
	struct lowered lowered;
	struct plan *plan = NULL;
	struct text why = {0};
	double delay_s = 0;
	int32_t links[2];
	int64_t across = 0;

	m->tuning.value[TUNING_SCHEDULED] = 1;
	ck_assert_int_eq(machine_route(m, 1, 0, 8, links, 2), 2);
	ck_assert_int_eq(planner_run(planner_find("direct", 6), &plan, p, &prices_bytes,
	                             arena, &why),
	                 ANSWER_PLAN);
	ck_assert(lower_step(&lowered, arena, m, NULL, plan, 0, &why));
	ck_assert_str_eq(lowered.algorithm, "scheduled");
	for (int64_t i = 0; i < lowered.schedule.ntasks; i++) {
		const struct task *t = &lowered.schedule.task[i];
		const struct message *message = lowered.schedule.message + t->first;

		for (int64_t k = 0; k < t->nmessages; k++)
			ck_assert(message[k].fabric == 0 ||
			          message[k].src % 8 == message[k].dst % 8);
		across += message->fabric == 1;
		delay_s += message->fabric == 1 ? t->delay_s : 0;
	}
	ck_assert_int_gt(across, 1);
	ck_assert_double_eq_tol(delay_s,
	                        fmax(0, 7 * NET_SEND_S + far_s(7) +
	                                        12 * 131072 / SHARE / nic.bandwidth_Bps -
	                                        m->link[links[0]].latency_s -
	                                        m->link[links[1]].latency_s),
	                        1e-12);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *tests(void)
{
	Suite *suite = suite_create("flow schedules");
	TCase *c = tcase_create("flow schedules");

	tcase_set_timeout(c, 240);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, clocks_take_the_closed_form);
	tcase_add_loop_test(c, schedules_need_no_rounds, 0, COUNT(unrounded));
	tcase_add_test(c, relays_fit_into_memory);
	tcase_add_test(c, rails_have_few_peers);
	suite_add_tcase(suite, c);
	return suite;
}
