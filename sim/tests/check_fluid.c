#include "clock/simgrid.h"
#include "tests/tests.h"

#include "cost/fluid.h"
#include "cost/model.h"
#include "edit.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/*
 * The clocks fluid and simgrid, which have to agree, beside model. One process takes one
 * platform: every test, forked by Check, loads its own.
 */
struct bench {
	struct arena *arena;
	struct platform *platform;
	const struct machine *machine;
	struct fluid *fluid;
	struct simgrid *simgrid;
	struct model *model;
	struct schedule s;
};

static struct bench bench_set(const char *spec, const char *const *set, int nset)
{
	struct bench b = {.arena = arena_new()};
	struct error e = {0};

	ck_assert_msg(platform_load(&b.platform, b.arena, spec, set, nset, &e) == OK,
	              "%s", e.text);
	b.machine = b.platform->machine;
	b.fluid = fluid_new(b.machine);
	b.simgrid = simgrid_new(b.platform);
	b.model = model_new(b.machine);
	b.s.arena = b.arena;
	return b;
}

static struct bench bench_new(const char *spec, const char *set)
{
	return bench_set(spec, &set, set ? 1 : 0);
}

static void bench_free(struct bench *b)
{
	fluid_free(b->fluid);
	simgrid_free(b->simgrid);
	model_free(b->model);
	arena_free(b->arena);
}

static void message(struct bench *b, int32_t src, int32_t dst, double bytes)
{
	if (src != dst)
		schedule_message(&b->s, machine_fabric(b->machine, src, dst), src, dst,
		                 bytes);
}

static bool close_to(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance * fabs(b);
}

/* Seconds of the schedule by fluid, which simgrid has, too. */
static double fluid_s(struct bench *b)
{
	char why[300] = "";
	double time_s, simgrid_s;

	schedule_end(&b->s);
	time_s = fluid_clock(b->fluid, &b->s, why, sizeof(why));
	ck_assert_str_eq(why, "");
	simgrid_s = simgrid_clock(b->simgrid, &b->s, why, sizeof(why));
	ck_assert_str_eq(why, "");
	ck_assert_msg(close_to(time_s, simgrid_s, 1e-9), "fluid %.15g, simgrid %.15g",
	              time_s, simgrid_s);
	return time_s;
}

/* One hop of 1 MB at 50 GB/s and 1 us is 21.0 us in both clocks. */
START_TEST(one_hop)
{
	struct bench b = bench_new("tpu-v4:4x4x4", "ici.bandwidth=50GB/s");

	schedule_round(&b.s);
	schedule_task(&b.s, 1);
	message(&b, 0, 1, 1e6);
	ck_assert_double_eq_tol(fluid_s(&b), 21e-6, 21e-15);
	ck_assert_double_eq_tol(model_schedule_s(b.model, &b.s), 21e-6, 21e-15);
	bench_free(&b);
}
END_TEST

/*
 * Cases by hand on a wrapped 16 x 16 torus, 45 GB/s, 1 us; devices 0 to 15 are a ring.
 * Messages of one task progress together, tasks share links.
 */
struct hand {
	int task, repeats, src, dst;
	double bytes;
};

static const struct {
	struct hand m[6];
	double fluid_us, model_us;
} hand_table[] = {
	/* 0->2 and 1->3 share 1->2: 2e6 / 45e9 + 2 us; 5->10 alone over five hops */
	{{{0, 1, 0, 2, 1e6}, {1, 1, 1, 3, 1e6}, {2, 1, 5, 10, 1e6}},
         2e6 / 45e3 + 2,
         2e6 / 45e3 + 2},
	/* no link shared */
	{{{0, 1, 0, 2, 1e6}, {1, 1, 2, 3, 1e6}}, 1e6 / 45e3 + 2, 1e6 / 45e3 + 2},
	/* there and back are two links */
	{{{0, 1, 3, 4, 3e6}, {0, 1, 4, 3, 3e6}}, 3e6 / 45e3 + 1, 3e6 / 45e3 + 1},
	/* a column: 0 -> 32 over two hops of the first axis, beside 16 -> 48 */
	{{{0, 1, 0, 32, 9e5}, {1, 1, 16, 48, 9e5}}, 18e5 / 45e3 + 2, 18e5 / 45e3 + 2},
	/* seven rounds merged: seven latencies */
	{{{0, 7, 0, 1, 7e5}, {0, 7, 1, 2, 7e5}}, 7e5 / 45e3 + 7, 7e5 / 45e3 + 7},
	/* merged rounds of unlike length beside each other: the longer one counts */
	{{{0, 3, 0, 2, 3e5}, {1, 5, 4, 5, 3e5}, {2, 1, 7, 9, 3e5}},
         3e5 / 45e3 + 6,
         3e5 / 45e3 + 6},
	/*
	 * 0->1 starts after 1 us, 0->2 after 2 us; they share 0->1. The first is alone for
	 * 1 us (45 kB of 9e5), then both get half: it ends when 2 x 855e3 more have gone,
	 * and the second then has 45e3 left alone. All link time is used: 18e5 / 45e9 + 1.
	 */
	{{{0, 1, 0, 1, 9e5}, {1, 1, 0, 2, 9e5}}, 18e5 / 45e3 + 1, 18e5 / 45e3 + 1},
	/*
	 * Three share 2->3 at a third each; the short one ends first and leaves the rest
	 * to the others: the link is never idle.
	 */
	{{{0, 1, 2, 3, 3e5}, {1, 1, 2, 3, 6e5}, {2, 1, 2, 3, 9e5}},
         18e5 / 45e3 + 1,
         18e5 / 45e3 + 1},
	/*
	 * A task is as slow as its slowest message: 0->1 and 5->6 in one task, the latter
	 * sharing with 5->7. Both tasks go at half speed; the second is later by 1 us, in
	 * which the first has the link to itself.
	 */
	{{{0, 1, 0, 1, 9e5}, {0, 1, 5, 6, 9e5}, {1, 1, 5, 7, 9e5}},
         18e5 / 45e3 + 1,
         18e5 / 45e3 + 1},
};

START_TEST(hand_rows)
{
	struct bench b = bench_new("tpu-v5e:16x16", NULL);
	const struct hand *m = hand_table[_i].m;
	double fluid = hand_table[_i].fluid_us * 1e-6;
	double model = hand_table[_i].model_us * 1e-6;

	schedule_round(&b.s);
	for (int i = 0; i < 6 && m[i].bytes > 0; i++) {
		if (!i || m[i].task != m[i - 1].task)
			schedule_task(&b.s, m[i].repeats);
		message(&b, m[i].src, m[i].dst, m[i].bytes);
	}
	ck_assert_msg(close_to(fluid_s(&b), fluid, 1e-9), "fluid %.12g, not %.12g",
	              fluid_s(&b), fluid);
	ck_assert_msg(close_to(model_schedule_s(b.model, &b.s), model, 1e-12),
	              "model %.12g, not %.12g", model_schedule_s(b.model, &b.s), model);
	bench_free(&b);
}
END_TEST

/* The figure that the description of the clocks gives in digits. */
START_TEST(the_known_figure)
{
	struct bench b = bench_new("tpu-v5e:16x16", NULL);

	schedule_round(&b.s);
	for (int i = 0; i < 3; i++) {
		schedule_task(&b.s, 1);
		message(&b, (int[]){0, 1, 5}[i], (int[]){2, 3, 10}[i], 1e6);
	}
	ck_assert_double_eq_tol(1e6 * fluid_s(&b), 46.44, 0.005);
	bench_free(&b);
}
END_TEST

/*
 * A wait of less than 1 ns ends with whatever happens, on links that have nothing to do
 * with it, too: 5>6 ends at 1.9995 us, when 0>2 has 0.5 ns of its 2 us left to wait.
 */
START_TEST(a_short_wait_is_over)
{
	struct bench b = bench_new("tpu-v5e:16x16", NULL);

	schedule_round(&b.s);
	schedule_task(&b.s, 1);
	message(&b, 0, 2, 45e3);
	schedule_task(&b.s, 1);
	message(&b, 5, 6, 44977.5);
	ck_assert_double_eq_tol(1e6 * fluid_s(&b), 2.9995, 1e-9);
	bench_free(&b);
}
END_TEST

/* ---- contended links of other machines ---- */

/*
 * Messages of numbered tasks; all share what is slowest, which is never idle once the first
 * of them has arrived there, so that it takes as long as its bytes and the shortest wait.
 */
static const struct {
	const char *spec, *set[4];
	struct hand m[6];
	double bytes, Bps, latency_s; /* on the slowest link, by its bandwidth */
} contended_table[] = {
	/* 0>2 and 1>2 share 1>2 at a third of 45 GB/s; 0>1 has what they leave of 0>1 */
	{"tpu-v5e:4x8",
         {"slow_link=1-2:0.333333333333333333"},
         {{0, 1, 0, 2, 9e5}, {1, 1, 1, 2, 9e5}, {2, 1, 0, 1, 9e5}},
         18e5,
         15e9,
         1e-6},
	/* and when 0>1 has more to send, its link is the last */
	{"tpu-v5e:4x8",
         {"slow_link=1-2:0.333333333333333333"},
         {{0, 1, 0, 2, 9e5}, {1, 1, 1, 2, 9e5}, {2, 1, 0, 1, 6e6}},
         69e5,
         45e9,
         1e-6},
	/* three groups from node to node, whose 16 GPUs share one NIC */
	{"p2-a100:2",
         {"nic.bandwidth=1GB/s", "nic.latency=2us"},
         {{0, 1, 0, 16, 3e6}, {1, 1, 1, 17, 6e6}, {2, 1, 2, 18, 9e6}},
         18e6,
         1e9,
         2e-6},
	/* without the cable 0-1, 0>1 goes 0, 4, 5, 1 and meets 4>5 */
	{"tpu-v5e:4x4",
         {"no_link=0-1"},
         {{0, 1, 0, 1, 9e5}, {1, 1, 4, 5, 9e5}},
         18e5,
         45e9,
         1e-6},
	/* a dragonfly of 48 routers; GPUs 0 and 1 have one NIC, and so have 62 and 63 */
	{"polaris:16",
         {NULL},
         {{0, 1, 0, 63, 9e5}, {1, 1, 1, 62, 18e5}},
         27e5,
         18e9,
         2.55e-6},
};

START_TEST(contended_rows)
{
	const struct hand *m = contended_table[_i].m;
	const char *const *set = contended_table[_i].set;
	double wanted_s = contended_table[_i].bytes / contended_table[_i].Bps +
	                  contended_table[_i].latency_s;
	struct bench b;
	int n = 0;

	while (set[n])
		n++;
	b = bench_set(contended_table[_i].spec, set, n);
	schedule_round(&b.s);
	for (int i = 0; i < 6 && m[i].bytes > 0; i++) {
		if (!i || m[i].task != m[i - 1].task)
			schedule_task(&b.s, m[i].repeats);
		message(&b, m[i].src, m[i].dst, m[i].bytes);
	}
	ck_assert_msg(close_to(fluid_s(&b), wanted_s, 1e-9), "%.12g, not %.12g",
	              fluid_s(&b), wanted_s);
	bench_free(&b);
}
END_TEST

/*
 * A leaf takes the 16 NICs of two nodes and has 4 cables up, so that 4 of the 16 messages
 * to the other leaf share each.
 */
START_TEST(an_oversubscribed_tree)
{
	static const char *const set[] = {"net=fat-tree", "net.ports=16",
	                                  "net.oversubscription=4"};
	struct bench b = bench_set("dgx-h100:4", set, 3);

	schedule_round(&b.s);
	for (int32_t d = 0; d < 16; d++) {
		schedule_task(&b.s, 1);
		message(&b, d, d + 16, 6e6);
	}
	ck_assert(close_to(fluid_s(&b), 4 * 6e6 / 48e9 + 3.4e-6, 1e-9));
	bench_free(&b);
}
END_TEST

/* ---- balanced schedules, where the clocks must agree ---- */

/* A ring over all devices in their order, both ways, all rounds merged. */
static void rings(struct bench *b, double bytes)
{
	int32_t n = b->machine->ndevices;

	schedule_round(&b->s);
	schedule_task(&b->s, n - 1);
	for (int32_t d = 0; d < n; d++)
		message(b, d, (d + 1) % n, bytes);
}

/* Shift by s, one task per pair that all have the same length. */
static void shifts(struct bench *b, double bytes)
{
	int32_t n = b->machine->ndevices;
	const struct fabric *f = &b->machine->fabric[0];

	for (int a = 0; a < f->naxes; a++) {
		schedule_round(&b->s);
		for (int32_t d = 0; d < n; d++) {
			int32_t to = fabric_neighbour(f, d, a, 1);

			schedule_task(&b->s, 1);
			if (to >= 0)
				message(b, d, to, bytes);
		}
	}
	for (int32_t k = 1; f->geometry == GEOMETRY_SWITCH && k < 8; k += 3) {
		schedule_round(&b->s);
		for (int32_t d = 0; d < n; d++) {
			schedule_task(&b->s, 1);
			message(b, d, d / 8 * 8 + (d + k) % 8, bytes);
		}
	}
}

/* All pairs at once in one task. */
static void all_pairs(struct bench *b, double bytes)
{
	int32_t n = b->machine->ndevices;

	schedule_round(&b->s);
	schedule_task(&b->s, 1);
	for (int32_t src = 0; src < n; src++)
		for (int32_t dst = 0; dst<n; dst += n> 128 ? 37 : 1)
			message(b, src, dst, bytes);
}

/* Groups of four consecutive devices, all pairs, rounds of three sizes. */
static void groups(struct bench *b, double bytes)
{
	for (int k = 1; k < 4; k++) {
		schedule_round(&b->s);
		for (int32_t first = 0; first < b->machine->ndevices; first += 4) {
			schedule_task(&b->s, 2 * k - 1);
			for (int i = 0; i < 16; i++)
				message(b, first + i / 4, first + i % 4, k * bytes);
		}
	}
}

static const char *const specs[] = {
	"tpu-v4:4x4x4",         "tpu-v4:8x8x8",   "tpu-v5e:16x16", "tpu-v5e:4x8",
	"dgx-a100:4",           "dgx-h100:8",     "tpu-v5e:8x16",  "dgx-a100:1",
	"tpu-v4:4x4x8_twisted", "tpu-7x:2*2x2x1", "tpu-v6e:2*2x4"};
static void (*const makers[])(struct bench *b, double bytes) = {rings, shifts,
                                                                all_pairs, groups};
static const double sizes[] = {1, 48 * 1024 + 1, 3e8};

START_TEST(clocks_agree)
{
	struct bench b = bench_new(specs[_i], NULL);

	for (int k = 0; k < COUNT(makers); k++)
		for (int i = 0; i < COUNT(sizes); i++) {
			double fluid, model;

			b.s = (struct schedule){.arena = b.arena};
			makers[k](&b, sizes[i]);
			fluid = fluid_s(&b);
			model = model_schedule_s(b.model, &b.s);
			ck_assert_double_gt(fluid, 0);
			ck_assert_msg(
				close_to(fluid, model, 1e-6),
				"schedule %d of %g bytes: fluid %.12g, model %.12g", k,
				sizes[i], fluid, model);
		}
	bench_free(&b);
}
END_TEST

/* ---- the platform file decides ---- */

START_TEST(a_link_of_the_file_counts)
{
	struct arena *a = arena_new();
	const char *slow = edit_platform(
		a, "tpu-v5e:3x5", "<link id=\"ici_6_to_7\" bandwidth=\"45000000000",
		"<link id=\"ici_6_to_7\" bandwidth=\"15000000000");
	struct bench b = bench_new(slow, NULL);
	double time_s;

	unlink(slow);
	schedule_round(&b.s);
	schedule_task(&b.s, 1);
	message(&b, 5, 8, 9e5); /* 5 6 7 8: the slow link is one of the three */
	schedule_task(&b.s, 1);
	message(&b, 8, 5, 9e5); /* the way back is as it was */
	time_s = fluid_s(&b);
	ck_assert_msg(close_to(time_s, 9e5 / 15e9 + 3e-6, 1e-9), "%.12g", time_s);
	ck_assert(close_to(model_schedule_s(b.model, &b.s), time_s, 1e-9));
	bench_free(&b);
	arena_free(a);
}
END_TEST

START_TEST(one_cluster_of_the_file_counts)
{
	struct arena *a = arena_new();
	const char *slow = edit_platform(a, "dgx-a100:3",
	                                 "radical=\"8-15\" speed=\"1Gf\" bw=\"235",
	                                 "radical=\"8-15\" speed=\"1Gf\" bw=\"47");
	struct bench b = bench_new(slow, NULL);

	unlink(slow);
	for (int node = 0; node < 3; node++) {
		double Bps = node == 1 ? 47e9 : 235e9;

		b.s = (struct schedule){.arena = a};
		schedule_round(&b.s);
		schedule_task(&b.s, 1);
		message(&b, 8 * node + 3, 8 * node + 5, 47e5);
		ck_assert(close_to(fluid_s(&b), 47e5 / Bps + 0.95e-6, 1e-9));
	}
	b.s = (struct schedule){.arena = a};
	schedule_round(&b.s);
	schedule_task(&b.s, 1);
	message(&b, 1, 17, 24e5); /* between nodes: the NIC */
	ck_assert(close_to(fluid_s(&b), 24e5 / 24e9 + 2.5e-6, 1e-9));
	bench_free(&b);
	arena_free(a);
}
END_TEST

/*
 * Two GPUs share a NIC of 1 GB/s and 1 us: what both send, in one task or in two, is one
 * host's traffic, and the NIC carries the sum. Beside it another NIC is free.
 */
START_TEST(a_shared_host_adds_up)
{
	struct arena *a = arena_new();
	const char *path = edit_platform(
		a, "dgx-a100:2",
		"radical=\"0-15\" speed=\"1Gf\" bw=\"24000000000Bps\" "
		"lat=\"0.00000125s\" sharing_policy=\"SPLITDUPLEX\">",
		"radical=\"0-7\" speed=\"1Gf\" bw=\"1GBps\" lat=\"0.5us\" "
		"sharing_policy=\"SPLITDUPLEX\"><prop id=\"devices\" value=\"2\"/>");
	struct bench b = bench_new(path, NULL);
	double want = (8e6 + 3e6) / 1e9 + 1e-6; /* into NIC 6; NIC 1 sends 8e6 */

	unlink(path);
	for (int tasks = 1; tasks <= 2; tasks++) {
		b.s = (struct schedule){.arena = a};
		schedule_round(&b.s);
		schedule_task(&b.s, 1);
		message(&b, 2, 9, 3e6);
		message(&b, 4, 13, 8e6);
		if (tasks == 2)
			schedule_task(&b.s, 1);
		message(&b, 3, 9, 2e6);
		message(&b, 3, 12, 3e6); /* down to the host of 13 as well */
		ck_assert_msg(close_to(fluid_s(&b), want, 1e-9), "%.12g, not %.12g",
		              fluid_s(&b), want);
		ck_assert(close_to(model_schedule_s(b.model, &b.s), want, 1e-12));
	}
	bench_free(&b);
	arena_free(a);
}
END_TEST

/* 720 us of latency: SimGrid's default window of 4 MiB would cap this at 2.9 GB/s. */
START_TEST(long_routes_have_no_window)
{
	struct bench b = bench_new("tpu-v4:16x16x16", "ici.latency=30us");
	int32_t far = 8 * 256 + 8 * 16 + 8;

	schedule_round(&b.s);
	schedule_task(&b.s, 1);
	message(&b, 0, far, 9e7);
	ck_assert(close_to(fluid_s(&b), 9e7 / 45e9 + 24 * 30e-6, 1e-9));
	bench_free(&b);
}
END_TEST

/* Groups above 2,048 hosts become one task per pair. */
START_TEST(large_group)
{
	struct bench b = bench_new("tpu-v4:16x16x16", NULL);

	schedule_round(&b.s);
	schedule_task(&b.s, 3);
	for (int32_t d = 0; d < 4096; d++)
		message(&b, d, d / 16 * 16 + (d + 1) % 16, 3e5);
	ck_assert(close_to(fluid_s(&b), 3e5 / 45e9 + 3e-6, 1e-6));
	ck_assert(close_to(model_schedule_s(b.model, &b.s), 3e5 / 45e9 + 3e-6, 1e-12));
	bench_free(&b);
}
END_TEST

/* ---- many replays ---- */

/*
 * Each of many replays in one process gives the same time, to the last digit, and so does
 * a workspace of fluid that has timed nothing yet.
 */
START_TEST(replays_repeat)
{
	struct bench b = bench_new("tpu-v5e:2x4", NULL);
	double first, simgrid_s;

	for (int k = 0; k < 3; k++) {
		schedule_round(&b.s);
		for (int i = 0; i < 2; i++) { /* both on the same links */
			schedule_task(&b.s, 1 + k);
			message(&b, 4, 5, 48 * 1024 + 1);
			message(&b, 5, 4, 48 * 1024 + 1);
		}
	}
	first = fluid_s(&b);
	simgrid_s = simgrid_clock(b.simgrid, &b.s, NULL, 0);
	ck_assert(close_to(first, model_schedule_s(b.model, &b.s), 1e-9));
	for (int i = 0; i < 100; i++) {
		fluid_free(b.fluid);
		b.fluid = fluid_new(b.machine);
		for (int twice = 0; twice < 2; twice++)
			ck_assert_double_eq(fluid_clock(b.fluid, &b.s, NULL, 0), first);
		ck_assert_double_eq(simgrid_clock(b.simgrid, &b.s, NULL, 0), simgrid_s);
	}
	bench_free(&b);
}
END_TEST

START_TEST(nothing_takes_no_time)
{
	struct bench b = bench_new("dgx-a100:1", NULL);

	ck_assert_double_eq(fluid_s(&b), 0);
	schedule_round(&b.s);
	schedule_task(&b.s, 1);
	message(&b, 3, 3, 7);
	ck_assert_double_eq(fluid_s(&b), 0);
	bench_free(&b);
	fluid_free(NULL);
	simgrid_free(NULL);
}
END_TEST

/* 256 rings of 16 at a time, three axes, 4096 chips: exact. */
START_TEST(rings_of_a_pod)
{
	double expected = 0;
	struct bench b = bench_new("tpu-v4:16x16x16", NULL);

	for (int32_t stride = 256; stride; stride /= 16) {
		schedule_round(&b.s);
		expected += 7e6 / 45e9 + 8e-6;
		for (int32_t first = 0; first < 4096; first++) {
			if (first / stride % 16)
				continue;
			schedule_task(&b.s, 8);
			for (int i = 0; i < 16; i++) {
				message(&b, first + i * stride,
				        first + (i + 1) % 16 * stride, 7e6);
				message(&b, first + (i + 1) % 16 * stride,
				        first + i * stride, 7e6);
			}
		}
	}
	ck_assert(close_to(fluid_s(&b), expected, 1e-9));
	ck_assert(close_to(model_schedule_s(b.model, &b.s), expected, 1e-12));
	bench_free(&b);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("fluid");
	TCase *tcase = tcase_create("fluid");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, one_hop);
	tcase_add_loop_test(tcase, hand_rows, 0, COUNT(hand_table));
	tcase_add_test(tcase, the_known_figure);
	tcase_add_test(tcase, a_short_wait_is_over);
	tcase_add_loop_test(tcase, contended_rows, 0, COUNT(contended_table));
	tcase_add_test(tcase, an_oversubscribed_tree);
	tcase_add_loop_test(tcase, clocks_agree, 0, COUNT(specs));
	tcase_add_test(tcase, a_link_of_the_file_counts);
	tcase_add_test(tcase, one_cluster_of_the_file_counts);
	tcase_add_test(tcase, a_shared_host_adds_up);
	tcase_add_test(tcase, long_routes_have_no_window);
	tcase_add_test(tcase, large_group);
	tcase_add_test(tcase, replays_repeat);
	tcase_add_test(tcase, nothing_takes_no_time);
	tcase_add_test(tcase, rings_of_a_pod);
	suite_add_tcase(suite, tcase);
	return suite;
}
