#include "cost/fluid.h"
#include "place/placing.h"
#include "place/study.h"
#include "place/with.h"
#include "platform/platform.h"
#include "tests/tests.h"
#include "validate/p2.h"

#include "place/place.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Placements on platforms: the published systems, free placements, whole workloads. */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct arena *arena;
static struct error error;

static void setup(void)
{
	arena = arena_new();
	error = (struct error){0};
}

static void teardown(void)
{
	arena_free(arena);
}

/* --- the published systems ----------------------------------------------------------- */

static const struct {
	const char *platform;
	const struct p2_system *p2;
	int cases;
} system_table[] = {
	{"p2-a100:2", &p2_a100, 1 + 8 + 6},
	{"p2-a100:4", &p2_a100, 1 + 10 + 10},
	{"p2-v100:2", &p2_v100, 1 + 6 + 3},
	{"p2-v100:4", &p2_v100, 1 + 8 + 6},
};

/* Seconds of a step by the schedules' model and by SimGrid, against the simulator. */
static void compare(const struct reduction_step *step, double held_bytes,
                    const struct bench *b, const struct p2_system *p2)
{
	struct reduction one = {.n = 1, .step[0] = *step};
	double wanted_s = p2_step_s(p2, step, held_bytes);

	one.step[0].share = 1;
	for (int k = 0; k < 2; k++) {
		struct step_time time;
		double s = place_seconds(&time, b, k, &one, held_bytes, NULL,
		                         (struct where){0}, &error);

		ck_assert_double_eq_tol(s / wanted_s, 1, k ? 0.01 : 1e-12);
		ck_assert_double_eq(time.time_s, s);
		ck_assert_str_eq(time.algorithm, "device-ring");
	}
}

static void compare_matrix(const struct study_case *of, const struct placed *p,
                           const struct bench *b, const struct p2_system *p2)
{
	struct reduction_step all = {.op = OP_ALL_REDUCE, .share = 1};
	struct arena *a = arena_new();
	struct reduction r;
	struct space space;

	placed_space(&space, a, &of->c, p);
	reduction_of(&r, a, &space, &p->best);
	for (int i = 0; i < r.n; i++)
		compare(&r.step[i], r.step[i].share * of->c.payload_bytes, b, p2);
	all.groups = (struct groups){space.ncopies, space.tree.ndevices, space.device};
	compare(&all, of->c.payload_bytes, b, p2);
	arena_free(a);
}

START_TEST(published_systems)
{
	const char *path = "scenarios/placement.yaml";
	const struct p2_system *p2 = system_table[_i].p2;
	struct reduction_clock simulator = {p2_clock, (void *)p2};
	struct platform *platform;
	struct fluid *fluid;
	struct bench bench;
	struct study study;
	int cases = 0;

	ck_assert_msg(study_read(&study, arena, &path, 1, &error) == OK, "%s",
	              error.text);
	ck_assert_msg(platform_load(&platform, arena, system_table[_i].platform, NULL,
	                            0, &error) == OK,
	              "%s", error.text);
	bench_init(&bench, platform->machine);
	fluid = fluid_new(platform->machine);
	bench_clock(&bench, &clock_kinds[0], NULL);
	bench_clock(&bench, &clock_kinds[1], fluid);
	for (int i = 0; i < study.n; i++) {
		struct study_case *of = &study.of[i];

		if (strcmp(of->platform, system_table[_i].platform) != 0)
			continue;
		ck_assert_int_eq(of->c.hierarchy.ndevices, platform->machine->ndevices);
		ck_assert_int_eq(placement_search(&of->placed, &of->n, arena, &of->c,
		                                  &simulator, &error),
		                 OK);
		for (int64_t k = 0; k < of->n; k++)
			compare_matrix(of, &of->placed[k], &bench, p2);
		cases++;
	}
	ck_assert_int_eq(cases, system_table[_i].cases);
	fluid_free(fluid);
	bench_free(&bench);
}
END_TEST

/* --- the hierarchy of a platform ------------------------------------------------------ */

static const struct {
	const char *platform;
	int32_t ndevices;
	const char *wanted; /* NULL: an error */
} hierarchy_table[] = {
	{"dgx-h100:3", 24, "3,8"},      {"dgx-h100:3", 16, "2,8"},
	{"dgx-h100:3", 5, "5"},         {"dgx-h100:3", 12, NULL},
	{"dgx-h100:3", 48, NULL},       {"dgx-a100:1", 8, "8"},
	{"tpu-v5p:2x3x4", 24, "2,3,4"}, {"tpu-v5p:2x3x4", 11, NULL},
	{"tpu-v5p:2x3x4", 12, "2,2,3"}, {"tpu-v5e:16x16", 64, "8,8"},
	{"tpu-v5e:2*2x4", 16, "2,2,4"}, {"tpu-7x:2x2x1", 8, "2,2,1,2"},
};

START_TEST(hierarchy_of_a_platform)
{
	struct machine *m;
	struct hierarchy h;
	struct text text = {0};
	enum status status;

	ck_assert_int_eq(platform_machine(&m, arena, hierarchy_table[_i].platform, NULL,
	                                  0, &error),
	                 OK);
	status = placing_hierarchy(&h, m, hierarchy_table[_i].ndevices,
	                           (struct where){0}, &error);
	if (!hierarchy_table[_i].wanted) {
		ck_assert_int_eq(status, E_TYPE);
		return;
	}
	ck_assert_int_eq(status, OK);
	hierarchy_print(&text, &h);
	ck_assert_str_eq(text.s, hierarchy_table[_i].wanted);
	text_free(&text);
}
END_TEST

/* --- suites -------------------------------------------------------------------------- */

static enum status read_suite(struct suite *suite, const char *text)
{
	char path[] = "/tmp/check_place.XXXXXX";
	int fd = mkstemp(path);
	enum status status;
	FILE *f;

	ck_assert_int_ge(fd, 0);
	f = fdopen(fd, "w");
	fprintf(f, "scenarios:\n%s", text);
	fclose(f);
	*suite = (struct suite){.arena = arena};
	status = suite_read(suite, arena_strdup(arena, path), &error);
	unlink(path);
	return status;
}

#define HEAD                                                                           \
	"  - {name: one, array: 'f32[64,48]', from: \"P('x', None)\", to: \"P(None, "  \
	"'x')\", "

static const struct {
	const char *text, *why;
} bad_suites[] = {
	{HEAD "mesh: 'x=4,y=2', placement: fixed}\n", "unknown placement 'fixed'"},
	{HEAD "mesh: 'x=4,y=2', placement: free, devices: 0-7}\n", "no devices"},
	{HEAD "mesh: 'x=4,y=2', placement: free, to_mesh: 'x=8'}\n", "one mesh"},
	{HEAD "mesh: 'x=4,y=2', hierarchy: '4,0'}\n", ""},
	{HEAD "mesh: 'x=4,y=2', weight: '0'}\n", "a number above 0"},
	{HEAD "mesh: 'x=4,y=2', weight: '-1'}\n", "a number above 0"},
	{HEAD "mesh: 'x=4,y=2', weight: 'many'}\n", "a number above 0"},
	{HEAD "mesh: 'x=4,y=2', weight: 'inf'}\n", "a number above 0"},
};

START_TEST(suites_with_faults)
{
	struct suite suite;

	ck_assert_int_ne(read_suite(&suite, bad_suites[_i].text), OK);
	ck_assert_msg(strstr(error.text, bad_suites[_i].why), "%s", error.text);
	ck_assert_uint_eq(error.at.line, 2);
}
END_TEST

START_TEST(weights)
{
	struct suite suite;

	ck_assert_int_eq(read_suite(&suite, HEAD "mesh: 'x=4,y=2', weight: '2.5'}\n"),
	                 OK);
	ck_assert_double_eq(suite.scenario[0].weight, 2.5);
	ck_assert_int_eq(read_suite(&suite, HEAD "mesh: ['x=4,y=2', 'x=8'], "
	                                         "placement: free}\n"),
	                 OK);
	ck_assert_double_eq(suite.scenario[1].weight, 1);
	ck_assert(suite.scenario[1].free);
}
END_TEST

/* A free placement is the cheapest of all orders, tried one by one. */
static const struct {
	const char *platform, *text, *hierarchy;
} free_table[] = {
	{"dgx-h100:4", HEAD "mesh: 'x=4,y=8', placement: free}\n", "4,8"},
	{"tpu-v5e:4x4", HEAD "mesh: 'x=8,y=2', placement: free}\n", "4,4"},
	{"dgx-a100:2",
         "  - {name: sum, array: 'f32[640,48]', mesh: 'x=2,y=4,z=2', from: \"P('x', "
         "None, "
         "unreduced={'y'})\", to: \"P('x', None)\", placement: free, hierarchy: "
         "'2,2,4'}\n",
         "2,2,4"},
};

START_TEST(free_placements)
{
	const struct where at = {0};
	struct suite suite;
	struct machine *m;
	struct bench bench;
	struct measurement got;
	struct problem problem;
	struct hierarchy h;
	struct matrix *matrix;
	double least_s = INFINITY;
	int64_t n;

	ck_assert_msg(read_suite(&suite, free_table[_i].text) == OK, "%s", error.text);
	ck_assert_int_eq(
		platform_machine(&m, arena, free_table[_i].platform, NULL, 0, &error),
		OK);
	bench_init(&bench, m);
	bench_clock(&bench, &clock_kinds[0], NULL);
	ck_assert_int_eq(problem_make(&problem, arena, &suite.scenario[0].text, &error),
	                 OK);
	ck_assert_int_eq(
		hierarchy_parse(&h, arena, free_table[_i].hierarchy, at, &error), OK);
	ck_assert_int_eq(matrices_of(&matrix, &n, arena, &h, &problem.mesh, at, &error),
	                 OK);
	ck_assert_int_gt(n, 1);
	for (int64_t i = 0; i < n; i++) {
		struct problem_text text = suite.scenario[0].text;
		struct problem p;

		text.devices = placing_devices(&matrix[i], &h, arena);
		ck_assert_int_eq(problem_make(&p, arena, &text, &error), OK);
		bench_place(&bench, &p);
		measure_plan(&got, &bench, &p, planner_find("best", 4), arena);
		measure_time(&got, &bench, 0, arena);
		ck_assert_int_eq(got.status, OUTCOME_OK);
		least_s = fmin(least_s, got.time_s[0]);
	}
	placing_measure(&got, &problem, &bench, &suite.scenario[0],
	                planner_find("best", 4), arena);
	ck_assert_int_eq(got.status, OUTCOME_OK);
	measure_time(&got, &bench, 0, arena);
	ck_assert_double_eq_tol(got.time_s[0] / least_s, 1, 1e-9);
	ck_assert_double_le(got.bound_s, got.time_s[0]);
	ck_assert_ptr_nonnull(problem.platform);
	ck_assert_msg(!strncmp(got.message, "placement [[", 12), "%s", got.message);
	bench_free(&bench);
}
END_TEST

/* --- workloads ----------------------------------------------------------------------- */

/*
 * An all-reduce over `a` and an all-gather over `b`, on two nodes of 16 A100: the totals are
 * those of the clock, for every placement, with their weights.
 */
#define LOAD                                                                           \
	"  - {name: sum, family: w, array: 'f32[1024,1024]', mesh: 'a=4,b=8', from: "  \
	"\"P('b', None, unreduced={'a'})\", to: \"P('b', None)\", weight: '3'}\n"      \
	"  - {name: gather, family: w, array: 'f32[1024,1024]', mesh: 'a=4,b=8', "     \
	"from: \"P('b', None)\", to: \"P(None, None)\"}\n"

START_TEST(workloads)
{
	struct suite suite;
	struct workload *w;
	struct machine *m;
	struct bench bench;
	int n;

	ck_assert_msg(read_suite(&suite, LOAD) == OK, "%s", error.text);
	ck_assert_int_eq(platform_machine(&m, arena, "p2-a100:2", NULL, 0, &error), OK);
	bench_init(&bench, m);
	bench_clock(&bench, &clock_kinds[0], NULL);
	ck_assert_msg(workloads_of(&w, &n, arena, &suite, NULL, m, &error) == OK, "%s",
	              error.text);
	ck_assert_int_eq(n, 1);
	ck_assert_msg(workload_run(w, &bench, arena, &error) == OK, "%s", error.text);
	/* 4,8 on 2,16: a has 1 or 2 of the nodes. */
	ck_assert_int_eq(w->nplacements, 2);
	ck_assert(w->row_major->row_major);
	for (int64_t i = 0; i < w->nplacements; i++) {
		const struct work_placement *p = &w->placement[i];

		ck_assert_double_eq_tol(p->total_s,
		                        3 * p->time[0].time_s[0] + p->time[1].time_s[0],
		                        1e-15);
		ck_assert_double_eq_tol(p->clock_total_s[0], p->total_s, 1e-15);
		ck_assert(i == 0 || p->total_s >= p[-1].total_s);
		/* Half a MiB to sum: not faster than one bus of NVLink, not slower than
		 * one ring over the NICs that all share. */
		ck_assert_double_gt(p->time[0].time_s[0], 0.5 / 1024 / 270);
	}
	bench_free(&bench);
}
END_TEST

static const struct {
	const char *text, *levels, *platform, *why;
} bad_loads[] = {
	{LOAD, "4,4", "p2-a100:2", "32 devices, the hierarchy 16"},
	{LOAD, "2,16", "dgx-a100:2", "and dgx-a100:2 16"},
	{LOAD HEAD "family: w, mesh: 'x=4,y=8'}\n", "2,16", "p2-a100:2",
         "another mesh than 'a=4,b=8' of scenario 'sum'"},
	{HEAD "mesh: 'x=4,y=8', to_mesh: 'x=32'}\n", "2,16", "p2-a100:2", "one mesh"},
	{HEAD "mesh: 'x=4,y=8', devices: '0-31'}\n", "2,16", "p2-a100:2", "no devices"},
};

START_TEST(workloads_with_faults)
{
	struct suite suite;
	struct workload *w;
	struct machine *m;
	struct hierarchy h;
	int n;

	ck_assert_msg(read_suite(&suite, bad_loads[_i].text) == OK, "%s", error.text);
	ck_assert_int_eq(hierarchy_parse(&h, arena, bad_loads[_i].levels,
	                                 (struct where){0}, &error),
	                 OK);
	ck_assert_int_eq(
		platform_machine(&m, arena, bad_loads[_i].platform, NULL, 0, &error),
		OK);
	ck_assert_int_ne(workloads_of(&w, &n, arena, &suite, &h, m, &error), OK);
	ck_assert_msg(strstr(error.text, bad_loads[_i].why), "%s", error.text);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("place");
	TCase *t = tcase_create("place");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, published_systems, 0, COUNT(system_table));
	tcase_add_loop_test(t, hierarchy_of_a_platform, 0, COUNT(hierarchy_table));
	tcase_add_loop_test(t, suites_with_faults, 0, COUNT(bad_suites));
	tcase_add_test(t, weights);
	tcase_add_loop_test(t, free_placements, 0, COUNT(free_table));
	tcase_add_test(t, workloads);
	tcase_add_loop_test(t, workloads_with_faults, 0, COUNT(bad_loads));
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	return s;
}
