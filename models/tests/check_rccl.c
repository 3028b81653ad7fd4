#include "collective/nccl.h"
#include "nccl_help.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <string.h>

/* Collectives of AMD's library on GPUs that are linked pair by pair. */

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* Fully connected GPUs: rings over all links, and the direct algorithms. */
START_TEST(rccl_times)
{
	static const int all[64] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1,
	                            1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1,
	                            1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1,
	                            1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0};
	static const struct {
		const char *algorithm;
		enum op op;
		double share; /* of V on every link */
		double steps;
	} table[] = {
		{"ring", OP_ALL_REDUCE, 2. / 8, 14},
		{"ring", OP_ALL_GATHER, 1. / 8, 7},
		{"one-shot", OP_ALL_REDUCE, 1, 1},
		{"direct", OP_ALL_REDUCE, 2. / 8, 2},
		{"direct", OP_REDUCE_SCATTER, 1. / 8, 1},
	};
	struct machine *m = meshed(1, 8, all);
	double V = 1e6 + 1;

	m->fabric[0].profile = "rccl";
	for (int i = 0; i < COUNT(table); i++) {
		double w = V * table[i].share / nvlink.bandwidth_Bps;
		struct lowered l;

		m->forced = (struct forced){table[i].algorithm, "simple"};
		l = lowered_all(m, table[i].op, V);
		near(seconds_of(m, &l),
		     device.launch_s + (1.8 + table[i].steps * 3.4 * STEP) * 1e-6 + w +
		             2 * sqrt(w * FILL_S),
		     table[i].algorithm);
	}
	/* two of eight have one link: 2V/2 over it */
	m->forced = (struct forced){"ring", "simple"};
	{
		struct text why = {0};
		struct lowered l;

		ck_assert(lower_collective(&l, arena, m, OP_ALL_REDUCE,
		                           (struct groups){1, 2, (int32_t[]){3, 6}}, V,
		                           &why));
		near(largest(m, link_bytes(m, &l.schedule)), V, "pair");
		text_free(&why);
	}
}
END_TEST

/* Where some two devices have no link of their own the direct algorithms do not run. */
START_TEST(rccl_of_linked_pairs)
{
	static const int cycle[16] = {0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0};
	static const char *const direct[] = {"one-shot", "direct"};
	struct machine *m = meshed(1, 4, cycle);

	m->fabric[0].profile = "rccl";
	for (int i = 0; i < COUNT(direct); i++) {
		struct text why = {0};
		struct lowered l;

		m->forced = (struct forced){direct[i], "simple"};
		ck_assert(!lower_collective(&l, arena, m, OP_ALL_REDUCE, everybody(m),
		                            1e6, &why));
		text_free(&why);
	}
	m->forced = (struct forced){0};
	ck_assert_str_eq(lowered_all(m, OP_ALL_GATHER, 64).algorithm, "ring");
}
END_TEST

/* A node, or several, of n devices of which each two are linked, but for one pair of each. */
static struct machine *linked(int32_t nodes, int32_t n, const char *profile, bool cut)
{
	int *links = arena_alloc(arena, (size_t)n * (size_t)n, sizeof(*links));
	struct machine *m;

	for (int i = 0; i < n * n; i++)
		links[i] = i / n != i % n;
	if (cut)
		links[1] = links[n] = 0;
	m = meshed(nodes, n, links);
	m->fabric[0].profile = profile;
	return m;
}

/*
 * Of 2 to 8 devices that are all linked: rings of five to seven go round in two ways, over
 * one link each, in four channels of 11.6 GB/s; those of all others use every link, among
 * three in eight such channels. While channels are busy, for half of that at most, steps of
 * Simple pass on what is reduced or gathered. With NVIDIA's library all use every link, and
 * with AMD's over two nodes.
 */
START_TEST(rccl_rings)
{
	static const struct {
		enum op op;
		const char *protocol;
		double wire, steps_us, base_us; /* for each byte, a step, and before */
	} row[] = {
		{OP_ALL_REDUCE, "simple", 1, 3.4, 1.8},
		{OP_ALL_GATHER, "ll", 2, 0.6, 0},
		{OP_BROADCAST, "simple", 1, 3.4, 1.8},
	};
	int32_t n = _i;
	double V = 1e9;

	for (int i = 0; i < 2 * COUNT(row); i++) {
		const char *profile = i < COUNT(row) ? "rccl" : "nccl";
		int k = i % COUNT(row), twice = row[k].op == OP_ALL_REDUCE ? 2 : 1;
		bool few = n > 4 && n < 8 && !strcmp(profile, "rccl");
		double sent = row[k].op == OP_BROADCAST ? V : twice * V * (n - 1) / n;
		int channels = strcmp(profile, "rccl") ? 0 : few ? 4 : n == 3 ? 8 : 0;
		double link = row[k].wire * sent / (few ? 2 : n - 1), w, steps_s;
		struct machine *m = linked(1, n, profile, false);
		struct lowered l;

		m->forced = (struct forced){"ring", row[k].protocol};
		l = lowered_all(m, row[k].op, V);
		near(largest(m, link_bytes(m, &l.schedule)), link, "link");
		w = link / nvlink.bandwidth_Bps;
		if (channels)
			w = fmax(w, row[k].wire * sent / channels / 11.6e9);
		steps_s = 1e-6 *
		          (row[k].base_us + twice * (n - 1) * row[k].steps_us * STEP);
		if (channels && row[k].op == OP_ALL_REDUCE)
			steps_s -= w / 2;
		near(seconds_of(m, &l),
		     device.launch_s + fmax(steps_s, nvlink.latency_s) + w +
		             2 * sqrt(w * FILL_S),
		     "ring");
	}
	if (n > 2) {
		struct machine *m = linked(2, n, "rccl", false);
		struct lowered l;
		double most = 0;

		m->forced = (struct forced){"ring", "simple"};
		l = lowered_all(m, OP_ALL_GATHER, V);
		for (int64_t i = 0; i < l.schedule.nmessages; i++) {
			const struct message *msg = &l.schedule.message[i];

			if (!nccl_is_network(m, msg->fabric))
				most = fmax(most, msg->bytes);
		}
		near(most, V * (2 * n - 1) / (2 * n) / n, "two nodes");
		ck_assert_double_eq(l.schedule.task[0].least_s, 0);
	}
}
END_TEST

/* Only where all devices are linked, which those of MI250X are not. */
START_TEST(rccl_sends_that_relay)
{
	struct machine *m[] = {linked(1, 4, "rccl", false), linked(1, 4, "rccl", true)};

	for (int i = 0; i < COUNT(m); i++) {
		m[i]->tuning.value[TUNING_CC] = 0;
		near(nccl_sends_wires(m[i], 3), i ? 1 : 1.2, "wires");
	}
}
END_TEST

/*
 * Sends over direct links of AMD's GPUs have one hop, and no fill: to one peer they take
 * what a link says, to several 1.2 times as long. Those to several have a step of Simple.
 */
START_TEST(rccl_sends)
{
	static const int devices[] = {2, 3, 4, 8};

	for (int i = 0; i < COUNT(devices); i++) {
		int n = devices[i];
		struct machine *m = linked(1, n, "rccl", false);
		double w = (n > 2 ? 1.2 : 1) * 1e8 / nvlink.bandwidth_Bps;
		double simple_us = n > 2 ? 8.4 - 6.6 + (3.4 - 0.6) * STEP : 0;
		struct lowered l;

		m->tuning.value[TUNING_CC] = 0;
		m->tuning.value[TUNING_CHANNEL_BPS] = 0;
		l = lowered_all(m, OP_ALL_TO_ALL, n * 1e8);
		near(seconds_of(m, &l),
		     device.launch_s +
		             fmax((n - 1) * SEND_S + 1e-6 * simple_us, nvlink.latency_s) +
		             w,
		     "sends");
	}
}
END_TEST

/* Few rings avoid the pair that has no link, and use what there is if no ring does. */
START_TEST(rccl_rings_of_cut_links)
{
	static const int star[25] = {0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0,
	                             0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0};
	struct machine *m = linked(1, 6, "rccl", true);
	struct lowered l;

	m->forced = (struct forced){"ring", "simple"};
	l = lowered_all(m, OP_BROADCAST, 8);
	ck_assert_int_eq(l.schedule.nmessages, 12);
	for (int i = 0; i < 12; i++) {
		const struct message *msg = &l.schedule.message[i];

		near(msg->bytes, 4, "half each way");
		ck_assert_int_gt(msg->src + msg->dst, 1);
		ck_assert_int_eq(msg->src, l.schedule.message[i ^ 1].dst);
	}
	m = meshed(1, 5, star);
	m->fabric[0].profile = "rccl";
	m->forced = (struct forced){"ring", "simple"};
	l = lowered_all(m, OP_BROADCAST, 8);
	near(l.schedule.task[0].least_s, 8 / 46.4e9, "no ring");
}
END_TEST

/* The direct algorithms run on 4, 8 and 16 devices that are all linked. */
START_TEST(rccl_direct_by_devices)
{
	static const char *const direct[] = {"one-shot", "direct"};
	int32_t n = _i;
	struct machine *m = linked(1, n, "rccl", false);

	for (int i = 0; i < COUNT(direct); i++) {
		struct text why = {0};
		struct lowered l;

		m->forced = (struct forced){direct[i], "simple"};
		ck_assert_int_eq(lower_collective(&l, arena, m, OP_ALL_REDUCE,
		                                  everybody(m), 1e6, &why),
		                 n == 4 || n == 8 || n == 16);
		text_free(&why);
	}
}
END_TEST

/* From 64 MiB on an all-reduce over two nodes is a ring, though a tree would be faster. */
START_TEST(rccl_rings_over_two_nodes)
{
	static const struct {
		int nodes;
		const char *profile;
		double bytes;
		const char *forced, *runs;
	} row[] = {
		{2, "nccl", 67108864, NULL, "tree"},
		{2, "rccl", 67108863, NULL, "tree"},
		{2, "rccl", 67108864, NULL, "ring"},
		{2, "rccl", 67108864, "tree", "tree"},
		{4, "rccl", 67108864, NULL, "tree"},
	};

	for (int i = 0; i < COUNT(row); i++) {
		struct machine *m = linked(row[i].nodes, 4, row[i].profile, false);

		for (int f = 0; f < m->nfabrics; f++)
			m->fabric[f].profile = row[i].profile;
		/* slow steps, of which a tree has fewer */
		m->tuning.value[TUNING_STEP] = 1e4;
		m->tuning.value[TUNING_CC] = 0;
		m->forced.algorithm = row[i].forced;
		ck_assert_str_eq(lowered_all(m, OP_ALL_REDUCE, row[i].bytes).algorithm,
		                 row[i].runs);
	}
}
END_TEST

/* Rings of one node pass on each line of LL as it comes; only Simple has a pipeline to fill. */
START_TEST(rccl_rings_of_lines)
{
	for (int lines = 0; lines < 2; lines++) {
		struct machine *m = linked(1, 2, "rccl", false);
		double w = (lines ? 2 : 1) * 1e8 / 2 / nvlink.bandwidth_Bps;
		double steps_us = lines ? 0.6 * STEP : 1.8 + 3.4 * STEP;
		struct lowered l;

		m->tuning.value[TUNING_CC] = 0;
		m->forced = (struct forced){"ring", lines ? "ll" : "simple"};
		l = lowered_all(m, OP_ALL_GATHER, 1e8);
		near(seconds_of(m, &l),
		     device.launch_s + fmax(1e-6 * steps_us, nvlink.latency_s) + w +
		             (lines ? 0 : 2 * sqrt(w * FILL_S)),
		     m->forced.protocol);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("rccl");
	TCase *c = tcase_create("rccl");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, rccl_times);
	tcase_add_test(c, rccl_of_linked_pairs);
	tcase_add_loop_test(c, rccl_rings, 2, 9);
	tcase_add_test(c, rccl_sends);
	tcase_add_test(c, rccl_sends_that_relay);
	tcase_add_test(c, rccl_rings_of_cut_links);
	tcase_add_loop_test(c, rccl_direct_by_devices, 2, 18);
	tcase_add_test(c, rccl_rings_over_two_nodes);
	tcase_add_test(c, rccl_rings_of_lines);
	suite_add_tcase(suite, c);
	return suite;
}
