#include "collective/nccl.h"
#include "nccl_help.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>

/*
 * Who calls a collective, and sends and receives by themselves, against figures worked out by
 * hand: nodes of equally many GPUs, W a GPU's port on NVLINK, N its NIC, both of
 * collective_help.c.
 */

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const struct {
	int32_t nodes, gpus;
} shapes[] = {{1, 3}, {1, 5}, {1, 8}, {2, 3}, {2, 8}, {3, 5}, {3, 1}, {5, 1}, {4, 2}};

static const double sizes[] = {9, 48 * 1024 + 1, 1e9};

/*
 * Whom XLA calls: a launch of 9.7 us and 1.3 us for a step of LL, or what the platform's
 * step makes of NCCL's 0.6 where that is more; on Hopper
 * wires 1.33 times slower for two, 1.07 for four, and 1.14 where devices reduce. Eager calls
 * of the platform's launch take 30 us more, MPI's 29 us. Whoever calls, rings of two and
 * four that gather or scatter are as slow from Hopper on.
 */
START_TEST(callers)
{
	static const struct {
		enum launch_mode launch;
		int cc, gpus;
		enum op op;
		double slow;
	} row[] = {
		{LAUNCH_XLA, 90, 2, OP_ALL_GATHER, 1.33},
		{LAUNCH_XLA, 90, 4, OP_ALL_GATHER, 1.07},
		{LAUNCH_XLA, 90, 8, OP_ALL_GATHER, 1},
		{LAUNCH_XLA, 90, 8, OP_REDUCE_SCATTER, 1.14},
		{LAUNCH_XLA, 90, 2, OP_REDUCE_SCATTER, 1.33 * 1.14},
		{LAUNCH_XLA, 100, 2, OP_ALL_GATHER, 1.33},
		{LAUNCH_XLA, 100, 4, OP_REDUCE_SCATTER, 1.07},
		{LAUNCH_XLA, 100, 8, OP_REDUCE_SCATTER, 1},
		{LAUNCH_XLA, 100, 2, OP_ALL_REDUCE, 1},
		{LAUNCH_XLA, 80, 4, OP_REDUCE_SCATTER, 1},
		{LAUNCH_PROCESS, 90, 2, OP_REDUCE_SCATTER, 1.33},
		{LAUNCH_PROCESS, 90, 3, OP_ALL_GATHER, 1.07},
		{LAUNCH_PROCESS, 100, 2, OP_ALL_GATHER, 1.33},
		{LAUNCH_PROCESS, 100, 2, OP_ALL_REDUCE, 1},
		{LAUNCH_PROCESS, 80, 2, OP_ALL_GATHER, 1},
	};
	struct lowered l;
	struct machine *m;

	for (int i = 0; i < COUNT(row); i++) {
		int n = row[i].gpus;
		int twice = row[i].op == OP_ALL_REDUCE ? 2 : 1;
		double w =
			twice * row[i].slow * 2e9 * (n - 1) / n / nvlink.bandwidth_Bps;
		/* from Hopper on they pass while wires are busy, but for a message's way */
		double steps_us = row[i].cc >= 90 ? 2e6 * nvlink.latency_s
		                                  : 1.8 + twice * (n - 1) * 3.4 * STEP;
		bool platforms = row[i].launch == LAUNCH_PROCESS;

		m = tuned(1, n, row[i].cc);
		m->launch = row[i].launch;
		m->forced.algorithm = "ring";
		l = lowered_all(m, row[i].op, 2e9);
		ck_assert_str_eq(l.algorithm, "ring");
		ck_assert_str_eq(l.protocol, "simple");
		near(seconds_of(m, &l),
		     (platforms ? device.launch_s : 10.5e-6) + 1e-6 * steps_us + w +
		             2 * sqrt(w * FILL_S),
		     "large");
	}
	/* One device on each of two nodes: the NIC is slower than any block. */
	m = tuned(2, 1, 90);
	m->forced.algorithm = "ring";
	ck_assert_double_eq(lowered_all(m, OP_ALL_GATHER, 2e9).schedule.task[0].least_s,
	                    0);
	m = tuned(1, 5, 100);
	m->launch = LAUNCH_XLA;
	m->forced.protocol = "ll";
	l = lowered_all(m, OP_ALL_GATHER, 5);
	near(seconds_of(m, &l),
	     10.5e-6 + 4e-6 * fmax(1.3, 0.6 * STEP) + 8 / nvlink.bandwidth_Bps, "small");
	m->forced.protocol = NULL;
	near(lowered_all(m, OP_ALL_TO_ALL, 5).launch_s, 10.5e-6, "one launch");
	m->launch = LAUNCH_EAGER;
	near(lowered_all(m, OP_ALL_GATHER, 5).launch_s, device.launch_s + 30e-6,
	     "eager");
	m->launch = LAUNCH_MPI;
	near(lowered_all(m, OP_ALL_GATHER, 5).launch_s, device.launch_s + 29e-6, "mpi");
}
END_TEST

/* Returns what an all-to-all of four devices of the first node takes beside the launch. */
static double four_s(struct machine *m, enum launch_mode launch, const int32_t *ids)
{
	struct groups four = {.ids = ids, .ngroups = 1, .size = 4};
	struct text why = {0};
	struct lowered l;

	m->launch = launch;
	ck_assert(lower_collective(&l, arena, m, OP_ALL_TO_ALL, four, 400, &why));
	return seconds_of(m, &l) - l.launch_s;
}

/*
 * An all-to-all has 11 us more from XLA where one process runs all of its devices, those of a host:
 * a node of up to 16, or a tray of four of a larger one.
 */
START_TEST(callers_of_sends)
{
	static const struct {
		int gpus;
		int32_t ids[4];
		double more_s;
	} row[] = {
		{16, {0, 1, 2, 3}, 11e-6}, {16, {2, 3, 4, 15}, 11e-6},
		{72, {0, 1, 2, 3}, 11e-6}, {72, {71, 69, 70, 68}, 11e-6},
		{72, {2, 3, 4, 5}, 0},     {72, {0, 4, 8, 12}, 0},
		{17, {0, 1, 2, 4}, 0},
	};

	for (int i = 0; i < COUNT(row); i++) {
		struct machine *m = tuned(1, row[i].gpus, 100);
		double process_s = four_s(m, LAUNCH_PROCESS, row[i].ids);

		near(four_s(m, LAUNCH_XLA, row[i].ids), process_s + row[i].more_s,
		     "all-to-all");
	}
}
END_TEST

/* A permute has slower wires from XLA on Hopper, 1.14 times, and on no other generation. */
START_TEST(permutes_of_xla)
{
	for (int cc = 80; cc <= 100; cc += 10) {
		struct machine *m = tuned(1, 8, cc);
		double w = 1e9 / nvlink.bandwidth_Bps, process_s;
		struct lowered l;

		m->tuning.value[TUNING_CHANNEL_BPS] = 0;
		l = lowered_all(m, OP_PERMUTE, 1e9);
		process_s = seconds_of(m, &l) - l.launch_s;
		m->launch = LAUNCH_XLA;
		l = lowered_all(m, OP_PERMUTE, 1e9);
		near(seconds_of(m, &l) - l.launch_s,
		     process_s + (cc == 90 ? 0.14 * w : 0), "permute");
		/* Later rounds of a call count no peers, and are as fast as its first. */
		near(nccl_sends_wires(m, 0), nccl_sends_wires(m, 2), "later rounds");
	}
}
END_TEST

/* What the first step of Simple takes longer than that of LL in a node. */
#define SIMPLE_S (1e-6 * (8.4 - 6.6 + (3.4 - 0.6) * STEP))

/*
 * An all-to-all of S: inside S(g-1)/n and the same for each other node (what is for the
 * other rails there), across S(n-g)/n over the share of a NIC, and first chunks of 128 KiB or a
 * message, twice for all but one of those on their way, eight at most. One node of Hopper has
 * wires that take 1.05 times as long.
 */
START_TEST(all_to_all_times)
{
	int32_t m = shapes[_i].nodes, g = shapes[_i].gpus, n = m * g;

	for (int i = 0; i < COUNT(sizes); i++) {
		struct machine *machine = tuned(m, g, 90);
		struct lowered l;
		double w = sizes[i] * (g - 1) / n * m / nvlink.bandwidth_Bps, fill_s = 0;
		double peers_s = (g - 1) * SEND_S + (n - g) * NET_SEND_S;
		/* Of one node those above 512 KiB take Simple, of several all. */
		double simple_s = m > 1                   ? far_s(n - g)
		                  : sizes[i] / n > 524288 ? SIMPLE_S
		                                          : 0;
		double chunk = fmin(1, 131072 / (sizes[i] / n));
		double route_s = 2 * (m > 1 ? nic.latency_s : nvlink.latency_s);

		machine->tuning.value[TUNING_CHANNEL_BPS] = 0;
		l = lowered_all(machine, OP_ALL_TO_ALL, sizes[i]);
		if (m == 1)
			fill_s = 2 * sqrt(w * FILL_S);
		w = fmax(w, sizes[i] * (n - g) / n / SHARE / nic.bandwidth_Bps);
		if (m > 1)
			fill_s = 2 * (fmin(8, n - g) - 1) * chunk * w / (n - g);
		else
			w *= 1.05;
		ck_assert_str_eq(l.algorithm, "sends");
		ck_assert_str_eq(l.protocol, "simple");
		near(seconds_of(machine, &l),
		     device.launch_s + fmax(peers_s + simple_s, route_s) + w + fill_s,
		     "sends");
	}
}
END_TEST

/*
 * Sends of an all-to-all inside a node share 32 channels: four each among 8 devices, one each
 * among 40, of which the first seven channels have two. Up to 512 KiB to each peer takes LL, a
 * quarter as fast. Parts of the same peer are as far apart as they can be: of 17 peers of four
 * parts the busiest channel has every eighth, three, and of 35 peers of two every sixteenth, three.
 * Blocks copy a device's own part as well, 1.2 times as fast as a channel sends: two devices wait
 * for that.
 */
START_TEST(all_to_all_channels)
{
	static const double KiB = 1024;
	static const struct {
		int gpus;
		double KiBs, least; /* of a channel's seconds for 1 KiB */
		bool simple;
	} row[] = {
		{8, 512, 4 * 512 / 4., false},
		{8, 513, 513 / 4., true},
		{40, 512, 4 * 512 * 2, false},
		{40, 640, 640 * 2, true},
		{18, 64 * 1024, 3 * 16 * 1024, true},
		{36, 32 * 1024, 3 * 16 * 1024, true},
		{2, 512 * 1024, 2 * 512 * 1024 / (32 * 1.2), false},
	};

	for (int i = 0; i < COUNT(row); i++) {
		double n = row[i].gpus, bytes = row[i].KiBs * KiB;
		double w = bytes * (n - 1) / nvlink.bandwidth_Bps;
		double peers_s = (n - 1) * SEND_S + (row[i].simple ? SIMPLE_S : 0);
		struct machine *m = tuned(1, row[i].gpus, 100);
		struct lowered l;

		m->tuning.value[TUNING_CHANNEL_BPS] = CHANNEL_BPS / 8;
		l = lowered_all(m, OP_ALL_TO_ALL, n * bytes);
		near(seconds_of(m, &l),
		     device.launch_s + fmax(peers_s, 2 * nvlink.latency_s) +
		             row[i].least * KiB / (CHANNEL_BPS / 8) +
		             2 * sqrt(w * FILL_S),
		     "channels");
	}
}
END_TEST

/*
 * What n - 1 peers wait for one another, n = 40: 39 x 38 / 2 times 1 us. Beside it the wires of
 * small messages, 39 x 4 KiB at a quarter of 32 channels, are nothing; those of large ones come
 * on top.
 */
START_TEST(sends_wait)
{
	static const double bytes[] = {4 * 1024., 1024 * 1024.};

	for (int i = 0; i < 2; i++) {
		struct machine *m = tuned(1, 40, 100);
		double before_s, wait_s = 741e-6,
				 w = 39 * bytes[i] / nvlink.bandwidth_Bps;
		struct lowered l;

		l = lowered_all(m, OP_ALL_TO_ALL, 40 * bytes[i]);
		before_s = seconds_of(m, &l);
		m->tuning.value[TUNING_SEND_WAIT_S] = 1e-6;
		l = lowered_all(m, OP_ALL_TO_ALL, 40 * bytes[i]);
		near(seconds_of(m, &l),
		     i ? before_s + wait_s
		       : device.launch_s + 39 * SEND_S + wait_s + 2 * sqrt(w * FILL_S),
		     "waits");
	}
}
END_TEST

/*
 * A ring's step passes V/n on. From 16 KiB on each of its crossings, 2m in an all-reduce, takes
 * 1 ms, and 2 ms from 64 KiB for each of 8 channels on, beside which these wires are
 * nothing; at 1 GiB per step the wires hide it. That is all a ring waits for, without a fill, and
 * half of it hides steps: 6 inside and 8 across, each 1.4 times as long.
 */
START_TEST(large_messages_meet)
{
	static const struct {
		double each; /* bytes */
		double meet_s;
	} row[] = {{16383, 0},
	           {16384, 8e-3},
	           {512 * 1024 - 1, 8e-3},
	           {512 * 1024, 16e-3},
	           {1024. * 1024 * 1024, 16e-3}};
	double steps_s =
		1e-6 * (1.8 + 1.4 * (6 * 3.4 * STEP + 8 * 14 * NET_STEP)) + CALL_S;

	for (int i = 0; i < COUNT(row); i++) {
		struct machine *m = tuned(4, 2, 80);
		double w = 7 * row[i].each / nic.bandwidth_Bps;
		double busy_s = fmax(w, row[i].meet_s);
		struct lowered l;

		m->tuning.value[TUNING_NET_RENDEZVOUS_S] = 1e-3;
		m->forced = (struct forced){.algorithm = "ring", .protocol = "simple"};
		l = lowered_all(m, OP_ALL_REDUCE, 8 * row[i].each);
		near(seconds_of(m, &l),
		     device.launch_s + fmax(steps_s - busy_s / 2, 2 * nic.latency_s) +
		             busy_s,
		     "meets");
	}
}
END_TEST

/* What the network's software takes is unknown to the library when it chooses. */
START_TEST(meeting_does_not_choose)
{
	static const enum op ops[] = {OP_ALL_REDUCE, OP_ALL_GATHER, OP_REDUCE_SCATTER};
	struct machine *m = tuned(8, 4, 80), *meets = tuned(8, 4, 80);

	meets->tuning.value[TUNING_NET_RENDEZVOUS_S] = 1e-3;
	for (int o = 0; o < COUNT(ops); o++)
		for (double bytes = 3e3; bytes < 1e10; bytes *= 3) {
			struct lowered l = lowered_all(m, ops[o], bytes);
			struct lowered k = lowered_all(meets, ops[o], bytes);

			ck_assert_str_eq(l.algorithm, k.algorithm);
			ck_assert_str_eq(l.protocol, k.protocol);
		}
}
END_TEST

/*
 * At each of a tree's three levels, there and back, the first chunk meets its receiver before the
 * wires are busy, and with Simple the two levels after the first take what 17.8 GB/s, of two
 * channels both ways, need for a chunk of 512 KiB of each of eight.
 */
START_TEST(chunks_of_trees_meet)
{
	struct machine *m = tuned(8, 2, 80);
	struct lowered l;
	double before_s;

	m->forced = (struct forced){.algorithm = "tree", .protocol = "simple"};
	l = lowered_all(m, OP_ALL_REDUCE, 1e9);
	before_s = seconds_of(m, &l);
	m->tuning.value[TUNING_NET_RENDEZVOUS_S] = 1e-3;
	l = lowered_all(m, OP_ALL_REDUCE, 1e9);
	near(seconds_of(m, &l), before_s + 2 * 3 * 1e-3 + 2 * 8 * 512 * 1024 / 17.8e9,
	     "meet");
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("nccl sends");
	TCase *c = tcase_create("sends");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, callers);
	tcase_add_test(c, callers_of_sends);
	tcase_add_test(c, permutes_of_xla);
	tcase_add_loop_test(c, all_to_all_times, 0, COUNT(shapes));
	tcase_add_test(c, all_to_all_channels);
	tcase_add_test(c, sends_wait);
	tcase_add_test(c, large_messages_meet);
	tcase_add_test(c, meeting_does_not_choose);
	tcase_add_test(c, chunks_of_trees_meet);
	suite_add_tcase(suite, c);
	return suite;
}
