#include "collective_help.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>

/* Several torus axes at once: cost by formula and by hand, limits, side by side. */

static const struct {
	int k;
	int32_t d;
} equal_axes[] = {{2, 3}, {2, 4}, {2, 8}, {3, 3}, {3, 4}, {3, 5}};

/* k equal wrapped axes: the stated cost, which tends to V/(2kW) and Sd/(8W). */
START_TEST(torus_of_equal_rings)
{
	int k = equal_axes[_i].k;
	int32_t d = equal_axes[_i].d, n = 1;
	int32_t shape[3] = {d, d, d};
	const struct machine *m = torus(k, shape, true);
	double V, gather, a2a, latency = k * (d / 2) * LAT;

	for (int i = 0; i < k; i++)
		n *= d;
	V = BLOCK * n;
	gather = latency + V * (n - 1) / (2 * k * W * n);
	a2a = latency + (d % 2 ? V * (d * d - 1) / (8 * d * W) : V * d / (8 * W));
	for (int o = 0; o < 4; o++) {
		/* Each phase of an all-reduce after the first begins with a launch. */
		const double cost[] = {gather, gather,
		                       2 * gather + (2 * k - 1) * device.launch_s, a2a};
		struct schedule s =
			built(m, "torus", ops[o], group_of(0, 1, n), before(ops[o], n));

		ck_assert_int_eq(s.nrounds, o == 2 ? 2 * k : k);
		near(model_schedule_s(model, &s), cost[o], "cost");
		for (int32_t dev = 0; dev < n && o < 3; dev++)
			near(received(&s, dev), V * (n - 1) / n * (o == 2 ? 2 : 1),
			     "received");
	}
	ck_assert(fabs((gather - latency) * 2 * k * W / V - 1) < 1.5 / n);
}
END_TEST

/*
 * A ring of 3 beside a line of 2, by hand. Speeds 2W x 3/2 = 3W and W x 2/1 = 2W; part 0
 * ends on the line: 2/5, part 1 on the ring: 3/5 of each block b.
 * Phase 1: ring 0.4 b x 2/2 per link, line 0.6 b. Phase 2: line 0.4 b x 3 = 1.2 b, ring
 * 0.6 b x 2 x 2/2 = 1.2 b. Reduce-scatter is the mirror image: 1.2 b and then 0.6 b.
 * All-to-all of S = 6 b, half of it a part: ring load S/2 x 8/24 = b, line S/2 x 1/2 =
 * 1.5 b, in both phases.
 */
START_TEST(torus_of_ring_and_line)
{
	const bool wrap[] = {true, false};
	struct machine *m =
		machine_torus(arena, 2, (int32_t[]){3, 2}, wrap, ici, device);
	const double blocks[] = {1.8, 1.8, 3.6, 3};
	const int hops[] = {2, 2, 4, 2};

	model = model_new(m);
	for (int o = 0; o < 4; o++) {
		struct schedule s =
			built(m, "torus", ops[o], group_of(0, 1, 6), before(ops[o], 6));

		near(model_schedule_s(model, &s),
		     hops[o] * LAT + blocks[o] * BLOCK / W +
		             (o == 2 ? 3 * device.launch_s : 0),
		     "cost");
		for (int32_t d = 0; d < 6 && o < 3; d++)
			near(received(&s, d), 5 * BLOCK * (o == 2 ? 2 : 1), "received");
	}
}
END_TEST

/* A ring of 8 spreads its four steps over the three rounds of a line of 4. */
START_TEST(torus_spreads_ring_steps)
{
	const bool wrap[] = {true, false};
	struct machine *m =
		machine_torus(arena, 2, (int32_t[]){8, 4}, wrap, ici, device);

	model = model_new(m);
	for (int o = 0; o < 2; o++) {
		struct schedule s = built(m, "torus", ops[o], group_of(0, 1, 32),
		                          before(ops[o], 32));
		int32_t repeats = 0;
		double sum = 0;

		ck_assert_int_eq(s.nrounds, 6);
		for (int64_t t = 0; t < s.ntasks; t++)
			repeats += s.task[t].repeats;
		/* per phase: 4 rings of 4 steps, 8 lines of 3 rounds */
		ck_assert_int_eq(repeats, 2 * (4 * 4 + 8 * 3));
		for (int32_t d = 0; d < 32; d++)
			sum += received(&s, d);
		near(sum, 32 * 31 * BLOCK, "received");
	}
}
END_TEST

/*
 * A line of 2 beside one of 4, by hand. Speeds 2W and 4W/3; part 0 ends on the longer:
 * 2/5 of each block b. Phase 1: the longer line has 0.6 b in each of three rounds, the
 * shorter 0.4 b in all, a third in each. Phase 2: 0.8 b in each on the longer, and a third of
 * 2.4 b on the shorter: 1.8 b and 2.4 b. Reduce-scatter is the mirror image. Whatever the
 * lengths, everybody receives V(n-1)/n of a gather, 2 of 3 steps of a line of 3 in two rounds.
 */
START_TEST(torus_spreads_line_steps)
{
	const bool wrap[] = {false, false};
	struct machine *m =
		machine_torus(arena, 2, (int32_t[]){2, 4}, wrap, ici, device);
	const double blocks[] = {4.2, 4.2, 8.4};
	const int rounds[] = {6, 6, 12};
	struct schedule s;

	model = model_new(m);
	for (int o = 0; o < 3; o++) {
		s = built(m, "torus", ops[o], group_of(0, 1, 8), before(ops[o], 8));
		ck_assert_int_eq(s.nrounds, rounds[o]);
		near(model_schedule_s(model, &s),
		     rounds[o] * LAT + blocks[o] * BLOCK / W +
		             (o == 2 ? 3 * device.launch_s : 0),
		     "cost");
	}
	m = machine_torus(arena, 2, (int32_t[]){3, 4}, wrap, ici, device);
	s = built(m, "torus", OP_ALL_GATHER, group_of(0, 1, 12),
	          before(OP_ALL_GATHER, 12));
	ck_assert_int_eq(s.nrounds, 6);
	for (int32_t dev = 0; dev < 12; dev++)
		near(received(&s, dev), 11 * BLOCK, "received");
}
END_TEST

/* Unequal axes: an all-to-all takes what its slowest axis takes, S max(d)/(8W). */
START_TEST(torus_all_to_all_is_its_slowest_axis)
{
	const struct machine *m = torus(3, (int32_t[]){4, 4, 8}, true);
	double S = BLOCK * 128;
	struct schedule s = built(m, "torus", OP_ALL_TO_ALL, group_of(0, 1, 128), S);

	near(model_schedule_s(model, &s), S * 8 / (8 * W) + 3 * 4 * LAT, "cost");
}
END_TEST

/* Groups of different form run side by side; so do blocks of a larger torus. */
START_TEST(torus_side_by_side)
{
	const struct machine *m = torus(2, (int32_t[]){4, 8}, true);
	int32_t ids[32];
	struct schedule s, one;

	for (int32_t i = 0; i < 32; i++) /* four 2 x 4 blocks */
		ids[i] = (i / 16 * 2 + i / 4 % 2) * 8 + i / 8 % 2 * 4 + i % 4;
	s = built(m, "torus", OP_ALL_GATHER, (struct groups){4, 8, ids}, BLOCK);
	one = built(m, "torus", OP_ALL_GATHER, (struct groups){1, 8, ids}, BLOCK);
	ck_assert_int_eq(s.nmessages, 4 * one.nmessages);
	near(model_schedule_s(model, &s), model_schedule_s(model, &one), "time");
	/* The first four of row 0 as a line; column 5 as a ring, all in one round. */
	s = built(m, "torus", OP_ALL_GATHER,
	          (struct groups){2, 4, (int32_t[]){0, 1, 2, 3, 5, 13, 21, 29}}, BLOCK);
	ck_assert_int_eq(s.nrounds, 3);
	near(model_schedule_s(model, &s), 4 * LAT + 3.5 * BLOCK / W, "time");
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *tests(void)
{
	Suite *suite = suite_create("torus");
	TCase *c = tcase_create("torus");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, torus_of_equal_rings, 0, COUNT(equal_axes));
	tcase_add_test(c, torus_of_ring_and_line);
	tcase_add_test(c, torus_spreads_ring_steps);
	tcase_add_test(c, torus_spreads_line_steps);
	tcase_add_test(c, torus_all_to_all_is_its_slowest_axis);
	tcase_add_test(c, torus_side_by_side);
	suite_add_tcase(suite, c);
	return suite;
}
