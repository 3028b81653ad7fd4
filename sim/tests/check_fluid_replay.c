/*
 * What a replay takes from the platform file, and what many replays have in common: the
 * clocks fluid and simgrid.
 */
#include "clock_pair.h"
#include "tests/tests.h"

#include "edit.h"

#include <check.h>

#include <unistd.h>

/* ---- the platform file decides ---- */

START_TEST(a_link_of_the_file_counts)
{
	struct arena *a = arena_new();
	const char *slow = edit_platform(
		a, "tpu-v5e:3x5", "<link id=\"ici_6_to_7\" bandwidth=\"45000000000",
		"<link id=\"ici_6_to_7\" bandwidth=\"15000000000");
	struct clock_pair b = clock_pair_new(slow, NULL);
	double time_s;

	unlink(slow);
	schedule_round(&b.s);
	schedule_task(&b.s, 1);
	clock_pair_message(&b, 5, 8,
	                   9e5); /* 5 6 7 8: the slow link is one of the three */
	schedule_task(&b.s, 1);
	clock_pair_message(&b, 8, 5, 9e5); /* the way back is as it was */
	time_s = clock_pair_s(&b);
	ck_assert_msg(close_to(time_s, 9e5 / 15e9 + 3e-6, 1e-9), "%.12g", time_s);
	ck_assert(close_to(model_schedule_s(b.model, &b.s), time_s, 1e-9));
	clock_pair_free(&b);
	arena_free(a);
}
END_TEST

START_TEST(one_cluster_of_the_file_counts)
{
	struct arena *a = arena_new();
	const char *slow = edit_platform(a, "dgx-a100:3",
	                                 "radical=\"8-15\" speed=\"1Gf\" bw=\"235",
	                                 "radical=\"8-15\" speed=\"1Gf\" bw=\"47");
	struct clock_pair b = clock_pair_new(slow, NULL);

	unlink(slow);
	for (int node = 0; node < 3; node++) {
		double Bps = node == 1 ? 47e9 : 235e9;

		b.s = (struct schedule){.arena = a};
		schedule_round(&b.s);
		schedule_task(&b.s, 1);
		clock_pair_message(&b, 8 * node + 3, 8 * node + 5, 47e5);
		ck_assert(close_to(clock_pair_s(&b), 47e5 / Bps + 0.95e-6, 1e-9));
	}
	b.s = (struct schedule){.arena = a};
	schedule_round(&b.s);
	schedule_task(&b.s, 1);
	clock_pair_message(&b, 1, 17, 24e5); /* between nodes: the NIC */
	ck_assert(close_to(clock_pair_s(&b), 24e5 / 24e9 + 2.5e-6, 1e-9));
	clock_pair_free(&b);
	arena_free(a);
}
END_TEST

/*
 * Two GPUs share a NIC of 1 GB/s and 1 us: what both send, in one task or in two, is one
 * host's traffic, and the NIC carries the sum. Beside it another NIC is free.
 */
START_TEST(a_shared_host_adds_up)
{
	struct arena *a = arena_new();
	const char *path = edit_platform(
		a, "dgx-a100:2",
		"radical=\"0-15\" speed=\"1Gf\" bw=\"24000000000Bps\" "
		"lat=\"0.00000125s\" sharing_policy=\"SPLITDUPLEX\">",
		"radical=\"0-7\" speed=\"1Gf\" bw=\"1GBps\" lat=\"0.5us\" "
		"sharing_policy=\"SPLITDUPLEX\"><prop id=\"devices\" value=\"2\"/>");
	struct clock_pair b = clock_pair_new(path, NULL);
	double want = (8e6 + 3e6) / 1e9 + 1e-6; /* into NIC 6; NIC 1 sends 8e6 */

	unlink(path);
	for (int tasks = 1; tasks <= 2; tasks++) {
		b.s = (struct schedule){.arena = a};
		schedule_round(&b.s);
		schedule_task(&b.s, 1);
		clock_pair_message(&b, 2, 9, 3e6);
		clock_pair_message(&b, 4, 13, 8e6);
		if (tasks == 2)
			schedule_task(&b.s, 1);
		clock_pair_message(&b, 3, 9, 2e6);
		clock_pair_message(&b, 3, 12, 3e6); /* down to the host of 13 as well */
		ck_assert_msg(close_to(clock_pair_s(&b), want, 1e-9),
		              "%.12g, not %.12g", clock_pair_s(&b), want);
		ck_assert(close_to(model_schedule_s(b.model, &b.s), want, 1e-12));
	}
	clock_pair_free(&b);
	arena_free(a);
}
END_TEST

/* 720 us of latency: SimGrid's default window of 4 MiB would cap this at 2.9 GB/s. */
START_TEST(long_routes_have_no_window)
{
	struct clock_pair b = clock_pair_new("tpu-v4:16x16x16", "ici.latency=30us");
	int32_t far = 8 * 256 + 8 * 16 + 8;

	schedule_round(&b.s);
	schedule_task(&b.s, 1);
	clock_pair_message(&b, 0, far, 9e7);
	ck_assert(close_to(clock_pair_s(&b), 9e7 / 45e9 + 24 * 30e-6, 1e-9));
	clock_pair_free(&b);
}
END_TEST

/* Groups above 2,048 hosts become one task per pair. */
START_TEST(large_group)
{
	struct clock_pair b = clock_pair_new("tpu-v4:16x16x16", NULL);

	schedule_round(&b.s);
	schedule_task(&b.s, 3);
	for (int32_t d = 0; d < 4096; d++)
		clock_pair_message(&b, d, d / 16 * 16 + (d + 1) % 16, 3e5);
	ck_assert(close_to(clock_pair_s(&b), 3e5 / 45e9 + 3e-6, 1e-6));
	ck_assert(close_to(model_schedule_s(b.model, &b.s), 3e5 / 45e9 + 3e-6, 1e-12));
	clock_pair_free(&b);
}
END_TEST

/* ---- many replays ---- */

/*
 * Each of many replays in one process gives the same time, to the last digit, and so does
 * a workspace of fluid that has timed nothing yet.
 */
START_TEST(replays_repeat)
{
	struct clock_pair b = clock_pair_new("tpu-v5e:2x4", NULL);
	double first, simgrid_s;

	for (int k = 0; k < 3; k++) {
		schedule_round(&b.s);
		for (int i = 0; i < 2; i++) { /* both on the same links */
			schedule_task(&b.s, 1 + k);
			clock_pair_message(&b, 4, 5, 48 * 1024 + 1);
			clock_pair_message(&b, 5, 4, 48 * 1024 + 1);
		}
	}
	first = clock_pair_s(&b);
	simgrid_s = simgrid_clock(b.simgrid, &b.s, NULL, 0);
	ck_assert(close_to(first, model_schedule_s(b.model, &b.s), 1e-9));
	for (int i = 0; i < 100; i++) {
		fluid_free(b.fluid);
		b.fluid = fluid_new(b.machine);
		for (int twice = 0; twice < 2; twice++)
			ck_assert_double_eq(fluid_clock(b.fluid, &b.s, NULL, 0), first);
		ck_assert_double_eq(simgrid_clock(b.simgrid, &b.s, NULL, 0), simgrid_s);
	}
	clock_pair_free(&b);
}
END_TEST

START_TEST(nothing_takes_no_time)
{
	struct clock_pair b = clock_pair_new("dgx-a100:1", NULL);

	ck_assert_double_eq(clock_pair_s(&b), 0);
	schedule_round(&b.s);
	schedule_task(&b.s, 1);
	clock_pair_message(&b, 3, 3, 7);
	ck_assert_double_eq(clock_pair_s(&b), 0);
	clock_pair_free(&b);
	fluid_free(NULL);
	simgrid_free(NULL);
}
END_TEST

/* 256 rings of 16 at a time, three axes, 4096 chips: exact. */
START_TEST(rings_of_a_pod)
{
	double expected = 0;
	struct clock_pair b = clock_pair_new("tpu-v4:16x16x16", NULL);

	for (int32_t stride = 256; stride; stride /= 16) {
		schedule_round(&b.s);
		expected += 7e6 / 45e9 + 8e-6;
		for (int32_t first = 0; first < 4096; first++) {
			if (first / stride % 16)
				continue;
			schedule_task(&b.s, 8);
			for (int i = 0; i < 16; i++) {
				clock_pair_message(&b, first + i * stride,
				                   first + (i + 1) % 16 * stride, 7e6);
				clock_pair_message(&b, first + (i + 1) % 16 * stride,
				                   first + i * stride, 7e6);
			}
		}
	}
	ck_assert(close_to(clock_pair_s(&b), expected, 1e-9));
	ck_assert(close_to(model_schedule_s(b.model, &b.s), expected, 1e-12));
	clock_pair_free(&b);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("fluid_replay");
	TCase *tcase = tcase_create("fluid_replay");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, a_link_of_the_file_counts);
	tcase_add_test(tcase, one_cluster_of_the_file_counts);
	tcase_add_test(tcase, a_shared_host_adds_up);
	tcase_add_test(tcase, long_routes_have_no_window);
	tcase_add_test(tcase, large_group);
	tcase_add_test(tcase, replays_repeat);
	tcase_add_test(tcase, nothing_takes_no_time);
	tcase_add_test(tcase, rings_of_a_pod);
	suite_add_tcase(suite, tcase);
	return suite;
}
