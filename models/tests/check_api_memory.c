/*
 * Every function of shardsim.h with an allocator that fails at the k-th request and at all
 * after it, for every k until the call succeeds: an error each time, what was there before
 * is untouched, and in a build with AddressSanitizer nothing is lost.
 */
#include "base/memory.h"
#include "planner/planner.h"
#include "shardsim.h"
#include "tests/api_sample.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

/* What calls work on, made before; and what they make. */
static struct {
	struct shardsim_mesh *mesh;
	struct shardsim_layout *layout;
	struct shardsim_machine *machine;
	struct shardsim_problem *problem;
	struct shardsim_plan *plan;
	char *json;
} with;

static const struct shardsim_problem_text texts = {.array = "bf16[64,64]",
                                                   .mesh = "x=4,y=2",
                                                   .to_mesh = "a=8",
                                                   .from = "P('x', 'y')",
                                                   .to = "P(None, 'a')",
                                                   .devices = "7,6,5,4,0-3"};

static enum shardsim_status read_mesh(void **made, struct shardsim_error *e)
{
	return shardsim_mesh_read((struct shardsim_mesh **)made,
	                          "<[\"x\"=2, \"y\"=2], device_ids=[3,2,1,0]>", e);
}

static enum shardsim_status read_layout(void **made, struct shardsim_error *e)
{
	return shardsim_layout_read((struct shardsim_layout **)made, with.mesh,
	                            "f32[8,8]", "{devices=[4,2]7,6,5,4,3,2,0,1}", e);
}

static enum shardsim_status print_layout(void **made, struct shardsim_error *e)
{
	return shardsim_layout_print((char **)made, with.layout, "shardy", e);
}

static enum shardsim_status make_torus(void **made, struct shardsim_error *e)
{
	return shardsim_machine_torus((struct shardsim_machine **)made, 2,
	                              (const int32_t[]){4, 8}, NULL,
	                              (struct shardsim_link){1e9, 1e-6},
	                              (struct shardsim_device){0, 0, 1e-6}, e);
}

static enum shardsim_status read_machine(void **made, struct shardsim_error *e)
{
	return shardsim_machine_read((struct shardsim_machine **)made, "dgx-a100:2",
	                             "platforms/families.yaml", e);
}

static enum shardsim_status read_problem(void **made, struct shardsim_error *e)
{
	return shardsim_problem_read((struct shardsim_problem **)made, &texts, e);
}

static enum shardsim_status new_problem(void **made, struct shardsim_error *e)
{
	return shardsim_problem_new((struct shardsim_problem **)made, with.layout,
	                            with.layout, 1 << 20, e);
}

static enum shardsim_status add_planner(void **made, struct shardsim_error *e)
{
	*made = NULL;
	return shardsim_planner_add(&sample_planner, e);
}

static enum shardsim_status plan_problem(void **made, struct shardsim_error *e)
{
	return shardsim_plan((struct shardsim_plan **)made, with.problem, with.machine,
	                     "synth", e);
}

static enum shardsim_status plan_best(void **made, struct shardsim_error *e)
{
	return shardsim_plan((struct shardsim_plan **)made, with.problem, with.machine,
	                     "best", e);
}

static enum shardsim_status plan_own(void **made, struct shardsim_error *e)
{
	struct shardsim_problem *p =
		sample_problem("f32[64]", "x=8", "P('x')", "P(None)");
	enum shardsim_status status =
		shardsim_plan((struct shardsim_plan **)made, p, NULL, "sample", e);

	shardsim_free(p);
	return status;
}

static enum shardsim_status read_plan(void **made, struct shardsim_error *e)
{
	return shardsim_plan_read((struct shardsim_plan **)made, with.problem,
	                          with.json, e);
}

static enum shardsim_status print_json(void **made, struct shardsim_error *e)
{
	return shardsim_print((char **)made, with.plan, SHARDSIM_JSON, e);
}

static enum shardsim_status print_text(void **made, struct shardsim_error *e)
{
	return shardsim_print((char **)made, with.plan, SHARDSIM_TEXT, e);
}

static enum shardsim_status check_plan(void **made, struct shardsim_error *e)
{
	*made = NULL;
	return shardsim_check(with.plan, e);
}

static enum shardsim_status price_plan(void **made, struct shardsim_error *e)
{
	double s;

	*made = NULL;
	return shardsim_price(&s, NULL, with.plan, with.machine, e);
}

static enum shardsim_status bound_problem(void **made, struct shardsim_error *e)
{
	struct shardsim_bound bound;

	*made = NULL;
	return shardsim_bound(&bound, with.problem, with.machine, e);
}

static const struct {
	enum shardsim_status (*call)(void **made, struct shardsim_error *e);
	bool text; /* makes one, not a handle */
	int step;  /* the first hundred k, then every so many-th */
} calls[] = {
	{read_mesh, false, 1},    {read_layout, false, 1},  {print_layout, true, 1},
	{read_machine, false, 1}, {make_torus, false, 1},   {read_problem, false, 1},
	{new_problem, false, 1},  {plan_problem, false, 1}, {plan_best, false, 61},
	{read_plan, false, 1},    {print_json, true, 1},    {print_text, true, 1},
	{check_plan, false, 1},   {price_plan, false, 1},   {bound_problem, false, 1},
};

static void make_with(void)
{
	ck_assert(shardsim_mesh_read(&with.mesh, "x=4,y=2", NULL) == SHARDSIM_OK);
	ck_assert(shardsim_layout_read(&with.layout, with.mesh, "f32[8,8]", "P('x')",
	                               NULL) == SHARDSIM_OK);
	with.machine = sample_machine(8);
	ck_assert(shardsim_problem_read(&with.problem, &texts, NULL) == SHARDSIM_OK);
	ck_assert(shardsim_plan(&with.plan, with.problem, NULL, "best", NULL) ==
	          SHARDSIM_OK);
	ck_assert(shardsim_print(&with.json, with.plan, SHARDSIM_JSON, NULL) ==
	          SHARDSIM_OK);
}

static void free_with(void)
{
	shardsim_free(with.plan);
	shardsim_free(with.problem);
	shardsim_free(with.machine);
	shardsim_free(with.layout);
	shardsim_free(with.mesh);
	free(with.json);
#ifdef __SANITIZE_ADDRESS__
	ck_assert_int_eq(__lsan_do_recoverable_leak_check(), 0);
#endif
}

static void give_back(void *made, bool text)
{
	if (text)
		free(made);
	else
		shardsim_free(made);
}

START_TEST(a_call_fails_at_any_request)
{
	struct shardsim_error e;
	enum shardsim_status status;
	int64_t k = 1;
	void *made;
	char *json;

	make_with();
	for (;; k += k < 100 ? 1 : calls[_i].step) {
		memory_fail_at(k);
		status = calls[_i].call(&made, &e);
		memory_fail_at(0);
		if (status == SHARDSIM_OK)
			break;
		ck_assert_msg(status == SHARDSIM_NO_MEMORY, "request %d: %s", (int)k,
		              e.text);
		ck_assert_int_eq(e.status, status);
		ck_assert_ptr_nonnull(strstr(e.text, "out of memory"));
		ck_assert_ptr_null(made);
	}
	ck_assert_int_gt(k, 1);
	give_back(made, calls[_i].text);
	/* The handles are as they were. */
	ck_assert(shardsim_print(&json, with.plan, SHARDSIM_JSON, NULL) == SHARDSIM_OK);
	ck_assert_str_eq(json, with.json);
	free(json);
	free_with();
}
END_TEST

/* All of these in one program, one after another, and again after each failed. */
START_TEST(a_program_goes_on_after_failures)
{
	struct shardsim_error e;
	enum shardsim_status status;
	void *made;

	make_with();
	for (int64_t k = 1; k < 400; k += 7)
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
			memory_fail_at(k);
			status = calls[i].call(&made, &e);
			memory_fail_at(0);
			ck_assert(status == SHARDSIM_OK || status == SHARDSIM_NO_MEMORY);
			give_back(made, calls[i].text);
		}
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		ck_assert(calls[i].call(&made, &e) == SHARDSIM_OK);
		give_back(made, calls[i].text);
	}
	free_with();
}
END_TEST

START_TEST(adding_a_planner_fails_too)
{
	struct shardsim_error e;
	void *made;
	int64_t k = 1;

	for (;; k++) {
		memory_fail_at(k);
		if (add_planner(&made, &e) == SHARDSIM_OK)
			break;
		memory_fail_at(0);
		ck_assert_int_eq(e.status, SHARDSIM_NO_MEMORY);
	}
	memory_fail_at(0);
	ck_assert_int_gt(k, 1);
	ck_assert(plan_own(&made, &e) == SHARDSIM_OK);
	shardsim_free(made);
}
END_TEST

/* A planner that calls this library, whose own call then fails. */
static enum answer plan_by_another(struct plan **out, const struct problem *p,
                                   const struct prices *prices, struct arena *arena,
                                   struct text *why)
{
	struct text scratch = {0};
	struct shardsim_plan *inner;

	(void)out, (void)p, (void)prices;
	text_printf(&scratch, "%0100d", 1);
	if (shardsim_plan(&inner, with.problem, NULL, "synth", NULL) == SHARDSIM_OK)
		shardsim_free(inner);
	text_printf(&scratch, "%01000d", 1);
	text_free(&scratch);
	text_printf(&scratch, "%0100d", 1);
	memory_fail_at(1);
	arena_alloc(arena, 1 << 24, 1);
	text_printf(why, "not reached");
	return ANSWER_NOT_APPLICABLE;
}

START_TEST(calls_may_be_nested)
{
	static const struct planner outer = {.name = "outer", .plan = plan_by_another};
	struct shardsim_plan *plan;
	struct shardsim_error e;

	make_with();
	ck_assert(shardsim_planner_add(&outer, NULL) == SHARDSIM_OK);
	ck_assert(shardsim_plan(&plan, with.problem, NULL, "outer", &e) ==
	          SHARDSIM_NO_MEMORY);
	memory_fail_at(0);
	ck_assert_ptr_null(plan);
	free_with();
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("api_memory");
	TCase *c = tcase_create("api_memory");

	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, a_call_fails_at_any_request, 0,
	                    sizeof(calls) / sizeof(*calls));
	tcase_add_test(c, a_program_goes_on_after_failures);
	tcase_add_test(c, adding_a_planner_fails_too);
	tcase_add_test(c, calls_may_be_nested);
	suite_add_tcase(suite, c);
	return suite;
}
