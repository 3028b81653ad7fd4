#include "collective/nccl.h"
#include "nccl_help.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <string.h>

/* Shapes of groups, trees over nodes, and links between pairs of GPUs. */

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static struct schedule one_task(void)
{
	struct schedule s = {.arena = arena};

	schedule_round(&s);
	schedule_task(&s, 1);
	return s;
}

START_TEST(members_by_node)
{
	const struct machine *m = tuned(3, 4, 70);
	static const int32_t ids[] = {9, 2, 8, 0, 11, 3},
			     sorted[] = {8, 9, 11, 0, 2, 3};
	struct nccl_group g = nccl_group_make(arena, m, ids, 6);

	ck_assert_int_eq(g.nodes, 2);
	ck_assert_int_eq(g.per_node, 3);
	ck_assert(nccl_even(&g));
	for (int i = 0; i < 6; i++)
		ck_assert_int_eq(g.ids[i], sorted[i]);
	ck_assert_int_eq(g.start[1], 3);
	ck_assert_int_eq(g.start[2], 6);
	ck_assert(nccl_switch(&g, false));
	ck_assert(nccl_switch(&g, true));
	g = nccl_group_make(arena, m, ids, 4);
	ck_assert(nccl_even(&g));
	g = nccl_group_make(arena, m, ids, 5);
	ck_assert(!nccl_even(&g));
	ck_assert(!nccl_is_network(m, 0));
	ck_assert(nccl_is_network(m, 1));
}
END_TEST

/* Both trees reach everybody from their root, not too deep, and nobody is inner in both. */
START_TEST(double_trees)
{
	int32_t n = _i;

	for (int tree = 0; tree < 2; tree++) {
		int32_t roots = 0;

		for (int32_t k = 0; k < n; k++) {
			int32_t up = k;
			int depth = 0;

			while (nccl_tree_parent(n, up, tree) >= 0 && depth <= n) {
				up = nccl_tree_parent(n, up, tree);
				depth++;
			}
			roots += up == k;
			ck_assert_int_le(depth, nccl_log2(n) + 1);
		}
		ck_assert_int_eq(roots, 1);
	}
	for (int32_t k = 0; k < n; k++) {
		int children[2] = {0};

		for (int32_t j = 0; j < n; j++)
			for (int tree = 0; tree < 2; tree++)
				children[tree] += nccl_tree_parent(n, j, tree) == k;
		ck_assert_int_le(children[0], 2);
		ck_assert_int_le(children[1], 2);
		/* an edge is half the array each way: at most twice the array */
		ck_assert_int_le(children[0] + children[1] +
		                         (nccl_tree_parent(n, k, false) >= 0) +
		                         (nccl_tree_parent(n, k, true) >= 0),
		                 4);
	}
}
END_TEST

/* The links of every GPU of the cube mesh carry alike; with it 6 links of a ring's load. */
START_TEST(rings_of_a_cube_mesh)
{
	const struct machine *m = meshed(1, 8, cube_mesh);
	struct nccl_group g = nccl_group_make(arena, m, everybody(m).ids, 8);
	struct schedule s = one_task();
	const double *load;

	nccl_inside(&s, &g, 0, 42);
	load = link_bytes(m, &s);
	for (int32_t l = 16; l < m->nlinks; l++)
		near(load[l], 7 * cube_mesh[l - 16], "link");
}
END_TEST

/*
 * 16 GiB over eight V100 with 21.7 GB/s a cable: bus bandwidth 6 * 21.7 = 130 GB/s, where
 * 129 to 135 are measured.
 */
START_TEST(bus_bandwidth_of_a_cube_mesh)
{
	struct machine *m = meshed(1, 8, cube_mesh);
	struct link *links =
		arena_dup(arena, m->link, (size_t)m->nlinks, sizeof(*links));
	double V = 16. * 1024 * 1024 * 1024, s;
	struct lowered l;

	for (int32_t i = 0; i < 64; i++)
		links[16 + i].bandwidth_Bps = 21.7e9 * (cube_mesh[i] ? cube_mesh[i] : 1);
	m->link = links;
	l = lowered_all(m, OP_ALL_REDUCE, V);
	s = seconds_of(m, &l);
	ck_assert_str_eq(l.algorithm, "ring");
	ck_assert_double_le(V * 2 * 7 / 8 / s, 6 * 21.7e9);
	ck_assert_double_ge(V * 2 * 7 / 8 / s, 0.99 * 6 * 21.7e9);
}
END_TEST

/*
 * GPUs 0, 1, 2 have 3, 3 and 2 cables to each other: two rings, one each way round, are all
 * that GPU 2 can be in, and each passes every pair once.
 */
START_TEST(rings_of_an_odd_part)
{
	const struct machine *m = meshed(1, 8, cube_mesh);
	static const int32_t ids[] = {0, 1, 2};
	struct nccl_group g = nccl_group_make(arena, m, ids, 3);
	struct schedule s = one_task();
	const double *load;

	nccl_inside(&s, &g, 0, 42);
	load = link_bytes(m, &s);
	near(load[16 + 0 * 8 + 1], 21, "0 to 1");
	near(load[16 + 2 * 8 + 1], 21, "2 to 1");
	near(load[16 + 0 * 8 + 2], 21, "0 to 2");
	near(largest(m, load), 21, "busiest");
}
END_TEST

/*
 * GPUs 0 and 1 have cables to 2, whose only cable leads to 3, outside the group: no ring
 * goes over direct cables alone. One goes each way round, half on each, over routes.
 */
START_TEST(rings_over_one_way_cables)
{
	static const int one_way[16] = {0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0};
	const struct machine *m = meshed(1, 4, one_way);
	static const int32_t ids[] = {0, 1, 2};
	struct nccl_group g = nccl_group_make(arena, m, ids, 3);
	struct schedule s = one_task();
	const double *load;

	nccl_inside(&s, &g, 0, 42);
	load = link_bytes(m, &s);
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++) {
			double wanted = one_way[i * 4 + k] ? i == 2 ? 42 : 21 : 0;

			near(load[8 + i * 4 + k], wanted, "cable");
		}
}
END_TEST

/* Without a cable between them, over the first GPU that has one to both. */
START_TEST(a_pair_without_a_cable)
{
	struct machine *m = meshed(1, 8, cube_mesh);
	struct text why = {0};
	struct lowered l;
	double V = 1e9;

	m->forced.protocol = "simple";
	ck_assert(lower_collective(&l, arena, m, OP_ALL_REDUCE,
	                           (struct groups){1, 2, (int32_t[]){0, 5}}, V, &why));
	ck_assert_int_eq(l.schedule.nmessages, 4);
	near(largest(m, link_bytes(m, &l.schedule)), V, "busiest");
	text_free(&why);
}
END_TEST

/* Three members of one node and one of another: one rail, all three GPUs of the node. */
START_TEST(uneven_nodes)
{
	struct machine *m = tuned(2, 3, 90);
	struct groups groups = {1, 4, (int32_t[]){5, 2, 0, 1}};
	struct text why = {0};
	struct lowered l;
	const double *load;
	double V = 1e6, v = 2 * V * 3 / 4;

	m->forced = (struct forced){"ring", "simple"};
	ck_assert(lower_collective(&l, arena, m, OP_ALL_REDUCE, groups, V, &why));
	load = link_bytes(m, &l.schedule);
	/* links: up and down of NVLINK by device, then of the network */
	for (int d = 0; d < 3; d++)
		near(load[2 * d], v * 2 / 3, "inside");
	near(load[2 * 5], 0, "alone");
	for (int d = 0; d < 6; d++)
		near(load[12 + 2 * d], d == 0 || d == 5 ? v : 0, "across");
	/* all-to-all: every pair */
	m->forced = (struct forced){0};
	ck_assert(lower_collective(&l, arena, m, OP_ALL_TO_ALL, groups, V, &why));
	ck_assert_int_eq(l.schedule.nmessages, 12);
	load = link_bytes(m, &l.schedule);
	near(load[12 + 2 * 5], 3 * V / 4 / SHARE, "from the one alone");
	near(load[12 + 2 * 1], V / 4 / SHARE, "from the three");
	/* the switches' algorithm wants equal nodes */
	m->forced = (struct forced){"nvls-tree", NULL};
	ck_assert(!lower_collective(&l, arena, m, OP_ALL_REDUCE, groups, V, &why));
	text_free(&why);
}
END_TEST

/* Sends over links between pairs go between the pairs; over rails, all pairs of nodes. */
START_TEST(sends_on_graphs)
{
	struct machine *m = meshed(3, 8, cube_mesh);
	double S = 24e6, between[24][24] = {{0}};
	struct lowered l;

	m->fabric[1].geometry = GEOMETRY_TORUS; /* anything but a switch */
	{
		struct nccl_group g = nccl_group_make(arena, m, everybody(m).ids, 24);
		extern const struct nccl_algorithm nccl_sends;

		l.schedule = one_task();
		nccl_sends.messages(&l.schedule, &g, OP_ALL_TO_ALL, S);
	}
	for (int64_t i = 0; i < l.schedule.nmessages; i++) {
		const struct message *msg = &l.schedule.message[i];

		between[msg->src][msg->dst] += msg->bytes;
	}
	for (int i = 0; i < 24; i++)
		for (int k = 0; k < 24; k++) {
			double wanted = i / 8 == k / 8 ? S / 24 : 0;

			if (i / 8 != k / 8 && i % 8 == k % 8)
				wanted = S / 24 * 8 / SHARE;
			near(between[i][k], i == k ? 0 : wanted, "pair");
		}
}
END_TEST

/*
 * Four GPUs on each of three nodes: a task for each node and each rail, none of which
 * uses a link of another, all as late as the longest route of them.
 */
START_TEST(sends_by_rail)
{
	struct machine *m = tuned(3, 4, 90);
	/* 2 MB each: twice the chunks of seven of eight peers, over a NIC's 16 MB. */
	double wire_s = 16e6 / SHARE / nic.bandwidth_Bps;
	double chunks_s = 2 * 7 * (131072 / 2e6) * wire_s / 8;
	double late_s = 3 * SEND_S + 8 * NET_SEND_S + far_s(8) + chunks_s;
	int64_t *task_of = arena_alloc(arena, (size_t)m->nlinks, sizeof(*task_of));
	struct lowered l = lowered_all(m, OP_ALL_TO_ALL, 24e6);

	ck_assert_int_eq(l.schedule.nrounds, 1);
	ck_assert_int_eq(l.schedule.ntasks, 3 + 4);
	for (int64_t t = 0; t < l.schedule.ntasks; t++) {
		const struct task *task = &l.schedule.task[t];

		for (int64_t i = task->first; i < task->first + task->nmessages; i++) {
			const struct message *msg = &l.schedule.message[i];
			int32_t links[ROUTE_LINKS_MAX];
			int n = machine_route(m, msg->fabric, msg->src, msg->dst, links,
			                      ROUTE_LINKS_MAX);

			if (t < 3)
				ck_assert(msg->src / 4 == t && msg->dst / 4 == t);
			else
				ck_assert(msg->src % 4 == t - 3 && msg->dst % 4 == t - 3);
			for (int k = 0; k < n; k++) {
				ck_assert(!task_of[links[k]] ||
				          task_of[links[k]] == t + 1);
				task_of[links[k]] = t + 1;
			}
		}
		near(task->delay_s + 2 * (t < 3 ? nvlink : nic).latency_s, late_s,
		     "latency");
	}
}
END_TEST

/*
 * 1024 GPUs on switches: few messages, whatever the op; all-to-alls by node and by rail.
 */
START_TEST(a_thousand_gpus)
{
	struct machine *m = tuned(128, 8, 90);

	for (int o = 0; o < 4; o++) {
		struct lowered l = lowered_all(m, ops[o], 1e9 + 1);

		ck_assert_int_le(l.schedule.nmessages, 6 * 1024);
		ck_assert_int_eq(l.schedule.ntasks,
		                 ops[o] == OP_ALL_TO_ALL ? 128 + 8 : 1);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("nccl_group");
	TCase *c = tcase_create("nccl_group");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, members_by_node);
	tcase_add_loop_test(c, double_trees, 1, 70);
	tcase_add_test(c, rings_of_a_cube_mesh);
	tcase_add_test(c, bus_bandwidth_of_a_cube_mesh);
	tcase_add_test(c, rings_of_an_odd_part);
	tcase_add_test(c, rings_over_one_way_cables);
	tcase_add_test(c, a_pair_without_a_cable);
	tcase_add_test(c, uneven_nodes);
	tcase_add_test(c, sends_on_graphs);
	tcase_add_test(c, sends_by_rail);
	tcase_add_test(c, a_thousand_gpus);
	suite_add_tcase(suite, c);
	return suite;
}
