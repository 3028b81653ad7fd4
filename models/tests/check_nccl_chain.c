#include "collective/nccl.h"
#include "nccl_help.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>

/*
 * Chains, which broadcast and reduce: their times against figures worked out by hand, alone and
 * called in a row, and who sends to whom.
 */

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const char *const protocols[] = {"ll", "ll128", "simple"};
static const double wire_factor[] = {2, 128. / 120, 1};
static const double base[] = {0, 7.4, 1.8}, inside[] = {0.6, 1.9, 3.4},
		    across[] = {2.7, 4.0, 14};
static const struct {
	int32_t nodes, gpus;
} shapes[] = {{1, 3}, {1, 5}, {1, 8}, {2, 3}, {2, 8}, {3, 5}, {3, 1}, {5, 1}, {4, 2}};

/* Returns what it takes beside its launch by that caller and protocol. */
static double chain_s(struct machine *m, enum op op, int p, double bytes,
                      enum launch_mode launch)
{
	struct lowered l;

	m->launch = launch;
	m->forced = (struct forced){"ring", protocols[p]};
	l = lowered_all(m, op, bytes);
	ck_assert_str_eq(l.algorithm, "ring");
	ck_assert_str_eq(l.protocol, protocols[p]);
	ck_assert_int_eq(l.schedule.nrounds, 1);
	return seconds_of(m, &l) - l.launch_s;
}

/* A chain: V over each hop; across nodes V over the rails, (g-1)/g of it inside. */
START_TEST(broadcast_times)
{
	int32_t m = shapes[_i].nodes, g = shapes[_i].gpus, n = m * g;

	for (int p = 0; p < 3; p++)
		for (int o = 0; o < 2; o++) {
			double V = 1e6 + 1, w = V / nvlink.bandwidth_Bps;
			double stretch = m > 1 && p == 2 ? 1.9 : 1;
			double steps_us =
				base[p] + stretch * ((n - m) * inside[p] * STEP +
			                             (m - 1) * across[p] * NET_STEP);
			double fill_s = m > 1 ? NET_FILL_S : FILL_S;

			if (m > 1)
				w = fmax(w * (g - 1) / g, V / g / nic.bandwidth_Bps);
			w *= wire_factor[p];
			near(chain_s(tuned(m, g, 70), o ? OP_REDUCE : OP_BROADCAST, p,
			             V, LAUNCH_PROCESS),
			     fmax(1e-6 * steps_us + (m > 1 ? CALL_S : 0),
			          2 * (m > 1 ? nic : nvlink).latency_s) +
			             w + 2 * sqrt(w * fill_s),
			     "chain");
		}
}
END_TEST

/*
 * On one node of Hopper or later the fill passes during the call before, for callers in a row, and
 * LL128 has none. Of one process each device begins 4 us later than the one before, so of the six steps after the
 * first, of 2.72 us with Simple and 1.52 or less with LL128, none is waited for; were it 1 us, what is
 * left of them is.
 */
START_TEST(large_chains_in_a_row)
{
	static const struct {
		int cc;
		enum launch_mode launch;
		double each_us;
		double fills;
	} row[] = {
		{70, LAUNCH_PROCESS, 4, 2}, {80, LAUNCH_PROCESS, 4, 2},
		{90, LAUNCH_PROCESS, 4, 1}, {100, LAUNCH_XLA, 4, 2},
		{80, LAUNCH_SINGLE, 4, 2},  {90, LAUNCH_SINGLE, 4, 1},
		{100, LAUNCH_SINGLE, 1, 1},
	};

	for (int i = 0; i < COUNT(row); i++)
		for (int p = 1; p < 3; p++) {
			struct machine *m = tuned(1, 8, row[i].cc);
			double V = 3e8, w = V * wire_factor[p] / nvlink.bandwidth_Bps;
			double ll128_us = row[i].cc >= 100  ? 0.7
			                  : row[i].cc >= 90 ? 1.4
			                                    : 1.9;
			double step_us = (p == 1 ? ll128_us : inside[p]) * STEP;
			double six_us = 6 * step_us;
			double fills = p == 1 && row[i].cc >= 90 ? 0 : row[i].fills;

			m->tuning.value[TUNING_LAUNCH_EACH_S] = 1e-6 * row[i].each_us;
			if (row[i].launch == LAUNCH_SINGLE)
				six_us -= 6 * fmin(step_us, row[i].each_us);
			near(chain_s(m, i % 2 ? OP_REDUCE : OP_BROADCAST, p, V,
			             row[i].launch),
			     1e-6 * (base[p] + step_us + six_us) + w +
			             fills * sqrt(w * FILL_S),
			     "large, in a row");
		}
}
END_TEST

/*
 * Chains of LL in a row take one step each, of 64 KiB and one node a quarter of the others as well;
 * XLA's calls, and those of more than 256 KiB, have all n - 1. One GPU a node crosses the network
 * in its one step, with a call's 6 us.
 */
START_TEST(small_chains_in_a_row)
{
	static const struct {
		int32_t nodes, gpus;
		double bytes;
		enum launch_mode launch;
		double steps, crossings; /* that are waited for */
	} row[] = {
		{1, 8, 64 * 1024, LAUNCH_PROCESS, 1 + 6 / 4., 0},
		{1, 8, 256 * 1024, LAUNCH_PROCESS, 7, 0},
		{2, 8, 64 * 1024, LAUNCH_PROCESS, 1 + 13 / 4., 1 / 4.},
		{2, 8, 64 * 1024, LAUNCH_SINGLE, 1 + 13 / 4., 1 / 4.},
		{2, 8, 64 * 1024, LAUNCH_XLA, 14, 1},
		{3, 1, 64 * 1024, LAUNCH_PROCESS, 0, 1 + 1 / 4.},
	};

	for (int i = 0; i < COUNT(row); i++)
		for (int o = 0; o < 2; o++) {
			int32_t m = row[i].nodes, g = row[i].gpus;
			struct machine *machine = tuned(m, g, 70);
			double V = row[i].bytes, w = 2 * V / nvlink.bandwidth_Bps;
			double step = row[i].launch == LAUNCH_XLA ? 1.3 : 0.6 * STEP;
			double late_us =
				row[i].steps * step + row[i].crossings * 2.7 * NET_STEP;
			double call_s = m > 1 ? fmin(1, row[i].crossings) * CALL_S : 0;
			struct lowered l;

			machine->launch = row[i].launch;
			machine->forced = (struct forced){"ring", "ll"};
			l = lowered_all(machine, o ? OP_REDUCE : OP_BROADCAST, V);
			if (m > 1)
				w = fmax(w * (g - 1) / g, 2 * V / g / nic.bandwidth_Bps);
			near(seconds_of(machine, &l) - l.launch_s,
			     fmax(1e-6 * late_us + call_s,
			          2 * (m > 1 ? nic : nvlink).latency_s) +
			             w + 2 * sqrt(w * (m > 1 ? NET_FILL_S : FILL_S)),
			     "in a row");
		}
}
END_TEST

/* Who sends to whom in a chain: the root is the first device. */
START_TEST(broadcast_leaves_the_root)
{
	struct machine *m = tuned(2, 3, 70);
	struct lowered l = lowered_all(m, OP_BROADCAST, 30);
	double in[6] = {0}, out[6] = {0};

	for (int64_t i = 0; i < l.schedule.nmessages; i++) {
		const struct message *msg = &l.schedule.message[i];

		ck_assert(msg->src / 3 == msg->dst / 3 || msg->src < 3);
		in[msg->dst] += msg->bytes;
		out[msg->src] += msg->bytes;
	}
	/* LL doubles: 40 inside, 20 from each NIC of node 0 */
	for (int d = 0; d < 6; d++) {
		near(out[d], d < 3 ? 60 : 40, "out");
		near(in[d], d < 3 ? 40 : 60, "in");
	}
	l = lowered_all(m, OP_REDUCE, 30);
	for (int64_t i = 0; i < l.schedule.nmessages; i++)
		ck_assert(l.schedule.message[i].src / 3 == l.schedule.message[i].dst / 3 ||
		          l.schedule.message[i].src >= 3);
	m = tuned(1, 3, 70);
	l = lowered_all(m, OP_REDUCE, 7);
	ck_assert_int_eq(l.schedule.nmessages, 2);
	ck_assert_int_eq(l.schedule.message[0].src, 1);
	ck_assert_int_eq(l.schedule.message[0].dst, 0);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("nccl chain");
	TCase *c = tcase_create("nccl chain");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, broadcast_times, 0, COUNT(shapes));
	tcase_add_test(c, large_chains_in_a_row);
	tcase_add_test(c, small_chains_in_a_row);
	tcase_add_test(c, broadcast_leaves_the_root);
	suite_add_tcase(suite, c);
	return suite;
}
