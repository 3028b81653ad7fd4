#include "collective_help.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <string.h>

/*
 * Every algorithm's rounds, bytes and closed-form cost, recomputed from the schedule,
 * and which algorithm is chosen when. Torus products: check_torus.c.
 */

static const int32_t ring_sizes[] = {3, 4, 5, 6, 7, 8, 16};

/* All rings along the first axis of a d x 3 torus at once: axis 1 stays idle. */
START_TEST(bidir_ring_figures)
{
	int32_t d = ring_sizes[_i], h = d / 2;
	const struct machine *m = torus(2, (int32_t[]){d, 3}, true);
	double V = BLOCK * d, S = V;
	const double link[] = {V * (d - 1) / d / 2, V * (d - 1) / d / 2, V * (d - 1) / d,
	                       d % 2 ? S * (d * d - 1) / (8 * d) : S * d / 8};
	const int32_t repeats[] = {h, h, 2 * h, h};
	struct groups g = group_of(0, 1, 3 * d);
	int32_t *ids = arena_alloc(arena, 3 * (size_t)d, sizeof(*ids));

	for (int32_t c = 0; c < 3; c++) /* rotated by c and, for c = 1, turned round */
		for (int32_t i = 0; i < d; i++)
			ids[c * d + i] = (c == 1 ? d - 1 - i : (i + c) % d) * 3 + c;
	g.ngroups = 3;
	g.size = d;
	g.ids = ids;
	for (int k = 0; k < 4; k++) {
		struct schedule s = built(m, "bidir-ring", ops[k], g, before(ops[k], d));
		double *load = link_bytes(m, &s);

		ck_assert_int_eq(s.nrounds, 1);
		ck_assert_int_eq(s.ntasks, 3);
		ck_assert_int_eq(s.nmessages, 3 * 2 * d);
		for (int t = 0; t < 3; t++)
			ck_assert_int_eq(s.task[t].repeats, repeats[k]);
		for (int32_t dev = 0; dev < 3 * d; dev++) {
			const int32_t *port = m->fabric[0].port + (int64_t)dev * 4;

			near(load[port[0]], link[k], "link up");
			near(load[port[1]], link[k], "link down");
			near(load[port[2]], 0, "link across");
			near(received(&s, dev), 2 * link[k], "received");
		}
		near(model_schedule_s(model, &s), repeats[k] * LAT + link[k] / W,
		     "cost");
	}
}
END_TEST

/* The loads of the ring's all-to-all by sending every pair's bytes the shorter way. */
START_TEST(bidir_ring_all_to_all_is_shortest_ways)
{
	int32_t d = ring_sizes[_i];
	double up = 0, relayed = 0;

	for (int32_t hops = 1; hops < d; hops++) {
		/* From any device to the one `hops` above it: bytes x hops going up. */
		if (2 * hops < d)
			up += BLOCK * hops;
		else if (2 * hops == d)
			up += BLOCK / 2 * hops;
		relayed += BLOCK * ((2 * hops < d ? hops : d - hops) - 1);
	}
	{
		const struct machine *m = torus(1, &d, true);
		struct schedule s = built(m, "bidir-ring", OP_ALL_TO_ALL,
		                          group_of(0, 1, d), BLOCK * d);

		near(s.message[0].bytes, up, "link");
		near(received(&s, 0), BLOCK * (d - 1) + relayed, "own and relayed");
	}
}
END_TEST

static const int32_t line_sizes[] = {2, 3, 4, 5, 7, 8};

static void line_figures_on(const struct machine *m, struct groups g)
{
	int32_t d = g.size;
	double V = BLOCK * d, S = V, b = BLOCK;
	const int64_t rounds[] = {d - 1, d - 1, 2 * (d - 1), 1};
	double a2a = S * (d * d / 4) / d;
	/* A link carries i + 1 blocks in the gather and d - 1 - i in the reverse. */
	const double busiest[] = {V * (d - 1) / d, V * (d - 1) / d, V, a2a};

	for (int k = 0; k < 4; k++) {
		struct schedule s = built(m, "line", ops[k], g, before(ops[k], d));
		double *load = link_bytes(m, &s);
		double cost =
			k < 3 ? rounds[k] * (LAT + b / W) : (d - 1) * LAT + a2a / W;

		ck_assert_int_eq(s.nrounds, rounds[k]);
		ck_assert_int_eq(s.ntasks, rounds[k] * g.ngroups);
		for (int64_t t = 0; t < s.ntasks; t++)
			ck_assert_int_eq(s.task[t].repeats, 1);
		near(largest(m, load), busiest[k], "busiest link");
		near(model_schedule_s(model, &s), cost, "cost");
		for (int32_t i = 0; i < g.ngroups * d; i++) {
			double end = received(&s, g.ids[i]) / b;

			if (k == 0 || k == 3)
				near(end, d - 1, "received");
			else if (k == 1) /* partial sums: 1 at the ends, d + 1 inside */
				ck_assert(fabs(end - 1) < 1e-9 ||
				          fabs(end - (d + 1)) < 1e-9);
		}
	}
}

START_TEST(line_figures)
{
	int32_t d = line_sizes[_i];

	/* A whole axis without wrap; all lines of a 3 x d mesh at once. */
	line_figures_on(torus(1, &d, false), group_of(0, 1, d));
	line_figures_on(torus(2, (int32_t[]){3, d}, false), groups_of(3 * d, d));
	/* Halves of wrapped axes. */
	line_figures_on(torus(2, (int32_t[]){3, 2 * d}, true), groups_of(6 * d, d));
}
END_TEST

/* Part of an axis that passes over its wrap: devices 5, 6, 0, 1 of 7. */
START_TEST(line_passes_over_the_wrap)
{
	const struct machine *m = torus(1, (int32_t[]){7}, true);

	line_figures_on(m, (struct groups){1, 4, (int32_t[]){0, 5, 1, 6}});
}
END_TEST

START_TEST(line_all_to_all_loads)
{
	int32_t d = line_sizes[_i];
	const struct machine *m = torus(1, &d, false);
	struct schedule s =
		built(m, "line", OP_ALL_TO_ALL, group_of(0, 1, d), BLOCK * d);
	double *load = link_bytes(m, &s);

	for (int32_t i = 0; i + 1 < d; i++)
		near(load[m->fabric[0].port[2 * i]], (i + 1) * (d - 1 - i) * BLOCK,
		     "link i to i + 1");
	for (int32_t i = 0; i < d; i++)
		for (int32_t k = 0; k < d; k++) {
			double sum = 0;

			for (int64_t n = 0; n < s.nmessages; n++)
				if (s.message[n].src == i && s.message[n].dst == k)
					sum += s.message[n].bytes;
			near(sum, i == k ? 0 : BLOCK, "pair");
		}
}
END_TEST

static const int32_t switch_sizes[] = {2, 3, 5, 8};

START_TEST(ring_figures)
{
	int32_t n = switch_sizes[_i];
	const struct machine *m = cluster(1, n);
	double V = BLOCK * n, w = nvlink.bandwidth_Bps, lat = 2 * nvlink.latency_s;
	struct groups g = group_of(0, 1, n);

	for (int o = 0; o < 3; o++) {
		struct schedule s = built(m, "ring", ops[o], g, before(ops[o], n));
		int twice = o == 2 ? 2 : 1;

		ck_assert_int_eq(s.nrounds, 1);
		ck_assert_int_eq(s.ntasks, 1);
		ck_assert_int_eq(s.task[0].repeats, twice * (n - 1));
		for (int32_t d = 0; d < n; d++)
			near(received(&s, d), twice * V * (n - 1) / n, "received");
		near(model_schedule_s(model, &s),
		     twice * ((n - 1) * lat + V * (n - 1) / (n * w)), "cost");
	}
}
END_TEST

/* What every link carries where each of the group sends S/n to each other one. */
static double *pair_bytes(const struct machine *m, struct groups g, double S)
{
	struct schedule s = {.arena = arena};

	schedule_round(&s);
	schedule_task(&s, 1);
	for (int32_t i = 0; i < g.size; i++)
		for (int32_t k = 0; k < g.size; k++)
			schedule_message(&s, machine_fabric(m, g.ids[i], g.ids[k]),
			                 g.ids[i], g.ids[k], S / g.size);
	schedule_end(&s);
	return link_bytes(m, &s);
}

/*
 * All-to-all on one switch, of a node and of all NICs: every port carries what all pairs put
 * on it, in one latency.
 */
START_TEST(direct_figures)
{
	int32_t n = switch_sizes[_i];

	for (int across = 0; across < 2; across++) {
		const struct machine *m = across ? cluster(n, 4) : cluster(1, n);
		struct groups g = across ? group_of(2, 4, n) : group_of(0, 1, n);
		struct link link = across ? nic : nvlink;
		double S = BLOCK * n, *pairs = pair_bytes(m, g, S), *carried;
		struct schedule s = built(m, "direct", OP_ALL_TO_ALL, g, S);

		ck_assert_int_eq(s.nrounds, 1);
		carried = link_bytes(m, &s);
		for (int32_t l = 0; l < m->nlinks; l++)
			near(carried[l], pairs[l], "link");
		near(model_schedule_s(model, &s),
		     2 * link.latency_s + S * (n - 1) / (n * link.bandwidth_Bps), "cost");
	}
}
END_TEST

/*
 * A profile with software of its own starts a message each send_s, on a network each
 * net_send_s, while others are on the wire; links alone do not.
 */
START_TEST(direct_sends_at_a_rate)
{
	static const double send_s = 1e-3, net_send_s = 2e-3;

	for (int across = 0; across < 2; across++)
		for (int plain = 0; plain < 2; plain++) {
			struct machine *m = across ? cluster(5, 2) : cluster(1, 5);
			struct groups g = across ? group_of(0, 2, 5) : group_of(0, 1, 5);
			struct link link = across ? nic : nvlink;
			double wire_s = BLOCK / link.bandwidth_Bps;
			double least_s = 4 * (across ? net_send_s : send_s);
			struct schedule s;

			for (int f = 0; f < m->nfabrics && !plain; f++)
				m->fabric[f].profile = "tpu";
			m->tuning.value[TUNING_SEND_S] = send_s;
			m->tuning.value[TUNING_NET_SEND_S] = net_send_s;
			s = built(m, "direct", OP_ALL_TO_ALL, g, BLOCK * 5 / 4);
			ck_assert(wire_s < least_s);
			near(model_schedule_s(model, &s),
			     2 * link.latency_s + (plain ? wire_s : least_s), "time");
			s = built(m, "direct", OP_ALL_TO_ALL, g, BLOCK * 5e6);
			near(model_schedule_s(model, &s),
			     2 * link.latency_s + 4e6 * wire_s, "large");
		}
}
END_TEST

static const struct {
	int32_t nodes, gpus, used; /* the first `used` GPUs of each node */
} clusters[] = {{2, 2, 2}, {3, 2, 2}, {2, 8, 8}, {5, 4, 3}, {4, 8, 7}};

START_TEST(two_level_figures)
{
	int32_t M = clusters[_i].nodes, gpus = clusters[_i].gpus;
	int32_t m = clusters[_i].used, n = m * M;
	const struct machine *machine = cluster(M, gpus);
	double V = BLOCK * n, li = 2 * nvlink.latency_s, ln = 2 * nic.latency_s;
	double wi = nvlink.bandwidth_Bps, wn = nic.bandwidth_Bps;
	double once = (m - 1) * li + V * (m - 1) / (m * wi) + (M - 1) * ln +
	              V / m * (M - 1) / (M * wn);
	double a2a = li + V * (m - 1) / (m * wi) + ln + V * (M - 1) / (M * wn);
	const double cost[] = {once, once, 2 * once, a2a};
	int32_t *ids = arena_alloc(arena, (size_t)n, sizeof(*ids));

	for (int32_t i = 0; i < n; i++) /* rails vary slowest: nodes are not contiguous */
		ids[i] = i % M * gpus + i / M;
	for (int o = 0; o < 4; o++) {
		struct schedule s = built(machine, "two-level", ops[o],
		                          (struct groups){1, n, ids}, before(ops[o], n));
		double inside[64] = {0}, across[64] = {0}, twice = o == 2 ? 2 : 1;

		ck_assert_int_eq(s.nrounds, o == 2 ? 3 : 2);
		for (int64_t i = 0; i < s.nmessages; i++) {
			const struct message *msg = &s.message[i];

			(msg->fabric ? across : inside)[msg->dst] += msg->bytes;
			if (msg->fabric) /* on its rail */
				ck_assert_int_eq(msg->src % gpus, msg->dst % gpus);
			else
				ck_assert_int_eq(msg->src / gpus, msg->dst / gpus);
		}
		for (int32_t i = 0; i < n; i++) {
			near(inside[ids[i]], twice * V * (m - 1) / m, "inside");
			near(across[ids[i]],
			     o == 3 ? V * (n - m) / n : twice * V / m * (M - 1) / M,
			     "across");
		}
		near(model_schedule_s(model, &s), cost[o], "cost");
	}
}
END_TEST

/* Both halves of four nodes at once; two groups of four in two nodes. */
START_TEST(two_level_groups_at_once)
{
	const struct machine *m = cluster(4, 4);
	struct groups g = groups_of(16, 8);
	struct schedule s = built(m, "two-level", OP_ALL_REDUCE, g, BLOCK * 8), one;

	g.ngroups = 1;
	one = built(m, "two-level", OP_ALL_REDUCE, g, BLOCK * 8);
	ck_assert_int_eq(s.nmessages, 2 * one.nmessages);
	near(model_schedule_s(model, &s), model_schedule_s(model, &one), "time");
}
END_TEST

/* Two devices in one node and one in another: each message on its own fabric. */
START_TEST(ring_over_two_fabrics)
{
	const struct machine *m = cluster(2, 2);
	struct groups g = {1, 3, (int32_t[]){0, 1, 2}};
	struct schedule s = built(m, "ring", OP_ALL_GATHER, g, BLOCK);

	ck_assert_int_eq(s.nmessages, 3);
	ck_assert_int_eq(s.message[0].fabric, 0);
	ck_assert_int_eq(s.message[1].fabric, 1);
	ck_assert_int_eq(s.message[2].fabric, 1);
	near(model_schedule_s(model, &s),
	     2 * BLOCK / nic.bandwidth_Bps + 2 * 2 * nic.latency_s, "time");
}
END_TEST

/* A strided quarter of a ring: in group order over the real routes, two hops each. */
START_TEST(ring_over_real_routes)
{
	const struct machine *m = torus(1, (int32_t[]){8}, true);
	struct groups g = group_of(1, 2, 4);
	struct schedule s = built(m, "ring", OP_ALL_GATHER, g, BLOCK);

	near(model_schedule_s(model, &s), 3 * (2 * LAT + BLOCK / W), "time");
	s = built(m, "pairwise", OP_ALL_TO_ALL, g, 4 * BLOCK);
	ck_assert_int_eq(s.nrounds, 3);
	ck_assert_int_eq(s.nmessages, 12);
	for (int64_t i = 0; i < s.nmessages; i++)
		near(s.message[i].bytes, BLOCK, "message");
}
END_TEST

START_TEST(a_group_of_one_is_silent)
{
	const struct machine *m = cluster(2, 2);

	for (int o = 0; o < 4; o++) {
		struct groups g = groups_of(4, 1);
		struct schedule s = {.arena = arena};
		const struct algorithm *a = algorithm_choose(m, ops[o], &g);

		ck_assert_ptr_nonnull(a);
		a->build(&s, m, ops[o], &g, BLOCK);
		ck_assert_int_eq(s.nrounds, 0);
		near(model_schedule_s(model, &s), 0, "time");
	}
}
END_TEST

START_TEST(what_no_fabric_joins_has_no_algorithm)
{
	struct machine m = *cluster(2, 2);

	m.nfabrics = 1; /* without the network */
	for (int o = 0; o < 4; o++) {
		struct groups g = groups_of(4, 4);

		ck_assert_ptr_null(algorithm_choose(&m, ops[o], &g));
		g = groups_of(4, 2);
		ck_assert_ptr_nonnull(algorithm_choose(&m, ops[o], &g));
	}
}
END_TEST

/* Two nodes with three members and one: neither level is even. */
START_TEST(uneven_nodes_are_one_ring)
{
	const struct machine *m = cluster(2, 3);
	struct groups g = {1, 4, (int32_t[]){0, 1, 2, 5}};

	ck_assert_str_eq(algorithm_choose(m, OP_ALL_REDUCE, &g)->name, "ring");
	ck_assert_str_eq(algorithm_choose(m, OP_ALL_TO_ALL, &g)->name, "pairwise");
	/* Groups split differently over the nodes: 2 + 2 and 1 + 1 of two nodes each. */
	m = cluster(4, 4);
	g = (struct groups){2, 4, (int32_t[]){0, 1, 4, 5, 2, 6, 8, 12}};
	ck_assert_str_eq(algorithm_choose(m, OP_ALL_REDUCE, &g)->name, "ring");
}
END_TEST

START_TEST(every_algorithm_says_what_it_is)
{
	for (int i = 0; algorithms[i]; i++) {
		ck_assert_int_gt(strlen(algorithms[i]->name), 0);
		ck_assert_int_gt(strlen(algorithms[i]->help), 0);
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(algorithms[i]->name, algorithms[k]->name);
	}
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *tests(void)
{
	Suite *suite = suite_create("collective");
	TCase *c = tcase_create("collective");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, bidir_ring_figures, 0, COUNT(ring_sizes));
	tcase_add_loop_test(c, bidir_ring_all_to_all_is_shortest_ways, 0,
	                    COUNT(ring_sizes));
	tcase_add_loop_test(c, line_figures, 0, COUNT(line_sizes));
	tcase_add_test(c, line_passes_over_the_wrap);
	tcase_add_loop_test(c, line_all_to_all_loads, 0, COUNT(line_sizes));
	tcase_add_loop_test(c, ring_figures, 0, COUNT(switch_sizes));
	tcase_add_loop_test(c, direct_figures, 0, COUNT(switch_sizes));
	tcase_add_test(c, direct_sends_at_a_rate);
	tcase_add_loop_test(c, two_level_figures, 0, COUNT(clusters));
	tcase_add_test(c, two_level_groups_at_once);
	tcase_add_test(c, ring_over_two_fabrics);
	tcase_add_test(c, ring_over_real_routes);
	tcase_add_test(c, a_group_of_one_is_silent);
	tcase_add_test(c, what_no_fabric_joins_has_no_algorithm);
	tcase_add_test(c, uneven_nodes_are_one_ring);
	tcase_add_test(c, every_algorithm_says_what_it_is);
	suite_add_tcase(suite, c);
	return suite;
}
