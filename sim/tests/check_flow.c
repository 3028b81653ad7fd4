#include "base/rng.h"
#include "edit.h"
#include "flow_case.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static bool close_to(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance * fabs(b);
}

/* One hop of 1 MB at 50 GB/s and 1 us is 21.0 us in all clocks. */
START_TEST(one_hop)
{
	struct flow_case b = flow_case_new("tpu-v4:4x4x4", "ici.bandwidth=50GB/s");

	flow_case_alone(&b, 0, 0, 1, 1e6);
	ck_assert_double_eq_tol(flow_case_flow_s(&b), 21e-6, 21e-15);
	ck_assert_double_eq_tol(flow_case_fluid_s(&b), 21e-6, 21e-15);
	ck_assert_double_eq_tol(model_schedule_s(b.model, &b.s[0]), 21e-6, 21e-15);
	flow_case_free(&b);
}
END_TEST

/*
 * One hop and two of 1 ns, on links of their own: the second message starts at 2 ns, however
 * shortly before it the first one starts, and takes its bytes' time.
 */
START_TEST(nanoseconds)
{
	struct flow_case b = flow_case_new("tpu-v5e:2x2", "ici.latency=1ns");
	double bytes = 90, Bps = b.machine->link[0].bandwidth_Bps;

	flow_case_alone(&b, 0, 0, 1, bytes);
	schedule_task(&b.s[0], 1);
	flow_case_message(&b, 0, 3, 0, bytes);
	ck_assert_double_eq_tol(flow_case_flow_s(&b), 2e-9 + bytes / Bps, 2e-12);
	flow_case_free(&b);
}
END_TEST

/* Two messages of a byte at 1e13 B/s, one behind the other, take 0.1 ps each. */
START_TEST(picoseconds)
{
	struct flow_case b =
		flow_case_new("torus:4{link.latency=0s}", "link.bandwidth=1e13B/s");

	flow_case_alone(&b, 0, 0, 1, 1);
	flow_case_alone(&b, 0, 1, 2, 1);
	schedule_end(&b.s[0]);
	ck_assert_double_eq_tol(flow_clock(b.flow, &b.s[0], NULL, 0), 2e-13, 2e-22);
	flow_case_free(&b);
}
END_TEST

/*
 * Cases by hand on a wrapped 16 x 16 torus, 45 GB/s (45e3 bytes in a microsecond), 1 us;
 * devices 0 to 15 are a ring. A line is a message; `task` and `round` number its task and
 * round from 1, of which `repeats`, `delay_us` and `least_us` are those of its first.
 */
struct hand {
	int round, task, src, dst;
	double bytes;
	int repeats;
	double delay_us, least_us;
};

static const struct {
	struct hand m[6];
	double flow_us, fluid_us, model_us;
} hand_table[] = {
	/* 0->2 and 1->3 share 1->2, 5->10 is alone over five hops */
	{{{1, 1, 0, 2, 1e6, 1, 0, 0},
          {1, 2, 1, 3, 1e6, 1, 0, 0},
          {1, 3, 5, 10, 1e6, 1, 0, 0}},
         2e6 / 45e3 + 2,
         2e6 / 45e3 + 2,
         2e6 / 45e3 + 2},
	/*
	 * Latencies of 1 and 8 us, one link shared, and equal shares of it: 0->8 starts at
	 * 8 us and needs 80 for its 18e5, and then 8->9 takes 161 us. With a barrier they
	 * wait for 0->1, the link of which is busy for 200 us.
	 */
	{{{1, 1, 0, 1, 72e5, 1, 0, 0},
          {1, 2, 0, 8, 18e5, 1, 0, 0},
          {2, 1, 8, 9, 72e5, 1, 0, 0}},
         88 + 161,
         201 + 161,
         201 + 161},
	/*
	 * Two rounds whose devices have nothing to do with each other: 21 and 41 us, then
	 * 41 and 21. With a barrier between them they take 41 us twice.
	 */
	{{{1, 1, 0, 1, 9e5, 1, 0, 0},
          {1, 2, 4, 5, 18e5, 1, 0, 0},
          {2, 1, 1, 2, 18e5, 1, 0, 0},
          {2, 2, 5, 6, 9e5, 1, 0, 0}},
         62,
         82,
         82},
	/*
	 * 3 merged rounds, 3 hops in one place and 60 us of bytes in another: a task pays
	 * its longest latency and its largest bytes, 9 + 60, flows only their own, 3 + 60.
	 */
	{{{1, 1, 0, 3, 3e5, 3, 0, 0}, {1, 1, 5, 6, 27e5, 3, 0, 0}}, 63, 69, 69},
	/*
	 * h: 2->3 has 27e5 bytes, g: 1->3 9e5, f: 1->2 18e5 and a delay of 40 us; h and g
	 * share 2->3, g and f 1->2.
	 * h starts at 1, g at 2, each gets half of 2->3: g needs 40 us, to 42. f starts at
	 * 41, has half of 1->2 for 1 us and all of it from then: 42 + 39.5. The model: f
	 * alone, 40 + 1 + 40; links are not busier than that.
	 */
	{{{1, 1, 2, 3, 27e5, 1, 0, 0},
          {1, 2, 1, 3, 9e5, 1, 0, 0},
          {1, 3, 1, 2, 18e5, 1, 40, 0}},
         81.5,
         81.5,
         81},
	/*
	 * A task of 45e5 on 0->1 and 18e5 on 5->6, where four tasks of 9e5 are too. On
	 * 5->6 all five get a fifth, 9e3: the four need 100 us, and have sent 9e5 of the
	 * 18e5. Flows: these need 20 us more, 0->1 took 100. The task: 0->1 has half left
	 * as well, and needs 50 us for it.
	 */
	{{{1, 1, 0, 1, 45e5, 1, 0, 0},
          {1, 1, 5, 6, 18e5, 1, 0, 0},
          {1, 2, 5, 6, 9e5, 1, 0, 0},
          {1, 3, 5, 6, 9e5, 1, 0, 0},
          {1, 4, 5, 6, 9e5, 1, 0, 0},
          {1, 5, 5, 6, 9e5, 1, 0, 0}},
         120 + 1,
         150 + 1,
         120 + 1},
	/* In 2 parts: delays of 2.5 us, 1 us, and 20 us although the bytes take 10. */
	{{{1, 1, 0, 1, 9e5, 2, 5, 40}}, 2 * (2.5 + 1 + 20), 5 + 2 + 40, 5 + 2 + 40},
	/* The sender's limit is no limit where the bytes take longer. */
	{{{1, 1, 0, 1, 9e5, 1, 5, 19}}, 5 + 1 + 20, 5 + 1 + 20, 5 + 1 + 20},
	/*
	 * Down a chain in 3 parts of 10 us each: a device may send part k + 1 once it has
	 * sent and received part k, so 3 parts take 3 x 11 us wherever they are.
	 */
	{{{1, 1, 0, 1, 135e4, 3, 0, 0},
          {1, 1, 1, 2, 135e4, 3, 0, 0},
          {1, 1, 2, 3, 135e4, 3, 0, 0}},
         33,
         33,
         33},
	/*
	 * 14->1 takes 2 x (20 + 3) us; 1->2 has its second part when the first of these is
	 * there. 1->0, another task, waits for neither, and 0->15, in the next round, for
	 * 1->0 only.
	 */
	{{{1, 1, 14, 1, 18e5, 2, 0, 0},
          {1, 1, 1, 2, 9e5, 2, 0, 0},
          {1, 2, 1, 0, 45e4, 2, 0, 0},
          {2, 1, 0, 15, 9e5, 1, 0, 0}},
         46,
         46 + 21,
         46 + 21},
};

START_TEST(hand_rows)
{
	struct flow_case b = flow_case_new("tpu-v5e:16x16", NULL);
	const struct hand *m = hand_table[_i].m;
	double us[3] = {hand_table[_i].flow_us, hand_table[_i].fluid_us,
	                hand_table[_i].model_us};
	double is_s[3];

	for (int i = 0; i < 6 && m[i].bytes > 0; i++) {
		if (!i || m[i].round != m[i - 1].round)
			schedule_round(&b.s[0]);
		if (!i || m[i].round != m[i - 1].round || m[i].task != m[i - 1].task) {
			schedule_task(&b.s[0], m[i].repeats);
			schedule_software(&b.s[0], m[i].delay_us * 1e-6,
			                  m[i].least_us * 1e-6);
		}
		flow_case_message(&b, 0, m[i].src, m[i].dst, m[i].bytes);
	}
	is_s[0] = flow_case_flow_s(&b);
	is_s[1] = flow_case_fluid_s(&b);
	is_s[2] = model_schedule_s(b.model, &b.s[0]);
	for (int k = 0; k < 3; k++)
		ck_assert_msg(close_to(is_s[k] * 1e6, us[k], 1e-9),
		              "%s: %.12g us, not %.12g",
		              (const char *[]){"flow", "fluid", "model"}[k],
		              is_s[k] * 1e6, us[k]);
	ck_assert(flow_case_flow_s(&b) == is_s[0]);
	flow_case_free(&b);
}
END_TEST

/* ---- steps of a plan ---- */

/*
 * First 0->1 takes 21 us and 4->5 41 us; then 1->2 takes 41, from 21 to 62, and 5->6 from
 * 41 to 62: the second step adds 21. A third, over by 11 us, adds nothing.
 */
START_TEST(steps_overlap)
{
	struct flow_case b = flow_case_new("tpu-v5e:16x16", NULL);
	double wire_s[3], total_s, sum_s = 0;

	flow_case_alone(&b, 0, 0, 1, 9e5);
	schedule_task(&b.s[0], 1);
	flow_case_message(&b, 0, 4, 5, 18e5);
	flow_case_alone(&b, 1, 1, 2, 18e5);
	schedule_task(&b.s[1], 1);
	flow_case_message(&b, 1, 5, 6, 9e5);
	flow_case_alone(&b, 2, 8, 9, 45e4);
	total_s = flow_case_both_s(&b, wire_s, 3);
	ck_assert_double_eq_tol(total_s, 62e-6, 1e-15);
	ck_assert_double_eq_tol(wire_s[0], 41e-6, 1e-15);
	ck_assert_double_eq_tol(wire_s[1], 21e-6, 1e-15);
	ck_assert_double_eq(wire_s[2], 0);
	for (int k = 0; k < 3; k++)
		sum_s += flow_clock(b.flow, &b.s[k], NULL, 0);
	ck_assert_double_eq_tol(sum_s, 93e-6, 1e-15); /* 41 + 41 + 11 */
	flow_case_free(&b);
}
END_TEST

/* A step without messages, as a slice is, passes on what was before it. */
START_TEST(local_steps_between)
{
	struct flow_case b = flow_case_new("tpu-v5e:16x16", NULL);
	double wire_s[3];

	flow_case_alone(&b, 0, 0, 1, 9e5);
	flow_case_alone(&b, 2, 1, 2, 9e5);
	ck_assert_double_eq_tol(flow_case_both_s(&b, wire_s, 3), 42e-6, 1e-15);
	ck_assert_double_eq_tol(wire_s[0], 21e-6, 1e-15);
	ck_assert_double_eq(wire_s[1], 0);
	ck_assert_double_eq_tol(wire_s[2], 21e-6, 1e-15);
	flow_case_free(&b);
}
END_TEST

/* ---- merged rounds are rounds ---- */

static const struct {
	const char *platform;
	int32_t n;
} ring_table[] = {{"tpu-v5e:16x16", 16}, {"tpu-v5e:3x5", 5}, {"dgx-a100:1", 7},
                  {"dgx-a100:4", 27},    {"mi300x:1", 3},    {"polaris:3", 12}};

START_TEST(a_ring_is_its_rounds)
{
	struct flow_case b = flow_case_new(ring_table[_i].platform, NULL);
	int32_t n = ring_table[_i].n;
	double bytes = 48 * 1024 + 1, merged_s;

	for (int32_t k = 0; k < n; k++) {
		int whole = k == n - 1;

		schedule_round(&b.s[whole]);
		schedule_task(&b.s[whole], whole ? n - 1 : 1);
		for (int32_t d = 0; d < n; d++)
			flow_case_message(&b, whole, d, (d + 1) % n,
			                  whole ? (n - 1) * bytes : bytes);
	}
	schedule_end(&b.s[1]);
	merged_s = flow_clock(b.flow, &b.s[1], NULL, 0);
	ck_assert_double_gt(merged_s, 0);
	ck_assert(flow_case_flow_s(&b) == merged_s);
	flow_case_free(&b);
}
END_TEST

/* Parts are whole bytes that add up: 7 parts of 10 bytes arrive as one of 10 would. */
START_TEST(parts_add_up)
{
	struct flow_case b = flow_case_new("tpu-v5e:16x16", "ici.bandwidth=1MB/s");

	schedule_round(&b.s[0]);
	schedule_task(&b.s[0], 7);
	flow_case_message(&b, 0, 0, 1, 10);
	ck_assert_double_eq_tol(flow_case_flow_s(&b), 17e-6, 1e-14);
	flow_case_free(&b);
}
END_TEST

/* ---- hosts ---- */

/*
 * Two GPUs share a NIC of 1 GB/s and 1 us (0.5 up, 0.5 down). Out of NIC 1 go 8 MB, into
 * NIC 6 come 8 + 3: nothing can be faster than 11 ms, and no flow leaves NIC 6 idle.
 */
START_TEST(a_shared_host_adds_up)
{
	const char *path;
	struct arena *a = arena_new();
	struct flow_case b;

	path = edit_platform(
		a, "dgx-a100:2",
		"radical=\"0-15\" speed=\"1Gf\" bw=\"24000000000Bps\" "
		"lat=\"0.00000125s\" sharing_policy=\"SPLITDUPLEX\">",
		"radical=\"0-7\" speed=\"1Gf\" bw=\"1GBps\" lat=\"0.5us\" "
		"sharing_policy=\"SPLITDUPLEX\"><prop id=\"devices\" value=\"2\"/>");
	b = flow_case_new(path, NULL);
	unlink(path);
	schedule_round(&b.s[0]);
	schedule_task(&b.s[0], 1);
	flow_case_message(&b, 0, 2, 9, 3e6);
	flow_case_message(&b, 0, 4, 13, 8e6);
	flow_case_message(&b, 0, 3, 9, 2e6);
	flow_case_message(&b, 0, 3, 12, 3e6);
	ck_assert_double_eq_tol(flow_case_flow_s(&b), 11e6 / 1e9 + 1e-6, 1e-12);
	flow_case_free(&b);
	arena_free(a);
}
END_TEST

/* ---- schedules without any symmetry ---- */

static const char *const random_platforms[] = {
	"tpu-v5e:4x8", "tpu-v4:4x4x4", "dgx1-v100:2", "dgx-a100:4",
	"mi300x:2",    "polaris:5",    "tpu-7x:2x2x2"};
enum { RANDOM_SCHEDULES = 40 };

/* Adds a task of up to ten messages between any devices, in rounds of its own. */
static void random_task(struct flow_case *b, struct rng *r, int k)
{
	uint32_t n = (uint32_t)b->machine->ndevices;
	bool software = !rng_below(r, 3);

	if (!rng_below(r, 3))
		schedule_round(&b->s[k]);
	schedule_task(&b->s[k], 1 + (int32_t)rng_below(r, 4));
	schedule_software(&b->s[k], software ? 1e-6 * rng_below(r, 30) : 0,
	                  software ? 1e-6 * rng_below(r, 100) : 0);
	for (uint32_t i = rng_below(r, 10) + 1; i > 0; i--) {
		int32_t src = (int32_t)rng_below(r, n), dst = (int32_t)rng_below(r, n);

		if (machine_fabric(b->machine, src, dst) >= 0)
			flow_case_message(b, k, src, dst,
			                  1 + rng_below(r, 1u << rng_below(r, 23)));
	}
}

START_TEST(random_schedules)
{
	struct flow_case b = flow_case_new(random_platforms[_i], NULL);
	struct rng *r = rng_new((uint64_t)_i + 1);

	for (int i = 0; i < RANDOM_SCHEDULES; i++) {
		double wire_s[FLOW_CASE_SCHEDULES];

		for (int k = 0; k < FLOW_CASE_SCHEDULES; k++) {
			b.s[k] = (struct schedule){.arena = b.arena};
			schedule_round(&b.s[k]);
			for (uint32_t t = rng_below(r, 12) + 1; t > 0; t--)
				random_task(&b, r, k);
			schedule_end(&b.s[k]);
		}
		ck_assert(flow_case_both_s(&b, wire_s, FLOW_CASE_SCHEDULES) > 0);
	}
	rng_free(r);
	flow_case_free(&b);
}
END_TEST

/* Every pair of 64 chips with bytes of its own, and again behind it: 8,064 messages. */
START_TEST(an_uneven_exchange)
{
	struct flow_case b = flow_case_new("tpu-v4:4x4x4", NULL);
	struct rng *r = rng_new(1);
	double wire_s[FLOW_CASE_SCHEDULES];

	for (int k = 0; k < 2; k++) {
		schedule_round(&b.s[k]);
		schedule_task(&b.s[k], 1);
		for (int32_t src = 0; src < 64; src++)
			for (int32_t dst = 0; dst < 64; dst++)
				flow_case_message(&b, k, src, dst,
				                  1e5 + rng_below(r, 10) * 1e4);
		schedule_end(&b.s[k]);
	}
	ck_assert(flow_case_both_s(&b, wire_s, 2) > 0);
	rng_free(r);
	flow_case_free(&b);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("flow");
	TCase *tcase = tcase_create("flow");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, one_hop);
	tcase_add_test(tcase, nanoseconds);
	tcase_add_test(tcase, picoseconds);
	tcase_add_loop_test(tcase, hand_rows, 0, COUNT(hand_table));
	tcase_add_test(tcase, steps_overlap);
	tcase_add_test(tcase, local_steps_between);
	tcase_add_loop_test(tcase, a_ring_is_its_rounds, 0, COUNT(ring_table));
	tcase_add_test(tcase, parts_add_up);
	tcase_add_test(tcase, a_shared_host_adds_up);
	tcase_add_loop_test(tcase, random_schedules, 0, COUNT(random_platforms));
	tcase_add_test(tcase, an_uneven_exchange);
	suite_add_tcase(suite, tcase);
	return suite;
}
