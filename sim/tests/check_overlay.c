/* Slow links, slow devices and missing links, as the clocks see them. */
#include "facts/families.h"
#include "tests/tests.h"

#include "collective/lower.h"
#include "cost/fluid.h"
#include "cost/model.h"
#include "platform/platform.h"
#include "price/price.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

enum { SETS = 2, HOPS = 64 };

static const double b = 48 * 1024 + 1; /* bytes of a block */

static struct platform *load(struct arena *a, const char *spec, const char *const *set)
{
	struct platform *p = NULL;
	struct error e = {0};
	int nset = 0;

	while (nset < SETS && set[nset])
		nset++;
	ck_assert_msg(platform_load(&p, a, spec, set, nset, &e) == OK, "%s", e.text);
	return p;
}

static bool close_to(double x, double y, double tolerance)
{
	return fabs(x - y) <= tolerance * fabs(y);
}

/*
 * All-gathers of blocks b by hand, over devices first, first + stride, ...
 * A ring of 16 at 45 GB/s: 15/2 b in 8 steps on every link; a line of n: n - 1 rounds of b.
 */
static const struct {
	const char *spec, *set[SETS];
	int32_t first, stride, n;
	const char *algorithm;
	double blocks, Bps, latency_s;
} gathers[] = {
	{"tpu-v5e:3x16", {NULL}, 0, 1, 16, "bidir-ring", 7.5, 45e9, 8e-6},
	/* A slow link halves what goes through it, and nothing else. */
	{"tpu-v5e:3x16", {"slow_link=3-4:0.5"}, 0, 1, 16, "bidir-ring", 7.5, 22.5e9, 8e-6},
	{"tpu-v5e:3x16", {"slow_link=4-3:0.5"}, 0, 1, 16, "bidir-ring", 7.5, 22.5e9, 8e-6},
	{"tpu-v5e:3x16", {"slow_link=3-4:0.5"}, 16, 1, 16, "bidir-ring", 7.5, 45e9, 8e-6},
	{"tpu-v5e:3x16", {"slow_link=3-4:0.5"}, 3, 16, 3, "line", 2, 45e9, 2e-6},
	{"tpu-v5e:3x16", {"slow_link=3-4:0.5"}, 0, 1, 4, "line", 3, 45e9, 3e-6},
	{"tpu-v5e:3x16", {"slow_link=3-4:0.5"}, 1, 1, 4, "line", 3, 22.5e9, 3e-6},
	{"tpu-v5e:3x16",
         {"slow_link=0-15:0.25,0-15:0.5"},
         0,
         1,
         16,
         "bidir-ring",
         7.5,
         5.625e9,
         8e-6},
	/* A slow device slows both its axes. */
	{"tpu-v5e:3x16", {"slow_device=35:0.5"}, 32, 1, 16, "bidir-ring", 7.5, 22.5e9, 8e-6},
	{"tpu-v5e:3x16", {"slow_device=35:0.5"}, 3, 16, 3, "line", 2, 22.5e9, 2e-6},
	{"tpu-v5e:3x16", {"slow_device=35:0.5"}, 4, 16, 3, "line", 2, 45e9, 2e-6},
	/* Without the link 3-4 the ring is a line from 4 to 3; another ring is one. */
	{"tpu-v5e:16x1", {"no_link=3-4"}, 0, 1, 16, "line", 15, 45e9, 15e-6},
	{"tpu-v5e:16x1", {"no_link=15-0"}, 0, 1, 16, "line", 15, 45e9, 15e-6},
	{"tpu-v5e:3x16", {"no_link=3-4"}, 0, 1, 16, "line", 15, 45e9, 15e-6},
	{"tpu-v5e:3x16", {"no_link=3-4"}, 16, 1, 16, "bidir-ring", 7.5, 45e9, 8e-6},
	/*
	 * A line that lacks its middle goes round it, three hops over the next line,
	 * in the first two of three rounds.
	 */
	{"tpu-v5e:3x4", {"no_link=1-2"}, 0, 1, 4, "line", 3, 45e9, 7e-6},
	/*
	 * Two by two, half the array along each axis first: b/2 in two rounds, of which
	 * that round 0-1 takes three hops, then b.
	 */
	{"tpu-v5e:2x2", {"no_link=0-1"}, 0, 1, 4, "torus", 1.5, 45e9, 6e-6},
	/* GPUs linked in pairs, and on a switch. */
	{"mi300x:1", {"slow_link=0-1:0.5", "profile=plain"}, 0, 1, 2, "ring", 1, 23.25e9, 1e-6},
	{"mi300x:1", {"slow_link=0-1:0.5", "profile=plain"}, 1, 1, 2, "ring", 1, 46.5e9, 1e-6},
	{"mi300x:1", {"no_link=0-1", "profile=plain"}, 0, 1, 2, "ring", 1, 46.5e9, 2e-6},
	{"dgx1-v100:1", {"no_link=0-1", "profile=plain"}, 0, 1, 2, "ring", 1, 23.3e9, 0.6e-6},
	{"dgx-a100:1",
         {"slow_device=3:0.5", "profile=plain"},
         0,
         1,
         8,
         "ring",
         7,
         117.5e9,
         7 * 0.95e-6},
	{"dgx-a100:1",
         {"slow_device=3:0.5", "profile=plain"},
         4,
         1,
         4,
         "ring",
         3,
         235e9,
         3 * 0.95e-6},
	{"dgx-a100:2", {"slow_device=3:0.5", "profile=plain"}, 3, 8, 2, "ring", 1, 12e9, 2.5e-6},
	{"dgx-a100:2", {"slow_device=3:0.5", "profile=plain"}, 4, 8, 2, "ring", 1, 24e9, 2.5e-6},
	/* Cores 4 and 5 are chip 2, which is slow as a whole. */
	{"tpu-7x:2x2x1", {"slow_device=5:0.5"}, 4, 1, 2, "ring", 1, 270e9, 1e-6},
	{"tpu-7x:2x2x1", {"slow_device=5:0.5"}, 2, 1, 2, "ring", 1, 540e9, 1e-6},
	{"tpu-7x:2x2x1", {"slow_device=5:0.5"}, 4, 2, 2, "line", 1, 45e9, 1e-6},
	{"tpu-7x:2x2x1", {"slow_device=5:0.5"}, 0, 2, 2, "line", 1, 90e9, 1e-6},
	{"tpu-7x:2*2x2x1", {"slow_device=13:0.5"}, 4, 8, 2, "ring", 1, 5.625e9, 20e-6},
	{"tpu-7x:2*2x2x1", {"slow_device=13:0.5"}, 6, 8, 2, "ring", 1, 11.25e9, 20e-6},
};

START_TEST(gather_rows)
{
	struct arena *a = arena_new();
	struct platform *p = load(a, gathers[_i].spec, gathers[_i].set);
	struct model *model = model_new(p->machine);
	struct fluid *fluid = fluid_new(p->machine);
	struct lowered l = {0};
	struct text why = {0};
	int32_t ids[16];
	char message[80];
	double by_hand_s =
		gathers[_i].blocks * b / gathers[_i].Bps + gathers[_i].latency_s;

	for (int32_t i = 0; i < gathers[_i].n; i++)
		ids[i] = gathers[_i].first + i * gathers[_i].stride;
	ck_assert(lower_collective(&l, a, p->machine, OP_ALL_GATHER,
	                           (struct groups){1, gathers[_i].n, ids}, b, &why));
	ck_assert_str_eq(l.algorithm, gathers[_i].algorithm);
	ck_assert_msg(close_to(model_schedule_s(model, &l.schedule), by_hand_s, 1e-9),
	              "model %g, by hand %g", model_schedule_s(model, &l.schedule),
	              by_hand_s);
	ck_assert_msg(close_to(fluid_clock(fluid, &l.schedule, message, sizeof(message)),
	                       by_hand_s, 1e-6),
	              "fluid, by hand %g", by_hand_s);
	fluid_free(fluid);
	model_free(model);
	arena_free(a);
}
END_TEST

/*
 * 2 x 2 chips without the cable 0-1 are the line 1, 3, 2, 0: all pairs at once put four
 * messages on its middle, and the longest goes three hops. With profile plain they go in
 * rounds: 0>1 and 2>3 share 2>3 while 1>2 and 3>0 share 3>2, at most three hops; 0>2, 1>3
 * and back, one hop each; 0>3 and 2>1 share 2>3, 1>0 and 3>2 share 3>2, three hops.
 */
START_TEST(all_pairs_go_round)
{
	static const struct {
		const char *set[SETS], *algorithm;
		double blocks, latency_s;
	} row[] = {{{"no_link=0-1"}, "direct", 4, 3e-6},
	           {{"no_link=0-1", "profile=plain"}, "pairwise", 2 + 1 + 2, 7e-6}};
	static const int32_t ids[] = {0, 1, 2, 3};
	struct arena *a = arena_new();
	struct platform *p = load(a, "tpu-v5e:2x2", row[_i].set);
	struct model *model = model_new(p->machine);
	struct fluid *fluid = fluid_new(p->machine);
	double by_hand_s = row[_i].blocks * b / 45e9 + row[_i].latency_s;
	struct lowered l = {0};
	struct text why = {0};
	char message[80];

	ck_assert(lower_collective(&l, a, p->machine, OP_ALL_TO_ALL,
	                           (struct groups){1, 4, ids}, 4 * b, &why));
	ck_assert_str_eq(l.algorithm, row[_i].algorithm);
	ck_assert_msg(close_to(model_schedule_s(model, &l.schedule), by_hand_s, 1e-9),
	              "model %g, by hand %g", model_schedule_s(model, &l.schedule),
	              by_hand_s);
	ck_assert(close_to(fluid_clock(fluid, &l.schedule, message, sizeof(message)),
	                   by_hand_s, 1e-6));
	fluid_free(fluid);
	model_free(model);
	arena_free(a);
}
END_TEST

/* Seconds of all devices' collective of V bytes, by clocks that agree. */
static double whole_s(struct platform *p, enum op op, double V, const char *algorithm)
{
	struct arena *a = arena_new();
	struct model *model = model_new(p->machine);
	struct fluid *fluid = fluid_new(p->machine);
	int32_t n = p->machine->ndevices;
	int32_t *ids = arena_alloc(a, (size_t)n, sizeof(*ids));
	struct lowered l = {0};
	struct text why = {0};
	char message[80];
	double model_s;

	for (int32_t i = 0; i < n; i++)
		ids[i] = i;
	ck_assert(lower_collective(&l, a, p->machine, op, (struct groups){1, n, ids},
	                           op == OP_ALL_GATHER ? V / n : V, &why));
	ck_assert_str_eq(l.algorithm, algorithm);
	model_s = model_schedule_s(model, &l.schedule);
	ck_assert(close_to(fluid_clock(fluid, &l.schedule, message, sizeof(message)),
	                   model_s, 1e-6));
	fluid_free(fluid);
	model_free(model);
	arena_free(a);
	return model_s;
}

/*
 * Three rows of four, joined at their left ends only: in the order of the devices a
 * ring goes once along every link, each way, 5 hops from 11 back to 0. Along the columns
 * all would go round over one, which only few bytes do.
 */
START_TEST(a_comb_is_a_ring)
{
	static const char *const set[SETS] = {"no_link=1-5,2-6,3-7,5-9,6-10,7-11"};
	struct arena *a = arena_new();
	struct platform *p = load(a, "tpu-v5e:3x4", set);
	double few_s = whole_s(p, OP_ALL_GATHER, 12 * 1024., "torus");

	ck_assert(close_to(whole_s(p, OP_ALL_GATHER, 12e9, "ring"), 11e9 / 45e9 + 55e-6,
	                   1e-9));
	ck_assert(few_s < 55e-6);
	arena_free(a);
}
END_TEST

/*
 * 4 x 4 x 4 without a cable: device 0 has five links of six, through which 63/64 of V
 * must come in. No more than twice that, where one ring one way would take five times.
 */
START_TEST(other_axes_are_whole)
{
	static const char *const set[SETS] = {"no_link=0-1"};
	struct arena *a = arena_new();
	struct platform *p = load(a, "tpu-v5p:4x4x4", set);
	int32_t links[HOPS];
	int n = machine_route(p->machine, 0, 0, 4, links, HOPS);
	double V = 1e9, least_s;

	ck_assert_int_eq(n, 1);
	least_s = V * 63 / 64 / 5 / p->machine->link[links[0]].bandwidth_Bps;
	for (int twice = 1; twice <= 2; twice++) {
		double time_s = whole_s(p, twice == 2 ? OP_ALL_REDUCE : OP_ALL_GATHER,
		                        V, "torus");

		ck_assert(time_s > twice * least_s && time_s < twice * 2 * least_s);
	}
	arena_free(a);
}
END_TEST

/* A slow device: its memory, and that of no other. */
START_TEST(memory_is_slow)
{
	static const struct {
		const char *spec, *set[SETS];
		int32_t first, n;
		double left, Bps;
	} row[] = {
		{"tpu-v5e:3x5", {"slow_device=7:0.25"}, 7, 1, 0.25, 819e9},
		{"tpu-7x:2*2x2x1", {"slow_device=13:0.5"}, 12, 2, 0.5, 3210e9},
		{"tpu-7x:2x2x1", {"slow_device=2:0.5,3:0.5"}, 2, 2, 0.25, 3210e9},
		{"dgx-a100:2", {"slow_device=9:0.75"}, 9, 1, 0.75, 2000e9},
		{"dgx1-v100:1", {"slow_device=0:0.5"}, 0, 1, 0.5, 900e9},
	};

	for (int i = 0; i < COUNT(row); i++) {
		struct arena *a = arena_new();
		struct machine *m = NULL;

		ck_assert_int_eq(
			platform_machine(&m, a, row[i].spec, row[i].set, 1, NULL), OK);
		for (int32_t d = 0; d < m->ndevices; d++) {
			bool slow = d >= row[i].first && d < row[i].first + row[i].n;

			ck_assert(close_to(m->device[d].memory_Bps,
			                   row[i].Bps * (slow ? row[i].left : 1), 1e-12));
		}
		arena_free(a);
	}
}
END_TEST

/* Fewest hops between all pairs over the links that are there. */
static void distances(int32_t *hops, int32_t n)
{
	for (int32_t by = 0; by < n; by++)
		for (int32_t i = 0; i < n; i++)
			for (int32_t j = 0; j < n; j++)
				if (hops[i * n + by] + hops[by * n + j] < hops[i * n + j])
					hops[i * n + j] =
						hops[i * n + by] + hops[by * n + j];
}

/* Of each link the pair of devices that it alone joins, src * n + dst. */
static const int32_t *pairs_of(struct arena *a, const struct machine *m)
{
	int32_t *pair = arena_alloc(a, (size_t)m->nlinks, sizeof(*pair));
	int32_t n = m->ndevices, links[HOPS];

	for (int32_t i = 0; i < n * n; i++)
		if (machine_route(m, 0, i / n, i % n, links, HOPS) == 1)
			pair[links[0]] = i;
	return pair;
}

/*
 * Routes round a missing link have the fewest hops there are, those of all other pairs
 * are as before.
 */
static const char *const rerouted[] = {"tpu-v5e:4x4", "tpu-v5e:3x16", "tpu-v4:4x4x4",
                                       "tpu-v4:4x4x8_twisted"};

START_TEST(detours_are_short)
{
	static const char *const set = "no_link=1-2";
	struct arena *a = arena_new();
	struct machine *was = NULL, *is = NULL;
	int32_t *hops, links[HOPS], now[HOPS];
	const int32_t *pairs[2];
	int32_t n, moved = 0;

	ck_assert_int_eq(platform_machine(&was, a, rerouted[_i], NULL, 0, NULL), OK);
	ck_assert_int_eq(platform_machine(&is, a, rerouted[_i], &set, 1, NULL), OK);
	ck_assert_int_eq(is->fabric[0].geometry, GEOMETRY_GRAPH);
	n = was->ndevices;
	ck_assert_int_eq(is->nlinks, was->nlinks - 2);
	hops = arena_alloc(a, (size_t)(n * n), sizeof(*hops));
	for (int32_t i = 0; i < n * n; i++)
		hops[i] = i / n == i % n ? 0 : 1000;
	for (int32_t i = 0; i < n * n; i++)
		if (machine_route(was, 0, i / n, i % n, links, HOPS) == 1 &&
		    i != n + 2 && i != 2 * n + 1)
			hops[i] = 1;
	distances(hops, n);
	pairs[0] = pairs_of(a, was);
	pairs[1] = pairs_of(a, is);
	for (int32_t i = 0; i < n * n; i++) {
		int before = machine_route(was, 0, i / n, i % n, links, HOPS);
		int after = machine_route(is, 0, i / n, i % n, now, HOPS);
		bool same = before == after;

		for (int k = 0; k < after && same; k++)
			same = pairs[0][links[k]] == pairs[1][now[k]];
		ck_assert(same || after == hops[i]);
		moved += !same;
	}
	ck_assert_int_gt(moved, 1);
	ck_assert_int_lt(moved, n * n / 2);
	ck_assert_int_eq(hops[n + 2], machine_route(is, 0, 1, 2, now, HOPS));
	arena_free(a);
}
END_TEST

static const struct {
	const char *spec, *set;
	const char *at;
	unsigned col;
	const char *text;
} faults[] = {
	{"tpu-v5e:4x8", "slow_link=3-4", "--set", 14, "expected ':'"},
	{"tpu-v5e:4x8", "slow_link=3:0.5", "--set", 12, "expected '-'"},
	{"tpu-v5e:4x8", "slow_link=3-4:1", "--set", 15, "above 0 and below 1"},
	{"tpu-v5e:4x8", "slow_link=3-4:0", "--set", 15, "above 0 and below 1"},
	{"tpu-v5e:4x8", "slow_link=3-4:1e-320", "--set", 15, "from 1e-9 on"},
	{"tpu-v5e:4x8", "slow_link=3-4:-1", "--set", 15, "above 0 and below 1"},
	{"tpu-v5e:4x8", "slow_link=3-4:nan", "--set", 15, "above 0 and below 1"},
	{"tpu-v5e:4x8", "slow_link=3-4:0.5x", "--set", 18, "expected the end"},
	{"tpu-v5e:4x8", "slow_link=", "--set", 11, "a device"},
	{"tpu-v5e:4x8", "slow_link=3-4:0.5,", "--set", 19, "a device"},
	{"tpu-v5e:4x8", "slow_device=32:0.5", "--set", 13, "expected 0 to 31"},
	{"tpu-v5e:4x8", "slow_device=3-4:0.5", "--set", 14, "expected ':'"},
	{"tpu-v5e:4x8", "no_link=3-4:0.5", "--set", 12, "expected the end"},
	{"tpu-v5e:4x8", "no_link=3-3", "--set", 9, "a link of device 3 to itself"},
	{"tpu-v5e:4x8", "no_link=0-7", "--set", 9, "no link joins devices 0 and 7"},
	{"tpu-v5e:4x8", "no_link=1-2,7-8", "--set", 13, "no link joins devices 7 and 8"},
	{"tpu-v5e:4x8", "no_link=1-2,3-4,2-1", "--set", 17,
         "of devices 2 and 1 is listed twice"},
	{"mi300x:1", "no_link=0-1,0-1", "--set", 13, "is listed twice"},
	/* One cable joins the chips of cores 0, 1 and 2, 3. */
	{"tpu-7x:2x2x1", "no_link=0-2,3-1", "--set", 13,
         "of devices 3 and 1 is listed twice"},
	{"tpu-v5e:2*4x8", "no_link=0-32", "--set", 9, "no link joins devices 0 and 32"},
	{"tpu-v5e:1x8", "no_link=3-4", "--platform", 1, "no way from chip 0 to chip 4"},
	{"tpu-v5e:1x16", "no_link=3-4,9-8", "--platform", 1, "no way from chip 0"},
	{"tpu-v4:16x16x16", "no_link=3-4", "--platform", 1, "slow or missing links"},
	{"tpu-v5e:9*16x16", "slow_device=3:0.5", "--platform", 1, "several times 256"},
	{"tpu-7x:2x2x1", "slow_link=2-3:0.5", "--set", 11, "are on one chip"},
	{"dgx-a100:1", "no_link=0-5", "--set", 9, "a switch whose ports cannot be"},
	{"dgx-a100:2", "slow_link=0-8:0.5", "--set", 11, "a switch whose ports cannot"},
	{"dgx1-v100:1", "no_link=0-5", "--set", 9, "no link joins devices 0 and 5"},
	{"mi300x:2", "no_link=0-8", "--set", 9, "no link joins devices 0 and 8"},
	{"mi300x:1", "no_link=0-1,0-2,0-3,4-0,5-0,0-6,0-7", "--platform", 1,
         "no way to some GPU of node0"},
	{"aws-p4de:2", "slow_device=5:0.5", "--platform", 1, "its NIC is shared"},
	{"polaris:2", "slow_device=5:0.5", "--platform", 1, "expected net=switch"},
	{"dgx-a100:257", "slow_device=5:0.5", "--platform", 1, "more than 2048"},
};

START_TEST(fault_rows)
{
	struct arena *a = arena_new();
	struct text out = {0};
	struct error e = {0};

	ck_assert_int_ne(
		platform_text(&out, a, faults[_i].spec, &faults[_i].set, 1, false, &e),
		OK);
	ck_assert_ptr_null(out.s);
	ck_assert_msg(strstr(e.text, faults[_i].text) != NULL, "%s", e.text);
	ck_assert_str_eq(e.at.file, faults[_i].at);
	ck_assert_msg(e.at.col == faults[_i].col, "col %u: %s", e.at.col, e.text);
	arena_free(a);
}
END_TEST

/* A link that is missing has no bandwidth to be half of, whichever is said first. */
START_TEST(slow_and_missing)
{
	static const char *const sets[2][2] = {{"slow_link=0-1:0.5", "no_link=1-0"},
	                                       {"no_link=1-0", "slow_link=0-1:0.5"}};
	struct arena *a = arena_new();

	for (int i = 0; i < 2; i++) {
		struct text out = {0};
		struct error e = {0};

		ck_assert_int_eq(
			platform_text(&out, a, "tpu-v5e:4x4", sets[i], 2, false, &e),
			E_TYPE);
		ck_assert_ptr_nonnull(strstr(e.text, "both slow and missing"));
		ck_assert_str_eq(e.at.source, sets[i][1]);
	}
	arena_free(a);
}
END_TEST

/*
 * A ring takes the devices in the order of the group, and may be faster than lines where a
 * cable is missing: the price of one order of the same devices is not that of another,
 * whichever is asked first.
 */
START_TEST(orders_have_prices_of_their_own)
{
	static const struct part parts[2][2] = {{{1, 1, 2}, {1, 2, 4}},
	                                        {{1, 2, 4}, {1, 1, 2}}};
	struct problem_text text = {.array = "u8[1024,1024,128]",
	                            .mesh = "x=2,y=8",
	                            .from = "P()",
	                            .to = "P()"};
	struct arena *a = arena_new();
	struct platform *p = NULL;
	const char *set = "no_link=0-1";
	struct problem problem;
	struct error e = {0};
	double alone[2];

	ck_assert_int_eq(platform_read(&p, a, "tpu-v4:2x2x4", &set, 1, &e), OK);
	ck_assert_int_eq(problem_make(&problem, a, &text, &e), OK);
	for (int first = 0; first < 4; first++) {
		struct pricer *pricer = pricer_new(p->machine, NULL);
		struct prices prices = pricer_prices(pricer);

		for (int i = 0; i < (first < 2 ? 1 : 2); i++) {
			int order = (first + i) % 2;
			struct move move = {0, -1, 8, 2, parts[order]};
			struct step_ask ask = {OP_ALL_GATHER, 1,     &move,
			                       1 << 20,       false, 0};
			double cost = prices.step(prices.self, &problem, &ask).cost;

			if (first < 2)
				alone[order] = cost;
			ck_assert_double_eq(cost, alone[order]);
		}
		pricer_free(pricer);
	}
	ck_assert_double_ne(alone[0], alone[1]);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("overlays");
	TCase *tcase = tcase_create("overlays");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, gather_rows, 0, COUNT(gathers));
	tcase_add_loop_test(tcase, all_pairs_go_round, 0, 2);
	tcase_add_test(tcase, a_comb_is_a_ring);
	tcase_add_test(tcase, other_axes_are_whole);
	tcase_add_test(tcase, memory_is_slow);
	tcase_add_test(tcase, orders_have_prices_of_their_own);
	tcase_add_loop_test(tcase, detours_are_short, 0, COUNT(rerouted));
	tcase_add_loop_test(tcase, fault_rows, 0, COUNT(faults));
	tcase_add_test(tcase, slow_and_missing);
	suite_add_tcase(suite, tcase);
	return suite;
}
