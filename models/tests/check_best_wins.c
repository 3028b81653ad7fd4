/*
 * Problems in which `best` is strictly cheaper than every other planner, one for each
 * kind of candidate that it adds (models/README.md, "Best"), with the seconds worked out
 * by hand. All arrays are of 64 MiB.
 */
#include "planner_case.h"
#include "tests/tests.h"

#include "plan/check.h"
#include "plan/plan_text.h"
#include "price/price.h"

#include <check.h>
#include <math.h>
#include <string.h>

#define MiB 1048576.

static const struct link ici = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
static const struct link nvlink = {.bandwidth_Bps = 235e9, .latency_s = 0.475e-6};
static const struct link nic = {.bandwidth_Bps = 24e9, .latency_s = 1.25e-6};
static const struct device device = {.memory_Bps = 2e12, .launch_s = 5e-6};

static struct arena *arena;
static struct pricer *pricer;
static struct prices prices;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	pricer_free(pricer);
	arena_free(arena);
}

static void use(const struct machine *m)
{
	pricer = pricer_new(m, NULL);
	prices = pricer_prices(pricer);
}

/* Two nodes of GPUs. */
static void use_nodes(int32_t gpus)
{
	use(machine_gpu(arena, 2, gpus, nvlink, nic, device));
}

/* Two lines of four chips side by side, without wrap. */
static void use_grid(struct device chip)
{
	const bool open[] = {false, false};

	use(machine_torus(arena, 2, (int32_t[]){2, 4}, open, ici, chip));
}

static struct plan *plan_with(const struct planner *planner, const struct problem *p)
{
	struct text why = {0};
	struct plan *plan = NULL;

	if (planner_run(planner, &plan, p, &prices, arena, &why) != ANSWER_PLAN)
		plan = NULL;
	text_free(&why);
	return plan;
}

/*
 * The plan of `best` takes this long and has these ops; every other planner's takes
 * `factor` times as long at least.
 */
static void wins(const struct problem *p, double time_s, const char *ops, double factor)
{
	struct plan *plan = plan_with(planner_find("best", 4), p);
	struct text s = {0}, why = {0};
	double got_s;

	ck_assert_ptr_nonnull(plan);
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
	for (int i = 0; i < plan->nsteps; i++)
		text_printf(&s, "%s%s", i ? " " : "", op_name(plan->step[i].op));
	ck_assert_str_eq(s.s, ops);
	got_s = prices.plan(prices.self, plan).cost;
	ck_assert_msg(fabs(got_s - time_s) <= 1e-9 * time_s, "%.12g s, by hand %.12g",
	              got_s, time_s);
	for (int i = 0; planners[i]; i++) {
		struct plan *other = plan_with(planners[i], p);

		/* best-portable is the same search, and may have found it too */
		if (!other || strncmp(planners[i]->name, "best", 4) == 0)
			continue;
		ck_assert_msg(prices.plan(prices.self, other).cost > factor * time_s,
		              "%s: %.12g s", planners[i]->name,
		              prices.plan(prices.self, other).cost);
	}
	text_free(&s);
	text_free(&why);
}

/* Bytes over a link, there through a switch of two. */
static double sent_s(double bytes, struct link link)
{
	return bytes / link.bandwidth_Bps + 2 * link.latency_s;
}

/* A local pass that reads and writes. */
static double passed_s(double bytes)
{
	return 2 * bytes / device.memory_Bps;
}

/*
 * (a) A fused exchange. x over two nodes, y over the two GPUs of one; tiles of 16 MiB.
 * x is gathered over the NICs. Then each GPU has half the columns of all rows and wants
 * half the rows of all columns: of its 32 MiB it keeps half and sends half, so 16 MiB
 * are packed and 16 MiB unpacked, where an all-to-all packs and unpacks all 32.
 */
START_TEST(test_exchange)
{
	double gather_s, exchange_s;

	use_nodes(2);
	gather_s = sent_s(16 * MiB, nic) + device.launch_s;
	exchange_s =
		sent_s(16 * MiB, nvlink) + passed_s((16 + 16) * MiB) + device.launch_s;
	wins(case_of_texts(arena, "x=2,y=2", "f32[4096,4096]", "P('x', 'y')",
	                   "P('y', None)"),
	     gather_s + exchange_s, "all-gather exchange", 1.04);
}
END_TEST

/*
 * (b) Over-slicing. Rows over two nodes, columns wanted over them; each of the four GPUs
 * y of a node has a copy. Tiles are cut by y as well: of the 8 MiB wanted half is in the
 * other node, packed there and unpacked here. Then the other three quarters of 32 MiB
 * come over NVLink and are unpacked, columns lying apart.
 */
START_TEST(test_overslice)
{
	double over_s, gather_s;

	use_nodes(4);
	over_s = sent_s(4 * MiB, nic) + passed_s((4 + 4) * MiB) + device.launch_s;
	gather_s = sent_s(24 * MiB, nvlink) + passed_s(24 * MiB) + device.launch_s;
	wins(case_of_texts(arena, "x=2,y=4", "f32[4096,4096]", "P('x', None)",
	                   "P(None, 'x')"),
	     over_s + gather_s, "exchange exchange", 1.18);
}
END_TEST

/*
 * (c) Slow axes first. y lies along lines of four, x across them; tiles of 16 MiB. An
 * exchange joins chips of a line while tiles are small: three of four get another tile,
 * which moves whole, from one or two hops away, and no link carries two. What is left to
 * gather, three times 16 MiB, lies in squares of four neighbours, where each chip has two
 * links to receive by. The exchange has put the blocks of rows so that they are gathered in
 * order: nothing is unpacked. To cut the tiles first and gather all eight along both axes at
 * once takes less on the wires, 0.525 of the array and 0.625, but the cut of 16 MiB to 8 is read
 * and written: memory of 100 GB/s makes up for it.
 */
START_TEST(test_slow_first)
{
	const struct device chip = {.memory_Bps = 100e9, .launch_s = 5e-6};
	double slow_s, fast_s;

	use_grid(chip);
	slow_s = 16 * MiB / ici.bandwidth_Bps + 2 * ici.latency_s + device.launch_s;
	fast_s = 3 * 16 * MiB / (2 * ici.bandwidth_Bps) + 2 * ici.latency_s +
	         device.launch_s;
	wins(case_of_texts(arena, "x=2,y=4", "f32[4096,4096]", "P('y', None)",
	                   "P(None, None)"),
	     slow_s + fast_s, "exchange all-gather", 1.02);
}
END_TEST

/*
 * (d) Who sends by the paths. Chip x, y, z is at place 2 y + z of line x, and wants the
 * tile that those with y' = x, of both lines, hold: half have it. To send it within the
 * line takes two hops, and the two tiles z share the middle link. Of two copies one can
 * come from the other line, by three hops along the outer links: no link carries more
 * than one tile of 16 MiB, which is moved whole.
 */
START_TEST(test_paths)
{
	use_grid(device);
	wins(case_of_texts(arena, "x=2,y=2,z=2", "f32[4096,4096]", "P('z', 'y')",
	                   "P('z', 'x')"),
	     16 * MiB / ici.bandwidth_Bps + 3 * ici.latency_s + device.launch_s,
	     "exchange", 1.97);
}
END_TEST

/*
 * (e) A sum of the GPUs y of a node, wanted whole everywhere: reduce-scatter of the tile
 * of 32 MiB, of which half comes in and is read, added and written, and the gather
 * deferred to all four quarters of the array at once. In that each NIC carries one
 * quarter, of 16 MiB, and then each GPU receives the two quarters that its neighbour has.
 */
START_TEST(test_sum)
{
	double scatter_s, gather_s;

	use_nodes(2);
	scatter_s = sent_s(16 * MiB, nvlink) + 3 * 16 * MiB / device.memory_Bps +
	            device.launch_s;
	gather_s =
		sent_s(16 * MiB, nic) + sent_s(2 * 16 * MiB, nvlink) + device.launch_s;
	wins(case_of_texts(arena, "x=2,y=2", "f32[4096,4096]",
	                   "P('x', None, unreduced={'y'})", "P(None, None)"),
	     scatter_s + gather_s, "reduce-scatter all-gather", 1.68);
}
END_TEST

/*
 * Other devices: eight GPUs to sixteen others, which want halves of the array by a=2, each
 * half eight times. Each takes the eighth of it that its GPU number in the node says,
 * which is half a source tile: of every source two halves of 8 MiB are packed and go over
 * its NIC. A ring of eight in the node brings the other seven. In `direct` all sixteen
 * copies of 4 MiB leave by the NIC.
 */
START_TEST(test_other_devices)
{
	struct problem_text text = {.array = "f32[4096,4096]",
	                            .mesh = "x=8",
	                            .devices = "0-7",
	                            .from = "P('x', None)",
	                            .to_mesh = "a=2,b=8",
	                            .to_devices = "8-23",
	                            .to = "P(None, 'a')"};
	struct problem p;
	struct error e = {0};
	double exchange_s, gather_s;

	ck_assert_msg(problem_make(&p, arena, &text, &e) == OK, "%s", e.text);
	use(machine_gpu(arena, 3, 8, nvlink, nic, device));
	exchange_s = sent_s(2 * 4 * MiB, nic) + passed_s(8 * MiB) + device.launch_s;
	gather_s = 7 * sent_s(4 * MiB, nvlink) + device.launch_s;
	wins(&p, exchange_s + gather_s, "exchange all-gather", 5.5);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("best_wins");
	TCase *hand = tcase_create("by hand");

	tcase_add_checked_fixture(hand, setup, teardown);
	tcase_set_timeout(hand, 60);
	tcase_add_test(hand, test_exchange);
	tcase_add_test(hand, test_overslice);
	tcase_add_test(hand, test_slow_first);
	tcase_add_test(hand, test_paths);
	tcase_add_test(hand, test_sum);
	tcase_add_test(hand, test_other_devices);
	suite_add_tcase(suite, hand);
	return suite;
}
