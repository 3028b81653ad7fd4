#include "collective/lower.h"
#include "cost/flow_net.h"
#include "cost/flow_run.h"
#include "facts/families.h"
#include "flow_case.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static bool close_to(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance * fabs(b);
}

static const char *const specs[] = {
	"tpu-v2:4x4",    "tpu-v3:3x5",  "tpu-v4:4x4x4", "tpu-v4:2x2x3", "tpu-v5e:4x8",
	"tpu-v5p:2x4x4", "tpu-v6e:3x4", "tpu-7x:2x2x2", "dgx1-v100:3",  "dgx2:2",
	"dgx-a100:3",    "cw-a100:1",   "a2-megagpu:2", "aws-p4de:2",   "dgx-h100:8",
	"hgx-h100:1",    "aws-p5:2",    "gcp-a3high:3", "gcp-a3mega:2", "hgx-h20:1",
	"dgx-h200:2",    "aws-p5en:1",  "dgx-b200:3",   "gcp-a4:1",     "gb200-nvl72:1",
	"mi300x:2",      "mi355x:1",    "polaris:5",    "p2-a100:2",    "p2-v100:2",
	"mi250x:2",      "mi250x-16:1", "dgx-spark:3",  "torus:3x4",    "cluster:3"};

/* A family added must be added above too. */
START_TEST(every_family_is_there)
{
	struct arena *a = arena_new();
	struct families all;
	struct error e = {0};
	const char *path;

	ck_assert_int_eq(platform_data_path(&path, a, "families.yaml", &e), OK);
	ck_assert_int_eq(families_read(&all, a, path, &e), OK);
	for (int i = 0; i < all.n; i++) {
		size_t length = strlen(all.family[i].name);
		int k = 0;

		while (k < COUNT(specs) &&
		       (strncmp(specs[k], all.family[i].name, length) != 0 ||
		        specs[k][length] != ':'))
			k++;
		ck_assert_msg(k < COUNT(specs), "%s", all.family[i].name);
	}
	arena_free(a);
}
END_TEST

/* The families' own collectives at 16 MiB and more, on all of the devices up to 64. */
START_TEST(collectives_agree_with_fluid)
{
	static const enum op ops[] = {OP_ALL_GATHER, OP_REDUCE_SCATTER, OP_ALL_REDUCE,
	                              OP_ALL_TO_ALL, OP_PERMUTE,        OP_BROADCAST,
	                              OP_REDUCE};
	struct flow_case b = flow_case_new(specs[_i], NULL);
	int32_t ids[64], n = b.machine->ndevices < 64 ? b.machine->ndevices : 64;
	struct groups all = {.ngroups = 1, .size = n, .ids = ids};
	struct text why = {0};

	for (int32_t d = 0; d < n; d++)
		ids[d] = d;
	for (int k = 0; k < COUNT(ops); k++) {
		double bytes = 16. * 1024 * 1024 * (ops[k] == OP_ALL_TO_ALL ? 3 : 1);
		struct lowered l;
		double fluid, flow;

		if (ops[k] == OP_ALL_GATHER)
			bytes /= n;
		ck_assert_msg(lower_collective(&l, b.arena, b.machine, ops[k], all,
		                               bytes, &why),
		              "%s", why.s);
		b.s[0] = l.schedule;
		fluid = flow_case_fluid_s(&b);
		flow = flow_case_flow_s(&b);
		ck_assert_double_gt(fluid, 0);
		ck_assert_msg(close_to(flow, fluid, 0.03),
		              "%s by %s: flow %.12g, fluid %.12g", op_name(ops[k]),
		              l.algorithm, flow, fluid);
	}
	text_free(&why);
	flow_case_free(&b);
}
END_TEST

/* ---- what is refused ---- */

/* A ring over devices 0 to n - 1; with a chord if asked for. */
static double ring_s(struct flow_case *b, int32_t n, int32_t repeats, bool chord,
                     char *why, size_t size)
{
	b->s[0] = (struct schedule){.arena = b->arena};
	schedule_round(&b->s[0]);
	schedule_task(&b->s[0], repeats);
	for (int32_t d = 0; d < n; d++)
		flow_case_message(b, 0, d, (d + 1) % n, repeats * 1e5);
	if (chord)
		flow_case_message(b, 0, 0, 2, repeats * 1e5);
	schedule_end(&b->s[0]);
	return flow_clock(b->flow, &b->s[0], why, size);
}

static const struct {
	int32_t n, repeats;
	bool chord;
} size_table[] = {
	{64, 3, true},      {65, 3, true},       {513, 5, false},
	{16, 65537, false}, {513, 65537, false},
};

/* However many parts there are: rings of which all devices do the same, and with a chord. */
START_TEST(sizes)
{
	struct flow_case b = flow_case_new("dgx-h100:65", NULL);
	char why[120] = "";
	double time_s = ring_s(&b, size_table[_i].n, size_table[_i].repeats,
	                       size_table[_i].chord, why, sizeof(why));

	ck_assert_str_eq(why, "");
	ck_assert_msg(close_to(time_s, flow_case_fluid_s(&b), 0.03), "%g, fluid %g",
	              time_s, flow_case_fluid_s(&b));
	flow_case_free(&b);
}
END_TEST

/*
 * Each of n devices sends to all others, or so many bytes as nobody else if they are to
 * fare differently, in `rounds` rounds.
 */
static void all_send(struct flow_case *b, int32_t n, int32_t rounds, bool differ)
{
	for (int32_t r = 0; r < rounds; r++) {
		schedule_round(&b->s[0]);
		schedule_task(&b->s[0], 1);
		for (int32_t d = 0; d < n; d++)
			for (int32_t to = 0; to < n; to++)
				flow_case_message(b, 0, d, to,
				                  1e3 + (differ ? d * n + to : 0));
	}
	schedule_end(&b->s[0]);
}

/* 512 x 511 messages that fare alike, eight times, and once more. */
START_TEST(messages_that_are_refused)
{
	struct flow_case b = flow_case_new("cluster:nodes=1,gpus=512", NULL);
	double once_s = 2e-6 + 511e3 / 300e9;
	char why[120] = "";

	all_send(&b, 512, 8, false);
	ck_assert_double_eq_tol(flow_clock(b.flow, &b.s[0], why, sizeof(why)),
	                        8 * once_s, 1e-6 * once_s);
	all_send(&b, 512, 1, false);
	ck_assert(flow_clock(b.flow, &b.s[0], why, sizeof(why)) == CLOCK_REFUSED_S);
	ck_assert_str_eq(why, "takes up to 2097152 messages, but here are 2354688");
	flow_case_free(&b);
}
END_TEST

/* Alike they are a few in each round; else all of them fare differently. */
START_TEST(work_that_is_refused)
{
	struct flow_case b = flow_case_new("dgx-h100:8", NULL);
	struct flow_nets *nets = flow_nets_new(b.machine);
	struct flow_net net;
	double end_s = 0;

	all_send(&b, 64, 12, false);
	ck_assert_int_eq(flow_net_make(&net, nets, &b.s[0], 1, 10000), FLOW_NET_OK);
	ck_assert(flow_run(&end_s, &net, 1000000));
	flow_net_free(&net);
	b.s[0] = (struct schedule){.arena = b.arena};
	all_send(&b, 64, 12, true);
	ck_assert_int_eq(flow_net_make(&net, nets, &b.s[0], 1, 10000),
	                 FLOW_NET_TOO_LARGE);
	flow_net_free(&net);
	ck_assert_int_eq(flow_net_make(&net, nets, &b.s[0], 1, 50000), FLOW_NET_OK);
	ck_assert(!flow_run(&end_s, &net, 1000000));
	flow_net_free(&net);
	flow_nets_free(nets);
	flow_case_free(&b);
}
END_TEST

START_TEST(nothing_takes_no_time)
{
	struct flow_case b = flow_case_new("dgx-a100:1", NULL);
	double wire_s[FLOW_CASE_SCHEDULES] = {1, 1, 1};

	ck_assert_double_eq(flow_clock(b.flow, &b.s[0], NULL, 0), 0);
	ck_assert_double_eq(flow_schedules(b.flow, NULL, NULL, 0, NULL, 0), 0);
	ck_assert_double_eq(flow_schedules(b.flow, wire_s, b.s, 3, NULL, 0), 0);
	for (int k = 0; k < FLOW_CASE_SCHEDULES; k++)
		ck_assert_double_eq(wire_s[k], 0);
	flow_case_free(&b);
	flow_free(NULL);
}
END_TEST

/* ---- what goes wrong ---- */

/* The two are on NVLink, but not of one node; then all is as it was. */
START_TEST(a_message_without_a_route)
{
	struct flow_case b = flow_case_new("dgx-a100:2", NULL);
	char why[120] = "";

	schedule_round(&b.s[1]);
	schedule_task(&b.s[1], 1);
	schedule_message(&b.s[1], 0, 3, 8, 1e6);
	ck_assert(flow_clock(b.flow, &b.s[1], why, sizeof(why)) == CLOCK_FAILED_S);
	ck_assert_str_eq(why, "a message has no route on dgx-a100:2");
	flow_case_alone(&b, 0, 3, 8, 24e5);
	ck_assert(close_to(flow_case_flow_s(&b), 24e5 / 24e9 + 2.5e-6, 1e-9));
	flow_case_free(&b);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("flow limits");
	TCase *tcase = tcase_create("flow limits");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, every_family_is_there);
	tcase_add_loop_test(tcase, collectives_agree_with_fluid, 0, COUNT(specs));
	tcase_add_loop_test(tcase, sizes, 0, COUNT(size_table));
	tcase_add_test(tcase, messages_that_are_refused);
	tcase_add_test(tcase, work_that_is_refused);
	tcase_add_test(tcase, nothing_takes_no_time);
	tcase_add_test(tcase, a_message_without_a_route);
	suite_add_tcase(suite, tcase);
	return suite;
}
