#include "collective/local.h"
#include "collective/profile.h"
#include "nccl_help.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

START_TEST(names)
{
	struct where at = {.line = 3};
	struct error e = {0};

	for (int i = 0; profiles[i]; i++) {
		ck_assert_int_gt(strlen(profiles[i]->help), 0);
		ck_assert_int_eq(profile_check(profiles[i]->name, at, &e), OK);
	}
	ck_assert_int_eq(profile_check("ncc", at, &e), E_RANGE);
	ck_assert_str_eq(
		e.text, "unknown profile 'ncc', expected tpu, nccl, rccl, p2 or plain");
}
END_TEST

/*
 * The profile of the fabric that joins all of a group; of several groups, of the
 * last.
 */
START_TEST(of_groups)
{
	struct machine *m = cluster(2, 3);
	int32_t ids[] = {0, 1, 2, 3, 4, 5};

	m->fabric[0].profile = "rccl";
	m->fabric[1].profile = "nccl";
	ck_assert_str_eq(profile_of(m, &(struct groups){2, 3, ids})->name, "rccl");
	ck_assert_str_eq(profile_of(m, &(struct groups){1, 6, ids})->name, "nccl");
	ck_assert_str_eq(profile_of(m, &(struct groups){3, 2, ids})->name, "nccl");
	m->nfabrics = 1;
	ck_assert_str_eq(profile_of(m, &(struct groups){1, 6, ids})->name, "plain");
	ck_assert_str_eq(profile_of_fabric(cluster(1, 2), 0)->name, "plain");
	ck_assert_str_eq(profile_of_fabric(torus(1, (int32_t[]){4}, true), 0)->name,
	                 "tpu");
}
END_TEST

/*
 * Launch of the slowest; as many as a node has devices, if that is longer; in a graph, if that
 * is known.
 */
START_TEST(launches)
{
	struct machine *m = cluster(2, 3);
	struct device *all = arena_dup(arena, m->device, 6, sizeof(*all));
	int32_t ids[] = {5, 3, 0};

	all[1].launch_s = 9e-6;
	m->device = all;
	m->tuning.value[TUNING_LAUNCH_EACH_S] = 4e-6;
	near(profile_launch_s(m, NULL, 1), 5e-6, "device 0");
	near(profile_launch_s(m, NULL, 6), 9e-6, "all");
	near(profile_launch_s(m, ids, 3), 5e-6, "three");
	m->launch = LAUNCH_SINGLE;
	near(profile_launch_s(m, NULL, 1), 5e-6, "one");
	near(profile_launch_s(m, NULL, 6), 3 * 4e-6, "three a node");
	near(profile_launch_s(m, ids, 3), 2 * 4e-6, "two on a node");
	m->launch = LAUNCH_GRAPH;
	near(profile_launch_s(m, ids, 3), 5e-6, "not known");
	m->tuning.value[TUNING_LAUNCH_GRAPH_S] = 1.5e-6;
	near(profile_launch_s(m, ids, 3), 1.5e-6, "graph");
	ck_assert(profile_launch_s(m, ids, 0) >= 0);
}
END_TEST

/* A compiler calls on TPUs and on the GPUs of which its calls were timed. */
START_TEST(callers_of_plans)
{
	static const struct {
		const char *profile;
		int cc;
		enum launch_mode compiler;
	} row[] = {
		{"nccl", 0, LAUNCH_PROCESS},   {"nccl", 70, LAUNCH_PROCESS},
		{"nccl", 80, LAUNCH_PROCESS},  {"nccl", 90, LAUNCH_XLA},
		{"nccl", 100, LAUNCH_XLA},     {"rccl", 90, LAUNCH_PROCESS},
		{"plain", 90, LAUNCH_PROCESS}, {"tpu", 0, LAUNCH_XLA},
	};

	for (int i = 0; i < COUNT(row); i++) {
		struct machine *m = tuned(1, 4, row[i].cc);
		struct text t = {0};
		bool called = strstr(row[i].profile, "ccl") != NULL;
		const char *caller;

		m->fabric[0].profile = row[i].profile;
		ck_assert_int_eq(profile_compiler(m), row[i].compiler);
		m->launch = LAUNCH_EAGER;
		caller = profile_caller(m);
		profile_print_caller(&t, m);
		ck_assert_str_eq(t.s ? t.s : "", called ? ", launch eager" : "");
		if (i == COUNT(row) - 1)
			ck_assert_str_eq(caller, "xla");
		else
			ck_assert_int_eq(called, caller && !strcmp(caller, "eager"));
		text_free(&t);
	}
}
END_TEST

/* XLA's launch stands for the platform's, but not for one that a user gave. */
START_TEST(launch_that_is_given)
{
	struct machine *m = tuned(1, 4, 90);

	m->launch = LAUNCH_XLA;
	near(profile_launch_s(m, NULL, 4), 10.5e-6, "its own");
	m->launch_given = true;
	near(profile_launch_s(m, NULL, 4), 5e-6, "given");
	m->launch = LAUNCH_EAGER;
	near(profile_launch_s(m, NULL, 4), 5e-6 + 30e-6, "beside it");
}
END_TEST

/*
 * One process launches on three devices a node: call follows call in three launches of
 * 40 us, or as fast as the collective runs behind one of 5 us. From 24 KiB for each of
 * the six devices on there are more blocks, of 0.1 us each, from Hopper on of 0.05. AMD's library
 * has no compute capability (0).
 */
START_TEST(launch_of_collectives)
{
	static const struct {
		int cc;
		double bytes, enqueue_s;
	} row[] = {{70, 5, 120e-6},         {70, 24576, 120e-6},
	           {70, 49152, 120.3e-6},   {80, 49152, 120.3e-6},
	           {0, 49152, 120.3e-6},    {90, 49152, 120.15e-6},
	           {100, 49152, 120.15e-6}, {70, 1e9, 0}};
	struct machine *m = NULL;
	struct lowered l;

	for (int i = 0; i < COUNT(row); i++) {
		double alone_s;

		m = tuned(2, 3, row[i].cc);
		m->launch = LAUNCH_PROCESS;
		m->tuning.value[TUNING_LAUNCH_EACH_S] = 40e-6;
		l = lowered_all(m, OP_ALL_REDUCE, row[i].bytes);
		alone_s = seconds_of(m, &l);
		near(l.launch_s, 5e-6, "process");
		m->launch = LAUNCH_SINGLE;
		l = lowered_all(m, OP_ALL_REDUCE, row[i].bytes);
		near(seconds_of(m, &l), fmax(alone_s, row[i].enqueue_s), "collective");
	}
	near(local_rates(m, NULL, 6).launch_s, 120e-6, "step");
}
END_TEST

/*
 * Six sends and six receives on each of three devices, of which 11 come after the first: 0.4 us
 * each up to A100, 0.23 on Hopper and 0.09 on Blackwell, and nothing by AMD's library.
 */
START_TEST(launch_of_sends)
{
	static const struct {
		int cc;
		double enqueue_s;
	} row[] = {{70, 133.2e-6},
	           {80, 133.2e-6},
	           {90, 127.59e-6},
	           {100, 122.97e-6},
	           {0, 120e-6}};

	for (int i = 0; i < COUNT(row); i++) {
		struct machine *m = tuned(2, 3, row[i].cc);
		struct lowered l;

		m->launch = LAUNCH_SINGLE;
		m->tuning.value[TUNING_LAUNCH_EACH_S] = 40e-6;
		l = lowered_all(m, OP_ALL_TO_ALL, 6);
		near(seconds_of(m, &l), row[i].enqueue_s, "all-to-all");
	}
}
END_TEST

/*
 * A ring of 8 chips: the algorithms of the geometry, and the fill of their
 * pipelines.
 */
START_TEST(tpu_fill)
{
	struct machine *m = torus(1, (int32_t[]){8}, true);
	double V = 8 * 1e6, plain_s, w = V * 7 / 8 / 2 / W;
	struct lowered l = lowered_all(m, OP_ALL_GATHER, V);

	plain_s = seconds_of(m, &l);
	ck_assert_str_eq(l.algorithm, "bidir-ring");
	ck_assert_ptr_null(l.protocol);
	m->tuning.value[TUNING_FILL_S] = 2e-6;
	l = lowered_all(m, OP_ALL_GATHER, V);
	near(seconds_of(m, &l), plain_s + 2 * sqrt(w * 2e-6), "fill");
	m->fabric[0].profile = "plain";
	l = lowered_all(m, OP_ALL_GATHER, V);
	near(seconds_of(m, &l), plain_s, "plain");
}
END_TEST

/* Two levels: each of the three rounds has the fill of its own fabric. */
START_TEST(tpu_fill_across)
{
	struct machine *m = cluster(2, 3);
	double V = 6e6, inside = V * 2 / 3 / nvlink.bandwidth_Bps;
	double across = V / 3 / nic.bandwidth_Bps, plain_s;
	struct lowered l = lowered_all(m, OP_ALL_REDUCE, V);

	plain_s = seconds_of(m, &l);
	m->fabric[0].profile = m->fabric[1].profile = "tpu";
	m->tuning.value[TUNING_NET_FILL_S] = 5e-6;
	m->tuning.value[TUNING_FILL_S] = 2e-6;
	l = lowered_all(m, OP_ALL_REDUCE, V);
	near(seconds_of(m, &l),
	     plain_s + 4 * sqrt(inside * 2e-6) + 2 * sqrt(across * 5e-6), "two levels");
}
END_TEST

START_TEST(forced_by_geometry)
{
	struct machine *m = torus(1, (int32_t[]){8}, true);
	struct text why = {0};
	struct lowered l;

	m->forced.algorithm = "ring";
	ck_assert_str_eq(lowered_all(m, OP_ALL_GATHER, 8e6).algorithm, "ring");
	m->forced.algorithm = "tree";
	ck_assert(!lower_collective(&l, arena, m, OP_ALL_GATHER, everybody(m), 8, &why));
	ck_assert_str_eq(why.s, "tree cannot run this all-gather on torus, expected "
	                        "bidir-ring, torus, ring");
	text_free(&why);
	m->forced = (struct forced){NULL, "ll"};
	ck_assert(!lower_collective(&l, arena, m, OP_ALL_GATHER, everybody(m), 8, &why));
	ck_assert_str_eq(why.s, "the collectives of torus have no protocols");
	text_free(&why);
	/* the levels of a two-level collective are not what is forced */
	m = cluster(2, 3);
	m->forced.algorithm = "two-level";
	ck_assert_str_eq(lowered_all(m, OP_ALL_REDUCE, 6).algorithm, "two-level");
}
END_TEST

/* A permute shifts by one in group order; each pair is a task of its own. */
START_TEST(permute_is_a_shift)
{
	struct machine *m = tuned(2, 2, 90);
	struct groups g = {1, 4, (int32_t[]){2, 0, 1, 3}};
	double M = 1e6 + 1, w = M / nvlink.bandwidth_Bps;
	struct text why = {0};
	struct lowered l;

	ck_assert(lower_collective(&l, arena, m, OP_PERMUTE, g, M, &why));
	ck_assert_str_eq(l.algorithm, "permute");
	ck_assert_int_eq(l.schedule.ntasks, 4);
	for (int i = 0; i < 4; i++) {
		const struct task *t = &l.schedule.task[i];
		const struct message *msg = &l.schedule.message[t->first];
		bool net = i % 2 == 0; /* 2 to 0, 0 to 1, 1 to 3, 3 to 2 */

		ck_assert_int_eq(msg->src, g.ids[i]);
		ck_assert_int_eq(msg->dst, g.ids[(i + 1) % 4]);
		near(msg->bytes, net ? M / SHARE : M, "bytes");
		/* of 32 channels, eight for each of four ranks, but four parts of 256 KiB
		 * or less; across two of 14 GB/s */
		near(t->least_s, net ? M / 28e9 : M / 4 / CHANNEL_BPS, "channels");
		/* on the network a call and a step of Simple, less the route */
		near(t->delay_s,
		     net ? far_s(1) + NET_SEND_S - 2 * nic.latency_s
		         : 2 * sqrt(w * FILL_S),
		     "delay");
	}
	/* without routes longer than the software, that shows */
	m->tuning.value[TUNING_SEND_S] = 7e-6;
	m->tuning.value[TUNING_NET_SEND_S] = 9e-6;
	ck_assert(lower_collective(&l, arena, m, OP_PERMUTE, g, M, &why));
	near(l.schedule.task[0].delay_s, far_s(1) + 9e-6 - 2 * nic.latency_s, "network");
	near(l.schedule.task[1].delay_s,
	     7e-6 - 2 * nvlink.latency_s + 2 * sqrt(w * FILL_S), "inside");
	text_free(&why);
}
END_TEST

/*
 * Channels: of 32, as many for each rank, but one for each 64 KiB begun; twice as many as long as
 * one has more than 16 MiB, up to 32, before Hopper 16; up to 512 KiB at a quarter of the bandwidth,
 * one for each 8 KiB begun. In a step over several nodes 512 KiB in place of 16 MiB.
 */
START_TEST(channels_of_a_send)
{
	static const double KiB = 1024;
	static const struct {
		int32_t nodes, gpus;
		int cc;
		double KiBs, channels;
	} table[] = {
		{1, 8, 90, 1024, 4},        {1, 8, 90, 64 * 1024, 4},
		{1, 8, 90, 80 * 1024, 8},   {1, 8, 90, 512 * 1024, 32},
		{1, 8, 90, 700 * 1024, 32}, {1, 8, 80, 700 * 1024, 16},
		{1, 2, 90, 1024, 16},       {1, 2, 90, 600, 10},
		{1, 32, 100, 16 * 1024, 1}, {1, 40, 100, 17 * 1024, 2},
		{1, 8, 90, 512, 4. / 4},    {1, 8, 90, 16, 2. / 4},
		{1, 8, 90, 1, 1. / 4},      {1, 40, 100, 512, 1. / 4},
		{2, 4, 90, 1024, 4},        {2, 4, 90, 4096, 8},
	};
	struct machine *m = tuned(1, 2, 90);

	for (int i = 0; i < COUNT(table); i++) {
		double M = table[i].KiBs * KiB;
		struct lowered l;

		m = tuned(table[i].nodes, table[i].gpus, table[i].cc);
		l = lowered_all(m, OP_PERMUTE, M);
		near(l.schedule.task[0].least_s, M / CHANNEL_BPS / table[i].channels,
		     "channels");
	}
	m->tuning.value[TUNING_CHANNEL_BPS] = 0;
	near(lowered_all(m, OP_PERMUTE, 1e9).schedule.task[0].least_s, 0, "no limit");
}
END_TEST

/*
 * Pairs of eight H100 that swap: a rank's send and its receive are in rounds d and 8 - d of the
 * library, so on channels of their own but for d = 4, and channels of one direction are 1.5 times as
 * fast. In a shift by one all send and receive in round 1, and so do two devices alone. Who
 * sends and does not receive has one direction. Ranks are of those that take part, so the
 * pairs of every second device are as those of four. Other GPUs are not known to gain.
 */
START_TEST(channels_of_a_swap)
{
	static const struct {
		int cc;
		int32_t n;
		struct pair pair[8];
		double channels; /* that a send has, or as many as it is as fast as */
	} table[] = {
		{90,
	         8,
	         {{0, 1}, {1, 0}, {2, 3}, {3, 2}, {4, 5}, {5, 4}, {6, 7}, {7, 6}},
	         6},
		{90,
	         8,
	         {{0, 3}, {3, 0}, {1, 2}, {2, 1}, {4, 7}, {7, 4}, {5, 6}, {6, 5}},
	         6},
		{90,
	         8,
	         {{0, 4}, {4, 0}, {1, 5}, {5, 1}, {2, 6}, {6, 2}, {3, 7}, {7, 3}},
	         4},
		{90,
	         8,
	         {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 0}},
	         4},
		{90, 2, {{0, 1}, {1, 0}}, 16},
		{90, 1, {{0, 1}}, 24},
		{90, 4, {{0, 2}, {2, 0}, {4, 6}, {6, 4}}, 12},
		{90, 4, {{0, 2}, {2, 4}, {4, 6}, {6, 0}}, 8},
		{90, 4, {{0, 4}, {4, 0}, {2, 6}, {6, 2}}, 8},
		{100, 4, {{0, 1}, {1, 0}, {2, 3}, {3, 2}}, 8},
		{80, 4, {{0, 1}, {1, 0}, {2, 3}, {3, 2}}, 8},
	};
	double M = 4 * 1024 * 1024;

	for (int i = 0; i < COUNT(table); i++) {
		struct machine *m = tuned(1, 8, table[i].cc);
		struct text why = {0};
		struct lowered l;

		ck_assert(lower_pairs(&l, arena, m, table[i].pair, table[i].n, M, &why));
		near(l.schedule.task[0].least_s, M / CHANNEL_BPS / table[i].channels,
		     "channels");
	}
}
END_TEST

/*
 * Channels of a send to one peer across, of 14 GB/s: as many as the NIC fills, halved until
 * channels times ranks are 128 or less from Hopper on, 32 before; of libraries before 2.29 what
 * is set, 32 at most, of 14.5 GB/s on Hopper and 17.9 on Blackwell, until they are 64 or less.
 */
START_TEST(channels_of_a_send_across)
{
	static const struct {
		int32_t nodes, gpus;
		int cc;
		double set, GBps;
	} table[] = {
		{2, 1, 90, 0, 42},    {2, 16, 90, 0, 42},  {11, 4, 90, 0, 14},
		{8, 4, 100, 2, 35.8}, {2, 8, 90, 2, 29},   {9, 4, 90, 2, 14.5},
		{2, 8, 100, 4, 71.6}, {2, 8, 80, 0, 14},   {2, 4, 80, 2, 28},
		{2, 8, 100, 1, 17.9}, {2, 1, 90, 64, 464},
	};

	for (int i = 0; i < COUNT(table); i++) {
		struct machine *m = tuned(table[i].nodes, table[i].gpus, table[i].cc);
		struct link *fat = arena_alloc(arena, (size_t)m->nlinks, sizeof(*fat));
		double least_s = 0;
		struct lowered l;

		for (int32_t k = 0; k < m->nlinks; k++) {
			fat[k] = m->link[k];
			fat[k].bandwidth_Bps = 40e9 / SHARE;
		}
		m->link = fat;
		m->tuning.value[TUNING_NET_SEND_CHANNELS] = table[i].set;
		m->tuning.value[TUNING_CHANNEL_BPS] = 0;
		l = lowered_all(m, OP_PERMUTE, 1e9);
		for (int64_t t = 0; t < l.schedule.ntasks; t++)
			least_s = fmax(least_s, l.schedule.task[t].least_s);
		near(least_s, 1 / table[i].GBps, "across");
	}
}
END_TEST

/* By geometry, a broadcast is a chain: n - 1 latencies and V over each hop. */
START_TEST(chains)
{
	struct machine *m = cluster(1, 5);
	struct lowered l = lowered_all(m, OP_BROADCAST, 3e6);

	ck_assert_str_eq(l.algorithm, "chain");
	near(seconds_of(m, &l),
	     device.launch_s + 4 * 2 * nvlink.latency_s + 3e6 / nvlink.bandwidth_Bps,
	     "broadcast");
	ck_assert_int_eq(l.schedule.nmessages, 4);
	ck_assert_int_eq(l.schedule.message[0].src, 0);
	l = lowered_all(m, OP_REDUCE, 3e6);
	ck_assert_int_eq(l.schedule.message[0].dst, 0);
	for (int o = 0; o < 2; o++) {
		enum op op = o ? OP_REDUCE : OP_BROADCAST;

		ck_assert_str_eq(lowered_all(cluster(2, 3), op, 5).algorithm, "chain");
		ck_assert_str_eq(
			lowered_all(torus(1, (int32_t[]){5}, true), op, 5).algorithm,
			"chain");
		ck_assert_str_eq(
			lowered_all(torus(2, (int32_t[]){3, 4}, false), op, 5).algorithm,
			"chain");
	}
	l = lowered_all(cluster(3, 1), OP_PERMUTE, 5);
	ck_assert_int_eq(l.schedule.ntasks, 3);
	near(l.schedule.task[0].delay_s, 0, "plain");
}
END_TEST

START_TEST(nobody_joins_them)
{
	struct machine *m = tuned(2, 2, 90);
	struct groups g = everybody(m);
	struct text why = {0};
	struct lowered l;

	m->nfabrics = 1;
	for (int o = 0; o < 4; o++) {
		ck_assert(!lower_collective(&l, arena, m, ops[o], g, 8, &why));
		ck_assert_str_eq(why.s, "no fabric of gpu joins devices 0 and 2");
		text_free(&why);
	}
	ck_assert(!lower_collective(&l, arena, m, OP_PERMUTE, g, 8, &why));
	ck_assert_str_eq(why.s, "no fabric of gpu joins devices 1 and 2");
	text_free(&why);
	ck_assert(!lower_collective(&l, arena, m, OP_BROADCAST, g, 8, &why));
	text_free(&why);
}
END_TEST

/* Two GPUs with one NIC that no other fabric joins: an answer, not a message. */
START_TEST(sharers_that_nobody_joins)
{
	struct machine *m = tuned(4, 1, 90);
	struct text why = {0};
	struct lowered l;

	m->fabric[1].share = 2;
	for (int o = 0; o < 4; o++) {
		ck_assert(!lower_collective(&l, arena, m, ops[o], everybody(m), 8, &why));
		ck_assert_str_eq(why.s, "no fabric of gpu joins devices 0 and 1");
		text_free(&why);
	}
	m = tuned(2, 2, 90);
	m->fabric[1].share = 2;
	ck_assert_str_eq(lowered_all(m, OP_ALL_TO_ALL, 8).algorithm, "sends");
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("profile");
	TCase *c = tcase_create("profile");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, names);
	tcase_add_test(c, of_groups);
	tcase_add_test(c, launches);
	tcase_add_test(c, callers_of_plans);
	tcase_add_test(c, launch_that_is_given);
	tcase_add_test(c, launch_of_collectives);
	tcase_add_test(c, launch_of_sends);
	tcase_add_test(c, tpu_fill);
	tcase_add_test(c, tpu_fill_across);
	tcase_add_test(c, forced_by_geometry);
	tcase_add_test(c, permute_is_a_shift);
	tcase_add_test(c, channels_of_a_send);
	tcase_add_test(c, channels_of_a_swap);
	tcase_add_test(c, channels_of_a_send_across);
	tcase_add_test(c, chains);
	tcase_add_test(c, nobody_joins_them);
	tcase_add_test(c, sharers_that_nobody_joins);
	suite_add_tcase(suite, c);
	return suite;
}
