#include "collective/nccl.h"
#include "nccl_help.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Every algorithm with every protocol against figures worked out by hand: nodes of
 * equally many GPUs, W a GPU's port on NVLINK, N its NIC, both of collective_help.c.
 */

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const char *const protocols[] = {"ll", "ll128", "simple"};
static const double wire_factor[] = {2, 128. / 120, 1};
static const struct {
	int32_t nodes, gpus;
} shapes[] = {{1, 3}, {1, 5}, {1, 8}, {2, 3}, {2, 8}, {3, 5}, {3, 1}, {5, 1}, {4, 2}};

/*
 * launch + max(steps, route) + w + 2 sqrt(w fill), with that of so many hops; microseconds of
 * steps.
 */
static double total_s(int32_t nodes, int hops, double steps_us, double wire_s)
{
	double route_s = 2 * (nodes > 1 ? nic.latency_s : nvlink.latency_s);
	double fill_s = hops * (nodes > 1 ? NET_FILL_S : FILL_S);
	double steps_s = steps_us * 1e-6 + (nodes > 1 ? CALL_S : 0);

	return device.launch_s + fmax(steps_s, route_s) + wire_s +
	       2 * sqrt(wire_s * fill_s);
}

static void check_forced(struct machine *m, enum op op, const char *algorithm, int p,
                         double bytes, double steps_us, double data_s)
{
	int32_t nodes = m->nfabrics > 1 ? m->fabric[0].ndomains : 1;
	/* The trees over 4 and 5 nodes have two levels. */
	int hops = !strcmp(algorithm, "tree") && nodes > 3 ? 2 : 1;
	struct lowered l;

	m->forced = (struct forced){algorithm, protocols[p]};
	l = lowered_all(m, op, bytes);
	ck_assert_str_eq(l.algorithm, algorithm);
	ck_assert_str_eq(l.protocol, protocols[p]);
	ck_assert_int_eq(l.schedule.nrounds, 1);
	near(seconds_of(m, &l), total_s(nodes, hops, steps_us, data_s * wire_factor[p]),
	     algorithm);
}

static const double sizes[] = {9, 48 * 1024 + 1, 1e9};

/*
 * A part passes n - 1 of the n edges of a ring, so all m between nodes of several devices.
 * Over several nodes a step inside lasts as long as a post to a NIC, three of them with
 * Simple, or longer; steps of Simple are 1.9 times as long on GPUs as old as these, but half of what
 * the wires take of them passes meanwhile.
 */
START_TEST(ring_times)
{
	static const double post_us[] = {0, 0.9};
	static const double base[] = {0, 7.4, 1.8}, inside[] = {0.6, 1.9, 3.4},
			    across[] = {2.7, 4.0, 14};
	int32_t m = shapes[_i].nodes, g = shapes[_i].gpus, n = m * g;

	for (int more = 0; more < 2; more++)
		for (int o = 0; o < 3; o++)
			for (int p = 0; p < 3; p++)
				for (int i = 0; i < COUNT(sizes); i++) {
					struct machine *machine = tuned(m, g, 70);
					double step_us = inside[p] * STEP, stretch = 1;
					int k = ops[o] == OP_ALL_REDUCE ? 2 : 1;
					double v = sizes[i] * k * (n - 1) / n;
					double w = v / nvlink.bandwidth_Bps;
					double far = k * (m > 1 && g > 1 ? m : m - 1);
					double hidden_us;

					machine->tuning.value[TUNING_NET_POST_S] =
						post_us[more] * 1e-6;
					if (m > 1) {
						w = fmax(w * (g - 1) / g,
						         v / g / nic.bandwidth_Bps);
						step_us = fmax(step_us,
						               post_us[more] *
						                       (p == 2 ? 3 : 1));
						stretch = p == 2 ? 1.9 : 1;
					}
					hidden_us = m > 1 && p == 2 ? 1e6 * w / 2 : 0;
					check_forced(
						machine, ops[o], "ring", p, sizes[i],
						base[p] - hidden_us +
							stretch * ((k * (n - 1) - far) *
					                                   step_us +
					                           far * across[p] *
					                                   NET_STEP),
						w);
				}
}
END_TEST

/*
 * What a tree over m nodes of g NICs takes at least on V100: V over half of what its g channels
 * carry, 18.5 GB/s each by Simple over two nodes and 10 over more, 20 by LL128, and by LL 3.8
 * times less than by Simple.
 */
static double tree_least_s(int p, int32_t m, int32_t g, double v)
{
	double GBps = p == 1 ? 20 : m == 2 ? 18.5 : 10;

	return 2 * v / (g * GBps / (p == 0 ? 3.8 : 1) * 1e9);
}

/*
 * Between nodes each edge of either tree carries V/2 each way. Of 2 nodes each has an
 * edge in both; of 3 one node has 2 and 1; of 4 one has 3 and 1; of 5 likewise. Simple has
 * chunks of 512 KiB, or of an eighth of V on the eight channels of these GPUs, which pass
 * 2(g-1) links of 20 GB/s one after another.
 */
START_TEST(tree_times)
{
	static const double base[] = {0, 7.2, 1.6}, inside[] = {0.6, 1.25, 4.0},
			    across[] = {5.0, 8.5, 14};
	static const double busiest[] = {0, 0, 1, 1.5, 2, 2},
			    levels[] = {0, 0, 1, 1, 2, 2};
	int32_t m = shapes[_i].nodes, g = shapes[_i].gpus;

	for (int p = 0; p < 3 && m > 1; p++)
		for (int i = 0; i < COUNT(sizes); i++) {
			double v = sizes[i], chunk = fmin(v / 8, 524288);
			double w = fmax(2 * v * (g - 1) / g / nvlink.bandwidth_Bps,
			                busiest[m] * v / g / nic.bandwidth_Bps);
			double steps_us = base[p] + 2 * (g - 1) * inside[p] * STEP +
			                  2 * levels[m] * across[p] * NET_STEP;
			struct machine *machine = tuned(m, g, 70);
			double least_s = tree_least_s(p, m, g, v);
			double wire_s = w * wire_factor[p];
			struct lowered l;

			machine->forced = (struct forced){"tree", protocols[p]};
			l = lowered_all(machine, OP_ALL_REDUCE, v);
			near(seconds_of(machine, &l),
			     p < 2 ? total_s(m, (int)levels[m], steps_us, wire_s) +
			                     fmax(0, least_s - wire_s)
			           : device.launch_s + CALL_S + steps_us * 1e-6 +
			                     fmax(w, least_s) +
			                     2 * (g - 1) * chunk / 20e9,
			     "tree");
		}
}
END_TEST

/*
 * 16 MiB on 16 channels of H100 are one chunk of 1 MiB each, which 14 links of 20.6 GB/s pass
 * in 713 us whatever there is beyond them; half as much takes half as long, and chunks of
 * half the size too. A channel that is slower than a link passes them at its own rate.
 */
START_TEST(chunks_of_trees)
{
	static const struct {
		double mib, chunk_mib, channel_GBps, passed_us;
	} row[] = {{16, 1, 0, 712.63},   {64, 1, 0, 712.63}, {8, 1, 0, 356.31},
	           {64, 0.5, 0, 356.31}, {8, 1, 30, 356.31}, {8, 1, 10.3, 712.63}};

	for (int i = 0; i < COUNT(row); i++) {
		struct machine *m = tuned(2, 8, 90);
		double v = row[i].mib * 1048576;
		double w = fmax(2 * v * 7 / 8 / nvlink.bandwidth_Bps,
		                v / 8 / nic.bandwidth_Bps);
		double steps_us = 6 + 1.6 + 14 * 4 * STEP + 2 * 14 * NET_STEP;
		struct lowered l;

		/* eight NICs, and half of 41.4 GB/s for each */
		w = fmax(w, v / (8 * 41.4e9 / 2));
		m->tuning.value[TUNING_NET_CHUNK_BYTES] = row[i].chunk_mib * 1048576;
		m->tuning.value[TUNING_CHANNEL_BPS] = row[i].channel_GBps * 1e9;
		m->forced = (struct forced){"tree", "simple"};
		l = lowered_all(m, OP_ALL_REDUCE, v);
		ck_assert_double_eq_tol(seconds_of(m, &l),
		                        device.launch_s + w +
		                                1e-6 * (steps_us + row[i].passed_us),
		                        1e-8);
	}
}
END_TEST

/* A network may have Simple alone, or no LL128, which nodes alone do not care for. */
START_TEST(simple_alone)
{
	struct text why = {0};
	struct machine *m = tuned(2, 8, 90);
	struct lowered l;

	l = lowered_all(m, OP_ALL_REDUCE, 64);
	ck_assert_str_eq(l.protocol, "ll");
	m->tuning.value[TUNING_NET_SIMPLE] = 1;
	l = lowered_all(m, OP_ALL_REDUCE, 64);
	ck_assert_str_eq(l.protocol, "simple");
	m->forced.protocol = "ll";
	ck_assert(!lower_collective(&l, arena, m, OP_ALL_REDUCE, everybody(m), 64, &why));
	ck_assert_msg(strstr(why.s, "expected ring (simple), tree (simple), ") != NULL,
	              "%s", why.s);
	text_free(&why);
	why = (struct text){0};
	m = tuned(2, 8, 90);
	m->tuning.value[TUNING_NET_LL128] = 0;
	m->forced.protocol = "ll128";
	ck_assert(!lower_collective(&l, arena, m, OP_ALL_REDUCE, everybody(m), 64, &why));
	ck_assert_msg(strstr(why.s, "expected ring (ll, simple), tree (ll, simple), "),
	              "%s", why.s);
	text_free(&why);
	m = tuned(1, 8, 90);
	m->tuning.value[TUNING_NET_LL128] = 0;
	m->forced.protocol = "ll128";
	ck_assert_str_eq(lowered_all(m, OP_ALL_REDUCE, 64).protocol, "ll128");
	m->forced.protocol = NULL;
	m->tuning.value[TUNING_NET_SIMPLE] = 1;
	l = lowered_all(m, OP_ALL_REDUCE, 64);
	ck_assert_str_eq(l.protocol, "ll");
}
END_TEST

/*
 * From Hopper on rings of one node pass LL and LL128 on line by line, without a fill, LL with at most
 * 141 GB/s of data, on Blackwell 282, which a link of 900 GB/s shows. Simple has its chunks, and its steps
 * pass during half of the wires' time, all but a message's way over two links. From Hopper
 * on a step of LL128 is shorter than the 1.9 us that the library reckons with.
 */
START_TEST(rings_of_lines)
{
	static const struct {
		int cc;
		double ll_GBps, ll128_us, fills[3];
	} row[] = {{80, 450, 1.9, {2, 2, 2}},
	           {90, 141, 1.4, {0, 0, 2}},
	           {100, 282, 0.7, {0, 0, 2}}};
	double way_us = 2e6 * nvlink.latency_s;
	static const char *const name[] = {"ll", "ll128", "simple"};

	for (int i = 0; i < 2 * COUNT(row); i++)
		for (int p = 0; p < 3; p++) {
			double V = i % 2 ? 1e8 : 1e7, v = V * 7 / 8;
			struct machine *m = tuned(1, 8, row[i / 2].cc);
			double w_s = p == 0 ? v / row[i / 2].ll_GBps / 1e9
			                    : v / 900e9 * (p == 1 ? 128 / 120. : 1);
			const double steps_us[] = {
				7 * 0.6, 7.4 + 7 * row[i / 2].ll128_us, 1.8 + 7 * 3.4};
			double us = steps_us[p];
			struct link *fast = arena_dup(arena, m->link, (size_t)m->nlinks,
			                              sizeof(*fast));
			struct lowered l;

			for (int32_t k = 0; k < m->nlinks; k++)
				fast[k].bandwidth_Bps = 900e9;
			m->link = fast;
			if (row[i / 2].cc >= 90 && p == 2)
				us = fmax(way_us, us - 1e6 * w_s / 2);
			m->tuning.value[TUNING_STEP] = 1;
			m->forced = (struct forced){"ring", name[p]};
			l = lowered_all(m, OP_ALL_GATHER, V);
			near(seconds_of(m, &l),
			     device.launch_s + 1e-6 * us + w_s +
			             row[i / 2].fills[p] * sqrt(w_s * FILL_S),
			     name[p]);
		}
}
END_TEST

/*
 * What a network's software adds to a message comes to each crossing, with Simple twice: two of
 * an all-reduce by trees over two nodes and four of a ring, those of a ring with Simple 1.4
 * times.
 */
START_TEST(network_latency)
{
	static const struct {
		const char *algorithm;
		enum protocol protocol;
		double crossings;
	} row[] = {
		{"ring", PROTOCOL_LL, 4},        {"ring", PROTOCOL_LL128, 4},
		{"ring", PROTOCOL_SIMPLE, 11.2}, {"tree", PROTOCOL_LL, 2},
		{"tree", PROTOCOL_SIMPLE, 4},    {"nvls-tree", PROTOCOL_SIMPLE, 4},
	};

	for (int i = 0; i < COUNT(row); i++) {
		struct machine *m = tuned(2, 8, 90);
		struct lowered l;
		double before_s;

		m->forced =
			(struct forced){row[i].algorithm, protocols[row[i].protocol]};
		l = lowered_all(m, OP_ALL_REDUCE, 4096);
		before_s = seconds_of(m, &l);
		m->tuning.value[TUNING_NET_LATENCY_S] = 1e-3;
		l = lowered_all(m, OP_ALL_REDUCE, 4096);
		near(seconds_of(m, &l) - before_s, row[i].crossings * 1e-3,
		     row[i].algorithm);
	}
}
END_TEST

START_TEST(pat_times)
{
	static const int32_t nodes[] = {3, 5, 8};
	static const double levels[] = {1, 2, 3};
	double V = 48 * 1024 + 1;

	for (int i = 0; i < 3; i++)
		for (int o = 0; o < 2; o++) {
			int32_t n = nodes[i];

			check_forced(tuned(n, 1, 70), ops[o], "pat", 2, V,
			             NET_STEP * (levels[i] * 14 / 3.5 + 2.8 * n),
			             V * (n - 1) / n / nic.bandwidth_Bps);
		}
}
END_TEST

/* The cheapest of all pairs that apply is what is taken, at every size. */
START_TEST(the_cheapest_is_taken)
{
	static const char *const names[] = {"ring", "tree", "nvls", "nvls-tree", "pat"};
	int32_t m = shapes[_i].nodes, g = shapes[_i].gpus;

	for (double V = 3; V < 1e11; V *= 7)
		for (int o = 0; o < 3; o++) {
			/* behind one switch the library ranks from Hopper on */
			struct machine *machine = tuned(m, g, m > 1 ? 90 : 80);
			struct lowered l = lowered_all(machine, ops[o], V);
			double taken_s = seconds_of(machine, &l), least_s = INFINITY;

			for (int i = 0; i < COUNT(names) * 3; i++) {
				struct text why = {0};

				machine->forced =
					(struct forced){names[i / 3], protocols[i % 3]};
				if (lower_collective(&l, arena, machine, ops[o],
				                     everybody(machine),
				                     ops[o] == OP_ALL_GATHER ? V / m / g
				                                             : V,
				                     &why))
					least_s = fmin(least_s, seconds_of(machine, &l));
				text_free(&why);
			}
			near(taken_s, least_s, "cheapest");
		}
}
END_TEST

/* What is forced and cannot be names what can. */
static const struct {
	enum op op;
	struct forced forced;
	const char *why;
} refused[] = {
	{OP_ALL_REDUCE,
         {"nvls", NULL},
         "nvls cannot run this all-reduce on gpu, expected ring (ll, ll128, simple), "
         "tree "
         "(ll, ll128, simple), nvls-tree (simple)"},
	{OP_ALL_GATHER,
         {"tree", "ll"},
         "tree with ll cannot run this all-gather on gpu, expected ring (ll, ll128, "
         "simple)"},
	{OP_ALL_TO_ALL,
         {NULL, "ll128"},
         "ll128 cannot run this all-to-all on gpu, expected sends (simple)"},
	{OP_ALL_REDUCE,
         {"nvls-tree", "ll"},
         "nvls-tree with ll cannot run this all-reduce on gpu, expected ring (ll, "
         "ll128, "
         "simple), tree (ll, ll128, simple), nvls-tree (simple)"},
};

START_TEST(forced_that_does_not_apply)
{
	struct machine *m = tuned(2, 3, 90);
	struct text why = {0};
	struct lowered l;

	m->forced = refused[_i].forced;
	ck_assert(!lower_collective(&l, arena, m, refused[_i].op, everybody(m), 6, &why));
	ck_assert_str_eq(why.s, refused[_i].why);
	text_free(&why);
	/* also with nothing to send */
	ck_assert(!lower_collective(&l, arena, m, refused[_i].op, everybody(m), 0, &why));
	ck_assert_str_eq(why.s, refused[_i].why);
	text_free(&why);
}
END_TEST

START_TEST(forced_alone_restricts)
{
	struct machine *m = tuned(2, 3, 90);

	m->forced = (struct forced){NULL, "ll"};
	ck_assert_str_eq(lowered_all(m, OP_ALL_REDUCE, 1e9).protocol, "ll");
	m->forced = (struct forced){"tree", NULL};
	ck_assert_str_eq(lowered_all(m, OP_ALL_REDUCE, 1e9).algorithm, "tree");
	ck_assert_str_eq(lowered_all(m, OP_ALL_REDUCE, 1e9).protocol, "simple");
	ck_assert_str_eq(lowered_all(m, OP_ALL_REDUCE, 9).protocol, "ll");
}
END_TEST

START_TEST(nothing_to_send)
{
	struct machine *m = tuned(2, 3, 90);
	struct lowered l = lowered_all(m, OP_ALL_REDUCE, 0);
	struct groups one = {6, 1, everybody(m).ids};
	struct text why = {0};

	ck_assert_int_eq(l.schedule.nrounds, 0);
	ck_assert_str_eq(l.algorithm, "ring");
	near(seconds_of(m, &l), device.launch_s, "launch");
	for (int o = 0; o < 4; o++) {
		ck_assert(lower_collective(&l, arena, m, ops[o], one, 1e6, &why));
		ck_assert_int_eq(l.schedule.nrounds, 0);
	}
	text_free(&why);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("nccl");
	TCase *c = tcase_create("nccl");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, ring_times, 0, COUNT(shapes));
	tcase_add_loop_test(c, tree_times, 0, COUNT(shapes));
	tcase_add_test(c, chunks_of_trees);
	tcase_add_test(c, simple_alone);
	tcase_add_test(c, rings_of_lines);
	tcase_add_test(c, network_latency);
	tcase_add_test(c, pat_times);
	tcase_add_loop_test(c, the_cheapest_is_taken, 0, COUNT(shapes));
	tcase_add_loop_test(c, forced_that_does_not_apply, 0, COUNT(refused));
	tcase_add_test(c, forced_alone_restricts);
	tcase_add_test(c, nothing_to_send);
	suite_add_tcase(suite, c);
	return suite;
}
