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

/* Of a thread's turn, and of a chunk in it, of which it has 8 for each send or receive. */
static const double TURN_S = 17e-6, STEP_S = .5e-6;

/* Returns what each crossing waits for: the other threads of one of two hardware threads. */
static double wait_s(double threads, double operations)
{
	return threads > 2 ? (threads / 2 - 1) * (TURN_S + 8 * operations * STEP_S) : 0;
}

/*
 * LL has another channel from 4 KiB on, LL128 from 5, both on a ring from as much for each device,
 * and Simple from 32 KiB, up to 16. Each is a send and a receive, or half of that for a broadcast.
 * Of nvls-tree all 16 are on every device, of three nodes 4/3 times; sends have two to each of eight
 * peers at a time.
 */
START_TEST(waits)
{
	static const struct {
		int nodes, gpus;
		struct forced forced;
		enum op op;
		double KiBs, threads, operations;
		int crossings;
	} row[] = {
		{2, 8, {"tree", "ll"}, OP_ALL_REDUCE, 7.9, 1, 2, 2},
		{2, 8, {"tree", "ll"}, OP_ALL_REDUCE, 16, 4, 2, 2},
		{2, 8, {"tree", "ll"}, OP_ALL_REDUCE, 32, 8, 2, 2},
		{2, 8, {"tree", "ll"}, OP_ALL_REDUCE, 64, 8, 4, 2},
		{2, 8, {"tree", "ll"}, OP_ALL_REDUCE, 128, 8, 4, 2},
		{4, 8, {"tree", "ll"}, OP_ALL_REDUCE, 64, 8, 4, 4},
		{2, 2, {"tree", "ll"}, OP_ALL_REDUCE, 64, 2, 16, 2},
		{2, 4, {"tree", "ll"}, OP_ALL_REDUCE, 64, 4, 8, 2},
		{2, 8, {"tree", "ll128"}, OP_ALL_REDUCE, 20.1, 4, 2, 2},
		{2, 8, {"nvls-tree", "simple"}, OP_ALL_REDUCE, 65536, 8, 32, 2},
		{3, 8, {"nvls-tree", "simple"}, OP_ALL_REDUCE, 65536, 8, 128 / 3., 2},
		{2, 8, {"ring", "simple"}, OP_ALL_GATHER, 255, 7, 2, 2},
		{2, 8, {"ring", "simple"}, OP_ALL_GATHER, 256, 8, 2, 2},
		{3, 4, {"ring", "simple"}, OP_ALL_REDUCE, 1024, 4, 8, 6},
		{2, 8, {"ring", "ll"}, OP_ALL_GATHER, 256, 4, 2, 2},
		{2, 8, {"ring", "simple"}, OP_BROADCAST, 1024, 8, 2, 1},
		{2, 8, {"ring", "simple"}, OP_REDUCE, 1024, 8, 2, 1},
		{1, 8, {"ring", "simple"}, OP_ALL_GATHER, 1024, 0, 0, 0},
		{2, 8, {NULL, NULL}, OP_ALL_TO_ALL, 16384, 8, 32, 1},
		{3, 8, {NULL, NULL}, OP_ALL_TO_ALL, 24576, 8, 32, 2},
	};

	for (int i = 0; i < COUNT(row); i++) {
		struct machine *m = tuned(row[i].nodes, row[i].gpus, 90);
		struct groups all = everybody(m);
		double bytes = row[i].KiBs * KiB, free_s, core_s;
		double more_s =
			row[i].crossings * wait_s(row[i].threads, row[i].operations);

		free_s = group_s(row[i].nodes, row[i].gpus, &row[i].forced, row[i].op,
		                 &all, bytes, LAUNCH_SINGLE);
		core_s = group_s(row[i].nodes, row[i].gpus, &row[i].forced, row[i].op,
		                 &all, bytes, LAUNCH_BOUND);
		ck_assert_msg(core_s - free_s > more_s - 1e-12 &&
		                      core_s - free_s < more_s + 1e-12,
		              "row %d: %.17g, wanted %.17g", i, core_s - free_s, more_s);
	}
}
END_TEST

/* Makes all links so fast that only the core matters. */
static void make_fast(struct machine *m)
{
	struct link *link = arena_alloc(arena, (size_t)m->nlinks, sizeof(*link));

	for (int32_t k = 0; k < m->nlinks; k++) {
		link[k] = m->link[k];
		link[k].bandwidth_Bps *= 1000;
	}
	m->link = link;
}

/*
 * Two hardware threads pass a chunk in half a step. An all-to-all of 64 KiB over two nodes of eight has
 * one for each of 64 pairs, sent and received; nvls-tree sends V and receives it, by chunks of
 * 128 KiB, on Blackwell of 64, and over four nodes 1.5 times.
 */
START_TEST(chunks)
{
	static const struct {
		int nodes, cc;
		struct forced forced;
		enum op op;
		double MiBs;
		int chunks;
		int gpus, share; /* of a node, of a NIC */
	} row[] = {
		{2, 90, {NULL, NULL}, OP_ALL_TO_ALL, .0625, 2 * 64, 8, 1},
		{2, 90, {NULL, NULL}, OP_ALL_TO_ALL, 16, 2 * 64 * 8, 8, 1},
		{2, 90, {"nvls-tree", "simple"}, OP_ALL_REDUCE, 1024, 2 * 1024 * 8, 8, 1},
		{2, 100, {"nvls-tree", "simple"}, OP_ALL_REDUCE, 1024, 2 * 1024 * 16, 8, 1},
		{2, 100, {"nvls-tree", "simple"}, OP_ALL_REDUCE, 1024, 2 * 1024 * 8, 4, 1},
		{2, 90, {"nvls-tree", "simple"}, OP_ALL_REDUCE, 1024, 2 * 1024 * 8, 8, 2},
		{2, 90, {NULL, NULL}, OP_ALL_TO_ALL, 16, 2 * 64 * 8, 8, 2},
		{4, 90, {"nvls-tree", "simple"}, OP_ALL_REDUCE, 1024, 3 * 1024 * 16, 8, 1},
		{2, 90, {"ring", "simple"}, OP_ALL_REDUCE, 1024, 0, 8, 1},
	};

	for (int i = 0; i < COUNT(row); i++) {
		struct machine *m = tuned(row[i].nodes, row[i].gpus, row[i].cc);
		double bytes = row[i].MiBs * 1024 * KiB, least_s;
		struct lowered l;

		make_fast(m);
		m->fabric[1].share = row[i].share;
		m->forced = row[i].forced;
		m->launch = LAUNCH_BOUND;
		l = lowered_all(m, row[i].op, bytes);
		least_s = l.schedule.task[0].least_s;
		if (row[i].chunks)
			ck_assert_double_eq_tol(least_s, row[i].chunks * STEP_S / 2,
			                        1e-9);
		else
			ck_assert_double_lt(least_s, 1e-3);
	}
}
END_TEST

/* A send has one channel for a chunk, and two for more; eight peers are at work at a time. */
START_TEST(sends_at_once)
{
	static const struct {
		int peers;
		double KiBs, operations;
	} row[] = {{1, 128, 2}, {1, 129, 4}, {8, 1, 16}, {8, 256, 32}, {64, 256, 32}};

	for (int i = 0; i < COUNT(row); i++)
		ck_assert_double_eq(
			nccl_core_sends(8, row[i].peers, row[i].KiBs * KiB, true).operations,
			row[i].operations);
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
	ck_assert_double_eq_tol(core_s - free_s, 2 * wait_s(8, 2), 1e-12);
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
	unsigned char *uses;
	bool both;

	m->launch = LAUNCH_BOUND;
	uses = nccl_core_uses(m);
	for (int d = 0; d < m->ndevices; d++)
		uses[d] = d % 2 ? CORE_SENDS : CORE_RECEIVES;
	ck_assert_int_eq(nccl_core_devices(&both, m, uses), 4);
	ck_assert(!both);
}
END_TEST

/* The node of most devices that cross counts; nothing does where no core is shared. */
START_TEST(devices_of_a_node)
{
	static const struct {
		int used[2], devices; /* of the two nodes */
	} row[] = {{{8, 3}, 8}, {{1, 3}, 3}, {{0, 0}, 1}};
	struct machine *m = tuned(2, 8, 90);

	bool both;

	ck_assert_ptr_null(nccl_core_uses(m));
	ck_assert_int_eq(nccl_core_devices(&both, m, NULL), 0);
	m->launch = LAUNCH_BOUND;
	for (int i = 0; i < COUNT(row); i++) {
		unsigned char *uses = nccl_core_uses(m);

		for (int d = 0; d < 16; d++)
			uses[d] = d % 8 < row[i].used[d / 8] ? 3 : 0;
		ck_assert_int_eq(nccl_core_devices(&both, m, uses), row[i].devices);
		ck_assert(both == (row[i].used[0] > 0));
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
	ck_assert_double_eq_tol(seconds[1] - seconds[0], 2 * wait_s(8, 4), 1e-12);
}
END_TEST

/* A shift crosses by one device of a node each way, a swap of nodes by all of them. */
START_TEST(permutes)
{
	struct pair shift[16], swap[16];
	const struct pair *const pairs[] = {shift, swap};
	const double more_s[] = {0, wait_s(8, 4)};
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
		ck_assert_double_eq_tol(seconds[1] - seconds[0], more_s[i], 1e-12);
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
	tcase_add_test(c, chunks);
	tcase_add_test(c, sends_at_once);
	tcase_add_test(c, groups_share_a_core);
	tcase_add_test(c, groups_inside_wait_for_none);
	tcase_add_test(c, trays_of_a_rack);
	tcase_add_test(c, devices_of_a_node);
	tcase_add_test(c, prepared);
	tcase_add_test(c, permutes);
	suite_add_tcase(suite, c);
	return suite;
}
