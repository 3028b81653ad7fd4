#include "collective/nccl.h"
#include "nccl_help.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>

/*
 * Switches that add up: all-reduces, gathers and scatters of one node and all-reduces of several,
 * against figures worked out by hand.
 */

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const struct {
	int cc, channels;
	double switch_us,
		turn_us;     /* of one node's switch, and of each head in a round */
	double tree_turn_us; /* of each head, where a tree joins switches */
} multicast[] = {{90, 16, 5, 0.6, 1.4}, {100, 24, 17, 1.1, 3}, {103, 24, 17, 1.1, 3}};

/*
 * Returns the seconds of the switch of one node of n devices, beside a launch, for `phases` of an
 * all-reduce's two halves and chunks of that many KiB.
 */
static double switch_s(int i, int n, double V, int phases, double chunk_KiB)
{
	double parts = phases == 2 ? n + 1 : n - 1;
	double w = V * parts / n / (0.92 * nvlink.bandwidth_Bps);
	int heads = n < 32 ? n : 32;
	double rounds = V / (multicast[i].channels * heads * chunk_KiB * 1024);
	double turns_s = 1e-6 * heads * multicast[i].turn_us * fmax(0, rounds - 1);

	return 1e-6 * (multicast[i].switch_us + 0.85 * heads) + w +
	       phases / 2. * (turns_s + 2.25 * w / fmax(1, rounds));
}

/*
 * Chunks of 128 KiB, of 64 if V has fewer than 64 rounds of those, of 32 if it has fewer than 8 of
 * 64, and of 16 if it has fewer than 2 of 32; less than one round is one.
 */
START_TEST(switches)
{
	const struct {
		enum op op;
		int n, phases;
		double rounds, of_KiB,
			chunk_KiB; /* V is `rounds` of chunks of `of_KiB` */
	} row[] = {
		{OP_ALL_REDUCE, 5, 2, 65, 128, 128},
		{OP_ALL_REDUCE, 8, 2, 63, 128, 64},
		{OP_ALL_REDUCE, 3, 2, 8.5, 64, 64},
		{OP_ALL_REDUCE, 8, 2, 7.5, 64, 32},
		{OP_ALL_REDUCE, 8, 2, 1.9, 32, 16},
		{OP_ALL_REDUCE, 8, 2, 0.1, 16, 16},
		{OP_REDUCE_SCATTER, 8, 1, 20, 128, 64},
		{OP_ALL_GATHER, 3, 1, 100, 128, 128},
		{OP_ALL_GATHER, 32, 1, 3, 64, 32},
		{OP_ALL_REDUCE, 64, 2, 65, 128, 128},
	};

	for (int i = 0; i < COUNT(row); i++) {
		struct machine *m = tuned(1, row[i].n, multicast[_i].cc);
		double V = row[i].rounds * (row[i].n < 32 ? row[i].n : 32) *
		           multicast[_i].channels * row[i].of_KiB * 1024;
		struct lowered l;

		m->forced.algorithm = "nvls";
		l = lowered_all(m, row[i].op, V);
		near(seconds_of(m, &l),
		     device.launch_s +
		             switch_s(_i, row[i].n, V, row[i].phases, row[i].chunk_KiB),
		     op_name(row[i].op));
	}
}
END_TEST

/*
 * Over several nodes chunks have 128 KiB, from four on 64; 64 if V has fewer than 4 rounds of those, and
 * 32 if it has less than one of 64. The NICs of few devices are slower than their switch and its
 * turns, those of 40 are not; heads are 32 at most.
 */
START_TEST(nvls_tree_times)
{
	static const struct {
		int nodes, gpus, levels;
		double trees; /* what both have the busiest node send, of V */
		double rounds, of_KiB, chunk_KiB;
	} row[] = {{2, 3, 1, 1, 5, 128, 128},  {2, 3, 1, 1, 3.9, 128, 64},
	           {2, 3, 1, 1, 0.9, 64, 32},  {3, 5, 1, 1.5, 700.5, 128, 128},
	           {4, 3, 2, 2, 100, 128, 64}, {4, 3, 2, 2, 0.5, 64, 32},
	           {4, 3, 2, 2, 1.5, 64, 64},  {2, 40, 1, 1, 20, 128, 128},
	           {8, 40, 3, 2, 0.3, 32, 32}, {2, 40, 1, 1, 2000, 128, 128}};

	for (int i = 0; i < COUNT(row); i++) {
		int nodes = row[i].nodes, n = row[i].gpus, heads = n < 32 ? n : 32;
		double at_once = multicast[_i].channels * heads;
		double V = row[i].rounds * at_once * row[i].of_KiB * 1024;
		double rounds = fmax(1, V / (at_once * row[i].chunk_KiB * 1024));
		double net_s = row[i].trees * V / n / nic.bandwidth_Bps;
		double inside_s = V * (n + 1) / n / (0.92 * nvlink.bandwidth_Bps);
		double turns_s =
			(rounds - 1) * heads * multicast[_i].tree_turn_us * 1e-6;
		double steps_us = 30 + 0.85 * heads + 2 * row[i].levels * 14 * NET_STEP;
		struct machine *m = tuned(nodes, n, multicast[_i].cc);
		struct lowered l;

		m->forced.algorithm = "nvls-tree";
		l = lowered_all(m, OP_ALL_REDUCE, V);
		near(seconds_of(m, &l),
		     device.launch_s + CALL_S + steps_us * 1e-6 +
		             fmax(net_s, inside_s + turns_s) +
		             1.3 * (1 + row[i].levels) * fmax(net_s, inside_s) / rounds,
		     "nvls-tree");
	}
}
END_TEST

/* The library has switches of three devices or more, on one node and on several. */
START_TEST(switches_of_pairs)
{
	static const char *const name[] = {"nvls", "nvls-tree"};

	for (int nodes = 1; nodes <= 2; nodes++)
		for (int gpus = 2; gpus <= 3; gpus++) {
			struct machine *m = tuned(nodes, gpus, multicast[_i].cc);
			struct text why = {0};
			struct lowered l;

			m->forced.algorithm = name[nodes - 1];
			ck_assert_int_eq(lower_collective(&l, arena, m, OP_ALL_REDUCE,
			                                  everybody(m), 64, &why),
			                 gpus > 2);
			text_free(&why);
		}
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("nccl nvls");
	TCase *c = tcase_create("nccl nvls");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, switches, 0, COUNT(multicast));
	tcase_add_loop_test(c, nvls_tree_times, 0, COUNT(multicast));
	tcase_add_loop_test(c, switches_of_pairs, 0, COUNT(multicast));
	suite_add_tcase(suite, c);
	return suite;
}
