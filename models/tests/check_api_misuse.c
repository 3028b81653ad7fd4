/*
 * What the functions of shardsim.h say of misuse: bad texts, planners that do wrong,
 * arguments that are not there and limits that nothing meets.
 */
#include "planner/planner.h"
#include "shardsim.h"
#include "tests/api_sample.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum answer plan_nothing(struct plan **out, const struct problem *p,
                                const struct prices *prices, struct arena *arena,
                                struct text *why)
{
	(void)out, (void)p, (void)prices, (void)arena, (void)why;
	return ANSWER_PLAN;
}

static enum answer plan_empty(struct plan **out, const struct problem *p,
                              const struct prices *prices, struct arena *arena,
                              struct text *why)
{
	(void)prices, (void)why;
	*out = plan_new(arena, p, "empty");
	plan_finish(*out);
	return ANSWER_PLAN;
}

/* A slice by an axis that cuts another dimension already, which plan.h forbids. */
static enum answer plan_illegal(struct plan **out, const struct problem *p,
                                const struct prices *prices, struct arena *arena,
                                struct text *why)
{
	struct part x = {.axis = 0, .pre = 1, .size = 2};
	struct move slice = {
		.from_dim = -1, .to_dim = 1, .factor = 2, .nparts = 1, .parts = &x};

	(void)prices, (void)why;
	*out = plan_new(arena, p, "illegal");
	plan_axes_step(*out, OP_SLICE, &slice, 1);
	return ANSWER_PLAN;
}

/* What a planner of one's own does wrong is an error, not the end. */
START_TEST(planners_may_be_wrong)
{
	static const struct {
		struct planner planner;
		enum shardsim_status status;
	} wrong[] = {
		{{.name = "nothing", .plan = plan_nothing}, SHARDSIM_NOT_APPLICABLE},
		{{.name = "empty", .plan = plan_empty}, SHARDSIM_WRONG},
		{{.name = "illegal", .plan = plan_illegal}, SHARDSIM_FAULT},
	};
	struct shardsim_problem *p =
		sample_problem("f32[64,64]", "x=2", "P('x', None)", "P(None, None)");
	struct shardsim_plan *plan = (struct shardsim_plan *)p;
	struct shardsim_error e;

	ck_assert(shardsim_planner_add(&wrong[_i].planner, NULL) == SHARDSIM_OK);
	ck_assert_msg(shardsim_plan(&plan, p, NULL, wrong[_i].planner.name, &e) ==
	                      wrong[_i].status,
	              "%d: %s", e.status, e.text);
	ck_assert(e.text[0]);
	ck_assert_ptr_null(plan);
	shardsim_free(p);
}
END_TEST

/* Bad texts: which of them, and where. */
static const struct {
	struct shardsim_problem_text text;
	enum shardsim_status status;
	const char *of;
	unsigned column;
} bad[] = {
	{{"f33[8]", "x=4", NULL, "P('x')", "P()", NULL, NULL, NULL, NULL},
         SHARDSIM_TYPE,
         "array",
         1},
	{{"f32[8]", "x=4,x=2", NULL, "P('x')", "P()", NULL, NULL, NULL, NULL},
         SHARDSIM_TYPE,
         "mesh",
         5},
	{{"f32[8]", "x=4", NULL, "P('z')", "P()", NULL, NULL, NULL, NULL},
         SHARDSIM_TYPE,
         "from",
         4},
	{{"f32[8]", "x=4", NULL, "P('x')", "P('x', 'x')", NULL, NULL, NULL, NULL},
         SHARDSIM_TYPE,
         "to",
         0},
	{{"f32[8]", "x=4", NULL, "P('x')", "P()", "2GoB", NULL, NULL, NULL},
         SHARDSIM_SYNTAX,
         "memory_limit",
         3},
	{{"f32[8]", "x=4", NULL, "P('x')", "P()", NULL, NULL, "0-2", NULL},
         SHARDSIM_TYPE,
         "devices",
         1},
	{{"f32[8]", "x=99999999", NULL, "P('x')", "P()", NULL, NULL, NULL, NULL},
         SHARDSIM_RANGE,
         "mesh",
         3},
	{{"f32[8]", "x=4", NULL, NULL, "P()", NULL, NULL, NULL, NULL},
         SHARDSIM_MISUSE,
         "from",
         0},
};

START_TEST(bad_texts_have_a_place)
{
	struct shardsim_problem *p = (struct shardsim_problem *)&p;
	struct shardsim_error e;

	ck_assert_msg(shardsim_problem_read(&p, &bad[_i].text, &e) == bad[_i].status,
	              "%d: %s", e.status, e.text);
	ck_assert_int_eq(e.status, bad[_i].status);
	ck_assert_ptr_null(p);
	ck_assert_str_eq(e.of, bad[_i].of);
	if (bad[_i].column)
		ck_assert_uint_eq(e.column, bad[_i].column);
	ck_assert(e.text[0]);
	ck_assert(shardsim_problem_read(&p, &bad[_i].text, NULL) == bad[_i].status);
}
END_TEST

#define IS(status_, call)                                                              \
	ck_assert_msg((call) == SHARDSIM_##status_, #call ": %d, %s", e.status, e.text)

/* Every function of problems and plans with NULL or another handle in place of each that it needs. */
START_TEST(misuse_is_an_error)
{
	struct shardsim_problem *p =
		sample_problem("f32[64]", "x=4", "P('x')", "P(None)");
	struct shardsim_machine *m = sample_machine(4), *small = sample_machine(2);
	struct shardsim_plan *plan = sample_plan_of(p, m, "synth"), *out_plan;
	const void *const wrong[] = {NULL, m};
	struct shardsim_figures figures;
	struct shardsim_bound bound;
	struct shardsim_layout *layout;
	struct shardsim_mesh *mesh;
	struct shardsim_problem *out_p;
	struct shardsim_step step;
	struct shardsim_error e;
	double s;
	char *text;

	for (int i = 0; i < 2; i++) {
		IS(MISUSE, shardsim_layout_read(&layout, wrong[i], "f32[]", "P()", &e));
		IS(MISUSE, shardsim_layout_print(&text, wrong[i], NULL, &e));
		IS(MISUSE, shardsim_problem_new(&out_p, wrong[i], wrong[i], -1, &e));
		IS(MISUSE, shardsim_plan(&out_plan, wrong[i], NULL, "best", &e));
		IS(MISUSE, shardsim_plan_read(&out_plan, wrong[i], "", &e));
		IS(MISUSE, shardsim_check(wrong[i], &e));
		IS(MISUSE, shardsim_figures(&figures, wrong[i], &e));
		IS(MISUSE, shardsim_step(&step, wrong[i], 0, &e));
		IS(MISUSE, shardsim_print(&text, wrong[i], SHARDSIM_TEXT, &e));
		IS(MISUSE, shardsim_price(&s, NULL, wrong[i], m, &e));
		IS(MISUSE, shardsim_bound(&bound, wrong[i], m, &e));
	}
	IS(MISUSE, shardsim_mesh_read(&mesh, NULL, &e));
	IS(MISUSE, shardsim_mesh_read(NULL, "x=2", &e));
	IS(MISUSE, shardsim_problem_read(&out_p, NULL, &e));
	IS(MISUSE, shardsim_plan(NULL, p, NULL, "best", &e));
	IS(MISUSE, shardsim_plan(&out_plan, p, NULL, NULL, &e));
	IS(MISUSE, shardsim_plan(&out_plan, p, (void *)p, "best", &e));
	IS(RANGE, shardsim_plan(&out_plan, p, NULL, "bst", &e));
	IS(RANGE, shardsim_plan(&out_plan, p, small, "best", &e));
	IS(RANGE, shardsim_price(&s, NULL, plan, small, &e));
	IS(RANGE, shardsim_bound(&bound, p, small, &e));
	IS(MISUSE, shardsim_price(&s, NULL, plan, NULL, &e));
	IS(MISUSE, shardsim_price(NULL, NULL, plan, m, &e));
	IS(MISUSE, shardsim_step(&step, plan, -1, &e));
	IS(MISUSE, shardsim_step(&step, plan, 1, &e));
	IS(MISUSE, shardsim_print(&text, plan, 2, &e));
	IS(SYNTAX, shardsim_plan_read(&out_plan, p, "{\"steps\": [", &e));
	IS(SYNTAX, shardsim_plan_read(&out_plan, p, "{}", &e));
	IS(SYNTAX, shardsim_plan_read(&out_plan, p, "glide", &e));
	shardsim_free(NULL);
	shardsim_free(p);
	shardsim_free(m);
	shardsim_free(small);
	shardsim_free(plan);
}
END_TEST

START_TEST(machines_that_cannot_be)
{
	struct shardsim_link link = {.bandwidth_Bps = 1e9, .latency_s = 1e-6},
			     none = {0};
	struct shardsim_device device = {.launch_s = 5e-6}, odd = {.launch_s = NAN};
	const int32_t shape[] = {1 << 20, 1 << 20}, zero[] = {0};
	struct shardsim_machine *out_m;
	struct shardsim_error e;

	IS(RANGE, shardsim_machine_torus(&out_m, 2, shape, NULL, link, device, &e));
	IS(RANGE, shardsim_machine_torus(&out_m, 1, zero, NULL, link, device, &e));
	IS(RANGE, shardsim_machine_torus(&out_m, 7, shape, NULL, link, device, &e));
	IS(RANGE, shardsim_machine_torus(&out_m, 0, shape, NULL, link, device, &e));
	IS(MISUSE, shardsim_machine_torus(&out_m, 1, NULL, NULL, link, device, &e));
	IS(RANGE, shardsim_machine_nodes(&out_m, 1, 8, none, link, device, &e));
	IS(RANGE, shardsim_machine_nodes(&out_m, 2, 8, link, none, device, &e));
	IS(OK, shardsim_machine_nodes(&out_m, 1, 8, link, none, device, &e));
	shardsim_free(out_m);
	IS(RANGE, shardsim_machine_nodes(&out_m, 1, 8, link, link, odd, &e));
	IS(RANGE, shardsim_machine_nodes(&out_m, -1, 8, link, link, device, &e));
	ck_assert_ptr_null(out_m);
	ck_assert_int_eq(shardsim_machine_devices(NULL), 0);
}
END_TEST

/* 4 devices on 4x8 chips sit on 2x2 of them; a plan's bytes go over links of those. */
START_TEST(a_small_mesh_sits_on_a_slice)
{
	const struct shardsim_link link = {1e9, 1e-6};
	const int32_t shape[] = {4, 8}, on[] = {0, 1, 8, 9};
	const bool wrap[] = {false, false};
	struct shardsim_problem *p =
		sample_problem("f32[4000000]", "x=4", "P('x')", "P(None)");
	struct shardsim_machine *m;
	struct shardsim_bound bound;
	struct shardsim_error e;
	int32_t device[4], n = 0;

	ck_assert(shardsim_machine_torus(&m, 2, shape, wrap, link,
	                                 (struct shardsim_device){1e9, 0, 0},
	                                 NULL) == SHARDSIM_OK);
	ck_assert(shardsim_place(NULL, &n, p, m, NULL) == SHARDSIM_OK && n == 4);
	ck_assert(shardsim_place(device, &n, p, m, NULL) == SHARDSIM_OK);
	ck_assert_mem_eq(device, on, sizeof(on));
	/* 12 MB into a corner of two links, and a hop. */
	ck_assert(shardsim_bound(&bound, p, m, NULL) == SHARDSIM_OK);
	ck_assert_double_eq_tol(bound.seconds, 6e-3 + 1e-6, 1e-9);
	n = 3;
	IS(RANGE, shardsim_place(device, &n, p, m, &e));
	IS(MISUSE, shardsim_place(device, NULL, p, m, &e));
	shardsim_free(m);
	shardsim_free(p);
}
END_TEST

START_TEST(a_memory_limit_may_be_too_low)
{
	struct shardsim_problem_text text = {.array = "f32[64]",
	                                     .mesh = "x=4",
	                                     .from = "P('x')",
	                                     .to = "P(None)",
	                                     .memory_limit = "255"};
	struct shardsim_problem *p;
	struct shardsim_plan *plan;
	struct shardsim_error e;

	ck_assert(shardsim_problem_read(&p, &text, &e) == SHARDSIM_OK);
	ck_assert(shardsim_plan(&plan, p, NULL, "best", &e) == SHARDSIM_OVER_MEMORY);
	ck_assert_ptr_nonnull(strstr(e.text, "256"));
	shardsim_free(p);
}
END_TEST

/* A tile of 64 B is gathered to 256 B: 320 B at once, which a machine has or not. */
START_TEST(devices_may_be_too_small)
{
	struct shardsim_problem_text text = {
		.array = "f32[64]", .mesh = "x=4", .from = "P('x')", .to = "P(None)"};
	const struct shardsim_link link = {1e9, 1e-6};
	static const struct {
		double bytes; /* 0: not known */
		const char *limit, *says;
	} cases[] = {{320, NULL, NULL},
	             {319, NULL, "needs 320 B, the device has 319 B"},
	             {0, NULL, NULL},
	             {319, "none", NULL},
	             {64, "256", "needs 320 B, the device has 64 B"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct shardsim_device device = {.memory_bytes = cases[i].bytes};
		struct shardsim_machine *m;
		struct shardsim_problem *p;
		struct shardsim_plan *plan;
		struct shardsim_error e;
		enum shardsim_status status;

		text.memory_limit = cases[i].limit;
		ck_assert(shardsim_machine_torus(&m, 1, (int32_t[]){4}, NULL, link,
		                                 device, &e) == SHARDSIM_OK);
		ck_assert(shardsim_problem_read(&p, &text, &e) == SHARDSIM_OK);
		status = shardsim_plan(&plan, p, m, "xla", &e);
		if (cases[i].says) {
			ck_assert_int_eq(status, SHARDSIM_OVER_MEMORY);
			ck_assert_str_eq(e.text, cases[i].says);
			/* What one machine lacks stays with it. */
			status = shardsim_plan(&plan, p, NULL, "xla", &e);
		}
		ck_assert_int_eq(status, SHARDSIM_OK);
		shardsim_free(plan);
		shardsim_free(p);
		shardsim_free(m);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("api_misuse");
	TCase *c = tcase_create("api_misuse");

	tcase_add_loop_test(c, planners_may_be_wrong, 0, 3);
	tcase_add_loop_test(c, bad_texts_have_a_place, 0, sizeof(bad) / sizeof(*bad));
	tcase_add_test(c, misuse_is_an_error);
	tcase_add_test(c, machines_that_cannot_be);
	tcase_add_test(c, a_small_mesh_sits_on_a_slice);
	tcase_add_test(c, a_memory_limit_may_be_too_low);
	tcase_add_test(c, devices_may_be_too_small);
	suite_add_tcase(suite, c);
	return suite;
}
