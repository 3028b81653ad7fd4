#include "clock_pair.h"
#include "tests/tests.h"

#include <check.h>

#include <stdlib.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* One hop of 1 MB at 50 GB/s and 1 us is 21.0 us in both clocks. */
START_TEST(one_hop)
{
	struct clock_pair b = clock_pair_new("tpu-v4:4x4x4", "ici.bandwidth=50GB/s");

	schedule_round(&b.s);
	schedule_task(&b.s, 1);
	clock_pair_message(&b, 0, 1, 1e6);
	ck_assert_double_eq_tol(clock_pair_s(&b), 21e-6, 21e-15);
	ck_assert_double_eq_tol(model_schedule_s(b.model, &b.s), 21e-6, 21e-15);
	clock_pair_free(&b);
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
	struct clock_pair b = clock_pair_new("tpu-v5e:16x16", NULL);
	const struct hand *m = hand_table[_i].m;
	double fluid = hand_table[_i].fluid_us * 1e-6;
	double model = hand_table[_i].model_us * 1e-6;

	schedule_round(&b.s);
	for (int i = 0; i < 6 && m[i].bytes > 0; i++) {
		if (!i || m[i].task != m[i - 1].task)
			schedule_task(&b.s, m[i].repeats);
		clock_pair_message(&b, m[i].src, m[i].dst, m[i].bytes);
	}
	ck_assert_msg(close_to(clock_pair_s(&b), fluid, 1e-9), "fluid %.12g, not %.12g",
	              clock_pair_s(&b), fluid);
	ck_assert_msg(close_to(model_schedule_s(b.model, &b.s), model, 1e-12),
	              "model %.12g, not %.12g", model_schedule_s(b.model, &b.s), model);
	clock_pair_free(&b);
}
END_TEST

/* The figure that the description of the clocks gives in digits. */
START_TEST(the_known_figure)
{
	struct clock_pair b = clock_pair_new("tpu-v5e:16x16", NULL);

	schedule_round(&b.s);
	for (int i = 0; i < 3; i++) {
		schedule_task(&b.s, 1);
		clock_pair_message(&b, (int[]){0, 1, 5}[i], (int[]){2, 3, 10}[i], 1e6);
	}
	ck_assert_double_eq_tol(1e6 * clock_pair_s(&b), 46.44, 0.005);
	clock_pair_free(&b);
}
END_TEST

/*
 * A wait of less than 1 ns ends with whatever happens, on links that have nothing to do
 * with it, too: 5>6 ends at 1.9995 us, when 0>2 has 0.5 ns of its 2 us left to wait.
 */
START_TEST(a_short_wait_is_over)
{
	struct clock_pair b = clock_pair_new("tpu-v5e:16x16", NULL);

	schedule_round(&b.s);
	schedule_task(&b.s, 1);
	clock_pair_message(&b, 0, 2, 45e3);
	schedule_task(&b.s, 1);
	clock_pair_message(&b, 5, 6, 44977.5);
	ck_assert_double_eq_tol(1e6 * clock_pair_s(&b), 2.9995, 1e-9);
	clock_pair_free(&b);
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
	struct clock_pair b;
	int n = 0;

	while (set[n])
		n++;
	b = clock_pair_set(contended_table[_i].spec, set, n);
	schedule_round(&b.s);
	for (int i = 0; i < 6 && m[i].bytes > 0; i++) {
		if (!i || m[i].task != m[i - 1].task)
			schedule_task(&b.s, m[i].repeats);
		clock_pair_message(&b, m[i].src, m[i].dst, m[i].bytes);
	}
	ck_assert_msg(close_to(clock_pair_s(&b), wanted_s, 1e-9), "%.12g, not %.12g",
	              clock_pair_s(&b), wanted_s);
	clock_pair_free(&b);
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
	struct clock_pair b = clock_pair_set("dgx-h100:4", set, 3);

	schedule_round(&b.s);
	for (int32_t d = 0; d < 16; d++) {
		schedule_task(&b.s, 1);
		clock_pair_message(&b, d, d + 16, 6e6);
	}
	ck_assert(close_to(clock_pair_s(&b), 4 * 6e6 / 48e9 + 3.4e-6, 1e-9));
	clock_pair_free(&b);
}
END_TEST

/* ---- balanced schedules, where the clocks must agree ---- */

/* A ring over all devices in their order, both ways, all rounds merged. */
static void rings(struct clock_pair *b, double bytes)
{
	int32_t n = b->machine->ndevices;

	schedule_round(&b->s);
	schedule_task(&b->s, n - 1);
	for (int32_t d = 0; d < n; d++)
		clock_pair_message(b, d, (d + 1) % n, bytes);
}

/* Shift by s, one task per pair that all have the same length. */
static void shifts(struct clock_pair *b, double bytes)
{
	int32_t n = b->machine->ndevices;
	const struct fabric *f = &b->machine->fabric[0];

	for (int a = 0; a < f->naxes; a++) {
		schedule_round(&b->s);
		for (int32_t d = 0; d < n; d++) {
			int32_t to = fabric_neighbour(f, d, a, 1);

			schedule_task(&b->s, 1);
			if (to >= 0)
				clock_pair_message(b, d, to, bytes);
		}
	}
	for (int32_t k = 1; f->geometry == GEOMETRY_SWITCH && k < 8; k += 3) {
		schedule_round(&b->s);
		for (int32_t d = 0; d < n; d++) {
			schedule_task(&b->s, 1);
			clock_pair_message(b, d, d / 8 * 8 + (d + k) % 8, bytes);
		}
	}
}

/* All pairs at once in one task. */
static void all_pairs(struct clock_pair *b, double bytes)
{
	int32_t n = b->machine->ndevices;

	schedule_round(&b->s);
	schedule_task(&b->s, 1);
	for (int32_t src = 0; src < n; src++)
		for (int32_t dst = 0; dst<n; dst += n> 128 ? 37 : 1)
			clock_pair_message(b, src, dst, bytes);
}

/* Groups of four consecutive devices, all pairs, rounds of three sizes. */
static void groups(struct clock_pair *b, double bytes)
{
	for (int k = 1; k < 4; k++) {
		schedule_round(&b->s);
		for (int32_t first = 0; first < b->machine->ndevices; first += 4) {
			schedule_task(&b->s, 2 * k - 1);
			for (int i = 0; i < 16; i++)
				clock_pair_message(b, first + i / 4, first + i % 4,
				                   k * bytes);
		}
	}
}

static const char *const specs[] = {
	"tpu-v4:4x4x4",         "tpu-v4:8x8x8",   "tpu-v5e:16x16", "tpu-v5e:4x8",
	"dgx-a100:4",           "dgx-h100:8",     "tpu-v5e:8x16",  "dgx-a100:1",
	"tpu-v4:4x4x8_twisted", "tpu-7x:2*2x2x1", "tpu-v6e:2*2x4"};
static void (*const makers[])(struct clock_pair *b, double bytes) = {rings, shifts,
                                                                     all_pairs, groups};
static const double sizes[] = {1, 48 * 1024 + 1, 3e8};

START_TEST(clocks_agree)
{
	struct clock_pair b = clock_pair_new(specs[_i], NULL);

	for (int k = 0; k < COUNT(makers); k++)
		for (int i = 0; i < COUNT(sizes); i++) {
			double fluid, model;

			b.s = (struct schedule){.arena = b.arena};
			makers[k](&b, sizes[i]);
			fluid = clock_pair_s(&b);
			model = model_schedule_s(b.model, &b.s);
			ck_assert_double_gt(fluid, 0);
			ck_assert_msg(
				close_to(fluid, model, 1e-6),
				"schedule %d of %g bytes: fluid %.12g, model %.12g", k,
				sizes[i], fluid, model);
		}
	clock_pair_free(&b);
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
	suite_add_tcase(suite, tcase);
	return suite;
}
