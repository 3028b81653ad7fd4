#include "collective/nccl.h"
#include "nccl_help.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <string.h>

/*
 * NCCL's own model against a table that another implementation of it computed: the time
 * to the digits printed, and what it picks.
 */

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define KiB 1024.
#define MiB (1024 * KiB)
#define GiB (1024 * MiB)

struct system {
	int32_t n, nodes;
	int cc;
	bool amd;
	struct nccl_graph ring, nvls;
	double tree_GBps; /* of trees inside, where not as of rings */
};

/*
 * The graphs stated above that table: channels, GB/s inside and across. Where those differ
 * (p4de), it is trees that have the speed inside: rings go through with one speed.
 */
static const struct system a100 = {8, 1, 80, true, {24, 10, 10}, {0, 0, 0}, 0},
			   h100 = {8, 1, 90, false, {24, 15, 15}, {8, 40, 40}, 0},
			   h100x2 = {16, 2, 90, false, {16, 24, 24}, {8, 40, 40}, 0},
			   v100 = {8, 1, 70, false, {12, 10, 10}, {0, 0, 0}, 0},
			   p4de = {16, 2, 80, false, {8, 6, 6}, {0, 0, 0}, 12},
			   h100x10 = {80, 10, 90, false, {16, 24, 24}, {8, 40, 40}, 0};

static const struct {
	const struct system *system;
	enum op op;
	double bytes, printed_us, digit_us;
	enum nccl_kind kind;
	enum protocol protocol;
} rows[] = {
	{&a100, OP_ALL_REDUCE, 32 * KiB, 15.7, .1, NCCL_RING, PROTOCOL_LL},
	{&a100, OP_ALL_REDUCE, 8 * MiB, 107.1, .1, NCCL_RING, PROTOCOL_LL128},
	{&a100, OP_ALL_REDUCE, 1 * GiB, 7885, 1, NCCL_RING, PROTOCOL_SIMPLE},
	{&a100, OP_ALL_REDUCE, 16 * GiB, 125326, 1, NCCL_RING, PROTOCOL_SIMPLE},
	{&h100, OP_ALL_REDUCE, 8, 15.0, .1, NCCL_RING, PROTOCOL_LL},
	{&h100, OP_ALL_REDUCE, 1 * MiB, 28.0, .1, NCCL_RING, PROTOCOL_LL},
	{&h100, OP_ALL_REDUCE, 8 * MiB, 55.8, .1, NCCL_NVLS, PROTOCOL_SIMPLE},
	{&h100, OP_ALL_REDUCE, 128 * MiB, 518.4, .1, NCCL_NVLS, PROTOCOL_SIMPLE},
	{&h100, OP_ALL_REDUCE, 16 * GiB, 63186, 1, NCCL_NVLS, PROTOCOL_SIMPLE},
	{&h100, OP_ALL_GATHER, 32 * MiB, 113.8, .1, NCCL_RING, PROTOCOL_SIMPLE},
	{&h100, OP_ALL_GATHER, 16 * GiB, 41789, 1, NCCL_RING, PROTOCOL_SIMPLE},
	{&h100x2, OP_ALL_REDUCE, 8, 25.2, .1, NCCL_TREE, PROTOCOL_LL},
	{&h100x2, OP_ALL_REDUCE, 32 * MiB, 203.1, .1, NCCL_NVLS_TREE, PROTOCOL_SIMPLE},
	{&h100x2, OP_ALL_REDUCE, 1 * GiB, 4428, 1, NCCL_NVLS_TREE, PROTOCOL_SIMPLE},
	{&h100x2, OP_ALL_REDUCE, 16 * GiB, 69851, 1, NCCL_NVLS_TREE, PROTOCOL_SIMPLE},
	{&v100, OP_ALL_REDUCE, 8, 15.0, .1, NCCL_RING, PROTOCOL_LL},
	{&v100, OP_ALL_REDUCE, 8 * MiB, 173.6, .1, NCCL_RING, PROTOCOL_LL128},
	{&v100, OP_ALL_REDUCE, 128 * MiB, 2013, 1, NCCL_RING, PROTOCOL_SIMPLE},
	{&p4de, OP_ALL_REDUCE, 128 * MiB, 3290, 1, NCCL_TREE, PROTOCOL_LL128},
	{&p4de, OP_ALL_REDUCE, 1 * GiB, 24407, 1, NCCL_TREE, PROTOCOL_SIMPLE},
	{&h100x10, OP_ALL_REDUCE, 1 * GiB, 6227, 1, NCCL_TREE, PROTOCOL_SIMPLE},
	{&h100x10, OP_ALL_REDUCE, 16 * GiB, 89391, 1, NCCL_RING, PROTOCOL_SIMPLE},
};

static struct nccl_case case_of(const struct system *s, enum op op, double bytes)
{
	struct nccl_case c = {.op = op, .n = s->n, .nodes = s->nodes, .cc = s->cc};

	c.amd = s->amd;
	c.bytes = bytes;
	c.graph[NCCL_RING] = c.graph[NCCL_TREE] = c.graph[NCCL_PAT] = s->ring;
	if (s->tree_GBps > 0)
		c.graph[NCCL_TREE].intra_GBps = s->tree_GBps;
	c.graph[NCCL_NVLS] = c.graph[NCCL_NVLS_TREE] = s->nvls;
	return c;
}

START_TEST(section_7)
{
	struct nccl_case c = case_of(rows[_i].system, rows[_i].op, rows[_i].bytes);
	double best_us = INFINITY;
	int best = -1;

	for (int i = 0; i < NCCL_KINDS * PROTOCOLS; i++) {
		double us = nccl_tuner_us(&c, i / PROTOCOLS, i % PROTOCOLS);

		if (us < best_us) {
			best_us = us;
			best = i;
		}
	}
	ck_assert_int_eq(best, rows[_i].kind * PROTOCOLS + rows[_i].protocol);
	ck_assert_msg(fabs(best_us - rows[_i].printed_us) <= rows[_i].digit_us / 2 + 1e-9,
	              "%.6g us, printed %g", best_us, rows[_i].printed_us);
}
END_TEST

/* Formulas of section 4 that the table does not reach, worked out for odd figures. */
START_TEST(other_formulas)
{
	struct nccl_case c = case_of(&p4de, OP_BROADCAST, 7e6);

	/* ring Simple: 8.4 + 14; 48 GB/s, V n/n */
	near(nccl_tuner_us(&c, NCCL_RING, PROTOCOL_SIMPLE), 22.4 + 7e6 / 48e3,
	     "broadcast");
	c = case_of(&p4de, OP_ALL_REDUCE, 16e6);
	/* Simple across nodes, long enough: 1.4 (8.4 + 28 * 3.4 + 2 * 14) */
	near(nccl_tuner_us(&c, NCCL_RING, PROTOCOL_SIMPLE),
	     1.4 * (8.4 + 28 * 3.4 + 28) + 16e6 / (48e3 * 16 / 30), "ring");
	c.bytes = 64 * 8 * 16 - 1;
	near(nccl_tuner_us(&c, NCCL_RING, PROTOCOL_SIMPLE),
	     8.4 + 28 * 3.4 + 28 + c.bytes / (48e3 * 16 / 30), "short ring");
	/* LL: net overhead of 1 us counts for more than 0.6; half of 48 */
	near(nccl_tuner_us(&c, NCCL_RING, PROTOCOL_LL),
	     6.6 + 28 + 2 * 2.7 + c.bytes / (24e3 * 16 / 30), "ring LL");
	/* what a plugin tells comes to a step across, with Simple twice */
	c.net_latency_us = 75;
	near(nccl_tuner_us(&c, NCCL_RING, PROTOCOL_LL),
	     6.6 + 28 + 2 * (2.7 + 75) + c.bytes / (24e3 * 16 / 30), "ring LL, latency");
	c.bytes = 16e6;
	near(nccl_tuner_us(&c, NCCL_RING, PROTOCOL_SIMPLE),
	     1.4 * (8.4 + 28 * 3.4 + 2 * (14 + 150)) + 16e6 / (48e3 * 16 / 30),
	     "ring, latency");
	/* PAT over 5 nodes of one: 8 + 2 * 14 / 3.5 + 14; inter 6 * 8 * 0.75, V */
	c = case_of(&p4de, OP_ALL_GATHER, 1e6);
	c.n = c.nodes = 5;
	near(nccl_tuner_us(&c, NCCL_PAT, PROTOCOL_SIMPLE), 8 + 8 + 14 + 1e6 / 36e3,
	     "pat");
	/* tree LL, 4 KiB: entry 6 of the table is 0.7; 0.92 * 96 / 3.8 / 2 */
	c = case_of(&p4de, OP_ALL_REDUCE, 4096);
	near(nccl_tuner_us(&c, NCCL_TREE, PROTOCOL_LL),
	     6.8 + 2 * (7 * .6 + 5) + 4096 / (0.92 * 96e3 / 3.8 / 2 * 0.7), "tree LL");
}
END_TEST

START_TEST(what_is_not_allowed)
{
	struct nccl_case c = case_of(&h100x2, OP_ALL_REDUCE, 1e6);

	ck_assert(isinf(nccl_tuner_us(&c, NCCL_NVLS, PROTOCOL_SIMPLE)));
	ck_assert(isinf(nccl_tuner_us(&c, NCCL_PAT, PROTOCOL_SIMPLE)));
	ck_assert(isinf(nccl_tuner_us(&c, NCCL_NVLS_TREE, PROTOCOL_LL)));
	c.op = OP_ALL_GATHER;
	ck_assert(isinf(nccl_tuner_us(&c, NCCL_TREE, PROTOCOL_LL)));
	ck_assert(isinf(nccl_tuner_us(&c, NCCL_PAT, PROTOCOL_SIMPLE)));
	c.op = OP_ALL_TO_ALL;
	for (int i = 0; i <= NCCL_KINDS; i++)
		ck_assert(isinf(nccl_tuner_us(&c, i, PROTOCOL_SIMPLE)));
	/* V100 have no multicast */
	c = case_of(&v100, OP_ALL_REDUCE, 1e6);
	ck_assert(isinf(nccl_tuner_us(&c, NCCL_NVLS, PROTOCOL_SIMPLE)));
}
END_TEST

/* Graphs of a machine: node totals by generation, NICs by what they carry. */
START_TEST(graphs_of_machines)
{
	struct machine *m = tuned(1, 8, 90);
	struct nccl_group g = nccl_group_make(arena, m, everybody(m).ids, 8);
	struct nccl_case c = nccl_case_of(&g, OP_ALL_REDUCE, 5);

	near(c.graph[NCCL_RING].channels * c.graph[NCCL_RING].intra_GBps, 360, "ring");
	near(c.graph[NCCL_NVLS].channels * c.graph[NCCL_NVLS].intra_GBps, 320, "nvls");
	ck_assert_int_eq(c.n, 8);
	near(c.bytes, 5, "bytes");
	/* eight NICs of 23 GB/s over 8 channels; trees twice that inside */
	m = tuned(2, 8, 80);
	g = nccl_group_make(arena, m, everybody(m).ids, 16);
	c = nccl_case_of(&g, OP_ALL_REDUCE, 5);
	near(c.graph[NCCL_RING].intra_GBps, 23, "ring inside");
	near(c.graph[NCCL_TREE].inter_GBps, 23, "tree across");
	near(c.graph[NCCL_TREE].intra_GBps, 30, "tree inside");
	ck_assert(c.amd);
}
END_TEST

/* What a platform states counts in place of the rules; what it does not follows from it. */
START_TEST(stated_graphs)
{
	struct machine *m = tuned(2, 8, 90);
	struct nccl_group g = nccl_group_make(arena, m, everybody(m).ids, 16);
	struct nccl_group one = nccl_group_make(arena, m, everybody(m).ids, 8);
	double *tuning = m->tuning.value;
	struct nccl_case c;

	tuning[TUNING_GRAPH_NET_CHANNELS] = 4;
	tuning[TUNING_GRAPH_NET_BPS] = 12e9;
	c = nccl_case_of(&g, OP_ALL_REDUCE, 5);
	ck_assert_int_eq(c.graph[NCCL_RING].channels, 4);
	near(c.graph[NCCL_RING].intra_GBps, 12, "ring inside");
	near(c.graph[NCCL_PAT].inter_GBps, 12, "pat across");
	near(c.graph[NCCL_TREE].intra_GBps, 24, "tree inside, twice");
	tuning[TUNING_GRAPH_TREE_BPS] = 13e9;
	near(nccl_case_of(&g, OP_ALL_REDUCE, 5).graph[NCCL_TREE].intra_GBps, 13, "tree");
	tuning[TUNING_GRAPH_CHANNELS] = 2;
	tuning[TUNING_GRAPH_BPS] = 17e9;
	tuning[TUNING_GRAPH_NVLS_CHANNELS] = 6;
	tuning[TUNING_GRAPH_NVLS_BPS] = 31e9;
	c = nccl_case_of(&one, OP_ALL_REDUCE, 5);
	ck_assert_int_eq(c.graph[NCCL_TREE].channels, 2);
	near(c.graph[NCCL_TREE].intra_GBps, 17, "one node");
	ck_assert_int_eq(c.graph[NCCL_NVLS].channels, 6);
	near(c.graph[NCCL_NVLS].intra_GBps, 31, "nvls");
	ck_assert_int_eq(nccl_case_of(&g, OP_ALL_REDUCE, 5).graph[NCCL_RING].channels,
	                 4);
}
END_TEST

/* "tuner" takes what the model ranks first, and the same as ours where that is alone. */
START_TEST(the_tuner_chooses)
{
	struct machine *m = tuned(1, 8, 90);

	m->forced.algorithm = "tuner";
	for (double V = 5; V < 1e11; V *= 11) {
		struct nccl_group g = nccl_group_make(arena, m, everybody(m).ids, 8);
		struct nccl_case c = nccl_case_of(&g, OP_ALL_REDUCE, V);
		struct lowered l = lowered_all(m, OP_ALL_REDUCE, V);
		double best = INFINITY;
		int kind = !strcmp(l.algorithm, "nvls") ? NCCL_NVLS : NCCL_RING;

		for (int i = 0; i < NCCL_KINDS * PROTOCOLS; i++)
			best = fmin(best,
			            nccl_tuner_us(&c, i / PROTOCOLS, i % PROTOCOLS));
		for (int p = 0; p < PROTOCOLS; p++)
			if (!strcmp(l.protocol, protocol_name(p)))
				near(nccl_tuner_us(&c, kind, p), best, "rank");
	}
	ck_assert_str_eq(lowered_all(m, OP_ALL_TO_ALL, 1e6).algorithm, "sends");
	m->forced.protocol = "ll";
	ck_assert_str_eq(lowered_all(m, OP_ALL_REDUCE, 1e9).protocol, "ll");
}
END_TEST

/*
 * Behind one switch from Hopper on the library's model chooses unasked. By hand: rings of 24 channels
 * of 15 GB/s on Hopper and 30 on Blackwell, and of n devices a switch's graph of n channels, of 40 GB/s
 * for 8 on Hopper, and of 80, 40 and 20 for 8, 16 and 32 on Blackwell. Microseconds of 64 MiB over 16,
 * which are the closest: 25 + 67109 / (16 x 40 x 15/16) = 136.8 by the switch, 14 + 15 x 1.9
 * + 67109 x 15/16 / 662.4 = 137.5 by LL128. XLA's table for GB200 changes between the same sizes.
 */
START_TEST(the_library_chooses_behind_a_switch)
{
	static const struct {
		int cc;
		enum op op;
		int n, of_MiB;
		const char *algorithm, *protocol;
	} row[] = {
		{90, OP_ALL_GATHER, 8, 4, "ring", "ll"},
		{90, OP_ALL_GATHER, 8, 8, "ring", "ll128"},
		{90, OP_REDUCE_SCATTER, 8, 32, "ring", "simple"},
		{90, OP_ALL_REDUCE, 8, 1, "ring", "ll"},
		{90, OP_ALL_REDUCE, 8, 2, "nvls", "simple"},
		{100, OP_ALL_GATHER, 8, 8, "ring", "ll"},
		{100, OP_ALL_GATHER, 8, 16, "ring", "ll128"},
		{100, OP_ALL_GATHER, 8, 64, "ring", "simple"},
		{100, OP_ALL_GATHER, 16, 64, "nvls", "simple"},
		{100, OP_REDUCE_SCATTER, 16, 128, "ring", "ll128"},
		{100, OP_ALL_GATHER, 32, 256, "nvls", "simple"},
		{100, OP_REDUCE_SCATTER, 32, 512, "ring", "simple"},
		{100, OP_ALL_GATHER, 36, 32, "ring", "ll128"},
		{100, OP_ALL_GATHER, 64, 32, "ring", "ll"},
		{100, OP_ALL_GATHER, 64, 64, "ring", "ll128"},
		{100, OP_REDUCE_SCATTER, 64, 1024, "ring", "simple"},
		{100, OP_ALL_REDUCE, 8, 2, "ring", "ll"},
		{100, OP_ALL_REDUCE, 8, 4, "nvls", "simple"},
	};

	for (int i = 0; i < COUNT(row); i++) {
		struct lowered l = lowered_all(tuned(1, row[i].n, row[i].cc), row[i].op,
		                               row[i].of_MiB * MiB);

		ck_assert_msg(!strcmp(l.algorithm, row[i].algorithm) &&
		                      !strcmp(l.protocol, row[i].protocol),
		              "row %d: %s with %s", i, l.algorithm, l.protocol);
	}
}
END_TEST

/* Returns the seconds of all-gathers of V in three groups of three of 24 devices; 0 if refused. */
static double threes_s(struct machine *m, const int32_t ids[9], double V)
{
	struct text why = {0};
	struct lowered l;
	bool done = lower_collective(&l, arena, m, OP_ALL_GATHER,
	                             (struct groups){3, 3, ids}, V / 3, &why);

	text_free(&why);
	return done ? seconds_of(m, &l) : 0;
}

/*
 * Where one group is over two nodes, the library does not rank for all, and what all take counts,
 * whichever group is first. 8 MiB would go by another protocol.
 */
START_TEST(groups_partly_over_nodes)
{
	static const int32_t inside[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
	static const int32_t outside[] = {6, 7, 8, 0, 1, 2, 3, 4, 5};

	for (double V = KiB; V < GiB; V *= 3) {
		struct machine *m = tuned(3, 8, 90);
		double taken_s = threes_s(m, inside, V), least_s = INFINITY;

		near(threes_s(m, outside, V), taken_s, "order");
		for (int p = 0; p < PROTOCOLS; p++) {
			m->forced = (struct forced){"ring", protocol_name(p)};
			least_s = fmin(least_s, threes_s(m, inside, V));
		}
		near(taken_s, least_s, "cheapest");
	}
}
END_TEST

/*
 * A switch has at most 32 heads. A part of a node has the graph of its own devices, a whole node what
 * the platform states.
 */
START_TEST(graphs_of_switches)
{
	static const struct {
		int cc, n, heads;
		double GBps;
	} row[] = {
		{90, 3, 3, 60},    {90, 4, 4, 60},    {90, 6, 6, 50},
		{90, 8, 8, 40},    {100, 4, 4, 90},   {100, 8, 8, 80},
		{100, 16, 16, 40}, {100, 18, 18, 30}, {100, 32, 32, 20},
		{100, 36, 32, 20}, {100, 64, 32, 20},
	};

	for (int i = 0; i < COUNT(row); i++)
		for (int whole = 0; whole < 2; whole++) {
			int n = row[i].n;
			struct machine *m = tuned(2, whole ? n : n + 1, row[i].cc);
			struct nccl_group g =
				nccl_group_make(arena, m, everybody(m).ids, n);
			struct nccl_graph graph;

			m->tuning.value[TUNING_GRAPH_NVLS_CHANNELS] = 5;
			m->tuning.value[TUNING_GRAPH_NVLS_BPS] = 71e9;
			graph = nccl_case_of(&g, OP_ALL_GATHER, 5).graph[NCCL_NVLS];
			ck_assert_int_eq(graph.channels, whole ? 5 : row[i].heads);
			near(graph.intra_GBps, whole ? 71 : row[i].GBps, "speed");
		}
}
END_TEST

/* A switch gathers and scatters for 32 devices at most, and reduces for all. */
START_TEST(arity_of_switches)
{
	static const enum op op[] = {OP_ALL_GATHER, OP_REDUCE_SCATTER, OP_ALL_REDUCE};

	for (int i = 0; i < COUNT(op); i++)
		for (int n = 32; n < 34; n++) {
			struct machine *m = tuned(1, n, 100);
			struct nccl_group g =
				nccl_group_make(arena, m, everybody(m).ids, n);
			struct nccl_case c = nccl_case_of(&g, op[i], 1e6);
			bool may = n < 33 || op[i] == OP_ALL_REDUCE;
			struct text why = {0};
			struct lowered l;

			ck_assert(!isinf(nccl_tuner_us(&c, NCCL_NVLS,
			                               PROTOCOL_SIMPLE)) == may);
			m->forced.algorithm = "nvls";
			ck_assert(lower_collective(&l, arena, m, op[i], everybody(m),
			                           1e6, &why) == may);
			text_free(&why);
		}
}
END_TEST

/*
 * A fit asks for many sizes of one group: it is told what is chosen for each, too, by the tuner over
 * two nodes and unasked behind one switch.
 */
START_TEST(the_tuner_chooses_for_fits)
{
	struct machine *m = tuned(_i ? 1 : 2, _i ? 16 : 8, _i ? 100 : 90);
	int32_t *kind = arena_alloc(arena, (size_t)m->nlinks, sizeof(*kind));
	struct nccl_prepared *p;

	for (int32_t i = 0; i < m->nlinks; i++)
		kind[i] = i;
	m->forced.algorithm = _i ? NULL : "tuner";
	p = nccl_prepare(arena, nccl_algorithms, m, OP_ALL_REDUCE, everybody(m).ids, 16,
	                 kind, m->nlinks);
	for (double V = 5; V < 1e11; V *= 11) {
		struct lowered l = lowered_all(m, OP_ALL_REDUCE, V);
		const char *algorithm, *protocol;

		near(device.launch_s + nccl_prepared_s(p, V, &algorithm, &protocol),
		     seconds_of(m, &l), "prepared");
		ck_assert_str_eq(algorithm, l.algorithm);
		ck_assert_str_eq(protocol, l.protocol);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("nccl_tuner");
	TCase *c = tcase_create("nccl_tuner");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, section_7, 0, COUNT(rows));
	tcase_add_test(c, other_formulas);
	tcase_add_test(c, what_is_not_allowed);
	tcase_add_test(c, graphs_of_machines);
	tcase_add_test(c, stated_graphs);
	tcase_add_test(c, the_tuner_chooses);
	tcase_add_test(c, the_library_chooses_behind_a_switch);
	tcase_add_test(c, groups_partly_over_nodes);
	tcase_add_test(c, graphs_of_switches);
	tcase_add_test(c, arity_of_switches);
	tcase_add_loop_test(c, the_tuner_chooses_for_fits, 0, 2);
	suite_add_tcase(suite, c);
	return suite;
}
