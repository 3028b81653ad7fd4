#include "measure/links.h"
#include "tests/tests.h"

#include "trace_case.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/*
 * On a line of five, 300 bytes from 0 to 2 cross two links, 70 bytes from 1 to 2 the
 * second of them, 11 bytes from 2 to 1 the other direction.
 */
START_TEST(adds_up_over_messages)
{
	struct arena *a = arena_new();
	int32_t shape[] = {5};
	bool wrap[] = {false};
	struct machine *m = machine_torus(
		a, 1, shape, wrap, (struct link){NULL, 45e9, 1e-6}, (struct device){0});
	const int32_t *port = m->fabric[0].port; /* [2 * d]: on, [2 * d + 1]: back */
	struct links *w = links_new(m);
	const struct link_load *load;
	struct schedule s = {.arena = a};

	schedule_round(&s);
	schedule_task(&s, 1);
	schedule_message(&s, 0, 0, 2, 300);
	schedule_message(&s, 0, 1, 2, 70);
	schedule_task(&s, 1);
	schedule_message(&s, 0, 2, 1, 11);
	schedule_end(&s);
	for (int again = 0; again < 2; again++) {
		double bytes[16] = {0};

		ck_assert_int_eq(links_of_tasks(&load, w, &s, 0, 2), 3);
		for (int i = 0; i < 3; i++) {
			ck_assert(i == 0 || load[i].link > load[i - 1].link);
			bytes[load[i].link] = load[i].bytes;
		}
		ck_assert_double_eq(bytes[port[0]], 300);
		ck_assert_double_eq(bytes[port[2]], 370);
		ck_assert_double_eq(bytes[port[5]], 11);
	}
	ck_assert_int_eq(links_of_tasks(&load, w, &s, 1, 1), 1);
	ck_assert_int_eq(load[0].link, port[5]);
	ck_assert_int_eq(links_of_tasks(&load, w, &s, 0, 0), 0);
	links_free(w);
	arena_free(a);
}
END_TEST

/*
 * A ring all-gather of four tiles of 16 MiB on a switch: every device of the groups sends
 * and receives three of them, over its two links, so all 16 links are equally busy.
 */
START_TEST(ring_on_a_switch)
{
	static const struct trace_text text = {"dgx-a100:1",   "bf16[8192,8192]",
	                                       "x=4,y=2",      "P('x', 'y')",
	                                       "P(None, 'y')", NULL};
	const double tile_bytes = 8192. * 8192 * 2 / 8;
	struct links_report r;
	struct measurement m;
	struct trace_case c;
	struct timed t;

	trace_case_make(&c, &text);
	trace_case_measure(&m, &c, "synth");
	t = timed_plan(&m, &c.bench, c.arena);
	links_measure(&r, &c.bench, &t, 1000, c.arena);
	ck_assert_int_eq(m.plan->nsteps, 1);
	ck_assert_int_eq(r.total.used, 16);
	ck_assert_int_eq(r.total.n, 16);
	ck_assert_int_eq(r.step[0].used, 16);
	for (int i = 0; i < 16; i++) {
		const struct link_load *load = &r.step[0].load[i];

		ck_assert_double_eq(load->bytes, 3 * tile_bytes);
		ck_assert_double_eq(r.total.load[i].bytes, 3 * tile_bytes);
		ck_assert(i == 0 || load->link > load[-1].link);
		ck_assert_double_eq_tol(links_busy(&c.bench, &t, 0, 0, load),
		                        3 * tile_bytes / 235e9 / m.step[0][0].time_s,
		                        1e-12);
	}
	trace_case_free(&c);
}
END_TEST

static const struct trace_text texts[] = {
	{"tpu-v4:4x4x4", "bf16[192,320,48]", "x=4,y=16", "P('x', None, None)",
         "P(None, 'y', None)", NULL},
	{"tpu-v5e:4x8", "f32[96,96,8]", "x=4,y=8", "P('x', 'y')", "P('y', 'x')", NULL},
	{"dgx-a100:2", "bf16[48,80]", "x=8,y=2", "P(('x', 'y'), None)", "P(None, 'x')",
         NULL},
	{"dgx-h100:3", "bf16[96,96]", "x=3,y=8", "P('y', 'x')", "P('x', 'y')", NULL},
	{"mi300x:1", "f32[80,48]", "x=2,y=4", "P('x', None)", "P(None, ('y', 'x'))",
         NULL},
	{"dgx1-v100:1", "f32[80,56]", "x=2,y=4", "P('x', 'y')", "P(None, ('y', 'x'))",
         NULL},
	{"gb200-nvl72:1", "f32[81,72]", "x=9,y=8", "P('x', None)", "P(None, 'y')", NULL},
};

/* The busiest come first, and the total is the sum of the steps. */
static void check_top(const struct trace_case *c, const struct links_report *r)
{
	const struct machine *machine = c->bench.machine;
	double *sum = arena_alloc(c->arena, (size_t)machine->nlinks, sizeof(*sum));

	for (int i = -1; i < r->of.steps.n; i++) {
		const struct links_top *top = i < 0 ? &r->total : &r->step[i];

		ck_assert_int_eq(top->n, top->used);
		for (int32_t k = 0; k < top->n; k++) {
			const struct link_load *load = &top->load[k];
			double was, is = links_busy(&c->bench, &r->of, 0, i, load);

			sum[load->link] += (i < 0 ? -1 : 1) * load->bytes;
			if (k) {
				was = links_busy(&c->bench, &r->of, 0, i, load - 1);
				ck_assert(was >= is * (1 - 1e-15));
			}
		}
	}
	for (int32_t l = 0; l < machine->nlinks; l++)
		ck_assert_double_eq_tol(sum[l], 0, 1e-6);
}

/* No clock moves more over a link than its bandwidth allows, in any step of any plan. */
START_TEST(never_over_bandwidth)
{
	struct trace_case c;
	int timed = 0;

	trace_case_make(&c, &texts[_i]);
	for (int p = 0; planners[p]; p++) {
		struct links_report r;
		struct measurement m;
		struct timed t;

		trace_case_measure(&m, &c, planners[p]->name);
		if (m.status != OUTCOME_OK)
			continue;
		t = timed_plan(&m, &c.bench, c.arena);
		links_measure(&r, &c.bench, &t, INT32_MAX, c.arena);
		for (int k = 0; k < 2; k++)
			for (int i = -1; i < m.plan->nsteps; i++) {
				const struct links_top *top =
					i < 0 ? &r.total : &r.step[i];
				double busy = top->n ? links_busy(&c.bench, &t, k, i,
				                                  &top->load[0])
				                     : 0;

				ck_assert_msg(busy <= 1 + 1e-9,
				              "%s, step %d by %s: %.12g", m.planner, i,
				              c.bench.clock[k]->name, busy);
				timed += busy > 0;
			}
		check_top(&c, &r);
	}
	ck_assert_int_ge(timed, 8);
	trace_case_free(&c);
}
END_TEST

START_TEST(at_most_so_many)
{
	struct links_report r;
	struct measurement m;
	struct trace_case c;
	struct timed t;
	json_t *json;

	trace_case_make(&c, &texts[0]);
	trace_case_measure(&m, &c, "synth");
	t = timed_plan(&m, &c.bench, c.arena);
	links_measure(&r, &c.bench, &t, 3, c.arena);
	ck_assert_int_eq(r.total.n, 3);
	ck_assert_int_gt(r.total.used, 3);
	json = links_json(&r, &c.bench);
	ck_assert_int_eq(json_array_size(json_object_get(json, "total")), 3);
	ck_assert_int_eq(json_array_size(json_object_get(json, "steps")),
	                 m.plan->nsteps);
	ck_assert_int_eq(json_integer_value(json_object_get(json, "used")),
	                 r.total.used);
	json_decref(json);
	trace_case_free(&c);
}
END_TEST

/* Nothing moves, or there is no plan: no link is used, which the text says. */
START_TEST(nothing_to_show)
{
	static const struct trace_text text = {"tpu-v5e:2x2", "f32[8,8]", "x=4",
	                                       "P('x')",      "P('x')",   NULL};
	struct measurement m, none = {.planner = "none", .message = ""};
	struct links_report r;
	struct text out = {0};
	struct trace_case c;
	struct timed t;

	trace_case_make(&c, &text);
	trace_case_measure(&m, &c, "synth");
	t = timed_plan(&m, &c.bench, c.arena);
	links_measure(&r, &c.bench, &t, 5, c.arena);
	ck_assert_int_eq(r.total.used, 0);
	links_text(&out, &r, &c.bench, c.arena);
	ck_assert_str_eq(out.s, "  no link carries anything\n");
	t = timed_plan(&none, &c.bench, c.arena);
	links_measure(&r, &c.bench, &t, 5, c.arena);
	ck_assert_int_eq(r.total.used, 0);
	text_free(&out);
	trace_case_free(&c);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("links");
	TCase *t = tcase_create("links");

	tcase_add_test(t, adds_up_over_messages);
	tcase_add_test(t, ring_on_a_switch);
	tcase_add_loop_test(t, never_over_bandwidth, 0, COUNT(texts));
	tcase_add_test(t, at_most_so_many);
	tcase_add_test(t, nothing_to_show);
	suite_add_tcase(suite, t);
	return suite;
}
