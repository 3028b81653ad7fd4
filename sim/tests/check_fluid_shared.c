#include "base/rng.h"
#include "clock/fluid.h"
#include "clock/shared.h"
#include "cost/model.h"
#include "cost/pieces.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* The rule by which pieces are timed without SimGrid, held against SimGrid. */

struct bench {
	struct arena *arena;
	struct platform *platform;
	struct pieces *pieces;
	struct shared *shared;
	struct fluid *simgrid;
	struct rng *rng;
	struct schedule s;
};

static struct bench bench_new(const char *spec, uint64_t seed)
{
	struct bench b = {.arena = arena_new(), .rng = rng_new(seed)};
	struct error e = {0};

	ck_assert_int_eq(platform_read(&b.platform, b.arena, spec, NULL, 0, &e), OK);
	b.pieces = pieces_new(b.platform->machine);
	b.shared = shared_new(b.platform->machine);
	b.simgrid = fluid_new(b.platform);
	fluid_whole(b.simgrid);
	return b;
}

static void bench_free(struct bench *b)
{
	pieces_free(b->pieces);
	shared_free(b->shared);
	fluid_free(b->simgrid);
	rng_free(b->rng);
	arena_free(b->arena);
}

static void schedule_begin(struct bench *b)
{
	b->s = (struct schedule){.arena = b->arena};
	schedule_round(&b->s);
}

/* A seventh of the bytes: no figure is exact then, and links are just full all the same. */
static void message(struct bench *b, int32_t src, int32_t dst, double bytes)
{
	if (src != dst)
		schedule_message(&b->s, machine_fabric(b->platform->machine, src, dst),
		                 src, dst, bytes / 7);
}

/* The only round, all tasks as one piece, by the rule. */
static double rule_s(struct bench *b)
{
	struct shared_task *t;
	const struct piece *piece;
	int64_t n;
	double time_s;

	schedule_end(&b->s);
	if (!b->s.nrounds)
		return 0;
	ck_assert_int_eq(pieces_find(&piece, &n, b->pieces, &b->s, &b->s.round[0]),
	                 PIECES_OK);
	t = xmalloc((size_t)b->s.ntasks, sizeof(*t));
	for (int64_t i = 0; i < b->s.ntasks; i++)
		t[i] = (struct shared_task){&b->s.task[i], pieces_routes(b->pieces, i),
		                            false};
	time_s = shared_s(b->shared, &b->s, t, b->s.ntasks, NULL, 0);
	free(t);
	return time_s;
}

static void compare(struct bench *b, int k)
{
	double rule = rule_s(b), simgrid = fluid_clock(b->simgrid, &b->s, NULL, 0);

	ck_assert_msg(fabs(rule - simgrid) <= 1e-9 * simgrid,
	              "%d, %d tasks: %.15g, SimGrid %.15g, %g", k, (int)b->s.ntasks,
	              rule, simgrid, rule / simgrid - 1);
}

static const char *const specs[] = {"tpu-v4:4x4x4",         "tpu-7x:2x4x4",
                                    "tpu-v5e:4x8",          "dgx-a100:4",
                                    "tpu-v4:4x4x8_twisted", "dgx1-v100:1"};

/* Tasks of random messages, delays and sizes, few or many, in unlike numbers on links. */
START_TEST(random_rounds)
{
	struct bench b = bench_new(specs[_i], 11 + (uint64_t)_i);
	uint32_t n = (uint32_t)b.platform->machine->ndevices;

	for (int k = 0; k < 1500; k++) {
		uint32_t sizes = 1 + rng_below(b.rng, 60),
			 most = 1 + rng_below(b.rng, 6);

		schedule_begin(&b);
		for (uint32_t left = 2 + rng_below(b.rng, k % 50 ? 30 : 300); left;
		     left--) {
			schedule_task(&b.s, 1 + (int32_t)rng_below(b.rng, 3));
			if (k % 2)
				schedule_software(&b.s, 1e-7 * rng_below(b.rng, 20),
				                  1e-6 * rng_below(b.rng, 20));
			for (uint32_t m = 1 + rng_below(b.rng, most); m; m--)
				message(&b, (int32_t)rng_below(b.rng, n),
				        (int32_t)rng_below(b.rng, n),
				        1e4 * (1 + rng_below(b.rng, sizes)));
		}
		compare(&b, k);
	}
	bench_free(&b);
}
END_TEST

/*
 * All devices do the same, on tori that look alike from everywhere: few kinds. In turn a
 * shift per task, several, two in one task, and all of that with one device that sends more.
 */
START_TEST(alike_rounds)
{
	struct bench b = bench_new(specs[_i], 0);
	int32_t n = b.platform->machine->ndevices;

	for (int k = 0; k < 12; k++) {
		schedule_begin(&b);
		for (int32_t d = 0; d < n; d++)
			for (int32_t shift = 1 + k % 7; shift < n; shift += 9 + 3 * k) {
				schedule_task(&b.s, 1 + shift % 2);
				message(&b, d, (d + shift) % n, 3e5 * (1 + shift % 3));
				if (k % 3 == 0)
					message(&b, d, (d + 2 * shift) % n, 1e5);
				if (k % 4 == 0 && d == 5)
					message(&b, d, 7, 2e5);
			}
		compare(&b, k);
	}
	bench_free(&b);
}
END_TEST

/* 512 tasks of two random messages, one piece: the clock has SimGrid's time without it. */
START_TEST(a_large_piece_needs_no_simgrid)
{
	struct bench b = bench_new("tpu-v4:8x8x8", 5);
	struct fluid *closed = fluid_new(b.platform);
	char why[80] = "";

	fluid_closed(closed, true);
	for (int k = 0; k < 2; k++) {
		double time_s, simgrid_s;

		schedule_begin(&b);
		for (int32_t d = 0; d < 512; d++) {
			schedule_task(&b.s, 1);
			for (int m = 0; m < 2; m++)
				message(&b, d, (int32_t)rng_below(b.rng, 512),
				        1e4 * (1 + rng_below(b.rng, k ? 3 : 50)));
		}
		schedule_end(&b.s);
		time_s = fluid_clock(closed, &b.s, why, sizeof(why));
		ck_assert_str_eq(why, "");
		simgrid_s = fluid_clock(b.simgrid, &b.s, NULL, 0);
		ck_assert_msg(fabs(time_s - simgrid_s) <= 1e-9 * simgrid_s,
		              "%.15g, SimGrid %.15g", time_s, simgrid_s);
	}
	fluid_free(closed);
	bench_free(&b);
}
END_TEST

/* 100,000 messages that wait for each other in all ways. */
START_TEST(too_many_ways)
{
	struct bench b = bench_new("tpu-v4:16x16x16", 5);
	struct fluid *fluid = fluid_new(b.platform);
	char why[200] = "";

	schedule_begin(&b);
	schedule_task(&b.s, 1);
	for (int k = 0; k < 100000; k++) {
		int32_t src = (int32_t)rng_below(b.rng, 4096);

		message(&b, src, (src + 1 + k % 4095) % 4096,
		        1e4 * (1 + rng_below(b.rng, 1000)));
	}
	schedule_end(&b.s);
	ck_assert_double_eq(fluid_clock(fluid, &b.s, why, sizeof(why)), CLOCK_REFUSED_S);
	ck_assert_str_eq(why, "100000 transfers share 24576 links in too many ways for "
	                      "fluid; model takes them");
	ck_assert_ptr_null(b.platform->host);
	fluid_free(fluid);
	bench_free(&b);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("fluid, shared links");
	TCase *tcase = tcase_create("fluid, shared links");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, random_rounds, 0, COUNT(specs));
	tcase_add_loop_test(tcase, alike_rounds, 0, COUNT(specs));
	tcase_add_test(tcase, a_large_piece_needs_no_simgrid);
	tcase_add_test(tcase, too_many_ways);
	suite_add_tcase(suite, tcase);
	return suite;
}
