/*
 * Moves of many arrays: totals by hand on a machine of round figures, and sums of single
 * moves. What files say is in check_move_read.c.
 */
#include "move/move.h"
#include "move_file.h"
#include "plan/memory.h"
#include "planner/best/best.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <string.h>

static struct arena *arena;
static struct bench bench;

/* Four nodes of one GPU, 1 GB/s and 2 us between them, 10 us a launch, free local work. */
static void setup(void)
{
	struct machine *m;

	arena = arena_new();
	m = machine_gpu(arena, 4, 1, (struct link){"nvlink", 1e9, 1e-6},
	                (struct link){"nic", 1e9, 1e-6},
	                (struct device){.memory_bytes = 1e9, .launch_s = 10e-6});
	bench_init(&bench, m);
	bench_clock(&bench, &clock_kinds[0], NULL);
}

static void teardown(void)
{
	bench_free(&bench);
	arena_free(arena);
}

static struct move_result run_ok(const struct move_work *w, struct move_how how)
{
	struct move_result r;
	struct error e = {0};

	if (!how.concurrent)
		how.concurrent = w->concurrent ? w->concurrent : 1;
	ck_assert_msg(move_run(&r, w, &how, &planner_best, &bench, arena, &e) == OK,
	              "%s", e.text);
	return r;
}

/* --- by hand --------------------------------------------------------------------------- */

/* 1 MB takes 1 ms and 2 us on the wire, and 10 us to launch. */
START_TEST(one_after_another)
{
	struct move_work w =
		move_read_ok(arena, "scenarios:\n" ONE("x", "0", "1") ONE("y", "0", "1"),
	                     ".yaml", &no_ends);
	struct move_result r = run_ok(&w, (struct move_how){0});

	ck_assert_int_eq(w.narrays, 2);
	ck_assert_int_eq(w.array.n, 1); /* alike, so planned once */
	ck_assert_int_eq(r.status, OUTCOME_OK);
	ck_assert_double_eq_tol(r.time_s[0], 2 * 1012e-6, 1e-12);
	ck_assert_int_eq(r.nwaves, 2);
	/* The source keeps 2 MB, the target gets 2 MB. */
	ck_assert_double_eq(r.waves.before, 2e6);
	ck_assert_double_eq(r.waves.peak, 2e6);
	ck_assert_double_eq(r.waves.after, 2e6);
}
END_TEST

/* Two at once share the wire, and are launched one after the other on the same devices. */
START_TEST(at_once)
{
	struct move_work w = move_read_ok(
		arena,
		"concurrent: 2\nscenarios:\n" ONE("x", "0", "1") ONE("y", "0", "1"),
		".yaml", &no_ends);
	struct move_result r = run_ok(&w, (struct move_how){0});

	ck_assert_int_eq(r.nwaves, 1);
	ck_assert_double_eq_tol(r.time_s[0], 2e-3 + 2e-6 + 20e-6, 1e-12);
}
END_TEST

/* A batch is launched once. */
START_TEST(in_a_batch)
{
	struct move_work w = move_read_ok(arena,
	                                  "batch: 2MB\nscenarios:\n" ONE("x", "0", "1")
	                                          ONE("y", "0", "1") ONE("z", "0", "1"),
	                                  ".yaml", &no_ends);
	struct move_result r =
		run_ok(&w, (struct move_how){.batch_bytes = w.batch_bytes});

	ck_assert_int_eq(r.calls, 2);
	ck_assert_double_eq_tol(r.time_s[0], 3e-3 + 4e-6 + 20e-6, 1e-12);
}
END_TEST

/* On other devices two at once take as long as one, and so the order lets them alternate. */
START_TEST(on_other_devices)
{
	struct move_work w = move_read_ok(
		arena,
		"concurrent: 2\nscenarios:\n" ONE("x", "0", "1") ONE("y", "0", "1")
			ONE("z", "2", "3") ONE("u", "2", "3"),
		".yaml", &no_ends);
	struct move_result r = run_ok(&w, (struct move_how){0});

	ck_assert_int_eq(r.nwaves, 2);
	ck_assert_double_eq_tol(r.time_s[0], 2 * 1012e-6, 1e-12);
	r = run_ok(&w, (struct move_how){.given_order = true});
	ck_assert_double_eq_tol(r.time_s[0], 2 * (2e-3 + 22e-6), 1e-12);
}
END_TEST

/*
 * A device gathers two arrays of 4 MB of which it has a fourth. Freed, the 1 MB of the first
 * makes room before the second: 2 MB before; 1 + 5 while the first moves, 4 + 1 + 4 while
 * the second does, 8 after; kept, 1 MB more at each end of a move.
 */
START_TEST(memory_by_hand)
{
	struct move_work w =
		move_read_ok(arena,
	                     "scenarios:\n  - {name: g, array: 'u8[4000000]', "
	                     "mesh: x=4, from: P('x'), "
	                     "to: P(), weight: '2'}\n",
	                     ".yaml", &no_ends);
	struct move_result r = run_ok(&w, (struct move_how){.free_source = true});

	ck_assert_double_eq(r.waves.before, 2e6);
	ck_assert_double_eq(r.waves.peak, 9e6);
	ck_assert_double_eq(r.waves.after, 8e6);
	r = run_ok(&w, (struct move_how){0});
	ck_assert_double_eq(r.waves.peak, 10e6);
	ck_assert_double_eq(r.waves.after, 10e6);
	/* What stays where it is takes no more room, and is not lost. */
	w = move_read_ok(
		arena,
		"scenarios:\n  - {name: g, array: 'u8[4000000]', mesh: x=4, from: "
		"P('x'), to: P('x')}\n",
		".yaml", &no_ends);
	for (int k = 0; k < 2; k++) {
		r = run_ok(&w, (struct move_how){.free_source = k});
		ck_assert_double_eq(r.waves.before, 1e6);
		ck_assert_double_eq(r.waves.peak, 1e6);
		ck_assert_double_eq(r.waves.after, 1e6);
	}
}
END_TEST

/* A limit below what is needed is an answer that says what would do; at it, it is kept. */
START_TEST(memory_limit)
{
	struct move_work w =
		move_read_ok(arena,
	                     "concurrent: 2\nscenarios:\n  - {name: g, array: "
	                     "'u8[4000000]', mesh: x=4, "
	                     "from: P('x'), to: P(), weight: '2'}\n",
	                     ".yaml", &no_ends);
	struct move_how how = {.limit_bytes = 10e6 - 1, .limit_what = "the limit is"};
	struct move_result r = run_ok(&w, how);

	ck_assert_int_eq(r.status, OUTCOME_OVER_MEMORY);
	ck_assert_msg(strstr(r.message, "(10000000 bytes)") != NULL, "%s", r.message);
	ck_assert(isnan(r.time_s[0]));
	how.limit_bytes = 10e6;
	r = run_ok(&w, how);
	ck_assert_int_eq(r.status, OUTCOME_OK);
	ck_assert(r.waves.peak <= how.limit_bytes);
}
END_TEST

/*
 * What hosts add: two calls of 1 ms; 2 MB into a buffer and 2 MB out of one at 1 GB/s; in a
 * batch one call. Two devices gather 4 MB of which each has half: 2 MB over the wire, 2 us
 * and a launch of 10 us.
 */
START_TEST(hosts_by_hand)
{
	const struct host_costs costs = {.call_s = 1e-3, .pack_Bps = 1e9};
	struct move_work w =
		move_read_ok(arena, "scenarios:\n" ONE("x", "0", "1") ONE("y", "0", "1"),
	                     ".yaml", &no_ends);
	struct move_result r = run_ok(&w, (struct move_how){.host = &costs});

	ck_assert_int_eq(r.host->calls, 2);
	ck_assert_double_eq_tol(r.host->call_s, 2e-3, 1e-15);
	ck_assert_double_eq_tol(r.host->pack_s, 4e-3, 1e-15);
	ck_assert_double_eq(r.host->gather_s, 0);
	r = run_ok(&w, (struct move_how){.host = &costs, .batch_bytes = 2000000});
	ck_assert_int_eq(r.host->calls, 1);
	w = move_read_ok(
		arena,
		"scenarios:\n  - {name: g, array: 'u8[4000000]', mesh: x=2, from: "
		"P('x'), to: P('x')}\n",
		".yaml", &no_ends);
	r = run_ok(&w, (struct move_how){.host = &costs});
	ck_assert_double_eq_tol(r.host->gather_s, 2e-3 + 2e-6 + 10e-6, 1e-12);
}
END_TEST

/* --- sums -------------------------------------------------------------------------------- */

/* One at a time, a workload takes the sum of what `simulate` says of its arrays. */
START_TEST(sum_of_single_moves)
{
	struct move_work w = move_read_ok(
		arena,
		"scenarios:\n"
		"  - {name: a, array: 'f32[64,48]', mesh: 'x=2,y=2', from: \"P('x', "
		"'y')\", to: \"P('y', 'x')\", weight: '3'}\n"
		"  - {name: b, array: 'bf16[1000,30]', mesh: 'x=4', from: \"P('x')\", "
		"to: "
		"\"P(None, 'x')\", weight: '5'}\n"
		"  - {name: c, array: 'f32[77]', mesh: 'x=3', to_mesh: 'y=2', from: "
		"\"P('x')\", to: \"P('y')\", to_devices: '2-3'}\n"
		"  - {name: d, array: 'f32[8]', mesh: 'x=4', from: \"P('x')\", to: "
		"\"P('x')\", weight: '2'}\n",
		".yaml", &no_ends);
	struct move_result r = run_ok(&w, (struct move_how){0});
	double sum_s = 0;

	for (int64_t i = 0; i < w.array.n; i++) {
		struct problem p;
		struct error e = {0};
		struct measurement m;

		ck_assert(problem_make(&p, arena, &w.array.at[i].text, &e) == OK);
		bench_place(&bench, &p);
		measure_plan(&m, &bench, &p, &planner_best, arena);
		measure_time(&m, &bench, 0, arena);
		ck_assert_int_eq(m.status, OUTCOME_OK);
		ck_assert_double_eq(m.time_s[0], r.array[i].m.time_s[0]);
		sum_s += (double)w.array.at[i].count * m.time_s[0];
	}
	ck_assert(sum_s > 0);
	ck_assert_double_eq_tol(r.time_s[0], sum_s, 1e-12 * sum_s);
}
END_TEST

/* The 1137 tensors of Llama-3-405B are of seven kinds, and have all its parameters. */
START_TEST(model_is_planned_once_per_kind)
{
	const struct move_ends ends = {
		.from = "fsdp=512", .to = "data=16,tensor=8", .to_devices = "512-639"};
	struct move_work w = {.arena = arena};
	struct error e = {0};
	int64_t bytes = 0;

	ck_assert_msg(move_read(&w, "scenarios/models/llama-3-405b.yaml", &ends, &e) ==
	                      OK,
	              "%s", e.text);
	ck_assert_int_eq(w.narrays, 1137);
	ck_assert_int_eq(w.array.n, 7);
	for (int64_t i = 0; i < w.array.n; i++) {
		struct problem p;

		ck_assert(problem_make(&p, arena, &w.array.at[i].text, &e) == OK);
		ck_assert_int_eq(p.ndevices, 640);
		bytes += w.array.at[i].count *
		         dtype_bytes(p.array.dtype, shape_elements(&p.array.shape));
	}
	ck_assert_int_eq(bytes, 2 * INT64_C(405853388800));
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("move");
	TCase *t = tcase_create("move");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, one_after_another);
	tcase_add_test(t, at_once);
	tcase_add_test(t, in_a_batch);
	tcase_add_test(t, on_other_devices);
	tcase_add_test(t, memory_by_hand);
	tcase_add_test(t, memory_limit);
	tcase_add_test(t, hosts_by_hand);
	tcase_add_test(t, sum_of_single_moves);
	tcase_add_test(t, model_is_planned_once_per_kind);
	suite_add_tcase(s, t);
	return s;
}
