#include "collective/nccl.h"
#include "nccl_help.h"
#include "tests/tests.h"

#include <check.h>

/* One core for the network threads of a node, against figures worked out by hand. */

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const double KiB = 1024;

/* Returns the seconds of groups of devices where one process serves those of a node. */
static double group_s(int32_t nodes, int32_t gpus, const struct forced *forced,
                      enum op op, const struct groups *groups, double bytes,
                      enum launch_mode launch)
{
	struct machine *m = tuned(nodes, gpus, 90);
	struct text why = {0};
	struct lowered l;
	double seconds;

	m->forced = *forced;
	m->launch = launch;
	if (op == OP_ALL_GATHER)
		bytes /= groups->size;
	ck_assert_msg(lower_collective(&l, arena, m, op, *groups, bytes, &why), "%s",
	              why.s);
	seconds = seconds_of(m, &l);
	text_free(&why);
	return seconds;
}

/*
 * Turns take 35 us: two threads run at a time, so of d there are (d/2)^2 - 1 others than the
 * pair of turns that a crossing waits for. LL has another channel from 4 KiB on, a ring from
 * as much for each device, and Simple from 32 KiB.
 */
START_TEST(waits)
{
	static const struct {
		int nodes, gpus;
		struct forced forced;
		enum op op;
		double KiBs;
		int threads, crossings;
	} row[] = {
		{2, 8, {"tree", "ll"}, OP_ALL_REDUCE, 7.9, 1, 2},
		{2, 8, {"tree", "ll"}, OP_ALL_REDUCE, 16, 4, 2},
		{2, 8, {"tree", "ll"}, OP_ALL_REDUCE, 64, 8, 2},
		{4, 8, {"tree", "ll"}, OP_ALL_REDUCE, 64, 8, 4},
		{2, 2, {"tree", "ll"}, OP_ALL_REDUCE, 64, 2, 2},
		{2, 3, {"tree", "ll"}, OP_ALL_REDUCE, 64, 3, 2},
		{2, 8, {"tree", "ll128"}, OP_ALL_REDUCE, 20.1, 4, 2},
		{2, 8, {"nvls-tree", "simple"}, OP_ALL_REDUCE, 1024, 8, 2},
		{2, 8, {"ring", "simple"}, OP_ALL_GATHER, 255, 7, 2},
		{2, 8, {"ring", "simple"}, OP_ALL_GATHER, 256, 8, 2},
		{3, 4, {"ring", "simple"}, OP_ALL_REDUCE, 1024, 4, 6},
		{2, 8, {"ring", "ll"}, OP_ALL_GATHER, 256, 4, 2},
		{2, 8, {"ring", "simple"}, OP_BROADCAST, 1024, 8, 1},
		{1, 8, {"ring", "simple"}, OP_ALL_GATHER, 1024, 0, 0},
		{2, 8, {NULL, NULL}, OP_ALL_TO_ALL, 64, 8, 1},
		{3, 8, {NULL, NULL}, OP_ALL_TO_ALL, 64, 8, 2},
	};

	for (int i = 0; i < COUNT(row); i++) {
		struct machine *m = tuned(row[i].nodes, row[i].gpus, 90);
		struct groups all = everybody(m);
		double bytes = row[i].KiBs * KiB, wait_s = 0, d = row[i].threads;
		double free_s, core_s;

		if (d > 2)
			wait_s = row[i].crossings * (d * d / 4 - 1) * 35e-6;
		free_s = group_s(row[i].nodes, row[i].gpus, &row[i].forced, row[i].op,
		                 &all, bytes, LAUNCH_SINGLE);
		core_s = group_s(row[i].nodes, row[i].gpus, &row[i].forced, row[i].op,
		                 &all, bytes, LAUNCH_BOUND);
		ck_assert_msg(core_s - free_s > wait_s - 1e-12 &&
		                      core_s - free_s < wait_s + 1e-12,
		              "row %d: %.17g, wanted %.17g", i, core_s - free_s, wait_s);
	}
}
END_TEST

/* Eight groups of one device a node share a core as one group of eight devices does. */
START_TEST(groups_share_a_core)
{
	static const int32_t rails[] = {0, 8,  1, 9,  2, 10, 3, 11,
	                                4, 12, 5, 13, 6, 14, 7, 15};
	const struct groups one = {1, 2, rails}, all = {8, 2, rails};
	const struct forced tree = {"tree", "ll"};
	double alone_s =
		group_s(2, 8, &tree, OP_ALL_REDUCE, &one, 4 * KiB, LAUNCH_BOUND);
	double free_s =
		group_s(2, 8, &tree, OP_ALL_REDUCE, &all, 4 * KiB, LAUNCH_SINGLE);
	double core_s = group_s(2, 8, &tree, OP_ALL_REDUCE, &all, 4 * KiB, LAUNCH_BOUND);

	ck_assert_double_eq_tol(alone_s, free_s, 1e-12);
	ck_assert_double_eq_tol(core_s - free_s, 2 * 15 * 35e-6, 1e-12);
}
END_TEST

/* Groups inside a node use no network: the two that cross are as fast as alone. */
START_TEST(groups_inside_wait_for_none)
{
	static const int32_t ids[] = {0, 1, 8, 9, 2, 3, 4, 5};
	const struct groups one = {1, 4, ids}, both = {2, 4, ids};
	const struct forced ring = {"ring", "simple"};
	double alone_s = group_s(2, 8, &ring, OP_ALL_REDUCE, &one, 1e6, LAUNCH_BOUND);
	double both_s = group_s(2, 8, &ring, OP_ALL_REDUCE, &both, 1e6, LAUNCH_BOUND);

	ck_assert_double_eq_tol(both_s, alone_s, 1e-12);
}
END_TEST

/* A process of a rack has the four devices of a tray. */
START_TEST(trays_of_a_rack)
{
	struct machine *m = tuned(2, 18, 90);
	bool *uses;

	m->launch = LAUNCH_BOUND;
	uses = nccl_core_uses(m);
	for (int d = 0; d < m->ndevices; d++)
		uses[d] = true;
	ck_assert_int_eq(nccl_core_devices(m, uses), 4);
}
END_TEST

/* Of devices that share a NIC one uses it; nothing is counted where no core is shared. */
START_TEST(devices_of_a_node)
{
	static const struct {
		int share, used[2], devices; /* of the two nodes */
	} row[] = {{1, {8, 3}, 8},
	           {1, {1, 3}, 3},
	           {2, {8, 8}, 4},
	           {2, {5, 0}, 3},
	           {1, {0, 0}, 1}};
	struct machine *m = tuned(2, 8, 90);

	ck_assert_ptr_null(nccl_core_uses(m));
	ck_assert_int_eq(nccl_core_devices(m, NULL), 0);
	m->launch = LAUNCH_BOUND;
	for (int i = 0; i < COUNT(row); i++) {
		bool *uses = nccl_core_uses(m);

		for (int d = 0; d < 16; d++)
			uses[d] = d % 8 < row[i].used[d / 8];
		m->fabric[1].share = row[i].share;
		ck_assert_int_eq(nccl_core_devices(m, uses), row[i].devices);
	}
}
END_TEST

/* A group that is prepared, as fits do, waits as well. */
START_TEST(prepared)
{
	struct machine *m = tuned(2, 8, 90);
	int32_t *kind = arena_alloc(arena, (size_t)m->nlinks, sizeof(*kind));
	struct groups all = everybody(m);
	const char *algorithm, *protocol;
	double seconds[2];

	m->forced = (struct forced){"tree", "ll"};
	for (int bound = 0; bound < 2; bound++) {
		struct nccl_prepared *p;

		m->launch = bound ? LAUNCH_BOUND : LAUNCH_SINGLE;
		p = nccl_prepare(arena, nccl_algorithms, m, OP_ALL_REDUCE, all.ids,
		                 all.size, kind, 1);
		seconds[bound] = nccl_prepared_s(p, 64 * KiB, &algorithm, &protocol);
	}
	ck_assert_double_eq_tol(seconds[1] - seconds[0], 2 * 15 * 35e-6, 1e-12);
}
END_TEST

/* A shift crosses by one device of a node each way, a swap of nodes by all of them. */
START_TEST(permutes)
{
	struct pair shift[16], swap[16];
	const struct pair *const pairs[] = {shift, swap};
	static const double wait_s[] = {0, 15 * 35e-6};
	struct text why = {0};

	for (int d = 0; d < 16; d++) {
		shift[d] = (struct pair){d, (d + 1) % 16};
		swap[d] = (struct pair){d, (d + 8) % 16};
	}
	for (int i = 0; i < COUNT(pairs); i++) {
		struct machine *m = tuned(2, 8, 90);
		double seconds[2];

		for (int bound = 0; bound < 2; bound++) {
			struct lowered l;

			m->launch = bound ? LAUNCH_BOUND : LAUNCH_SINGLE;
			ck_assert(lower_pairs(&l, arena, m, pairs[i], 16, 1e6, &why));
			seconds[bound] = seconds_of(m, &l);
		}
		ck_assert_double_eq_tol(seconds[1] - seconds[0], wait_s[i], 1e-12);
	}
	text_free(&why);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("nccl core");
	TCase *c = tcase_create("core");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, waits);
	tcase_add_test(c, groups_share_a_core);
	tcase_add_test(c, groups_inside_wait_for_none);
	tcase_add_test(c, trays_of_a_rack);
	tcase_add_test(c, devices_of_a_node);
	tcase_add_test(c, prepared);
	tcase_add_test(c, permutes);
	suite_add_tcase(suite, c);
	return suite;
}
