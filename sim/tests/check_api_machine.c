/*
 * Machines that shardsim.h reads by the facts of families, against those that the program
 * reads from platform files: plans and seconds of the clock `model` are the same, to the
 * last digit.
 */
#include "base/error.h"
#include "facts/families.h"
#include "measure/library.h"
#include "plan/plan_text.h"
#include "plan/position.h"
#include "platform/platform.h"
#include "price/price.h"
#include "shardsim.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

static const char *const platforms[] = {
	"tpu-v4:4x4x4", "tpu-v5e:4x8",   "tpu-v4:4x4x8_twisted", "tpu-v3:2x16",
	"dgx-a100:4",   "aws-p5en:2",    "gb200-nvl72:1",        "dgx-h100:1",
	"dgx-b200:3",   "tpu-v6e:16x16",
};

/* On at most 8 devices, which every platform has. */
static const struct {
	const char *array, *mesh, *from, *to;
} problems[] = {
	{"bf16[8192,8192]", "x=4,y=2", "P('x', None)", "P(None, 'y')"},
	{"f32[1024,1024]", "x=4,y=2", "P('x', 'y')", "P('y', 'x')"},
	{"f32[1024,1024]", "x=8", "P('x', None)", "P(None, 'x')"},
	{"f32[1024,1024]", "x=8", "P(None, 'x')", "P(None, None)"},
	{"bf16[64,128,256]", "x=2,y=2,z=2", "P('x', 'y', 'z')", "P('z', 'x', 'y')"},
	{"bf16[64,128,256]", "x=2,y=2,z=2", "P(('x', 'z'), 'y')", "P('y', ('z', 'x'))"},
	{"s8[100,30]", "x=4,y=2", "P('x', 'y')", "P(None, 'x')"},
	{"f32[4096]", "x=8", "P(unreduced={'x'})", "P('x')"},
	{"f32[4096]", "x=8", "P(unreduced={'x'})", "P(None)"},
	{"f64[7,1000000]", "x=8", "P(None, 'x')", "P(None, None)"},
};
enum { PROBLEMS = sizeof(problems) / sizeof(*problems) };

/* As `shardsim plan` goes about it: seconds, and the plan's text; or 0, and why not. */
static double by_program(char **plan_text, const char *platform, int i,
                         const char *planner)
{
	struct arena *a = arena_new();
	struct problem_text t = {.array = problems[i].array,
	                         .mesh = problems[i].mesh,
	                         .from = problems[i].from,
	                         .to = problems[i].to};
	struct text why = {0};
	char message[200] = "";
	struct placement on, *place;
	struct problem problem;
	struct pricer *pricer;
	struct prices prices;
	struct machine *m;
	struct model *model;
	struct plan *plan;
	struct error e = {0};
	double s = 0;

	ck_assert(problem_make(&problem, a, &t, &e) == OK);
	ck_assert(platform_machine(&m, a, platform, NULL, 0, &e) == OK);
	ck_assert(library_of_plans(m, &(struct library_text){0}, NULL, &e) == OK);
	position_take(&problem, m);
	on = (struct placement){problem.ndevices, problem.platform};
	place = problem.platform ? &on : NULL;
	pricer = pricer_new(m, place);
	prices = pricer_prices(pricer);
	model = model_new(m);
	if (planner_run(planner_find(planner, strlen(planner)), &plan, &problem,
	                &prices, a, &why) == ANSWER_PLAN) {
		s = plan_seconds(NULL, plan, m, place, model_clock, model, message,
		                 sizeof(message));
		plan_print(&why, plan);
	}
	*plan_text = strdup(why.s);
	text_free(&why);
	model_free(model);
	pricer_free(pricer);
	arena_free(a);
	return s;
}

static double by_library(char **plan_text, const char *platform, int i,
                         const char *planner)
{
	struct shardsim_problem_text t = {.array = problems[i].array,
	                                  .mesh = problems[i].mesh,
	                                  .from = problems[i].from,
	                                  .to = problems[i].to};
	struct shardsim_machine *machine;
	struct shardsim_problem *problem;
	struct shardsim_plan *plan;
	struct shardsim_error e;
	double s = 0;

	ck_assert_msg(shardsim_machine_read(&machine, platform, NULL, &e) == SHARDSIM_OK,
	              "%s", e.text);
	ck_assert(shardsim_problem_read(&problem, &t, &e) == SHARDSIM_OK);
	if (shardsim_plan(&plan, problem, machine, planner, &e) == SHARDSIM_OK) {
		ck_assert(shardsim_price(&s, NULL, plan, machine, &e) == SHARDSIM_OK);
		ck_assert(shardsim_print(plan_text, plan, SHARDSIM_TEXT, &e) ==
		          SHARDSIM_OK);
	} else {
		*plan_text = strdup(e.text);
	}
	shardsim_free(plan);
	shardsim_free(problem);
	shardsim_free(machine);
	return s;
}

START_TEST(seconds_are_the_programs)
{
	static const char *const planners[] = {"synth", "best"};
	char *text[2];

	for (int i = 0; i < PROBLEMS; i++)
		for (int k = 0; k < 2; k++) {
			double s = by_program(&text[0], platforms[_i], i, planners[k]);
			double t = by_library(&text[1], platforms[_i], i, planners[k]);

			ck_assert_str_eq(text[0], text[1]);
			ck_assert(s > 0 || k == 0);
			ck_assert_msg(s == t, "%s, problem %d: %.17g and %.17g",
			              platforms[_i], i, s, t);
			free(text[0]);
			free(text[1]);
		}
}
END_TEST

/* Every family of the data file in its smallest shape of several nodes: read or refused. */
START_TEST(what_wires_must_say_is_refused)
{
	static const struct {
		const char *spec, *why;
	} refused[] = {
		{"tpu-v4:2*4x4x4", "several slices"},
		{"tpu-7x:4x4x4", "chips of several devices"},
		{"mi300x:1", "cables"},
		{"dgx2:2", "NICs that GPUs share"},
	};
	struct shardsim_machine *m;
	struct shardsim_error e;

	ck_assert(shardsim_machine_read(&m, refused[_i].spec, NULL, &e) ==
	          SHARDSIM_NOT_APPLICABLE);
	ck_assert_str_eq(e.of, "machine");
	ck_assert_msg(strstr(e.text, refused[_i].why), "%s", e.text);
	ck_assert_ptr_null(m);
}
END_TEST

START_TEST(bad_names_have_a_place)
{
	static const struct {
		const char *spec, *families;
		enum shardsim_status status;
		const char *of;
	} wrong[] = {
		{"tpu-v9:4", NULL, SHARDSIM_RANGE, "machine"},
		{"tpu-v4", NULL, SHARDSIM_SYNTAX, "machine"},
		{"tpu-v4:4x4xq", NULL, SHARDSIM_SYNTAX, "machine"},
		{"tpu-v4:4x4x999", NULL, SHARDSIM_RANGE, "machine"},
		{"tpu-v4:4x4x4", "no/such.yaml", SHARDSIM_IO, "no/such.yaml"},
		{NULL, NULL, SHARDSIM_MISUSE, "machine"},
	};
	struct shardsim_machine *m;
	struct shardsim_error e;

	ck_assert_msg(shardsim_machine_read(&m, wrong[_i].spec, wrong[_i].families,
	                                    &e) == wrong[_i].status,
	              "%d: %s", e.status, e.text);
	ck_assert_str_eq(e.of, wrong[_i].of);
	ck_assert_ptr_null(m);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("api_machine");
	TCase *c = tcase_create("api_machine");

	tcase_add_loop_test(c, seconds_are_the_programs, 0,
	                    sizeof(platforms) / sizeof(*platforms));
	tcase_add_loop_test(c, what_wires_must_say_is_refused, 0, 4);
	tcase_add_loop_test(c, bad_names_have_a_place, 0, 6);
	suite_add_tcase(suite, c);
	return suite;
}
