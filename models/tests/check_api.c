/* The functions of shardsim.h: what they give. */
#include "planner/planner.h"
#include "shardsim.h"
#include "tests/api_sample.h"
#include "tests/tests.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The header's example; the plan is the only one that receives a quarter of the array. */
START_TEST(a_problem_becomes_a_plan)
{
	struct shardsim_problem *p = sample_problem("bf16[8192,8192]", "x=4,y=2",
	                                            "P('x', None)", "P(None, 'y')");
	struct shardsim_plan *plan = sample_plan_of(p, NULL, "synth");
	struct shardsim_figures figures;
	struct shardsim_step step;
	char *text;

	ck_assert(shardsim_print(&text, plan, SHARDSIM_TEXT, NULL) == SHARDSIM_OK);
	ck_assert_str_eq(text, "slice {y}: ->1 => P('x', 'y')\n"
	                       "all-gather {x}: 0-> => P(None, 'y')\n");
	ck_assert(shardsim_figures(&figures, plan, NULL) == SHARDSIM_OK);
	ck_assert_str_eq(figures.planner, "synth");
	ck_assert_int_eq(figures.nsteps, 2);
	/* A tile after the slice is an eighth of the array, three of which arrive. */
	ck_assert_int_eq(figures.recv_bytes, 8192LL * 8192 * 2 / 8 * 3);
	ck_assert(shardsim_step(&step, plan, 0, NULL) == SHARDSIM_OK);
	ck_assert_str_eq(step.op, "slice");
	ck_assert(!step.communicates);
	ck_assert(shardsim_step(&step, plan, 1, NULL) == SHARDSIM_OK);
	ck_assert_str_eq(step.text, "all-gather {x}: 0->");
	ck_assert_str_eq(step.layout, "P(None, 'y')");
	ck_assert_int_eq(step.recv_bytes, figures.recv_bytes);
	ck_assert_int_eq(step.nmoves, 1);
	ck_assert_int_eq(step.move[0].from_dim, 0);
	ck_assert_int_eq(step.move[0].to_dim, -1);
	ck_assert_int_eq(step.move[0].factor, 4);
	ck_assert_int_eq(step.ngroups, 2);
	ck_assert_int_eq(step.group_size, 4);
	/* x is the major axis: devices 0, 2, 4, 6 and 1, 3, 5, 7. */
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(step.group[i], i % 4 * 2 + i / 4);
	free(text);
	shardsim_free(plan);
	shardsim_free(p);
}
END_TEST

START_TEST(permutes_have_pairs)
{
	struct shardsim_problem *p =
		sample_problem("f32[8]", "x=2,y=2", "P(('x', 'y'))", "P(('y', 'x'))");
	struct shardsim_plan *plan = sample_plan_of(p, NULL, "synth");
	struct shardsim_step step;

	ck_assert(shardsim_step(&step, plan, 0, NULL) == SHARDSIM_OK);
	ck_assert_str_eq(step.op, "permute");
	ck_assert_int_eq(step.npairs, 4);
	/* Device (x, y) holds block 2x + y, which device (y, x) needs. */
	for (int i = 0; i < 4; i++) {
		int32_t src = step.pair[2 * i], dst = step.pair[2 * i + 1];

		ck_assert_int_eq(dst, src % 2 * 2 + src / 2);
	}
	shardsim_free(p);
	shardsim_free(plan);
}
END_TEST

/* Device d of 2 has row d of 2x2 and needs column d: it gets one element, (1 - d, d). */
START_TEST(exchanges_have_transfers)
{
	struct shardsim_problem *p =
		sample_problem("f32[2,2]", "x=2", "P('x', None)", "P(None, 'x')");
	struct shardsim_plan *plan = sample_plan_of(p, NULL, "direct");
	struct shardsim_step step;

	ck_assert(shardsim_step(&step, plan, 0, NULL) == SHARDSIM_OK);
	ck_assert_str_eq(step.op, "exchange");
	ck_assert_int_eq(step.ntransfers, 2);
	for (int i = 0; i < 2; i++) {
		const struct shardsim_transfer *t = &step.transfer[i];

		ck_assert_int_eq(t->src, 1 - t->dst);
		ck_assert_int_eq(t->elements, 1);
		ck_assert_int_eq(t->bounds[0], t->src);
		ck_assert_int_eq(t->bounds[1], t->src + 1);
		ck_assert_int_eq(t->bounds[2], t->dst);
		ck_assert_int_eq(t->bounds[3], t->dst + 1);
	}
	shardsim_free(p);
	shardsim_free(plan);
}
END_TEST

START_TEST(plans_read_back)
{
	struct shardsim_problem *p = sample_problem("bf16[64,64]", "x=4,y=2",
	                                            "P('x', None)", "P(None, 'y')");
	struct shardsim_plan *plan = sample_plan_of(p, NULL, "synth"), *again;
	struct shardsim_error e;
	char *text, *other;

	for (int format = SHARDSIM_TEXT; format <= SHARDSIM_JSON; format++) {
		ck_assert(shardsim_print(&text, plan, format, NULL) == SHARDSIM_OK);
		ck_assert_msg(shardsim_plan_read(&again, p, text, &e) == SHARDSIM_OK,
		              "%s", e.text);
		ck_assert(shardsim_check(again, NULL) == SHARDSIM_OK);
		free(text);
		ck_assert(shardsim_print(&text, plan, SHARDSIM_TEXT, NULL) ==
		          SHARDSIM_OK);
		ck_assert(shardsim_print(&other, again, SHARDSIM_TEXT, NULL) ==
		          SHARDSIM_OK);
		ck_assert_str_eq(text, other);
		free(text);
		free(other);
		shardsim_free(again);
	}
	/* It ends too early. */
	ck_assert(shardsim_plan_read(&again, p, "slice {y}: ->1 => P('x', 'y')", &e) ==
	          SHARDSIM_OK);
	ck_assert(shardsim_check(again, &e) == SHARDSIM_WRONG);
	ck_assert(e.text[0]);
	shardsim_free(again);
	shardsim_free(plan);
	shardsim_free(p);
}
END_TEST

/* Two GPUs, each of which gets the other's half: all can be said by hand. */
START_TEST(prices_and_bounds_are_seconds)
{
	struct shardsim_problem *p =
		sample_problem("f32[1024]", "x=2", "P('x')", "P(None)");
	struct shardsim_machine *m = sample_machine(2);
	struct shardsim_plan *plan = sample_plan_of(p, m, "best");
	struct shardsim_bound bound;
	struct shardsim_time time;
	double s;

	ck_assert(shardsim_price(&s, &time, plan, m, NULL) == SHARDSIM_OK);
	ck_assert_double_eq_tol(s, 2048 / 1e9 + 1e-6 + 5e-6, 1e-15);
	ck_assert_double_eq_tol(time.wire_s, 2048 / 1e9 + 1e-6, 1e-15);
	ck_assert_double_eq(time.launch_s, 5e-6);
	ck_assert_double_eq(time.local_s, 0);
	ck_assert_ptr_nonnull(time.algorithm);
	ck_assert(shardsim_bound(&bound, p, m, NULL) == SHARDSIM_OK);
	ck_assert_double_eq_tol(bound.seconds, 2048 / 1e9 + 1e-6, 1e-15);
	ck_assert(!strncmp(bound.what, "receive of device", 17));
	ck_assert_int_eq(shardsim_machine_devices(m), 2);
	shardsim_free(m);
	shardsim_free(plan);
	shardsim_free(p);
}
END_TEST

/* Of 4 x 2 with only the first axis closed, where a ring of 4 is two hops at most. */
START_TEST(a_torus_is_what_its_numbers_say)
{
	struct shardsim_problem *p =
		sample_problem("f32[1024]", "x=2", "P('x')", "P(None)");
	struct shardsim_link link = {.bandwidth_Bps = 1e9, .latency_s = 1e-6};
	struct shardsim_device device = {.launch_s = 5e-6};
	struct shardsim_machine *m;
	struct shardsim_plan *plan;
	double s;

	ck_assert(shardsim_machine_torus(&m, 2, (const int32_t[]){4, 2},
	                                 (const bool[]){true, false}, link, device,
	                                 NULL) == SHARDSIM_OK);
	ck_assert_int_eq(shardsim_machine_devices(m), 8);
	plan = sample_plan_of(p, m, "best");
	ck_assert(shardsim_price(&s, NULL, plan, m, NULL) == SHARDSIM_OK);
	/* Devices 0 and 1 are neighbours along the last axis. */
	ck_assert_double_eq_tol(s, 2048 / 1e9 + 1e-6 + 5e-6, 1e-15);
	shardsim_free(plan);
	shardsim_free(p);
	shardsim_free(m);
}
END_TEST

/* Every spelling of one layout is read, by its form, and written again. */
START_TEST(layouts_have_five_spellings)
{
	static const struct {
		const char *spelling, *text;
	} same[] = {
		{"jax", "P('x', 'y')"},           {"hlo", "{devices=[4,2]<=[8]}"},
		{"shardy", "[{\"x\"}, {\"y\"}]"}, {"dtensor", "[Shard(0), Shard(1)]"},
		{"paper", "[2{x}8, 4{y}8]"},
	};
	enum { N = sizeof(same) / sizeof(*same) };
	struct shardsim_mesh *mesh;
	struct shardsim_layout *layout;
	struct shardsim_error e;
	char *text;

	ck_assert(shardsim_mesh_read(&mesh, "x=4,y=2", NULL) == SHARDSIM_OK);
	for (int i = 0; i < N; i++) {
		ck_assert_msg(shardsim_layout_read(&layout, mesh, "f32[8,8]",
		                                   same[i].text, &e) == SHARDSIM_OK,
		              "%s: %s", same[i].text, e.text);
		for (int k = 0; k < N; k++) {
			ck_assert(shardsim_layout_print(&text, layout, same[k].spelling,
			                                NULL) == SHARDSIM_OK);
			ck_assert_str_eq(text, same[k].text);
			free(text);
		}
		ck_assert(shardsim_layout_print(&text, layout, NULL, NULL) ==
		          SHARDSIM_OK);
		ck_assert_str_eq(text, "P('x', 'y')");
		free(text);
		shardsim_free(layout);
	}
	shardsim_free(mesh);
}
END_TEST

/* The same problem by layouts as by texts, with a mesh of its own for the target. */
START_TEST(layouts_make_a_problem)
{
	struct shardsim_problem_text text = {.array = "f32[8,8]",
	                                     .mesh = "x=4",
	                                     .to_mesh = "a=2,b=2",
	                                     .from = "P('x')",
	                                     .to = "P(None, ('a', 'b'))",
	                                     .memory_limit = "1KiB"};
	struct shardsim_mesh *mesh, *to_mesh;
	struct shardsim_layout *from, *to;
	struct shardsim_problem *p[2];
	struct shardsim_plan *plan;
	char *printed[2];

	ck_assert(shardsim_mesh_read(&mesh, text.mesh, NULL) == SHARDSIM_OK);
	ck_assert(shardsim_mesh_read(&to_mesh, text.to_mesh, NULL) == SHARDSIM_OK);
	ck_assert(shardsim_layout_read(&from, mesh, text.array, text.from, NULL) ==
	          SHARDSIM_OK);
	ck_assert(shardsim_layout_read(&to, to_mesh, text.array, text.to, NULL) ==
	          SHARDSIM_OK);
	ck_assert(shardsim_problem_new(&p[0], from, to, 1024, NULL) == SHARDSIM_OK);
	ck_assert(shardsim_problem_read(&p[1], &text, NULL) == SHARDSIM_OK);
	shardsim_free(mesh);
	shardsim_free(to_mesh);
	shardsim_free(from);
	shardsim_free(to);
	for (int i = 0; i < 2; i++) {
		plan = sample_plan_of(p[i], NULL, "synth");
		shardsim_free(p[i]);
		ck_assert(shardsim_print(&printed[i], plan, SHARDSIM_JSON, NULL) ==
		          SHARDSIM_OK);
		shardsim_free(plan);
	}
	ck_assert_str_eq(printed[0], printed[1]);
	ck_assert_ptr_nonnull(strstr(printed[0], "\"memory_limit_bytes\": 1024"));
	free(printed[0]);
	free(printed[1]);
}
END_TEST

START_TEST(a_planner_of_ones_own_has_a_name)
{
	static const struct planner nameless = {.plan = NULL};
	struct shardsim_problem *p =
		sample_problem("f32[64]", "x=8", "P('x')", "P(None)");
	struct shardsim_plan *plan;
	struct shardsim_error e;
	int n = 0;

	ck_assert(shardsim_plan(&plan, p, NULL, "sample", &e) == SHARDSIM_RANGE);
	while (shardsim_planner_name(n))
		n++;
	ck_assert(shardsim_planner_add(&sample_planner, &e) == SHARDSIM_OK);
	ck_assert_str_eq(shardsim_planner_name(n), "sample");
	ck_assert_ptr_null(shardsim_planner_name(n + 1));
	ck_assert_ptr_null(shardsim_planner_name(-1));
	plan = sample_plan_of(p, NULL, "sample");
	shardsim_free(plan);
	shardsim_free(p);
	ck_assert(shardsim_planner_add(&sample_planner, &e) == SHARDSIM_MISUSE);
	ck_assert(shardsim_planner_add(&nameless, &e) == SHARDSIM_MISUSE);
	ck_assert(shardsim_planner_add(NULL, &e) == SHARDSIM_MISUSE);
	p = sample_problem("f32[64]", "x=8", "P(None)", "P('x')");
	ck_assert(shardsim_plan(&plan, p, NULL, "sample", &e) == SHARDSIM_NOT_APPLICABLE);
	ck_assert_str_eq(e.text, "gathers one dimension and nothing else");
	shardsim_free(p);
}
END_TEST

static void *plan_some(void *problem)
{
	struct shardsim_machine *m = sample_machine(8);
	char *first = NULL, *text;

	for (int i = 0; i < 5; i++) {
		struct shardsim_plan *plan;

		if (shardsim_plan(&plan, problem, m, "best", NULL) != SHARDSIM_OK ||
		    shardsim_print(&text, plan, SHARDSIM_JSON, NULL) != SHARDSIM_OK)
			return NULL;
		shardsim_free(plan);
		if (first && strcmp(first, text) != 0)
			return NULL;
		free(first);
		first = text;
	}
	shardsim_free(m);
	return first;
}

START_TEST(threads_share_a_problem)
{
	enum { THREADS = 4 };
	struct shardsim_problem *p =
		sample_problem("f32[64,64]", "x=4,y=2", "P('x', 'y')", "P('y', 'x')");
	pthread_t thread[THREADS];
	void *text[THREADS];

	for (int i = 0; i < THREADS; i++)
		ck_assert(!pthread_create(&thread[i], NULL, plan_some, p));
	for (int i = 0; i < THREADS; i++) {
		ck_assert(!pthread_join(thread[i], &text[i]));
		ck_assert_ptr_nonnull(text[i]);
		ck_assert_str_eq(text[i], text[0]);
	}
	for (int i = 0; i < THREADS; i++)
		free(text[i]);
	shardsim_free(p);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("api");
	TCase *c = tcase_create("api");

	tcase_add_test(c, a_problem_becomes_a_plan);
	tcase_add_test(c, permutes_have_pairs);
	tcase_add_test(c, exchanges_have_transfers);
	tcase_add_test(c, plans_read_back);
	tcase_add_test(c, prices_and_bounds_are_seconds);
	tcase_add_test(c, a_torus_is_what_its_numbers_say);
	tcase_add_test(c, layouts_have_five_spellings);
	tcase_add_test(c, layouts_make_a_problem);
	tcase_add_test(c, a_planner_of_ones_own_has_a_name);
	tcase_add_test(c, threads_share_a_problem);
	suite_add_tcase(suite, c);
	return suite;
}
